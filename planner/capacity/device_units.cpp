#include "planner/capacity/device_units.h"

#include <algorithm>

#include "planner/engine/llama_cpp/llama_offload.h"

namespace tidemark {

std::vector<bool> units_on_device(const Scenario& scenario, const std::vector<WeightUnit>& units,
                                  const WeightsInventory& weights) {
  std::vector<bool> on_device(units.size(), false);
  const bool has_devices = scenario.engine.policy == EnginePolicy::kLlamaCpp &&
                           scenario.llama.n_gpu_layers > 0 &&
                           scenario.model.transformer() != nullptr;
  if (!has_devices) return on_device;
  // How layers are shared out among devices does not matter here.
  const LlamaOffload offload{.n_gpu_layers = scenario.llama.n_gpu_layers, .devices = {{}}};
  const std::vector<size_t> places =
      llama_devices_of_layers(scenario.model.n_layer(), offload);  // 0 = the device
  for (size_t i = 0; i < units.size(); ++i) {
    const WeightTensor& first = weights.tensors.at(units[i].tensors.front().index());
    if (first.stack >= 0 || first.role == WeightRole::kTokenEmbedding) continue;
    const size_t place = first.layer < 0 ? places.size() - 1 : static_cast<size_t>(first.layer);
    on_device[i] = places.at(place) == 0;
  }
  return on_device;
}

}  // namespace tidemark

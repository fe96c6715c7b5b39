// What each device reserves: its part of the graph, replayed by the allocator.
#include <algorithm>

#include "planner/compare/era_graph.h"
#include "planner/compare/llama_setup.h"
#include "planner/compare/log_text.h"
#include "planner/engine/ggml_alloc.h"
#include "planner/engine/llama_cpp/device_split.h"

namespace tidemark {
namespace {

constexpr int64_t kOffloadBatch = 32;  // rows from which a product goes to a device
constexpr Alignment kDeviceAlignment = Alignment::of(128);

bool is_head(WeightRole role) {
  return role == WeightRole::kOutput || role == WeightRole::kOutputNorm;
}

bool is_in_tower(const ModelSpec& model, const WeightTensor& tensor) {
  if (tensor.stack < 0) return false;
  const StackRole role = model.transformer()->stacks[static_cast<size_t>(tensor.stack)].role;
  return role == StackRole::kVision || role == StackRole::kAudio;
}

std::string_view head_of(const Placement& placement) {
  for (const DeviceShare& share : placement.shares) {
    if (share.head) return share.device;
  }
  return {};
}

std::string_view layer_device(const Placement& placement, int64_t layer) {
  for (const DeviceShare& share : placement.shares) {
    if (layer >= share.first && layer < share.last) return share.device;
  }
  return {};
}

// Where a weight or a cache is, by its name.
std::string_view home_of(const LlamaSetup& setup, std::string_view name) {
  const Placement& placement = setup.placement;
  for (const std::string_view cache : {"cache_k_l", "cache_v_l", "cache_r_l", "cache_s_l"}) {
    if (!name.starts_with(cache)) continue;
    if (placement.cache_on_host) return {};
    return layer_device(placement, leading_integer(name.substr(cache.size())).value_or(-1));
  }
  if (name.starts_with("blk.")) {
    return layer_device(placement, leading_integer(name.substr(4)).value_or(-1));
  }
  if (name.starts_with("output")) return head_of(placement);
  return name.starts_with("rope_") ? layer_device(placement, 0) : std::string_view();
}

DeviceRequest request_of(const GgmlGraph& graph, const LlamaSetup& setup,
                         const std::vector<std::string>& devices) {
  const size_t n = graph.tensors.size();
  DeviceRequest request{.n_devices = devices.size(),
                        .home = std::vector<std::optional<size_t>>(n),
                        .is_weight = std::vector<bool>(n, false),
                        .wish = std::vector<std::optional<size_t>>(n),
                        .offload_batch = kOffloadBatch,
                        .n_copies = setup.n_copies};
  const auto index_of = [&](std::string_view device) {
    return static_cast<size_t>(std::ranges::find(devices, device) - devices.begin());
  };
  const bool all = !layer_device(setup.placement, 0).empty() && !head_of(setup.placement).empty();
  const bool norms_stay = setup.context.n_tokens < kOffloadBatch || all;
  for (size_t i = 0; i < n; ++i) {
    const GgmlTensor& tensor = graph.tensors[i];
    if (tensor.leaf && tensor.external) {
      request.home[i] = index_of(home_of(setup, tensor.name));
      request.is_weight[i] = !tensor.name.starts_with("cache_");
    }
    if (!norms_stay || !tensor.name.starts_with("norm-")) continue;
    const auto layer = leading_integer(std::string_view(tensor.name).substr(5));
    if (layer) request.wish[i] = index_of(layer_device(setup.placement, *layer));
  }
  return request;
}

}  // namespace

LlamaReservations::LlamaReservations(const LlamaSetup& setup, const LoggedWeights& weights)
    : setup_(setup) {
  impossible_ = setup.impossible;
  if (impossible_.empty() && setup.era.unknown_graph) impossible_ = "graphs of 2023 are not known";
  if (impossible_.empty() && setup.placement.shares.empty()) impossible_ = setup.placement.how;
  if (!impossible_.empty()) return;
  const WeightsInventory inventory =
      weights.inventory ? *weights.inventory : weights_inventory(setup.model, DType::kF16);
  LlamaRun run = prompt_run(setup.context);
  run.own_head = !head_of(setup.placement).empty();
  const Result<LlamaGraph> made = llama_graph(setup.model, inventory, setup.context, run);
  if (!made) {
    impossible_ = made.diagnostics().front().message;
    return;
  }
  n_nodes_ = made->n_nodes;
  exact_ = made->exact_for_architecture;
  split(as_of(made->graph, setup.era));
}

void LlamaReservations::split(const GgmlGraph& graph) {
  for (const DeviceShare& share : setup_.placement.shares) {
    if (!share.device.empty()) devices_.push_back(share.device);
  }
  devices_.emplace_back();
  if (devices_.size() == 1) {
    reserved_ = {reserve(graph).reserved};
    return;
  }
  const DeviceSplit made = split_devices(graph, request_of(graph, setup_, devices_));
  for (size_t i = 0; i < devices_.size(); ++i) {
    GgmlGraph part = made.graphs[i];
    for (GgmlTensor& tensor : part.tensors) {
      if (devices_[i].empty()) {
        if (setup_.era.inputs_apart && tensor.leaf) tensor.external = true;
      } else if (needs_memory(tensor)) {
        tensor.bytes = align_up(tensor.bytes, kDeviceAlignment);
      }
    }
    reserved_.push_back(reserve(part).reserved);
  }
}

LlamaReservation LlamaReservations::of(std::string_view device) const {
  if (!impossible_.empty()) return {.reason = impossible_};
  const auto found = std::ranges::find(devices_, device);
  if (found == devices_.end()) return {.reason = "no layer is on that device"};
  return {.bytes = reserved_[static_cast<size_t>(found - devices_.begin())]};
}

Bytes weights_on(const LlamaSetup& setup, const WeightsInventory& weights,
                 const DeviceShare& share) {
  const bool tied = setup.model.transformer()->tied_embeddings;
  const bool alone = setup.placement.shares.size() == 1 && setup.placement.shares[0].device.empty();
  Bytes sum;
  for (const WeightTensor& tensor : weights.tensors) {
    if (is_in_tower(setup.model, tensor)) continue;
    const Bytes bytes = align_up(tensor.bytes, Alignment::of(32));
    if (alone) {
      sum += bytes;
    } else if (tensor.layer >= 0) {
      if (tensor.layer >= share.first && tensor.layer < share.last) sum += bytes;
    } else if (is_head(tensor.role)) {
      if (share.head) sum += bytes;
    } else if (share.device.empty()) {
      sum += bytes;
    } else if (tied && share.head && tensor.role == WeightRole::kTokenEmbedding) {
      sum += bytes;  // its second copy, for the product
    }
  }
  return sum;
}

}  // namespace tidemark

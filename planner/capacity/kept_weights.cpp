#include "planner/capacity/kept_weights.h"

#include <algorithm>

#include "planner/base/checked.h"
#include "planner/capacity/verdict.h"

namespace tidemark {
namespace {

constexpr int64_t kMillion = 1'000'000;

bool is_row_matrix(const WeightTensor& tensor) {
  return tensor.stack < 0 && tensor.layer >= 0 && !tensor.is_bias &&
         (tensor.role == WeightRole::kGate || tensor.role == WeightRole::kUp ||
          tensor.role == WeightRole::kDown);
}

Bytes all_bytes(const std::vector<WeightUnit>& units) {
  Bytes sum;
  for (const WeightUnit& unit : units) sum += unit.bytes;
  return sum;
}

// Of the layer that the unit's first matrix of experts is of; none without one.
MoeSpec mixture_of(const WeightUnit& unit, const WeightsInventory& weights,
                   const TransformerSpec& spec) {
  for (const WeightId id : unit.tensors) {
    const WeightTensor& tensor = weights.tensors.at(id.index());
    if (is_expert(tensor)) return spec.layers.at(static_cast<size_t>(tensor.layer)).moe;
  }
  return {};
}

Bytes with_experts_cached(const Scenario& scenario, const TransformerSpec& spec,
                          const std::vector<WeightUnit>& units, const WeightsInventory& weights) {
  const ResidencyChoices& choices = scenario.residency;
  Bytes experts;
  Bytes slots;
  Bytes least;  // of one cache for all layers
  for (const WeightUnit& unit : units) {
    const MoeSpec mixture = mixture_of(unit, weights, spec);
    if (mixture.n_expert == 0) continue;
    const int64_t used = std::min(mixture.n_expert_used, mixture.n_expert);
    const Bytes each = expert_bytes(unit, weights) / mixture.n_expert;
    experts += each * mixture.n_expert;
    slots += each * std::clamp(choices.expert_slots, used, mixture.n_expert);
    least = std::max(least, each * used);
  }
  const Bytes cache = std::min(std::max(choices.expert_bytes, least), experts);
  return all_bytes(units) - experts + (choices.expert_slots > 0 ? slots : cache);
}

Bytes with_rows_kept(const Scenario& scenario, const TransformerSpec& spec,
                     const std::vector<WeightUnit>& units, const WeightsInventory& weights) {
  Bytes kept = all_bytes(units);
  Bytes largest;
  for (const WeightUnit& unit : units) {
    const Bytes cold = cold_part(unit, weights, spec, *scenario.residency.rows).cold();
    kept -= cold;
    largest = std::max(largest, cold);
  }
  return kept + largest;
}

}  // namespace

bool is_expert(const WeightTensor& tensor) {
  return tensor.stack < 0 && tensor.layer >= 0 && is_expert(tensor.role);
}

Bytes expert_bytes(const WeightUnit& unit, const WeightsInventory& weights) {
  Bytes bytes;
  for (const WeightId id : unit.tensors) {
    const WeightTensor& tensor = weights.tensors.at(id.index());
    if (is_expert(tensor)) bytes += tensor.bytes;
  }
  return bytes;
}

Bytes ColdPart::neuron() const {
  Bytes sum;
  for (const Bytes row : rows) sum += row;
  return sum;
}

ColdPart cold_part(const WeightUnit& unit, const WeightsInventory& weights,
                   const TransformerSpec& spec, const HotRows& choice) {
  ColdPart part;
  for (const WeightId id : unit.tensors) {
    const WeightTensor& tensor = weights.tensors.at(id.index());
    if (!is_row_matrix(tensor)) continue;
    part.neurons = spec.layers.at(static_cast<size_t>(tensor.layer)).feed_forward.n_ff;
    if (part.neurons > 0) part.rows.push_back(tensor.bytes / part.neurons);
  }
  part.kept = checked_mul(part.neurons, choice.kept_ppm) / kMillion;
  part.read = ceil_div(checked_mul(part.neurons - part.kept, choice.read_ppm), kMillion);
  return part;
}

bool keeps_in_part(const Scenario& scenario) {
  return scenario.engine.policy == EnginePolicy::kPlanned &&
         scenario.strategy == StrategyKind::kResident &&
         (scenario.residency.caches_experts() || scenario.residency.rows);
}

Bytes kept_weight_bytes(const Scenario& scenario, const std::vector<WeightUnit>& units,
                        const WeightsInventory& weights) {
  const TransformerSpec* spec = scenario.model.transformer();
  if (spec == nullptr || !keeps_in_part(scenario)) return all_bytes(units);
  return scenario.residency.rows ? with_rows_kept(scenario, *spec, units, weights)
                                 : with_experts_cached(scenario, *spec, units, weights);
}

Bytes cache_capacity(const Scenario& scenario, const std::vector<WeightUnit>& units,
                     const std::vector<UnitUse>& uses, Bytes everything_else) {
  if (scenario.cache.capacity > Bytes{}) return scenario.cache.capacity;
  const DeviceLimit limit = device_limit(scenario.device, scenario.margin_ratio, scenario.budget);
  const Bytes largest = resident_weight_bytes(StrategyKind::kLayerwise, units, uses, {});
  return std::clamp(limit.limit - everything_else, largest, all_bytes(units));
}

}  // namespace tidemark

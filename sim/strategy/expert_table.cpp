#include "sim/strategy/expert_table.h"

#include "planner/capacity/kept_weights.h"
#include "sim/device/storage_model.h"
#include "sim/memory/make_policy.h"

namespace tidemark {
namespace {

// Fitted to one phone's hit rate; see expert_routing.h.
constexpr int64_t kReusePerMille = 290;
constexpr int64_t kSkewEighths = 11;

}  // namespace

std::optional<ExpertShape> expert_shape(const Scenario& scenario, const MemoryPlan& plan) {
  const TransformerSpec* spec = scenario.model.transformer();
  if (spec == nullptr) return std::nullopt;
  ExpertShape shape{.routing = {.n_layer = 0,
                                .reuse_per_mille = kReusePerMille,
                                .skew_eighths = kSkewEighths,
                                .seed = scenario.seed}};
  for (const LayerSpec& layer : spec->layers) {
    if (layer.moe.n_expert == 0) continue;
    if (shape.routing.n_layer++ > 0) continue;
    shape.routing.n_expert = layer.moe.n_expert;
    shape.routing.n_used = layer.moe.n_expert_used;
  }
  if (shape.routing.n_layer == 0) return std::nullopt;
  Bytes all;
  for (const WeightTensor& tensor : plan.weights.tensors) {
    if (is_expert(tensor)) all += tensor.bytes;
  }
  shape.expert = all / (shape.routing.n_layer * shape.routing.n_expert);
  return shape;
}

std::vector<ExpertPolicyRow> compare_expert_caches(const Scenario& scenario,
                                                   const ExpertShape& shape, int64_t slots,
                                                   int64_t tokens) {
  const StorageModel storage(scenario.device);
  const Duration read = storage.service(shape.expert, ReadOrder::kRandom, scenario.load.read_depth);
  std::vector<ExpertPolicyRow> rows;
  for (const std::string_view policy : policy_names()) {
    if (policy == "pinned") continue;  // which experts to pin is not known in advance
    const ExpertCacheUse use = run_expert_cache(
        shape.routing, {.slots = slots, .policy = policy, .tokens = tokens, .warm_up = tokens / 4});
    rows.push_back({.policy = std::string(policy),
                    .hit_rate = use.hit_rate(),
                    .read_per_token = shape.expert * use.misses / tokens,
                    .read_time_per_token = read * use.misses / tokens});
  }
  return rows;
}

}  // namespace tidemark

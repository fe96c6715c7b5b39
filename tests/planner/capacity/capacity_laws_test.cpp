// What holds for every scenario.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "planner/capacity/memory_plan.h"
#include "planner/model/state.h"
#include "sample_scenarios.h"

namespace tidemark {
namespace {

using testing::Dimensions;
using testing::scenario_of;
using testing::transformer;

ModelSpec random_layer_list() {
  LayerListSpec list;
  const int count = *rc::gen::inRange(1, 8);
  for (int i = 0; i < count; ++i) {
    list.layers.push_back({.name = "layer" + std::to_string(i),
                           .weights = Bytes::of(*rc::gen::inRange<int64_t>(0, 1000)),
                           .activation = Bytes::of(*rc::gen::inRange<int64_t>(0, 1000))});
  }
  return {.name = "list", .architecture = "layer-list", .dims = list};
}

ModelSpec random_transformer() {
  const int64_t n_head_kv = *rc::gen::inRange<int64_t>(1, 4);
  return transformer({.n_layer = *rc::gen::inRange<int64_t>(1, 4),
                      .n_embd = *rc::gen::inRange<int64_t>(1, 40),
                      .n_head = n_head_kv * *rc::gen::inRange<int64_t>(1, 4),
                      .n_head_kv = n_head_kv,
                      .head_dim = *rc::gen::inRange<int64_t>(1, 9),
                      .n_ff = *rc::gen::inRange<int64_t>(1, 60),
                      .n_vocab = *rc::gen::inRange<int64_t>(1, 60),
                      .tied_embeddings = *rc::gen::arbitrary<bool>()});
}

Scenario random_scenario(ModelSpec model) {
  Scenario scenario = scenario_of(std::move(model));
  scenario.quant = {.kind = QuantKind::kFormat,
                    .format = *rc::gen::element(DType::kF32, DType::kF16, DType::kInt8,
                                                DType::kInt4, DType::kQ4K)};
  scenario.n_ctx = Tokens(*rc::gen::inRange<int64_t>(1, 200));
  scenario.n_ubatch = Tokens(*rc::gen::inRange<int64_t>(1, 20));
  scenario.n_seq = *rc::gen::inRange<int64_t>(1, 4);
  scenario.n_outputs = *rc::gen::inRange<int64_t>(1, 4);
  scenario.type_k = *rc::gen::element(DType::kF16, DType::kQ8_0, DType::kF32);
  scenario.flash_attention = *rc::gen::arbitrary<bool>();
  scenario.strategy = *rc::gen::element(StrategyKind::kResident, StrategyKind::kLayerwise,
                                        StrategyKind::kDoubleBuffer, StrategyKind::kBlockCache);
  scenario.engine.alignment = Alignment::of(int64_t{1} << *rc::gen::inRange(0, 8));
  scenario.engine.activations =
      *rc::gen::element(ActivationPolicy::kArena, ActivationPolicy::kLive);
  return scenario;
}

Scenario random_scenario() {
  return random_scenario(*rc::gen::arbitrary<bool>() ? random_transformer() : random_layer_list());
}

MemoryPlan planned(const Scenario& scenario) {
  Result<MemoryPlan> result = plan_scenario(scenario);
  RC_ASSERT(result.ok());
  return std::move(result).value();
}

RC_GTEST_PROP(CapacityLaws, TheTotalIsTheSumOfItsParts, ()) {
  const MemoryPlan plan = planned(random_scenario());
  const Breakdown& b = plan.breakdown;
  RC_ASSERT(b.total().count() == b.weights.count() + b.kv_cache.count() +
                                     b.recurrent_state.count() + b.compute.count() +
                                     b.output.count() + b.runtime.count());
  RC_ASSERT(b.compute == plan.activations + plan.scratch);
}

RC_GTEST_PROP(CapacityLaws, UnitsHoldEveryWeightOnce, ()) {
  const MemoryPlan plan = planned(random_scenario());
  std::vector<int> held(plan.weights.tensors.size());
  Bytes sum;
  for (const WeightUnit& unit : plan.units) {
    Bytes bytes;
    for (WeightId id : unit.tensors) {
      ++held.at(id.index());
      bytes += plan.weights.tensors[id.index()].bytes;
    }
    RC_ASSERT(bytes == unit.bytes);
    sum += unit.bytes;
  }
  for (int times : held) RC_ASSERT(times == 1);
  RC_ASSERT(sum == plan.weights.bytes);
}

RC_GTEST_PROP(CapacityLaws, VisitsCoverThePassWithoutGapInOrder, ()) {
  const MemoryPlan plan = planned(random_scenario());
  for (const PhasePlan* phase : {&plan.prefill, &plan.decode}) {
    StepIndex reached;
    for (const UnitUse& use : phase->uses) {
      RC_ASSERT(use.steps.lower == reached);
      RC_ASSERT(!use.steps.empty());
      reached = use.steps.upper;
    }
    RC_ASSERT(reached == StepIndex::of(phase->schedule.order.size()));
  }
}

RC_GTEST_PROP(CapacityLaws, AnOpFindsItsWeightsInTheUnitOfItsVisit, ()) {
  const MemoryPlan plan = planned(random_scenario());
  for (const UnitUse& use : plan.prefill.uses) {
    const std::vector<WeightId>& held = plan.units.at(use.unit.index()).tensors;
    for (int64_t step = use.steps.lower.value(); step < use.steps.upper.value(); ++step) {
      const Op& op = plan.prefill.graph.op(plan.prefill.schedule.order[static_cast<size_t>(step)]);
      for (WeightId id : op.weights) {
        RC_ASSERT(std::find(held.begin(), held.end(), id) != held.end());
      }
    }
  }
}

RC_GTEST_PROP(CapacityLaws, StreamingNeverNeedsMoreWeightsThanKeepingThem, ()) {
  Scenario scenario = random_scenario();
  const auto weights_under = [&](StrategyKind strategy) {
    scenario.strategy = strategy;
    return planned(scenario).breakdown.weights;
  };
  const Bytes resident = weights_under(StrategyKind::kResident);
  const Bytes layerwise = weights_under(StrategyKind::kLayerwise);
  const Bytes double_buffer = weights_under(StrategyKind::kDoubleBuffer);
  const Bytes cached = weights_under(StrategyKind::kBlockCache);
  RC_ASSERT(layerwise <= double_buffer);
  RC_ASSERT(double_buffer <= resident);
  RC_ASSERT(double_buffer <= layerwise * 2);
  RC_ASSERT(layerwise <= cached);
  RC_ASSERT(cached <= resident);
}

RC_GTEST_PROP(CapacityLaws, TheKvCacheIsLinearInTheContext, ()) {
  Scenario scenario = random_scenario(random_transformer());
  scenario.n_seq = 1;
  const Bytes per_token = kv_bytes_per_token(scenario.model, scenario.type_k, scenario.type_v);
  const int64_t tokens = *rc::gen::inRange<int64_t>(1, 5000);
  scenario.n_ctx = Tokens(tokens);
  RC_ASSERT(planned(scenario).breakdown.kv_cache == per_token * tokens);
}

RC_GTEST_PROP(CapacityLaws, MoreContextNeverLowersTheTotal, ()) {
  Scenario scenario = random_scenario(random_transformer());
  // What the cache takes depends on what is left, so it is no part of this law. Neither is a greedy
  // arena, which may come out lower for larger buffers: only the load is monotone.
  scenario.strategy = StrategyKind::kResident;
  scenario.engine.activations = ActivationPolicy::kLive;
  const Bytes before = planned(scenario).breakdown.total();
  scenario.n_ctx = Tokens(scenario.n_ctx.count() + *rc::gen::inRange<int64_t>(0, 300));
  RC_ASSERT(planned(scenario).breakdown.total() >= before);
}

RC_GTEST_PROP(CapacityLaws, AnArenaIsNeverSmallerThanItsLoad, ()) {
  Scenario scenario = random_scenario();
  scenario.engine.activations = ActivationPolicy::kLive;
  const Bytes live = planned(scenario).activations;
  scenario.engine.activations = ActivationPolicy::kArena;
  RC_ASSERT(planned(scenario).activations >= live);
}

RC_GTEST_PROP(CapacityLaws, TheSameScenarioGivesTheSamePlan, ()) {
  const Scenario scenario = random_scenario();
  const MemoryPlan first = planned(scenario);
  const MemoryPlan second = planned(scenario);
  RC_ASSERT(first.prefill.plan.offsets == second.prefill.plan.offsets);
  RC_ASSERT(first.prefill.schedule.order == second.prefill.schedule.order);
  RC_ASSERT(first.breakdown.total() == second.breakdown.total());
}

}  // namespace
}  // namespace tidemark

#include "sim/strategy/passes.h"

#include <gtest/gtest.h>

#include "scenarios.h"
#include "sim/strategy/pass_cost.h"

namespace tidemark {
namespace {

using testing::decoder_scenario;
using testing::layer_scenario;
using testing::plan_of;

Passes passes_for(const Scenario& scenario) { return passes_of(scenario, plan_of(scenario)); }

TEST(PassesTest, PromptOfAHundredInUbatchesOfSixtyFour) {
  Scenario scenario = decoder_scenario(1, StrategyKind::kResident);
  scenario.generate = Tokens(3);
  const Passes passes = passes_for(scenario);
  ASSERT_EQ(passes.count(), 4);
  EXPECT_EQ(passes.at(0), (Pass{Phase::kPrefill, 0, 64, 64}));
  EXPECT_EQ(passes.at(1), (Pass{Phase::kPrefill, 1, 36, 100}));
  EXPECT_EQ(passes.at(2), (Pass{Phase::kDecode, 0, 1, 101}));
  EXPECT_EQ(passes.at(3), (Pass{Phase::kDecode, 1, 1, 102}));
}

TEST(PassesTest, AnEmptyPromptIsOneToken) {
  Scenario scenario = decoder_scenario(1, StrategyKind::kResident);
  scenario.prompt = Tokens(0);
  scenario.generate = Tokens(0);
  const Passes passes = passes_for(scenario);
  ASSERT_EQ(passes.count(), 1);
  EXPECT_EQ(passes.at(0), (Pass{Phase::kPrefill, 0, 1, 1}));
}

TEST(PassesTest, SequencesAdvanceTogetherAndCountTheirOwnCells) {
  Scenario scenario = decoder_scenario(1, StrategyKind::kResident);
  scenario.n_seq = 4;
  scenario.prompt = Tokens(20);
  scenario.generate = Tokens(2);
  const Passes passes = passes_for(scenario);
  ASSERT_EQ(passes.count(), 3);
  EXPECT_EQ(passes.at(0), (Pass{Phase::kPrefill, 0, 64, 16}));
  EXPECT_EQ(passes.at(1), (Pass{Phase::kPrefill, 1, 16, 20}));
  EXPECT_EQ(passes.at(2), (Pass{Phase::kDecode, 0, 4, 21}));
}

TEST(PassesTest, NoPassAttendsMoreCellsThanTheContextHas) {
  Scenario scenario = decoder_scenario(1, StrategyKind::kResident);
  scenario.n_ctx = Tokens(102);
  const Passes passes = passes_for(scenario);
  EXPECT_EQ(passes.at(passes.count() - 1).cells, 102);
}

TEST(PassesTest, ASmallerUbatchOnTheWay) {
  Passes passes{.prompt_tokens = 100, .ubatch = 64, .cells_limit = 256, .prefill = 2, .decode = 1};
  passes.change_ubatch(1, 16);
  EXPECT_EQ(passes.prefill, 4);
  EXPECT_EQ(passes.at(1), (Pass{Phase::kPrefill, 1, 16, 80}));
  EXPECT_EQ(passes.at(3), (Pass{Phase::kPrefill, 3, 4, 100}));
  EXPECT_EQ(passes.at(4), (Pass{Phase::kDecode, 0, 1, 101}));
  passes.change_ubatch(2, 8);  // 80 are done: 8, 8, 4
  EXPECT_EQ(passes.prefill, 5);
  EXPECT_EQ(passes.at(4), (Pass{Phase::kPrefill, 4, 4, 100}));
}

TEST(ItineraryTest, VisitsRunOnFromPassToPass) {
  const Itinerary itinerary{.prefill = {UnitId(7), UnitId(8)},
                            .decode = {UnitId(1), UnitId(2), UnitId(3)},
                            .prefill_passes = 2,
                            .decode_passes = 2};
  ASSERT_EQ(itinerary.visits(), 10);
  std::vector<int64_t> units;
  for (int64_t visit = 0; visit < itinerary.visits(); ++visit)
    units.push_back(itinerary.unit_at(visit).value());
  EXPECT_EQ(units, (std::vector<int64_t>{7, 8, 7, 8, 1, 2, 3, 1, 2, 3}));
}

TEST(PassCostTest, LiveBytesOfAChain) {
  const MemoryPlan plan = plan_of(layer_scenario({{"embedding", Bytes::of(800), Bytes::of(64)},
                                                  {"layer1", Bytes::of(600), Bytes::of(128)},
                                                  {"layer2", Bytes::of(600), Bytes::of(128)}},
                                                 StrategyKind::kLayerwise));
  const LiveBytes live = live_bytes(plan.prefill);
  EXPECT_EQ(live.during, (std::vector<Bytes>{Bytes::of(64), Bytes::of(192), Bytes::of(256)}));
  EXPECT_EQ(live.after, (std::vector<Bytes>{Bytes::of(64), Bytes::of(128), Bytes::of(0)}));
}

TEST(PassCostTest, AVisitTakesAsLongAsItsStepsTogether) {
  const Scenario scenario = decoder_scenario(2, StrategyKind::kLayerwise);
  const MemoryPlan plan = plan_of(scenario);
  for (const PhasePlan* phase : {&plan.prefill, &plan.decode}) {
    const PassCost cost(scenario.device, *phase, phase->options.n_tokens);
    for (const int64_t cells : {1, 100}) {
      for (size_t use = 0; use < phase->uses.size(); ++use) {
        Duration by_ops;
        Duration by_steps;
        for (StepIndex step = phase->uses[use].steps.lower; step < phase->uses[use].steps.upper;
             step = StepIndex(step.value() + 1)) {
          const Op& op = phase->graph.op(phase->schedule.order[step.index()]);
          by_ops += op_time(scenario.device, phase->graph, op, cells);
          by_steps += cost.step(step, cells);
        }
        EXPECT_EQ(cost.visit(use, cells), by_ops);
        EXPECT_EQ(by_steps, by_ops);
      }
    }
  }
}

TEST(PassCostTest, APartialUbatchTakesLessThanAFullOne) {
  const Scenario scenario = decoder_scenario(1, StrategyKind::kLayerwise);
  const MemoryPlan plan = plan_of(scenario);
  const PassCost full(scenario.device, plan.prefill, 64);
  const PassCost partial(scenario.device, plan.prefill, 36);
  for (size_t use = 0; use < plan.prefill.uses.size(); ++use) {
    EXPECT_LT(partial.visit(use, 100), full.visit(use, 100)) << use;
  }
}

TEST(PassCostTest, TheStatedSizesOfALayerListDoNotDependOnTheTokens) {
  const Scenario scenario =
      layer_scenario({{"a", Bytes::of(800), Bytes::of(200)}}, StrategyKind::kLayerwise);
  const MemoryPlan plan = plan_of(scenario);
  EXPECT_EQ(PassCost(scenario.device, plan.prefill, 1).visit(0, 1), Duration::ns(100));
}

}  // namespace
}  // namespace tidemark

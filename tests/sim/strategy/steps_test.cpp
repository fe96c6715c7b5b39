// What is resident at the end of each step, for whoever measures the same steps elsewhere.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "scenarios.h"

namespace tidemark {
namespace {

using testing::decoder_scenario;
using testing::layer_scenario;
using testing::run;

std::vector<int64_t> totals(const Scenario& scenario) {
  std::vector<int64_t> counts;
  for (const CurvePoint& point : run(scenario, {.steps = true}).steps) {
    counts.push_back(point.total().count());
  }
  return counts;
}

std::vector<PlainLayer> three_layers() {
  return {{"a", Bytes::of(100), Bytes::of(10)},
          {"b", Bytes::of(200), Bytes::of(20)},
          {"c", Bytes::of(300), Bytes::of(30)}};
}

TEST(StepsTest, AStepEndsWithItsUnitItsOutputAndItsInput) {
  const auto of = [](StrategyKind strategy) {
    return totals(layer_scenario(three_layers(), strategy));
  };
  EXPECT_EQ(of(StrategyKind::kLayerwise), (std::vector<int64_t>{110, 230, 350}));
  EXPECT_EQ(of(StrategyKind::kResident), (std::vector<int64_t>{610, 630, 650}));
  // The last visit has nothing to read ahead.
  EXPECT_EQ(of(StrategyKind::kDoubleBuffer), (std::vector<int64_t>{310, 530, 350}));
}

// What is simulated step by step is the load of the order that was planned.
TEST(StepsTest, StepsAreThoseOfTheOrderThatWasPlanned) {
  for (const StrategyKind strategy : {StrategyKind::kResident, StrategyKind::kLayerwise}) {
    Scenario scenario = decoder_scenario(3, strategy);
    scenario.engine = testing::live_engine();
    scenario.prompt = Tokens(64);  // one full pass
    scenario.generate = Tokens(1);
    for (LayerSpec& layer : std::get<TransformerSpec>(scenario.model.dims).layers) {
      layer.mixer = AttentionSpec{.n_head = 16, .n_head_kv = 16, .head_dim = 16};
      layer.feed_forward.n_ff = 8;
    }
    const Bytes before = testing::plan_of(scenario).prefill.load.peak;
    scenario.op_order = OpOrder::kMemory;
    const MemoryPlan plan = testing::plan_of(scenario);
    EXPECT_LT(plan.prefill.load.peak, before);
    const SimResult result = run(scenario, {.steps = true});
    ASSERT_EQ(result.steps.size(), plan.prefill.load.load.size());
    for (size_t step = 0; step < result.steps.size(); ++step) {
      const Op& op = plan.prefill.graph.op(plan.prefill.schedule.order[step]);
      EXPECT_EQ(result.steps[step].compute, plan.prefill.load.load[step] + op.scratch) << step;
    }
  }
}

TEST(StepsTest, NoneUnlessAskedForAndNoneOfAnAccessList) {
  Scenario scenario = layer_scenario(three_layers(), StrategyKind::kLayerwise);
  EXPECT_TRUE(run(scenario).steps.empty());
  scenario.trace = {"a", "b"};
  EXPECT_TRUE(run(scenario, {.steps = true}).steps.empty());
}

TEST(StepsTest, EveryStepOfEveryPassIsThereAndTheHighestIsThePeak) {
  const bool held = rc::check("steps", [] {
    const auto strategy = *rc::gen::element(StrategyKind::kResident, StrategyKind::kLayerwise,
                                            StrategyKind::kDoubleBuffer);
    Scenario scenario = decoder_scenario(*rc::gen::inRange<int64_t>(1, 5), strategy);
    scenario.prompt = Tokens(*rc::gen::inRange(1, 200));
    scenario.generate = Tokens(*rc::gen::inRange(1, 5));
    if (*rc::gen::arbitrary<bool>()) scenario.engine = testing::live_engine();
    const SimResult result = run(scenario, {.steps = true});
    const MemoryPlan plan = testing::plan_of(scenario);
    const int64_t prefill = ceil_div(scenario.prompt.count(), 64);
    RC_ASSERT(std::ssize(result.steps) ==
              prefill * std::ssize(plan.prefill.schedule.order) +
                  (scenario.generate.count() - 1) * std::ssize(plan.decode.schedule.order));
    Bytes highest;
    Duration last;
    for (const CurvePoint& point : result.steps) {
      highest = std::max(highest, point.total());
      RC_ASSERT(point.time >= last);
      last = point.time;
    }
    RC_ASSERT(highest == result.report.peak);
    RC_ASSERT(last == result.report.end);
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace tidemark

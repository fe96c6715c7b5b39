#include "sim/strategy/serving_cost.h"

#include <gtest/gtest.h>

#include "scenarios.h"
#include "sim/strategy/pass_cost.h"

namespace tidemark {
namespace {

using testing::decoder_scenario;
using testing::plan_of;

Scenario two_sequences(int64_t layers) {
  Scenario scenario = decoder_scenario(layers, StrategyKind::kResident);
  scenario.n_seq = 2;
  return scenario;
}

TEST(ServingCostTest, WorkedInTheHeader) {
  const Scenario scenario = two_sequences(1);
  const MemoryPlan plan = plan_of(scenario);
  ServingCost cost(scenario.device, plan.decode);
  const auto two_at = [&](int64_t a, int64_t b) {
    return cost.pass(std::vector<ServedTokens>{{0, 1, a}, {1, 1, b}});
  };
  EXPECT_EQ(two_at(3, 7), two_at(5, 5));
  EXPECT_EQ(two_at(3, 7), two_at(1, 1) + Duration::ns(8 * 128));
}

TEST(ServingCostTest, AgreesWithPassCost) {
  const Scenario scenario = two_sequences(3);
  const MemoryPlan plan = plan_of(scenario);
  const auto agrees = [&](const PhasePlan& phase, int64_t tokens, int64_t cells) {
    const PassCost plain(scenario.device, phase, 2 * tokens);
    Duration sum;
    for (size_t use = 0; use < phase.uses.size(); ++use) sum += plain.visit(use, cells);
    ServingCost cost(scenario.device, phase);
    EXPECT_EQ(cost.pass(std::vector<ServedTokens>{{0, tokens, cells}, {1, tokens, cells}}), sum);
  };
  agrees(plan.decode, 1, 100);
  agrees(plan.prefill, 32, 64);
  agrees(plan.prefill, 20, 117);
}

}  // namespace
}  // namespace tidemark

// A plan whose ops run in the order that needs least.
#include <gtest/gtest.h>

#include <algorithm>

#include "planner/alloc/validate.h"
#include "planner/capacity/memory_plan.h"
#include "sample_scenarios.h"

namespace tidemark {
namespace {

using testing::scenario_of;
using namespace literals;

MemoryPlan planned(Scenario scenario, OpOrder order) {
  scenario.op_order = order;
  Result<MemoryPlan> result = plan_scenario(scenario);
  EXPECT_TRUE(result.ok()) << to_string(result.diagnostics());
  return std::move(result).value();
}

// The widths of mamba-130m, three layers of it.
Scenario mamba() {
  const LayerSpec layer{.mixer =
                            MambaSpec{.d_conv = 4, .d_inner = 1536, .d_state = 16, .dt_rank = 48}};
  return scenario_of({.name = "small mamba",
                      .architecture = "mamba",
                      .dims = TransformerSpec{.n_embd = 768,
                                              .n_vocab = 1000,
                                              .tied_embeddings = true,
                                              .layers = std::vector<LayerSpec>(3, layer)}});
}

// The scan reads x, dt and B, C and writes y; the residual waits. In program order the tensor of x
// and z is there as well, as z is read after the scan. z's activation before it needs half as much.
//   program:  2 x 3,145,728 (x and z) + x, dt, y each 3,145,728 + B, C 163,840 + residual 1,572,864
//   memory:       3,145,728 (act(z)) + the same
// Written down in units of 512 tokens x 4 B.
TEST(OpOrderTest, ZOfMambaIsReadBeforeTheScan) {
  const MemoryPlan program = planned(mamba(), OpOrder::kProgram);
  const MemoryPlan memory = planned(mamba(), OpOrder::kMemory);
  constexpr int64_t kToken = 512 * 4;
  EXPECT_EQ(program.prefill.load.peak, Bytes::of(kToken * (5 * 1536 + (48 + 2 * 16) + 768)));
  EXPECT_EQ(memory.prefill.load.peak, Bytes::of(kToken * (4 * 1536 + (48 + 2 * 16) + 768)));
  ASSERT_TRUE(memory.prefill.order.has_value());
  EXPECT_EQ(memory.prefill.order->program_load, program.prefill.load.peak);
  EXPECT_TRUE(memory.prefill.order->is_optimal);
  EXPECT_LT(memory.activations, program.activations);
  EXPECT_FALSE(program.prefill.order.has_value());
}

TEST(OpOrderTest, APlanInAnotherOrderIsWholeAndValid) {
  const MemoryPlan plan = planned(mamba(), OpOrder::kMemory);
  for (const PhasePlan* phase : {&plan.prefill, &plan.decode}) {
    EXPECT_TRUE(validate(phase->problem, phase->plan).empty());
    EXPECT_EQ(phase->load.load.size(), phase->graph.ops().size());
    EXPECT_FALSE(std::ranges::is_sorted(phase->schedule.order));
    // Weight units are visited as in program order: layers are not mixed.
    EXPECT_EQ(phase->uses.size(), 6u);  // token_embd, 3 layers, output, token_embd
    for (size_t i = 1; i < phase->uses.size(); ++i) {
      EXPECT_EQ(phase->uses[i - 1].steps.upper, phase->uses[i].steps.lower);
    }
    EXPECT_EQ(phase->uses.front().steps.lower, StepIndex(0));
    EXPECT_EQ(phase->uses.back().steps.upper, StepIndex::of(phase->graph.ops().size()));
  }
}

TEST(OpOrderTest, WhereNoOrderIsBetterTheProgramsStays) {
  const MemoryPlan plan =
      planned(scenario_of(testing::transformer(testing::kMiniCpm2b)), OpOrder::kMemory);
  EXPECT_TRUE(std::ranges::is_sorted(plan.prefill.schedule.order));
  EXPECT_EQ(plan.prefill.order->program_load, plan.prefill.load.peak);
  EXPECT_TRUE(plan.prefill.order->is_optimal);
  EXPECT_LT(plan.prefill.order->states, 100);  // of 40 layers, which are one piece
}

}  // namespace
}  // namespace tidemark

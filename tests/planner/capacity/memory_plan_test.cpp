#include "planner/capacity/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/alloc/validate.h"
#include "sample_scenarios.h"

namespace tidemark {
namespace {

using testing::demo_scenario;
using ::testing::HasSubstr;
using testing::scenario_of;
using testing::transformer;
using namespace literals;

MemoryPlan planned(const Scenario& scenario) {
  Result<MemoryPlan> result = plan_scenario(scenario);
  EXPECT_TRUE(result.ok()) << to_string(result.diagnostics());
  return std::move(result).value();
}

std::string refusal(const Scenario& scenario) {
  const Result<MemoryPlan> result = plan_scenario(scenario);
  EXPECT_FALSE(result.ok());
  return to_string(result.diagnostics());
}

Scenario mini_cpm() {
  Scenario scenario = scenario_of(transformer(testing::kMiniCpm2b));
  scenario.quant = {.kind = QuantKind::kFormat, .format = DType::kInt4};
  scenario.prompt = Tokens(128);
  return scenario;
}

TEST(MemoryPlanTest, MiniCpmByHand) {
  const MemoryPlan plan = planned(mini_cpm());
  EXPECT_EQ(plan.breakdown.weights, 1'365'182'338_B);
  EXPECT_EQ(plan.stored_bytes, Bytes::of(2 * int64_t{2'724'880'896}));
  EXPECT_EQ(plan.breakdown.kv_cache, 1'509'949'440_B);
  // The widest moment: residual, norm, gate and up of 512 tokens, (1 + 1 + 2.5 + 2.5) x 2304 x 4 B
  // each; and the positions, which rope still needs in the layers to come.
  EXPECT_EQ(plan.prefill.plan.peak, Bytes::of(7 * 512 * 2304 * 4 + 512 * 4));
  EXPECT_EQ(plan.decode.plan.peak, Bytes::of(7 * 2304 * 4 + 4));
  EXPECT_EQ(plan.activations, plan.prefill.plan.peak);
  EXPECT_EQ(plan.scratch,
            Bytes::of(512 * (5760 + 4)));  // the input of ffn_down as int8 with a scale
  EXPECT_EQ(plan.breakdown.compute, plan.activations + plan.scratch);
  EXPECT_EQ(plan.breakdown.output, Bytes::of(4 * 122'753));
  EXPECT_EQ(plan.breakdown.recurrent_state, 0_B);
  EXPECT_EQ(plan.breakdown.runtime, 0_B);
  EXPECT_EQ(plan.breakdown.total(), 2'911'606'150_B);
  EXPECT_EQ(&plan.largest(), &plan.prefill);
}

TEST(MemoryPlanTest, EveryPhaseKeepsItsStages) {
  const MemoryPlan plan = planned(mini_cpm());
  for (const PhasePlan* phase : {&plan.prefill, &plan.decode}) {
    EXPECT_EQ(phase->graph.ops().size(), phase->schedule.order.size());
    EXPECT_EQ(phase->buffers.size(), phase->problem.buffers.size());
    EXPECT_LT(phase->buffers.size(), phase->ranges.size());  // sharing in place has joined some
    EXPECT_TRUE(validate(phase->problem, phase->plan).empty());
    EXPECT_EQ(phase->plan.lower_bound, phase->load.peak);
    EXPECT_EQ(phase->uses.size(), 43u);  // token_embd, 40 layers, output, token_embd
  }
  EXPECT_EQ(plan.prefill.phase, Phase::kPrefill);
  EXPECT_EQ(plan.prefill.options.n_tokens, 512);
  EXPECT_EQ(plan.decode.phase, Phase::kDecode);
  EXPECT_EQ(plan.decode.options.n_tokens, 1);
}

TEST(MemoryPlanTest, AUbatchIsBoundedByBatchContextAndSequences) {
  Scenario scenario = scenario_of(transformer({}));
  EXPECT_EQ(planned(scenario).prefill.options.n_tokens, 512);
  scenario.n_batch = Tokens(100);
  EXPECT_EQ(planned(scenario).prefill.options.n_tokens, 100);
  scenario.n_ctx = Tokens(30);
  EXPECT_EQ(planned(scenario).prefill.options.n_tokens, 30);
  scenario.n_seq = 40;
  EXPECT_EQ(planned(scenario).prefill.options.n_tokens, 40);
  EXPECT_EQ(planned(scenario).decode.options.n_tokens, 40);
}

TEST(MemoryPlanTest, EverySequenceHasItsRowOfLogits) {
  Scenario scenario = scenario_of(transformer({}));  // vocabulary of 10
  EXPECT_EQ(planned(scenario).breakdown.output, 40_B);
  scenario.n_seq = 4;
  EXPECT_EQ(planned(scenario).breakdown.output, 160_B);
  EXPECT_EQ(planned(scenario).decode.options.n_outputs, 4);
  // More rows than tokens of a ubatch: the buffer holds them all, a pass writes no more than its
  // tokens.
  scenario.n_outputs = 2048;
  EXPECT_EQ(planned(scenario).breakdown.output, Bytes::of(2048 * 40));
  EXPECT_EQ(planned(scenario).prefill.options.n_outputs, 512);
  EXPECT_EQ(planned(scenario).decode.options.n_outputs, 4);
}

TEST(MemoryPlanTest, SequencesShareTheContext) {
  Scenario scenario = scenario_of(transformer({}));  // 8 B a cell
  scenario.n_ctx = Tokens(100);
  EXPECT_EQ(planned(scenario).breakdown.kv_cache, 800_B);
  scenario.n_seq = 4;
  EXPECT_EQ(planned(scenario).breakdown.kv_cache, 800_B);
  scenario.n_seq = 3;  // 34 cells each
  EXPECT_EQ(planned(scenario).breakdown.kv_cache, Bytes::of(8 * 34 * 3));
}

struct StrategyCase {
  StrategyKind strategy = StrategyKind::kResident;
  Bytes weights{};
};

TEST(MemoryPlanTest, StrategiesOfTheFoundingExample) {
  const StrategyCase cases[] = {{StrategyKind::kResident, 3400_MB},
                                {StrategyKind::kLayerwise, 800_MB},
                                {StrategyKind::kDoubleBuffer, 1400_MB}};
  for (const StrategyCase& row : cases) {
    Scenario scenario = demo_scenario();
    scenario.strategy = row.strategy;
    const MemoryPlan plan = planned(scenario);
    EXPECT_EQ(plan.breakdown.weights, row.weights) << name_of(row.strategy);
    EXPECT_EQ(plan.breakdown.compute, 256_MB);  // a layer's activation and the one it reads
    EXPECT_EQ(plan.breakdown.total(), row.weights + 256_MB);
  }
}

TEST(MemoryPlanTest, ACacheTakesWhatTheLimitLeaves) {
  Scenario scenario = demo_scenario();
  scenario.strategy = StrategyKind::kBlockCache;
  EXPECT_EQ(planned(scenario).cache_capacity, 2250_MB - 256_MB);
  EXPECT_EQ(planned(scenario).breakdown.total(), 2250_MB);
  scenario.budget = 500_MB;  // no room: but the largest block must fit
  EXPECT_EQ(planned(scenario).cache_capacity, 800_MB);
  scenario.budget = 9_GB;  // more than there is
  EXPECT_EQ(planned(scenario).cache_capacity, 3400_MB);
  scenario.cache.capacity = 1536_MB;
  EXPECT_EQ(planned(scenario).cache_capacity, 1536_MB);
  EXPECT_EQ(planned(scenario).breakdown.weights, 1536_MB);
}

TEST(MemoryPlanTest, AnArenaPaysForAlignmentAndLiveTensorsDoNot) {
  Scenario scenario = demo_scenario();
  std::get<LayerListSpec>(scenario.model.dims).layers = {{"a", 1_B, 100_B}, {"b", 1_B, 100_B}};
  scenario.engine.alignment = Alignment::of(64);
  EXPECT_EQ(planned(scenario).activations, 228_B);  // 100, then 128 + 100
  scenario.engine.activations = ActivationPolicy::kLive;
  EXPECT_EQ(planned(scenario).activations, 200_B);
}

TEST(MemoryPlanTest, AFixedRuntimeIsCountedAsItIs) {
  Scenario scenario = demo_scenario();
  scenario.engine.runtime_fixed = 50_MB;
  EXPECT_EQ(planned(scenario).breakdown.runtime, 50_MB);
  EXPECT_EQ(planned(scenario).breakdown.total(), 3400_MB + 256_MB + 50_MB);
}

TEST(MemoryPlanTest, TheTextbookCountsWeightsActivationsAndARatio) {
  Scenario scenario = mini_cpm();
  scenario.engine.policy = EnginePolicy::kTextbook;
  scenario.engine.runtime_ratio = 0.1;
  const MemoryPlan plan = planned(scenario);
  EXPECT_EQ(plan.breakdown.weights, Bytes::of(2'724'880'896 / 2));  // 4 bits and nothing else
  EXPECT_EQ(plan.weights.bytes, plan.breakdown.weights);
  EXPECT_EQ(plan.breakdown.compute, Bytes::of(40 * int64_t{4096} * 2304 * 4));
  EXPECT_EQ(plan.breakdown.kv_cache, 0_B);
  EXPECT_EQ(plan.breakdown.output, 0_B);
  EXPECT_EQ(plan.activations + plan.scratch, plan.breakdown.compute);
  EXPECT_EQ(plan.breakdown.runtime,
            287'238'989_B);  // a tenth of 2,872,389,888, to the nearest byte
}

TEST(MemoryPlanTest, SizesPastSixtyThreeBitsAreBadInput) {
  Scenario scenario = mini_cpm();
  scenario.n_ctx = Tokens(int64_t{1} << 60);
  EXPECT_THAT(refusal(scenario), HasSubstr("sizes leave the 63-bit range"));
  scenario = scenario_of(transformer({.n_ff = int64_t{1} << 61}));
  EXPECT_THAT(refusal(scenario), HasSubstr("sizes leave the 63-bit range"));
  scenario = scenario_of(transformer({}));
  scenario.n_seq = int64_t{1} << 62;
  EXPECT_THAT(refusal(scenario), HasSubstr("sizes leave the 63-bit range"));
}

TEST(MemoryPlanTest, APromptMustFitTheContextOfItsSequence) {
  Scenario scenario = scenario_of(transformer({}));
  scenario.n_ctx = Tokens(100);
  scenario.prompt = Tokens(100);
  EXPECT_TRUE(plan_scenario(scenario).ok());
  scenario.n_seq = 2;
  EXPECT_THAT(
      refusal(scenario),
      HasSubstr("--prompt: a prompt of 100 tokens does not fit a context of 50 per sequence"));
  scenario = demo_scenario();  // a layer list has no context
  scenario.n_ctx = Tokens(1);
  scenario.prompt = Tokens(100);
  EXPECT_TRUE(plan_scenario(scenario).ok());
}

TEST(MemoryPlanTest, AllNumbersBelowOneAreReportedAtOnce) {
  Scenario scenario = demo_scenario();
  scenario.n_ctx = Tokens(0);
  scenario.n_batch = Tokens(-1);
  scenario.n_ubatch = Tokens(0);
  scenario.n_seq = 0;
  scenario.n_outputs = 0;
  scenario.model.dims = LayerListSpec{};
  const std::string text = refusal(scenario);
  for (const char* path : {"--ctx-size", "--batch-size", "--ubatch-size", "--parallel",
                           "--n-outputs", "model.n_layer"}) {
    EXPECT_THAT(text, HasSubstr(path));
  }
}

TEST(MemoryPlanTest, AModelOfTooManyLayersIsRefusedBeforeItIsBuilt) {
  EXPECT_THAT(refusal(scenario_of(transformer({.n_layer = kMaxOps / 19 + 1}))),
              HasSubstr("make a graph of more than"));
}

}  // namespace
}  // namespace tidemark

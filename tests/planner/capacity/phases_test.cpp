// The phases of a plan: towers and encoders before the prompt, all of them in one arena.
#include <gtest/gtest.h>

#include "planner/capacity/memory_plan.h"
#include "sample_scenarios.h"

namespace tidemark {
namespace {

using namespace literals;

TransformerSpec& dims_of(Scenario& scenario) {
  return std::get<TransformerSpec>(scenario.model.dims);
}

// 4 wide, 2 heads of 2, feed-forward 6; an image of `pixels` in patches of 2 x 2.
StackSpec tower(int64_t pixels) {
  const LayerSpec layer{.mixer = AttentionSpec{.n_head = 2, .n_head_kv = 2, .head_dim = 2},
                        .feed_forward = {.n_ff = 6, .gated = false}};
  return {.role = StackRole::kVision,
          .n_embd = 4,
          .layers = {layer},
          .extras = {{.name = "patch_embd.weight", .columns = 2, .rows = 2, .count = 3 * 4}},
          .image = {.image_size = pixels, .patch_size = 2}};
}

Scenario scenario_with_tower(int64_t pixels) {
  Scenario scenario = testing::scenario_of(testing::transformer({}));
  scenario.n_ctx = scenario.n_batch = Tokens(64);
  scenario.n_ubatch = Tokens(8);
  dims_of(scenario).stacks = {tower(pixels)};
  return scenario;
}

MemoryPlan planned(const Scenario& scenario) { return plan_scenario(scenario).value(); }

std::string names(const MemoryPlan& plan) {
  std::string text;
  for (const PhasePlan* phase : plan.phases()) text += name_of(*phase) + "; ";
  return text;
}

// 32 x 32 patches; at the first step the image, 64 x 64 x 3 x 4 = 49,152 B, its windows of the same
// size, and a position of 4 B for each patch, which turns queries later on.
constexpr Bytes kFirstStep = Bytes::of(2 * 49152 + 1024 * 4);

TEST(PhasesTest, TheArenaIsThatOfTheLargestPhase) {
  const Scenario scenario = scenario_with_tower(64);
  const MemoryPlan plan = planned(scenario);
  EXPECT_EQ(names(plan), "encode vision; prefill; decode; ");
  const PhasePlan& encode = plan.encodes.at(0);
  EXPECT_EQ(encode.load.peak, kFirstStep);
  EXPECT_EQ(encode.plan.peak, kFirstStep);
  EXPECT_EQ(&plan.largest(), &encode);
  EXPECT_EQ(activation_bytes(plan, ActivationPolicy::kArena), kFirstStep);
  EXPECT_EQ(activation_bytes(plan, ActivationPolicy::kLive), kFirstStep);
  EXPECT_EQ(plan.breakdown.compute, plan.activations + plan.scratch);
  Scenario without = scenario;
  dims_of(without).stacks.clear();
  EXPECT_EQ(names(planned(without)), "prefill; decode; ");
  EXPECT_LT(planned(without).activations, kFirstStep);
}

// 1,024 rows of 4 values in f32 wait through prefill, whose ubatch has 8 tokens: 16,384 B more at
// its fullest step.
TEST(PhasesTest, RowsOfALongImageWaitThroughPrefill) {
  const Scenario scenario = scenario_with_tower(64);
  Scenario without = scenario;
  dims_of(without).stacks.clear();
  EXPECT_EQ(planned(scenario).prefill.load.peak, planned(without).prefill.load.peak + 16384_B);
  EXPECT_EQ(planned(scenario).decode.load.peak, planned(without).decode.load.peak);
}

// The second ubatch size is twice as large, the tower is as it was, so compute is the tower's
// still.
TEST(PhasesTest, ATowerDoesNotGrowWithTheContext) {
  const Scenario scenario = scenario_with_tower(64);
  const MemoryPlan plan = planned(scenario);
  const std::vector<ArenaScaling> scalings = arena_scaling(scenario, plan);
  ASSERT_EQ(scalings.size(), 3U);
  EXPECT_EQ(scalings[0].change, "ctx_size x 2");
  EXPECT_EQ(scalings[0].compute, plan.breakdown.compute);
  EXPECT_EQ(scalings[1].change, "ubatch_size x 2");
  EXPECT_EQ(scalings[1].compute, plan.breakdown.compute);
  EXPECT_EQ(scalings[2].change, "logits of every token");
  EXPECT_EQ(scalings[2].output, Bytes::of(8 * 10 * 4));  // 8 rows of 10 words
}

// What a scaling says is what the plan of the changed scenario says.
TEST(PhasesTest, AScalingIsThePlanOfTheChangedScenario) {
  Scenario scenario = testing::scenario_of(testing::transformer(testing::kMiniCpm2b));
  scenario.flash_attention = false;
  const std::vector<ArenaScaling> scalings = arena_scaling(scenario, planned(scenario));
  Scenario longer = scenario;
  longer.n_ctx = Tokens(8192);
  Scenario wider = scenario;
  wider.n_ubatch = Tokens(1024);
  Scenario all = scenario;
  all.n_outputs = 512;
  const std::vector<const Scenario*> changed = {&longer, &wider, &all};
  ASSERT_EQ(scalings.size(), changed.size());
  for (size_t i = 0; i < changed.size(); ++i) {
    const Breakdown breakdown = planned(*changed[i]).breakdown;
    EXPECT_EQ(scalings[i].compute, breakdown.compute) << scalings[i].change;
    EXPECT_EQ(scalings[i].output, breakdown.output) << scalings[i].change;
  }
  EXPECT_TRUE(arena_scaling(testing::demo_scenario(), planned(testing::demo_scenario())).empty());
}

// BERT: no cache, no decode; without a head its output is a row of n_embd values.
TEST(PhasesTest, AnEncoderAloneNeverDecodes) {
  Scenario scenario = testing::scenario_of(testing::transformer({}));
  scenario.n_ctx = scenario.n_batch = scenario.n_ubatch = Tokens(8);
  dims_of(scenario).is_causal = false;
  dims_of(scenario).has_head = false;
  const MemoryPlan plan = planned(scenario);
  EXPECT_EQ(names(plan), "prefill; ");
  EXPECT_EQ(plan.breakdown.kv_cache, 0_B);
  EXPECT_EQ(plan.breakdown.output, Bytes::of(4 * 4));
  EXPECT_EQ(&plan.largest(), &plan.prefill);
  for (const Tensor& tensor : plan.prefill.graph.tensors()) {
    EXPECT_NE(tensor.kind, TensorKind::kState);
  }
  for (const ArenaScaling& scaling : arena_scaling(scenario, plan)) {
    EXPECT_EQ(scaling.change, "embeddings of every token");
  }
}

// T5: the encoder's states make K and V once, into the cache that the breakdown counts.
TEST(PhasesTest, AnEncoderFillsTheCacheOfCrossAttention) {
  Scenario scenario = testing::scenario_of(testing::transformer({}));
  scenario.n_ctx = Tokens(16);
  scenario.n_seq = 2;
  TransformerSpec& dims = dims_of(scenario);
  dims.n_ctx_train = Tokens(6);
  dims.layers[0].cross.attention = {.n_head = 2, .n_head_kv = 1, .head_dim = 2};
  dims.stacks = {{.role = StackRole::kEncoder, .n_embd = 4, .layers = {dims.layers[0]}}};
  dims.stacks[0].layers[0].cross = {};
  const MemoryPlan plan = planned(scenario);
  EXPECT_EQ(names(plan), "encode; prefill; decode; ");
  Bytes cross;
  for (const Tensor& tensor : plan.encodes.at(0).graph.tensors()) {
    if (tensor.kind == TensorKind::kState) cross += tensor.bytes;
  }
  EXPECT_EQ(cross, Bytes::of(2 * 6 * 2 * 2 * 2));  // K and V, 6 states, 2 values of f16, 2 sources
  EXPECT_EQ(cross, state_sizes(scenario).cross);
}

// Every phase of every kind is a plan that the judge accepts, with lifetimes inside its steps.
TEST(PhasesTest, LifetimesOfATowerEndWithinIt) {
  const MemoryPlan plan = planned(scenario_with_tower(8));
  const PhasePlan& encode = plan.encodes.at(0);
  const StepIndex end = StepIndex::of(encode.schedule.order.size());
  for (const ArenaBuffer& buffer : encode.buffers) {
    EXPECT_LT(buffer.lifetime.lower, buffer.lifetime.upper);
    EXPECT_LE(buffer.lifetime.upper, end);
  }
  EXPECT_FALSE(encode.uses.empty());
  EXPECT_EQ(encode.uses.back().steps.upper, end);
}

TEST(PhasesTest, ATowerOfTooManyLayersIsRefused) {
  Scenario scenario = scenario_with_tower(8);
  StackSpec& stack = dims_of(scenario).stacks[0];
  stack.layers.resize(3000, stack.layers[0]);
  const Result<MemoryPlan> plan = plan_scenario(scenario);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.diagnostics().front().path, "model.stacks[0]");
}

}  // namespace
}  // namespace tidemark

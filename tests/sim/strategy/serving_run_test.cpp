#include "sim/strategy/serving_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios.h"
#include "sim/strategy/serving_cost.h"

namespace tidemark {
namespace {

using testing::decoder_scenario;
using ::testing::HasSubstr;
using testing::plan_of;
using testing::refusal;
using testing::run;

// Two layers: 2 x 2 x 2 x 16 x 2 B = 256 B a cell.
constexpr int64_t kBytesPerCell = 256;

Scenario serving(int64_t n_seq, int64_t n_ctx, std::string_view rows) {
  Scenario scenario = decoder_scenario(2, StrategyKind::kResident);
  scenario.n_seq = n_seq;
  scenario.n_ctx = Tokens(n_ctx);
  scenario.serving = {.file = "t.csv", .text = "arrival_ms,prompt,generate,prefix,prefix_tokens\n"};
  scenario.serving.text += rows;
  return scenario;
}

std::string times(int count, const std::string& row) {
  std::string rows;
  for (int i = 0; i < count; ++i) rows += row;
  return rows;
}

// Ubatch 64, both there when the weights are:
//   round 1   a 64@64
//   round 2   a 36@100, b 28@28: a's first      a@101: its second
//   round 3   b 2@30: b's first                 a@102: its third, the end; b@31: the end
TEST(ServingRunTest, TwoRequestsByHand) {
  const Scenario scenario = serving(2, 256, "0,100,3,,\n0,30,2,,\n");
  const MemoryPlan plan = plan_of(scenario);
  ServingCost prefill(scenario.device, plan.prefill);
  ServingCost decode(scenario.device, plan.decode);
  Duration loaded;
  for (const WeightUnit& unit : plan.units) loaded += Duration::ns(unit.bytes.count());
  const Duration a1 = loaded + prefill.pass(std::vector<ServedTokens>{{0, 64, 64}}) +
                      prefill.pass(std::vector<ServedTokens>{{0, 36, 100}, {1, 28, 28}});
  const Duration a2 = a1 + decode.pass(std::vector<ServedTokens>{{0, 1, 101}});
  const Duration b1 = a2 + prefill.pass(std::vector<ServedTokens>{{1, 2, 30}});
  const Duration end = b1 + decode.pass(std::vector<ServedTokens>{{0, 1, 102}, {1, 1, 31}});

  const SimReport report = run(scenario).report;
  ASSERT_TRUE(report.serving.has_value());
  const ServingFacts& facts = *report.serving;
  EXPECT_EQ(report.end, end);
  EXPECT_EQ(report.ttft, a1);
  EXPECT_EQ(facts.completed, 2);
  EXPECT_EQ(facts.generated_tokens, 5);
  EXPECT_EQ(facts.prefill_passes, 3);
  EXPECT_EQ(facts.decode_passes, 2);
  EXPECT_EQ(facts.prefilled_tokens, 130);
  EXPECT_EQ(facts.first_token->p50, a1);
  EXPECT_EQ(facts.first_token->p99, b1);
  EXPECT_EQ(facts.end_to_end->p50, end);
  // Gaps: a2 - a1, end - a2, end - b1.
  EXPECT_EQ(facts.between_tokens->longest, end - a2);
  EXPECT_EQ(facts.between_tokens->p50, std::max(a2 - a1, end - b1));
  EXPECT_EQ(report.stages.compute + report.stall, report.end);
}

TEST(ServingRunTest, ARequestWaitsForItsTime) {
  const Scenario scenario = serving(2, 256, "0,8,1,,\n500,8,1,,\n");
  const SimReport report = run(scenario).report;
  const MemoryPlan plan = plan_of(scenario);
  ServingCost prefill(scenario.device, plan.prefill);
  const Duration one = prefill.pass(std::vector<ServedTokens>{{0, 8, 8}});
  EXPECT_EQ(report.end, Duration::ms(500) + one);
  EXPECT_EQ(report.serving->first_token->p50, one);
  EXPECT_FALSE(report.serving->between_tokens.has_value());
}

TEST(ServingRunTest, BlocksServeMoreTogether) {
  // Of 97 + 16 - 1 = 112 cells each: 7 blocks of 16. A request is prefilled in 1.5 rounds and
  // decodes for 15, so more than four would run at once.
  Scenario scenario = serving(16, 16 * 256, times(16, "0,97,16,,\n"));
  scenario.serving.kv_pool = Bytes::of(1024 * kBytesPerCell);
  scenario.device.compute = OpsPerSecond::of(1'000'000'000'000);  // a pass waits for its weights
  const SimReport whole = run(scenario).report;
  EXPECT_EQ(whole.serving->most_running, 4);
  EXPECT_EQ(whole.serving->pool_blocks, 4);
  EXPECT_EQ(whole.curve.front().kv_cache, Bytes::of(1024 * kBytesPerCell));
  EXPECT_EQ(whole.curve.back().kv_cache, Bytes::of(1024 * kBytesPerCell));
  // 97 to 112 of 256 cells are used: 56 to 62 % are not.
  EXPECT_GE(whole.serving->waste_per_mille, 562);
  EXPECT_LE(whole.serving->waste_per_mille, 622);

  scenario.kv_in_blocks = true;
  const SimReport blocks = run(scenario).report;
  EXPECT_EQ(blocks.serving->most_running, 9);
  EXPECT_EQ(blocks.serving->pool_blocks, 64);
  EXPECT_EQ(blocks.serving->peak_blocks, 63);
  EXPECT_EQ(blocks.serving->preemptions, 0);
  EXPECT_EQ(blocks.curve.back().kv_cache, Bytes{});
  EXPECT_LE(blocks.serving->waste_per_mille, 134);  // 15 of 112 cells at most
  EXPECT_LT(blocks.end, whole.end);
}

TEST(ServingRunTest, APrefixIsComputedOnceAndHeldOnce) {
  Scenario scenario = serving(4, 1024, times(4, "0,80,4,chat,64\n"));
  scenario.kv_in_blocks = true;
  const SimReport shared = run(scenario).report;
  EXPECT_EQ(shared.serving->prefilled_tokens, 80 + 3 * 16);
  EXPECT_EQ(shared.serving->prefix_tokens, 3 * 64);
  // Six blocks hold 83 cells; four of them are everybody's.
  EXPECT_EQ(shared.serving->peak_blocks, 4 + 4 * 2);
}

TEST(ServingRunTest, AShortPoolPreemptsAndStillServesEverybody) {
  Scenario scenario = serving(8, 8 * 128, times(8, "0,30,60,,\n"));
  scenario.kv_in_blocks = true;
  scenario.serving.kv_pool = Bytes::of(12 * 16 * kBytesPerCell);
  const SimReport report = run(scenario).report;
  EXPECT_GT(report.serving->preemptions, 0);
  EXPECT_EQ(report.serving->completed, 8);
  EXPECT_EQ(report.serving->generated_tokens, 8 * 60);
  EXPECT_LE(report.serving->peak_blocks, 12);
}

TEST(ServingRunTest, ThePoolIsWhatTheLimitLeavesAndGivesWayToTheLongest) {
  Scenario scenario = serving(4, 1024, "0,100,4,,\n");
  scenario.kv_in_blocks = true;
  const Breakdown breakdown = plan_of(scenario).breakdown;
  const Bytes rest = breakdown.total() - breakdown.kv_cache;
  scenario.budget = rest + Bytes::of(10 * 16 * kBytesPerCell);
  EXPECT_EQ(run(scenario).report.serving->pool_blocks, 10);
  scenario.budget = rest;
  const SimReport over = run(scenario).report;
  EXPECT_EQ(over.serving->pool_blocks, 7);
  EXPECT_EQ(over.outcome, SimOutcome::kOverLimit);
  scenario.serving.kv_pool = Bytes::of(6 * 16 * kBytesPerCell);
  EXPECT_THAT(to_string(refusal(scenario)), HasSubstr("kv_pool: 24.0 KiB (24,576 B) is too small"));
}

TEST(ServingRunTest, WhatMeansOnePromptIsRefused) {
  Scenario scenario = serving(2, 256, "0,8,1,,\n");
  scenario.adapt = {AdaptAction::kSpillKv};
  scenario.kv_resident = Bytes::of(1);
  scenario.trace = {"blk.0"};
  EXPECT_EQ(refusal(scenario).size(), 3U);
  scenario = serving(2, 256, "0,8,1,,\n");
  scenario.strategy = StrategyKind::kLayerwise;
  EXPECT_THAT(to_string(refusal(scenario)), HasSubstr("all weights resident, not layerwise"));
  Scenario layers = testing::layer_scenario({{"a", Bytes::of(9), {}}}, StrategyKind::kResident);
  layers.serving = scenario.serving;
  EXPECT_THAT(to_string(refusal(layers)), HasSubstr("is no decoder that can be served"));
}

TEST(ServingRunTest, MoreWorkThanIsSimulatedIsRefusedBeforeTheRun) {
  Scenario scenario = serving(1, int64_t{1} << 24, "0,8,1000010,,\n");
  EXPECT_THAT(to_string(refusal(scenario)), HasSubstr("1,000,010 passes"));
  scenario = serving(64, int64_t{1} << 30, times(2, "0,8,6000000,,\n"));
  EXPECT_THAT(to_string(refusal(scenario)), HasSubstr("12,000,000 tokens"));
}

TEST(ServingRunTest, ATraceHasASpanForEachPass) {
  const SimResult result = run(serving(2, 256, "0,100,3,,\n0,30,2,,\n"), {.trace = true});
  int64_t passes = 0;
  for (const TraceSpan& span : result.trace.spans) passes += span.lane == "compute" ? 1 : 0;
  EXPECT_EQ(passes, 5);
  EXPECT_FALSE(result.trace.counters.empty());
}

}  // namespace
}  // namespace tidemark

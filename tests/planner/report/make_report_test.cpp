// From a planned scenario to the report: every number is the plan's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/report/writers.h"

namespace tidemark {
namespace {

using namespace tidemark::literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Two layers of width 64 (row of 64: no whole block of Q4_K), 4 heads of 16, vocabulary 100.
Scenario small_scenario() {
  TransformerSpec dims{.n_embd = 64, .n_vocab = 100, .tied_embeddings = true};
  dims.layers.assign(2,
                     LayerSpec{.mixer = AttentionSpec{.n_head = 4, .n_head_kv = 2, .head_dim = 16},
                               .feed_forward = {.n_ff = 128}});
  return {.model = {.name = "small", .architecture = "llama", .dims = dims},
          .device = {.name = "phone",
                     .ram_total = 3_GiB,
                     .app_available = 2560_MiB,
                     .estimates = {"compute"}},
          .engine = {.name = "planned", .runtime_fixed = 1_MiB},
          .n_ctx = Tokens(256),
          .n_batch = Tokens(128),
          .n_ubatch = Tokens(64),
          .prompt = Tokens(16),
          .generate = Tokens(4),
          .settings = {{"ctx_size", "256", "flag --ctx-size"}}};
}

PlanReport report_of(const Scenario& scenario) {
  const Result<MemoryPlan> plan = plan_scenario(scenario);
  EXPECT_TRUE(plan.ok()) << to_string(plan.diagnostics());
  return make_plan_report(scenario, *plan);
}

TEST(MakePlanReport, CarriesThePlansOwnNumbers) {
  const Scenario scenario = small_scenario();
  const Result<MemoryPlan> plan = plan_scenario(scenario);
  ASSERT_TRUE(plan.ok()) << to_string(plan.diagnostics());
  const PlanReport report = make_plan_report(scenario, *plan);
  EXPECT_EQ(report.model.name, "small");
  EXPECT_EQ(report.model.layers, 2);
  EXPECT_EQ(report.model.parameters, plan->weights.parameters);
  EXPECT_EQ(report.model.tensor_bytes, plan->stored_bytes);
  EXPECT_EQ(report.memory.total(), plan->breakdown.total());
  EXPECT_EQ(report.memory.compute, report.activations + report.scratch);
  // 2 layers x 2 KV heads x 16 x 2 (K and V) x 2 B = 256 B a token, 256 tokens.
  EXPECT_EQ(report.kv_per_token, 256_B);
  EXPECT_EQ(report.memory.kv_cache, 64_KiB);
  EXPECT_EQ(report.settings, scenario.settings);
  EXPECT_EQ(report.strategy, "resident");
  EXPECT_THAT(report.textbook, IsEmpty());
}

TEST(MakePlanReport, AContextPastTheTrainingIsSaid) {
  Scenario scenario = small_scenario();
  std::get<TransformerSpec>(scenario.model.dims).n_ctx_train = Tokens(256);
  EXPECT_THAT(report_of(scenario).notes, IsEmpty());
  scenario.n_ctx = Tokens(257);
  ASSERT_EQ(report_of(scenario).notes.size(), 1U);
  EXPECT_EQ(report_of(scenario).notes.front(),
            "The context of 257 tokens is longer than the 256 the model was trained for.");
}

TEST(MakePlanReport, PartsThatPeakApartAreSaid) {
  Scenario scenario = small_scenario();
  scenario.engine.activations = ActivationPolicy::kLive;
  EXPECT_THAT(report_of(scenario).notes, IsEmpty());
  scenario.strategy = StrategyKind::kLayerwise;
  ASSERT_EQ(report_of(scenario).notes.size(), 1U);
  EXPECT_THAT(report_of(scenario).notes.front(), HasSubstr("which may not coincide"));
}

TEST(MakePlanReport, TheArenaIsTheLargerPhasesAndEveryRowLiesInIt) {
  const PlanReport report = report_of(small_scenario());
  EXPECT_EQ(report.arena.phase, "prefill");
  EXPECT_EQ(report.arena.buffers, static_cast<int64_t>(report.arena.rows.size()));
  EXPECT_FALSE(report.arena.peak_op.empty());
  EXPECT_LE(report.arena.lower_bound, report.arena.peak);
  EXPECT_LE(report.arena.peak, report.arena.no_reuse);
  for (const ArenaRow& row : report.arena.rows) {
    EXPECT_LE(row.offset + row.size, report.arena.peak) << row.name;
    EXPECT_LE(row.lifetime.upper.value(), report.arena.steps) << row.name;
  }
  EXPECT_THAT(arena_map(report.arena), Not(HasSubstr("!")));
}

TEST(MakePlanReport, AnOrderForMemorySaysWhatItSaves) {
  Scenario scenario = small_scenario();
  EXPECT_FALSE(report_of(scenario).arena.order.has_value());
  scenario.op_order = OpOrder::kMemory;
  const PlanReport report = report_of(scenario);
  ASSERT_TRUE(report.arena.order.has_value());
  EXPECT_LE(report.arena.order->load, report.arena.order->program_load);
  EXPECT_EQ(report.arena.order->load, report.arena.lower_bound);
  EXPECT_TRUE(report.arena.order->is_optimal);
  EXPECT_THAT(to_text(report), HasSubstr("no order needs less"));
}

// Residual, norm, gate and up of 64 tokens, 4 B each: 64 + 64 + 128 + 128 wide, and the positions.
// The residual waits for the sum behind the feed-forward: moved out, in both layers, it is 64 less.
TEST(MakePlanReport, ReliefNamesWhatWaitsOverThePeak) {
  const Scenario scenario = small_scenario();
  const Result<MemoryPlan> plan = plan_scenario(scenario);
  ASSERT_TRUE(plan.ok()) << to_string(plan.diagnostics());
  const ReliefFacts facts = relief_of(scenario, *plan, 5);
  EXPECT_EQ(facts.peak, Bytes::of(64 * 4 * (64 + 64 + 128 + 128) + 64 * 4));
  EXPECT_EQ(facts.in_use, Bytes::of(64 * 4 * (64 + 128)));
  ASSERT_FALSE(facts.reliefs.empty());
  EXPECT_EQ(facts.reliefs.front().tensor, "blk.*.attn_add");
  EXPECT_EQ(facts.reliefs.front().saves, Bytes::of(64 * 4 * 64));
  PlanReport report = make_plan_report(scenario, *plan);
  EXPECT_THAT(to_text(report), Not(HasSubstr("Relief")));
  report.relief = facts;
  EXPECT_THAT(to_text(report), HasSubstr("move out blk.*.attn_add (2 x 16.0 KiB)"));
}

TEST(MakePlanReport, TheDeviceAndItsEstimatesAreNamed) {
  const PlanReport report = report_of(small_scenario());
  EXPECT_EQ(report.device.limit.limit, 2304_MiB);
  EXPECT_EQ(report.verdict.slack, report.device.limit.limit - report.memory.total());
  EXPECT_THAT(to_text(report), HasSubstr("Estimates"));
  EXPECT_THAT(to_text(report), HasSubstr("compute"));
}

TEST(MakePlanReport, AFormatThatDoesNotFitTheRowsIsANote) {
  Scenario scenario = small_scenario();
  EXPECT_THAT(report_of(scenario).notes, IsEmpty());
  scenario.quant = {.kind = QuantKind::kFormat, .format = DType::kQ4K};
  const PlanReport report = report_of(scenario);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_THAT(report.notes.front(), HasSubstr("are not held in Q4_K"));
}

TEST(MakePlanReport, TheTextbookEngineBringsItsRows) {
  Scenario scenario = small_scenario();
  scenario.engine.policy = EnginePolicy::kTextbook;
  scenario.engine.runtime_ratio = 0.1;
  const PlanReport report = report_of(scenario);
  EXPECT_FALSE(report.textbook.empty());
  EXPECT_THAT(to_text(report), HasSubstr("Textbook"));
}

TEST(MakePlanReport, AListOfLayersSaysWhatDoesNotApply) {
  Scenario scenario = small_scenario();
  scenario.model = {
      .name = "list",
      .architecture = "layer-list",
      .dims = LayerListSpec{.layers = {{"first", 800_MB, 64_MB}, {"second", 600_MB, 128_MB}}}};
  const PlanReport report = report_of(scenario);
  EXPECT_EQ(report.kv_per_token, 0_B);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_THAT(report.notes.front(), HasSubstr("list of layer sizes"));
}

// Every buffer of the engine's, and our arena of the same graph and of our own graph beside it.
TEST(MakePlanReport, CarriesLlamaCppsOwnTable) {
  Scenario scenario = small_scenario();
  scenario.engine = {
      .name = "llama.cpp", .policy = EnginePolicy::kLlamaCpp, .weights_in = WeightsIn::kFile};
  const Result<MemoryPlan> plan = plan_scenario(scenario);
  ASSERT_TRUE(plan.ok()) << to_string(plan.diagnostics());
  const PlanReport report = make_plan_report(scenario, *plan);
  ASSERT_TRUE(report.llama && report.llama->own_plan && report.kinds);
  Bytes columns;
  for (const LlamaColumns& row : report.llama->columns) columns += row.self();
  EXPECT_EQ(columns + report.memory.output + report.memory.runtime, report.memory.total());
  EXPECT_EQ(report.llama->slack, report.device.limit.limit - columns);
  EXPECT_EQ(report.llama->compute, report.memory.compute);
  EXPECT_LE(report.llama->own_plan->peak, report.memory.compute);
  EXPECT_EQ(report.llama->own_arena,
            activation_bytes(*plan, ActivationPolicy::kArena) + scratch_bytes(*plan));
  EXPECT_EQ(report.state_parts.full + report.state_parts.window, report.memory.kv_cache);
  EXPECT_TRUE(report.llama->is_exact);
  EXPECT_THAT(to_text(report), HasSubstr("llama.cpp's columns"));
}

TEST(MakePlanReport, NamesChoicesThatTheEngineIgnores) {
  Scenario scenario = small_scenario();
  scenario.settings.push_back({"n_gpu_layers", "99", "flag --n-gpu-layers"});
  scenario.settings.push_back({"no_mmap", "on", "flag --no-mmap"});
  EXPECT_THAT(to_text(report_of(scenario)),
              HasSubstr("Engine planned has no such choices and ignores: n_gpu_layers, no_mmap."));
}

TEST(MakePlanReport, PrintsWhatTheProfileDoesNotModel) {
  Scenario scenario = small_scenario();
  scenario.engine.not_modelled = {"The driver is not counted."};
  EXPECT_THAT(to_text(report_of(scenario)), HasSubstr("The driver is not counted."));
}

}  // namespace
}  // namespace tidemark

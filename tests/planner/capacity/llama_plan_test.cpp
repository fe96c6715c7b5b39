#include "planner/capacity/llama_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/capacity/memory_kinds.h"
#include "planner/capacity/verdict.h"
#include "planner/model/quantized_weights.h"
#include "sample_scenarios.h"

namespace tidemark {
namespace {

using namespace literals;
using testing::Dimensions;
using ::testing::HasSubstr;
using testing::scenario_of;
using testing::transformer;

constexpr Dimensions kTinyLlama{.n_layer = 22,
                                .n_embd = 2048,
                                .n_head = 32,
                                .n_head_kv = 4,
                                .head_dim = 64,
                                .n_ff = 5632,
                                .n_vocab = 32000,
                                .tied_embeddings = false};

Scenario tiny_llama() {
  Scenario scenario = scenario_of(transformer(kTinyLlama));
  scenario.quant = parse_quantization("Q4_0").value();
  scenario.engine = {
      .name = "llama.cpp", .policy = EnginePolicy::kLlamaCpp, .weights_in = WeightsIn::kFile};
  scenario.llama.repack = LlamaRepack::kAvx2;
  scenario.n_ctx = Tokens(2048);
  scenario.prompt = Tokens(128);
  scenario.generate = Tokens(32);
  return scenario;
}

MemoryPlan planned(const Scenario& scenario) {
  Result<MemoryPlan> plan = plan_scenario(scenario);
  EXPECT_TRUE(plan.ok()) << to_string(plan.diagnostics());
  return std::move(plan).value();
}

// The buffers of a real run (llama_memory_test.cpp): the breakdown is their sum, term by term.
TEST(LlamaPlanTest, WorkedInTheHeader) {
  const MemoryPlan plan = planned(tiny_llama());
  ASSERT_TRUE(plan.llama.has_value());
  EXPECT_EQ(plan.breakdown.weights, 629501952_B + 544997376_B);
  EXPECT_EQ(plan.breakdown.kv_cache, 46137344_B);
  EXPECT_EQ(plan.breakdown.recurrent_state, 0_B);
  EXPECT_EQ(plan.breakdown.compute, 53489696_B);
  EXPECT_EQ(plan.breakdown.output, 128000_B);
  EXPECT_EQ(plan.activations, plan.breakdown.compute);
  EXPECT_EQ(plan.scratch, 0_B);
  ASSERT_EQ(plan.llama->columns.size(), 2u);
  EXPECT_EQ(plan.llama->columns[0].where, "host");
  EXPECT_EQ(plan.llama->columns[0].self(), 629501952_B + 46137344_B + 53489696_B);
  EXPECT_EQ(plan.llama->columns[1].where, "CPU_REPACK");
  EXPECT_EQ(plan.llama->columns[1].self(), 544997376_B);
  EXPECT_TRUE(plan.llama->exact_for_architecture);
}

// What is resident at the end is the buffers' resident part and the runtime, nothing twice.
TEST(LlamaPlanTest, TheRuntimeIsWhatNoBufferHolds) {
  const MemoryPlan plan = planned(tiny_llama());
  const LlamaPlan& llama = *plan.llama;
  EXPECT_EQ(plan.breakdown.weights + plan.breakdown.kv_cache + plan.breakdown.output +
                plan.breakdown.runtime + llama.resident.touched,
            llama.resident.generation);
  // Program and libraries, 268 + 40 + 4 B a token of the vocabulary, and less than 10 MiB more.
  const Bytes known = llama.resident.base + Bytes::of(32000 * (268 + 40 + 4));
  EXPECT_GT(plan.breakdown.runtime, known);
  EXPECT_LT(plan.breakdown.runtime, known + 10_MiB);
}

TEST(LlamaPlanTest, ReadInsteadOfMapped) {
  Scenario scenario = tiny_llama();
  scenario.llama.mapped = false;
  EXPECT_EQ(planned(scenario).breakdown.weights, 635990016_B);  // 90,992,640 + 544,997,376
  scenario.llama.repack = LlamaRepack::kNone;
  const MemoryPlan plan = planned(scenario);
  EXPECT_EQ(plan.breakdown.weights, 635990016_B);
  EXPECT_EQ(plan.llama->columns.size(), 1u);
}

TEST(LlamaPlanTest, RefusesInItsOwnWords) {
  Scenario scenario = tiny_llama();
  scenario.flash_attention = false;
  scenario.type_v = DType::kQ8_0;
  const Result<MemoryPlan> plan = plan_scenario(scenario);
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(to_string(plan.diagnostics()),
              HasSubstr("--engine: llama.cpp refuses these settings: quantized V cache requires "
                        "flash_attn to be enabled"));
}

TEST(LlamaPlanTest, RefusesAListOfSizes) {
  Scenario scenario = testing::demo_scenario();
  scenario.engine.policy = EnginePolicy::kLlamaCpp;
  EXPECT_FALSE(plan_scenario(scenario).ok());
}

TEST(LlamaPlanTest, SizesOutOfRangeAreRefused) {
  Scenario scenario = tiny_llama();
  scenario.n_ctx = Tokens(int64_t{1} << 60);
  const Result<MemoryPlan> plan = plan_scenario(scenario);
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(to_string(plan.diagnostics()), HasSubstr("63-bit"));
}

// All 22 layers and the output: the caches go there, the token embedding stays.
TEST(LlamaPlanTest, AllLayersOnADevice) {
  Scenario scenario = tiny_llama();
  scenario.llama.n_gpu_layers = 99;
  const MemoryPlan plan = planned(scenario);
  const std::vector<LlamaColumns>& columns = plan.llama->columns;
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_EQ(columns[0].where, "GPU");
  EXPECT_EQ(columns[0].context, 46137344_B);
  EXPECT_EQ(columns[1].where, "host");
  EXPECT_EQ(columns[1].context, 0_B);
  EXPECT_EQ(columns[1].model, Bytes::of(32000 * 2048 / 32 * 18));  // Q4_0
  EXPECT_EQ(plan.breakdown.kv_cache, 46137344_B);
  EXPECT_EQ(plan.breakdown.weights, columns[0].model + columns[1].model);
  EXPECT_EQ(plan.breakdown.compute, columns[0].compute + columns[1].compute);
}

// Under another strategy the weights are ours: llama.cpp streams none.
TEST(LlamaPlanTest, OtherStrategiesCountOurWeights) {
  Scenario scenario = tiny_llama();
  scenario.strategy = StrategyKind::kLayerwise;
  Scenario ours = scenario;
  ours.engine.policy = EnginePolicy::kPlanned;
  EXPECT_EQ(planned(scenario).breakdown.weights, planned(ours).breakdown.weights);
  EXPECT_EQ(planned(scenario).breakdown.compute, 53489696_B);
}

// Without flash attention the scores are 4 x cells x 512 x 32 B, and the mask 4 x cells x 512:
// 2,048 cells more are 134,217,728 + 4,194,304 B more.
TEST(LlamaPlanTest, ScoresGrowWithTheContext) {
  Scenario scenario = tiny_llama();
  scenario.flash_attention = false;
  const WeightsInventory weights = planned(scenario).weights;
  const Bytes compute = planned(scenario).breakdown.compute;
  const std::vector<LlamaScaling> scalings = llama_scaling(scenario, weights);
  ASSERT_EQ(scalings.size(), 3u);
  EXPECT_EQ(scalings[0].change, "ctx_size x 2");
  EXPECT_EQ(scalings[0].compute - compute, 134217728_B + 4194304_B);
  EXPECT_EQ(scalings[1].change, "ubatch_size x 2");
  EXPECT_GT(scalings[1].compute, compute);
  EXPECT_GE(scalings[2].compute, compute);
}

TEST(LlamaPlanTest, ItsGraphPlacedByOurPlannerTakesNoMore) {
  const Scenario scenario = tiny_llama();
  const MemoryPlan plan = planned(scenario);
  const Result<Plan> own = plan_llama_graph(scenario, plan.weights);
  ASSERT_TRUE(own.ok());
  EXPECT_LE(own->peak, plan.breakdown.compute);
  EXPECT_GE(own->peak, own->lower_bound);
}

const TermKinds& term(const MemoryKinds& kinds, std::string_view name) {
  for (const TermKinds& one : kinds.terms) {
    if (one.term == name) return one;
  }
  ADD_FAILURE() << name;
  return kinds.terms.front();
}

// resident = file_backed + dirty + device; needed <= reserved; the terms are the breakdown's.
void expect_consistent(const MemoryKinds& kinds, const MemoryPlan& plan) {
  Bytes reserved;
  for (const TermKinds& one : kinds.terms) {
    EXPECT_EQ(one.resident, one.file_backed + one.dirty + one.device) << one.term;
    EXPECT_LE(one.resident, one.reserved) << one.term;
    EXPECT_LE(one.needed, one.reserved) << one.term;
    EXPECT_EQ(one.reserved, plan.breakdown.*breakdown_part(one.term)) << one.term;
    reserved += one.reserved;
  }
  EXPECT_EQ(reserved, plan.breakdown.total());
  EXPECT_GE(kinds.default_total, Bytes{});
  EXPECT_GE(kinds.load_peak, plan.breakdown.total());
}

TEST(MemoryKindsTest, MappedAndRepacked) {
  const Scenario scenario = tiny_llama();
  const MemoryPlan plan = planned(scenario);
  const MemoryKinds kinds = memory_kinds(scenario, plan).value();
  expect_consistent(kinds, plan);
  const TermKinds& weights = term(kinds, "weights");
  EXPECT_EQ(weights.file_backed, 629501952_B);
  EXPECT_EQ(weights.dirty, 544997376_B);
  EXPECT_EQ(weights.needed, 635990016_B);
  EXPECT_EQ(kinds.loading, 635990016_B + 544997376_B + plan.breakdown.runtime);
  EXPECT_EQ(term(kinds, "compute").resident, plan.llama->resident.touched);
  EXPECT_EQ(term(kinds, "kv_cache").resident, plan.breakdown.kv_cache);  // it is cleared
  EXPECT_FALSE(memory_interval(scenario, plan).has_value());
}

TEST(MemoryKindsTest, LockedPagesStay) {
  Scenario scenario = tiny_llama();
  scenario.llama.locked = true;
  const MemoryPlan plan = planned(scenario);
  EXPECT_EQ(term(memory_kinds(scenario, plan).value(), "weights").file_backed, 0_B);
}

TEST(MemoryKindsTest, WhatIsOnADevice) {
  Scenario scenario = tiny_llama();
  scenario.llama.n_gpu_layers = 23;
  const MemoryPlan plan = planned(scenario);
  const MemoryKinds kinds = memory_kinds(scenario, plan).value();
  expect_consistent(kinds, plan);
  EXPECT_EQ(term(kinds, "weights").device, plan.llama->columns[0].model);
  EXPECT_EQ(term(kinds, "kv_cache").device, plan.breakdown.kv_cache);
  EXPECT_EQ(term(kinds, "compute").device, plan.llama->columns[0].compute);
}

// Left alone it takes a context as long as trained: here 8,192, so four times the cache.
TEST(MemoryKindsTest, TheDefaultContext) {
  Scenario scenario = tiny_llama();
  scenario.engine.context_as_trained = true;
  std::get<TransformerSpec>(scenario.model.dims).n_ctx_train = Tokens(8192);
  const MemoryPlan plan = planned(scenario);
  const MemoryKinds kinds = memory_kinds(scenario, plan).value();
  EXPECT_GE(kinds.default_total, plan.breakdown.total() + 3 * 46137344_B);
  EXPECT_LT(kinds.default_total, plan.breakdown.total() + 3 * 46137344_B + 16_MiB);
}

// A device of 3 GB: 90 % of it; and 90 % of what the rest leaves.
TEST(MemoryKindsTest, SharesOfADevice) {
  Scenario scenario = tiny_llama();
  scenario.engine = {
      .name = "paged", .weights_in = WeightsIn::kDevice, .kv_block = 16, .memory_share = 0.9};
  const MemoryPlan plan = planned(scenario);
  const MemoryKinds kinds = memory_kinds(scenario, plan).value();
  expect_consistent(kinds, plan);
  EXPECT_EQ(kinds.default_total, 2700_MB);
  EXPECT_EQ(term(kinds, "kv_cache").device, 46137344_B);
  EXPECT_EQ(term(kinds, "kv_cache").needed, Bytes::of(46137344 / 2048 * 160));  // 128 + 32 tokens

  scenario.engine.memory_share = 0;
  scenario.engine.free_share = 0.9;
  const Bytes others = plan.breakdown.total() - plan.breakdown.kv_cache;
  EXPECT_EQ(memory_kinds(scenario, plan)->default_total, others + share_of(3_GB - others, 0.9));
}

// 100 tokens are 7 blocks of 16.
TEST(MemoryKindsTest, ContextsAreWholeBlocks) {
  Scenario scenario = tiny_llama();
  scenario.engine = {.name = "paged", .kv_block = 16};
  scenario.n_ctx = Tokens(100);
  scenario.n_ubatch = Tokens(64);
  scenario.prompt = Tokens(64);
  EXPECT_EQ(planned(scenario).breakdown.kv_cache, Bytes::of(46137344 / 2048 * 7 * 16));
}

// The total counts the upper ends; the widest interval is named.
TEST(MemoryKindsTest, AnUncertainProfileGivesAnInterval) {
  Scenario scenario = tiny_llama();
  scenario.engine = {.name = "uncertain"};
  const Bytes certain = planned(scenario).breakdown.total();
  scenario.engine.uncertain = {
      {.term = "runtime", .what = "graphs", .least = 1_MiB, .most = 3_MiB},
      {.term = "kv_cache", .what = "workspace", .least = 10_MiB, .most = 20_MiB}};
  const MemoryPlan plan = planned(scenario);
  EXPECT_EQ(plan.breakdown.total(), certain + 23_MiB);
  const MemoryInterval interval = memory_interval(scenario, plan).value();
  EXPECT_EQ(interval.least, certain + 11_MiB);
  EXPECT_EQ(interval.most, certain + 23_MiB);
  EXPECT_EQ(interval.term, "kv_cache");
  EXPECT_EQ(interval.what, "workspace");
}

TEST(MemoryKindsTest, TheTextbookHasNone) {
  Scenario scenario = tiny_llama();
  scenario.engine = {.name = "formula", .policy = EnginePolicy::kTextbook, .runtime_ratio = 0.1};
  EXPECT_FALSE(memory_kinds(scenario, planned(scenario)).has_value());
}

}  // namespace
}  // namespace tidemark

// What is loaded beside a model under llama.cpp, and where its parts go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/capacity/llama_plan.h"
#include "planner/capacity/memory_kinds.h"
#include "planner/capacity/memory_plan.h"
#include "sample_scenarios.h"

namespace tidemark {
namespace {

using namespace literals;
using ::testing::Contains;
using testing::Dimensions;
using ::testing::HasSubstr;
using testing::scenario_of;
using testing::transformer;

constexpr Dimensions kSmall{.n_layer = 4,
                            .n_embd = 256,
                            .n_head = 4,
                            .n_head_kv = 2,
                            .head_dim = 64,
                            .n_ff = 512,
                            .n_vocab = 1000,
                            .tied_embeddings = false};
constexpr Dimensions kDraft{.n_layer = 2,
                            .n_embd = 128,
                            .n_head = 2,
                            .n_head_kv = 1,
                            .head_dim = 64,
                            .n_ff = 256,
                            .n_vocab = 1000,
                            .tied_embeddings = true};

Scenario small() {
  Scenario scenario = scenario_of(transformer(kSmall));
  scenario.engine = {
      .name = "llama.cpp", .policy = EnginePolicy::kLlamaCpp, .weights_in = WeightsIn::kFile};
  scenario.llama.repack = LlamaRepack::kNone;
  scenario.n_ctx = Tokens(1024);
  scenario.prompt = Tokens(64);
  scenario.generate = Tokens(16);
  return scenario;
}

Scenario with_draft() {
  Scenario scenario = small();
  scenario.llama.draft = {.model = transformer(kDraft), .n_ctx = Tokens(512)};
  return scenario;
}

MemoryPlan planned(const Scenario& scenario) {
  Result<MemoryPlan> plan = plan_scenario(scenario);
  EXPECT_TRUE(plan.ok()) << to_string(plan.diagnostics());
  return std::move(plan).value();
}

Bytes sum(const std::vector<LlamaColumns>& columns, Bytes LlamaColumns::*of,
          std::optional<LlamaPart> part = {}) {
  Bytes bytes;
  for (const LlamaColumns& row : columns) {
    if (!part || row.part == *part) bytes += row.*of;
  }
  return bytes;
}

// The draft's cache: 2 layers x K and V x 64 x 2 B x 512 cells = 262,144; logits 4 x 1,000.
TEST(LlamaPartsTest, ADraftModelIsAddedToEveryTerm) {
  const MemoryPlan alone = planned(small());
  const MemoryPlan both = planned(with_draft());
  Scenario draft = small();
  draft.model = transformer(kDraft);
  draft.n_ctx = draft.n_batch = draft.n_ubatch = Tokens(512);
  const MemoryPlan other = planned(draft);

  EXPECT_EQ(both.breakdown.kv_cache - alone.breakdown.kv_cache, 262144_B);
  EXPECT_EQ(both.breakdown.output - alone.breakdown.output, 4000_B);
  EXPECT_EQ(both.breakdown.weights - alone.breakdown.weights, other.breakdown.weights);
  EXPECT_EQ(both.breakdown.compute - alone.breakdown.compute, other.breakdown.compute);
  EXPECT_GE(both.breakdown.runtime, alone.breakdown.runtime);
  EXPECT_LT(both.breakdown.runtime, alone.breakdown.runtime + other.breakdown.runtime);

  const std::vector<LlamaColumns>& columns = both.llama->columns;
  ASSERT_EQ(columns.size(), 2U);
  EXPECT_EQ(columns[1].where, "host");
  EXPECT_EQ(columns[1].part, LlamaPart::kDraft);
  EXPECT_EQ(columns[1].context, 262144_B);
  EXPECT_THAT(both.llama->notes, Contains(HasSubstr("one context of 512 tokens")));
}

TEST(LlamaPartsTest, ADraftModelOnADevice) {
  Scenario scenario = with_draft();
  scenario.llama.draft->n_gpu_layers = 3;
  const MemoryPlan plan = planned(scenario);
  const std::vector<LlamaColumns>& columns = plan.llama->columns;
  ASSERT_EQ(columns.size(), 3U);
  EXPECT_EQ(columns[0].where, "host");
  EXPECT_EQ(columns[1].where, "GPU");
  EXPECT_EQ(columns[1].context, 262144_B);
  EXPECT_EQ(columns[2].context, 0_B);
  EXPECT_EQ(plan.breakdown.kv_cache, sum(columns, &LlamaColumns::context));
  // What is on the device is no memory of the process.
  const MemoryKinds kinds = memory_kinds(scenario, plan).value();
  EXPECT_EQ(kinds.terms[1].device, 262144_B);
}

// Settings that it refuses for the draft are refused in its words as well.
TEST(LlamaPartsTest, ADraftModelIsRefused) {
  Scenario scenario = with_draft();
  scenario.flash_attention = false;
  scenario.llama.draft->type_v = DType::kQ8_0;
  const Result<MemoryPlan> plan = plan_scenario(scenario);
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(to_string(plan.diagnostics()), HasSubstr("quantized V cache"));
}

// One vision tower that no graph is known of: 3 x 64 matrix in f16 and a bias of 64 in f32.
TEST(LlamaPartsTest, AProjectorOfWhichOnlyTheWeightsAreKnown) {
  Scenario scenario = small();
  StackSpec tower{.role = StackRole::kVision, .n_embd = 64};
  tower.extras = {{.name = "mm.weight", .columns = 64, .rows = 32}, {.name = "b", .columns = 64}};
  std::get<TransformerSpec>(scenario.model.dims).stacks = {tower};
  const MemoryPlan without = planned(scenario);
  scenario.llama.projector = true;
  const MemoryPlan plan = planned(scenario);
  const LlamaColumns& row = plan.llama->columns.back();
  EXPECT_EQ(row.part, LlamaPart::kProjector);
  EXPECT_EQ(row.model, Bytes::of(64 * 32 * 2 + 64 * 4));
  EXPECT_EQ(row.compute, 0_B);
  EXPECT_EQ(plan.breakdown.weights - without.breakdown.weights, row.model);
  EXPECT_THAT(plan.llama->notes, Contains(HasSubstr("is not known")));
  // Its file is read, so what is of it is private; the model's file stays droppable.
  const MemoryKinds kinds = memory_kinds(scenario, plan).value();
  EXPECT_EQ(kinds.terms[0].dirty, row.model);
  EXPECT_EQ(kinds.terms[0].file_backed, without.breakdown.weights);
  // A file says what it holds.
  scenario.llama.projector_file = LlamaProjectorFile{.name = "x.gguf", .whole = 640_B};
  EXPECT_EQ(planned(scenario).llama->columns.back().model, 640_B);
}

// Two devices of equal shares: 5 places of which 3 go to the first; inputs are held four times.
TEST(LlamaPartsTest, OneRowADevice) {
  Scenario scenario = small();
  scenario.llama.n_gpu_layers = 5;
  scenario.llama.shares = {1, 1};
  const MemoryPlan plan = planned(scenario);
  const std::vector<LlamaColumns>& columns = plan.llama->columns;
  ASSERT_EQ(columns.size(), 3U);
  EXPECT_EQ(columns[0].where, "GPU0");
  EXPECT_EQ(columns[1].where, "GPU1");
  EXPECT_EQ(columns[2].where, "host");
  const Bytes layer = Bytes::of(2 * 2 * 64 * 2 * 1024);
  EXPECT_EQ(columns[0].context, layer * 3);
  EXPECT_EQ(columns[1].context, layer);
  EXPECT_THAT(plan.llama->notes, Contains(HasSubstr("four times")));

  scenario.llama.split_mode = LlamaSplitMode::kNone;
  scenario.llama.main_gpu = 1;
  const MemoryPlan one = planned(scenario);
  ASSERT_EQ(one.llama->columns.size(), 2U);
  EXPECT_EQ(one.llama->columns[0].where, "GPU1");
  EXPECT_EQ(one.llama->columns[0].context, layer * 4);
}

// A pattern that puts everything on the CPU leaves the model column that -ngl 0 has.
TEST(LlamaPartsTest, EverythingPlacedOnTheCpu) {
  Scenario scenario = small();
  const Bytes mapped = planned(scenario).llama->columns[0].model;
  scenario.llama.n_gpu_layers = 5;
  scenario.llama.overrides = parse_buffer_overrides(".=CPU", 1).value();
  const MemoryPlan plan = planned(scenario);
  EXPECT_EQ(plan.llama->columns[0].model, 0_B);
  EXPECT_EQ(plan.llama->columns[1].model, mapped);
}

// What grows is the model's: a draft beside it changes no difference.
TEST(LlamaPartsTest, ScalingIsOfTheModel) {
  const Scenario alone = small();
  const Scenario both = with_draft();
  const WeightsInventory weights = planned(alone).weights;
  const auto a = llama_scaling(alone, weights);
  const auto b = llama_scaling(both, weights);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].compute, b[i].compute);
}

}  // namespace
}  // namespace tidemark

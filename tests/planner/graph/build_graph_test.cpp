#include "planner/graph/build_graph.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <stdexcept>

#include "planner/model/state.h"
#include "support/golden.h"
#include "support/sample_models.h"

namespace tidemark {
namespace {

using testing::Dimensions;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::transformer;
using namespace literals;

Graph graph_of(const ModelSpec& model, const GraphOptions& options, DType quant = DType::kF16) {
  return build_graph(model, weights_inventory(model, quant), options);
}

// Dimensions{}: n_embd 4, 2 heads of 2 with 1 KV head, n_ff 6, vocabulary 10, tied. 3 tokens, 5
// cells.
constexpr GraphOptions kThreeTokens{.n_tokens = 3, .n_outputs = 1, .n_cells = 5};

std::string names(const Graph& graph, const std::vector<TensorId>& ids) {
  std::vector<std::string> out;
  for (TensorId id : ids) out.push_back(graph.tensor(id).name);
  return fmt::format("{}", fmt::join(out, ", "));
}

// One line an op: name, kind, inputs -> outputs, and the weights it reads.
std::string list_of_ops(const ModelSpec& model, const GraphOptions& options) {
  const WeightsInventory weights = weights_inventory(model, DType::kF16);
  const Graph graph = build_graph(model, weights, options);
  std::string text;
  for (const Op& op : graph.ops()) {
    text += fmt::format("{} = {}({}) -> {}", op.name, name_of(op.kind), names(graph, op.inputs),
                        names(graph, op.outputs));
    for (WeightId id : op.weights) text += " with " + weights.tensors.at(id.index()).name;
    text += '\n';
  }
  return text;
}

std::map<std::string, Bytes> bytes_by_name(const Graph& graph) {
  std::map<std::string, Bytes> bytes;
  for (const Tensor& tensor : graph.tensors()) bytes[tensor.name] = tensor.bytes;
  return bytes;
}

const Op& op_named(const Graph& graph, std::string_view name) {
  for (const Op& op : graph.ops()) {
    if (op.name == name) return op;
  }
  throw std::invalid_argument("no op named " + std::string(name));
}

const Tensor& tensor_named(const Graph& graph, std::string_view name) {
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.name == name) return tensor;
  }
  throw std::invalid_argument("no tensor named " + std::string(name));
}

TEST(BuildGraphTest, OneLayerTiedModelWithFlashAttention) {
  EXPECT_TRUE(testing::matches_golden("graph_one_layer_flash.txt",
                                      list_of_ops(transformer({}), kThreeTokens)));
}

TEST(BuildGraphTest, OneLayerUntiedModelWithScores) {
  GraphOptions options = kThreeTokens;
  options.flash_attention = false;
  EXPECT_TRUE(testing::matches_golden(
      "graph_one_layer_scores.txt", list_of_ops(transformer({.tied_embeddings = false}), options)));
}

TEST(BuildGraphTest, TensorBytesOfATinyModelByHand) {
  const std::map<std::string, Bytes> expected = {
      {"token_ids", 12_B},       {"positions", 12_B},      {"embed", 48_B},
      {"blk.0.attn_norm", 48_B}, {"blk.0.q", 48_B},        {"blk.0.k", 24_B},
      {"blk.0.v", 24_B},         {"blk.0.q_rope", 48_B},   {"blk.0.k_rope", 24_B},
      {"blk.0.cache_k", 20_B},   {"blk.0.cache_v", 20_B},  {"blk.0.attention", 48_B},
      {"blk.0.attn_out", 48_B},  {"blk.0.attn_add", 48_B}, {"blk.0.ffn_norm", 48_B},
      {"blk.0.gate", 72_B},      {"blk.0.up", 72_B},       {"blk.0.silu", 72_B},
      {"blk.0.mul", 72_B},       {"blk.0.down", 48_B},     {"blk.0.ffn_add", 48_B},
      {"select_rows", 16_B},     {"output_norm", 16_B},    {"logits", 40_B}};
  EXPECT_EQ(bytes_by_name(graph_of(transformer({}), kThreeTokens)), expected);
}

TEST(BuildGraphTest, ScoresHoldEveryCellForEveryTokenAndHead) {
  GraphOptions options = kThreeTokens;
  options.flash_attention = false;
  const Graph graph = graph_of(transformer({}), options);
  EXPECT_EQ(tensor_named(graph, "blk.0.scores").shape, (std::array<int64_t, 4>{5, 3, 2, 1}));
  EXPECT_EQ(tensor_named(graph, "blk.0.scores").bytes, 120_B);
  EXPECT_EQ(tensor_named(graph, "blk.0.softmax").bytes, 120_B);
  EXPECT_EQ(tensor_named(graph, "blk.0.context").bytes, 48_B);
}

TEST(BuildGraphTest, KindsAndTypesOfTensors) {
  GraphOptions options = kThreeTokens;
  options.type_act = DType::kF16;
  options.type_k = DType::kQ8_0;
  options.n_seq = 3;
  const Graph graph = graph_of(transformer({}), options);
  EXPECT_EQ(tensor_named(graph, "token_ids").kind, TensorKind::kInput);
  EXPECT_EQ(tensor_named(graph, "token_ids").dtype, DType::kI32);
  EXPECT_EQ(tensor_named(graph, "positions").kind, TensorKind::kInput);
  EXPECT_EQ(tensor_named(graph, "embed").dtype, DType::kF16);
  EXPECT_EQ(tensor_named(graph, "embed").bytes, 24_B);
  EXPECT_EQ(tensor_named(graph, "blk.0.cache_k").kind, TensorKind::kState);
  EXPECT_EQ(tensor_named(graph, "blk.0.cache_k").bytes, Bytes::of(34 * 5 * 3));  // one block a cell
  EXPECT_EQ(tensor_named(graph, "blk.0.cache_v").bytes, Bytes::of(4 * 5 * 3));
  // Logits are f32 whatever the activations are.
  EXPECT_EQ(tensor_named(graph, "logits").kind, TensorKind::kOutput);
  EXPECT_EQ(tensor_named(graph, "logits").dtype, DType::kF32);
  EXPECT_EQ(tensor_named(graph, "logits").bytes, 40_B);
}

TEST(BuildGraphTest, OperationsOfATinyModelByHand) {
  const Graph graph = graph_of(transformer({}), kThreeTokens);
  EXPECT_EQ(op_named(graph, "blk.0.q").operations, 2 * 4 * 4 * 3);
  EXPECT_EQ(op_named(graph, "blk.0.k").operations, 2 * 4 * 2 * 3);
  EXPECT_EQ(op_named(graph, "blk.0.gate").operations, 2 * 4 * 6 * 3);
  EXPECT_EQ(op_named(graph, "blk.0.down").operations, 2 * 6 * 4 * 3);
  EXPECT_EQ(op_named(graph, "logits").operations, 2 * 4 * 10 * 1);
  EXPECT_EQ(op_named(graph, "blk.0.attention").operations, 0);
  EXPECT_EQ(op_named(graph, "blk.0.attention").operations_per_cell, 4 * 2 * 2 * 3);
}

TEST(BuildGraphTest, FlashAttentionDoesTheWorkOfScoresAndContext) {
  const Graph flash = graph_of(transformer({}), kThreeTokens);
  GraphOptions options = kThreeTokens;
  options.flash_attention = false;
  const Graph plain = graph_of(transformer({}), options);
  const Op& attention = op_named(flash, "blk.0.attention");
  const Op& scores = op_named(plain, "blk.0.scores");
  const Op& context = op_named(plain, "blk.0.context");
  EXPECT_EQ(attention.operations_per_cell,
            scores.operations_per_cell + context.operations_per_cell);
  EXPECT_EQ(attention.state_read_per_cell,
            scores.state_read_per_cell + context.state_read_per_cell);
  EXPECT_EQ(attention.state_read_per_cell, 8_B);  // 2 elements of K and 2 of V at f16
}

TEST(BuildGraphTest, ACellIsReadForEverySequence) {
  GraphOptions options{.n_tokens = 4, .n_outputs = 4, .n_cells = 5, .n_seq = 4};
  EXPECT_EQ(op_named(graph_of(transformer({}), options), "blk.0.attention").state_read_per_cell,
            32_B);
}

TEST(BuildGraphTest, AnEmbeddingReadsOneRowATokenAndNoMoreRowsThanThereAre) {
  const ModelSpec model = transformer({});  // 10 rows of 4 at f16
  EXPECT_EQ(op_named(graph_of(model, kThreeTokens), "embed").weights_read, Bytes::of(3 * 8));
  GraphOptions long_prompt{.n_tokens = 300, .n_cells = 300};
  EXPECT_EQ(op_named(graph_of(model, long_prompt), "embed").weights_read, Bytes::of(10 * 8));
  EXPECT_EQ(op_named(graph_of(model, kThreeTokens), "logits").weights_read, Bytes::of(10 * 8));
}

TEST(BuildGraphTest, RowsAreSelectedOnlyWhenSomeAreDropped) {
  GraphOptions options = kThreeTokens;
  options.n_outputs = 3;
  const Graph graph = graph_of(transformer({}), options);
  EXPECT_THROW(op_named(graph, "select_rows"), std::invalid_argument);
  EXPECT_EQ(tensor_named(graph, "logits").shape, (std::array<int64_t, 4>{10, 3, 1, 1}));
}

TEST(BuildGraphTest, ScratchOfQuantizedProductsByHand) {
  const Graph quantized = graph_of(transformer({}), kThreeTokens, DType::kInt8);
  EXPECT_EQ(op_named(quantized, "blk.0.q").scratch, Bytes::of(3 * (4 + 4)));
  EXPECT_EQ(op_named(quantized, "blk.0.down").scratch, Bytes::of(3 * (6 + 4)));
  EXPECT_EQ(op_named(quantized, "logits").scratch, Bytes::of(1 * (4 + 4)));
  EXPECT_EQ(op_named(quantized, "blk.0.attention").scratch, Bytes::of(4 * (2 + 2 + 32)));
  EXPECT_EQ(op_named(quantized, "embed").scratch, 0_B);
  EXPECT_EQ(op_named(graph_of(transformer({}), kThreeTokens), "blk.0.q").scratch, 0_B);
}

TEST(BuildGraphTest, ScratchFormulas) {
  EXPECT_EQ(matmul_scratch(DType::kQ4K, DType::kF32, 2304, 512), Bytes::of(512 * 2308));
  EXPECT_EQ(matmul_scratch(DType::kInt4, DType::kF16, 10, 1), 14_B);
  EXPECT_EQ(matmul_scratch(DType::kF16, DType::kF32, 2304, 512), 0_B);
  EXPECT_EQ(matmul_scratch(DType::kInt8, DType::kInt8, 2304, 512), 0_B);
  EXPECT_EQ(flash_attention_scratch(64), Bytes::of(4 * (64 + 2 + 32)));
}

TEST(BuildGraphTest, OpsAndTensorsCarryTheirLayer) {
  const Graph graph = graph_of(transformer({.n_layer = 2}), kThreeTokens);
  EXPECT_EQ(graph.ops().size(), 1u + 2 * 17 + 3);
  EXPECT_EQ(op_named(graph, "embed").layer, -1);
  EXPECT_EQ(op_named(graph, "blk.0.q").layer, 0);
  EXPECT_EQ(op_named(graph, "blk.1.ffn_add").layer, 1);
  EXPECT_EQ(op_named(graph, "select_rows").layer, -1);
}

TEST(BuildGraphTest, ALayerListIsAChain) {
  const Graph graph = graph_of(testing::demo_layers(), {});
  ASSERT_EQ(graph.ops().size(), 6u);
  EXPECT_THAT(graph.ops()[0].inputs, IsEmpty());
  for (size_t i = 0; i < 6; ++i) {
    const Op& op = graph.ops()[i];
    EXPECT_EQ(op.kind, OpKind::kPlainLayer);
    EXPECT_THAT(op.weights, ElementsAre(WeightId::of(i)));
    EXPECT_EQ(op.operations, 0);
    if (i > 0) {
      EXPECT_EQ(op.inputs, graph.ops()[i - 1].outputs);
    }
  }
  EXPECT_EQ(graph.ops()[0].name, "embedding");
  EXPECT_EQ(graph.ops()[0].weights_read, 800_MB);
  EXPECT_EQ(graph.tensor(graph.ops()[1].outputs[0]).bytes, 128_MB);
}

TEST(BuildGraphTest, SizesPastSixtyThreeBitsThrow) {
  const GraphOptions options{.n_tokens = int64_t{1} << 60, .n_cells = 1};
  EXPECT_THROW(graph_of(transformer({}), options), std::overflow_error);
}

struct RandomCase {
  Dimensions dimensions{};
  GraphOptions options{};
};

RandomCase random_case() {
  RandomCase made;
  made.dimensions = {.n_layer = *rc::gen::inRange<int64_t>(1, 4),
                     .n_embd = *rc::gen::inRange<int64_t>(1, 50),
                     .n_head = *rc::gen::inRange<int64_t>(1, 5),
                     .n_head_kv = *rc::gen::inRange<int64_t>(1, 5),
                     .head_dim = *rc::gen::inRange<int64_t>(1, 9),
                     .n_ff = *rc::gen::inRange<int64_t>(1, 50),
                     .n_vocab = *rc::gen::inRange<int64_t>(1, 50),
                     .tied_embeddings = *rc::gen::arbitrary<bool>()};
  made.options = {.n_tokens = *rc::gen::inRange<int64_t>(1, 9),
                  .n_outputs = 1,
                  .n_cells = *rc::gen::inRange<int64_t>(1, 40),
                  .n_seq = *rc::gen::inRange<int64_t>(1, 4),
                  .flash_attention = *rc::gen::arbitrary<bool>()};
  return made;
}

// The rule of thumb everybody knows: two operations per weight per token.
RC_GTEST_PROP(BuildGraphLaws, ProductsCostTwoOperationsPerWeightAndToken, ()) {
  RandomCase random = random_case();
  random.options.n_outputs = random.options.n_tokens;
  const ModelSpec model = transformer(random.dimensions);
  const Dimensions& d = random.dimensions;
  int64_t operations = 0;
  const Graph graph = graph_of(model, random.options);
  for (const Op& op : graph.ops()) operations += op.operations;
  const int64_t norms = (2 * d.n_layer + 1) * d.n_embd;
  const int64_t lookup_table = d.tied_embeddings ? 0 : d.n_embd * d.n_vocab;
  const int64_t parameters = weights_inventory(model, DType::kF16).parameters;
  RC_ASSERT(operations == 2 * random.options.n_tokens * (parameters - norms - lookup_table));
}

RC_GTEST_PROP(BuildGraphLaws, EveryWeightIsReadInItsLayer, ()) {
  const RandomCase random = random_case();
  const ModelSpec model = transformer(random.dimensions);
  const WeightsInventory weights = weights_inventory(model, DType::kInt8);
  std::vector<int> reads(weights.tensors.size());
  const Graph graph = build_graph(model, weights, random.options);
  for (const Op& op : graph.ops()) {
    for (WeightId id : op.weights) {
      ++reads[id.index()];
      RC_ASSERT(weights.tensors[id.index()].layer == op.layer);
    }
  }
  for (size_t i = 0; i < reads.size(); ++i) {
    const bool is_shared =
        random.dimensions.tied_embeddings && weights.tensors[i].role == WeightRole::kTokenEmbedding;
    RC_ASSERT(reads[i] == (is_shared ? 2 : 1));
  }
}

RC_GTEST_PROP(BuildGraphLaws, StateIsTheWholeKvCache, ()) {
  const RandomCase random = random_case();
  const ModelSpec model = transformer(random.dimensions);
  Bytes state;
  const Graph graph = graph_of(model, random.options);
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kState) state += tensor.bytes;
  }
  RC_ASSERT(state == kv_bytes_per_token(model, DType::kF16, DType::kF16) * random.options.n_cells *
                         random.options.n_seq);
}

RC_GTEST_PROP(BuildGraphLaws, ReadingEveryCellReadsTheWholeKvCacheOnce, ()) {
  const RandomCase random = random_case();
  const ModelSpec model = transformer(random.dimensions);
  Bytes per_cell;
  const Graph graph = graph_of(model, random.options);
  for (const Op& op : graph.ops()) per_cell += op.state_read_per_cell;
  RC_ASSERT(per_cell == kv_bytes_per_token(model, DType::kF16, DType::kF16) * random.options.n_seq);
}

}  // namespace
}  // namespace tidemark

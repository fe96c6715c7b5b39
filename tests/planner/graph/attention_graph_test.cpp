#include <gtest/gtest.h>

#include "layer_kinds.h"
#include "planner/base/check.h"

namespace tidemark {
namespace {

using namespace literals;
using testing::graph_of;
using testing::kThree;
using testing::model_of;
using testing::op_named;
using testing::op_table;
using testing::tensor_named;

// kHeads: n_embd 8, 4 heads of 2, 2 of them stored: Q 8, K 4 and V 4 wide. 3 tokens, 5 cells.
ModelSpec with(const char* kind) {
  for (const auto& kinds : {testing::attention_kinds(), testing::mla_kinds()}) {
    for (const testing::LayerKind& one : kinds) {
      if (one.name == kind) return model_of(one.layer);
    }
  }
  throw std::invalid_argument(kind);
}

constexpr GraphOptions kPlain{
    .n_tokens = 3, .n_outputs = 1, .n_cells = 5, .flash_attention = false};

TEST(AttentionGraphTest, BiasesFollowTheirProducts) {
  EXPECT_EQ(op_table(with("bias"), kThree, "q", "ffn_norm"),
            R"(
q = matmul(attn_norm) with attn_q.weight -> q [8,3]
q_bias = add_bias(q) with attn_q.bias -> q_bias [8,3]
k = matmul(attn_norm) with attn_k.weight -> k [4,3]
k_bias = add_bias(k) with attn_k.bias -> k_bias [4,3]
v = matmul(attn_norm) with attn_v.weight -> v [4,3]
v_bias = add_bias(v) with attn_v.bias -> v_bias [4,3]
q_rope = rope(q_bias, positions) -> q_rope [8,3]
k_rope = rope(k_bias, positions) -> k_rope [4,3]
store_kv = store_kv(k_rope, v_bias) -> cache_k [4,5], cache_v [4,5]
attention = flash_attention(q_rope, cache_k, cache_v) -> attention [8,3]
attn_out = matmul(attention) with attn_output.weight -> attn_out [8,3]
attn_out_bias = add_bias(attn_out) with attn_output.bias -> attn_out_bias [8,3]
attn_add = add(attn_out_bias, embed) -> attn_add [8,3]
)");
}
// 8 + 4 + 4 = 16 rows.
TEST(AttentionGraphTest, OneProductForQkvAndViewsOfIt) {
  EXPECT_EQ(op_table(with("fused with norm"), kThree, "qkv", "ffn_norm"),
            R"(
qkv = matmul(attn_norm) with attn_qkv.weight -> qkv [16,3]
q_norm = rms_norm(qkv) with attn_q_norm.weight -> q_norm [8,3]
q_rope = rope(q_norm, positions) -> q_rope [8,3]
k_norm = rms_norm(qkv) with attn_k_norm.weight -> k_norm [4,3]
k_rope = rope(k_norm, positions) -> k_rope [4,3]
store_kv = store_kv(k_rope, qkv) -> cache_k [4,5], cache_v [4,5]
attention = flash_attention(q_rope, cache_k, cache_v) -> attention [8,3]
attn_out = matmul(attention) with attn_output.weight -> attn_out [8,3]
attn_add = add(attn_out, embed) -> attn_add [8,3]
)");
}
// Q makes 2 x 8 rows.
TEST(AttentionGraphTest, AnOutputGateStandsBehindTheQueries) {
  EXPECT_EQ(op_table(with("output gate"), kPlain, "q", "ffn_norm"),
            R"(
q = matmul(attn_norm) with attn_q.weight -> q [16,3]
k = matmul(attn_norm) with attn_k.weight -> k [4,3]
v = matmul(attn_norm) with attn_v.weight -> v [4,3]
q_rope = rope(q, positions) -> q_rope [8,3]
k_rope = rope(k, positions) -> k_rope [4,3]
store_kv = store_kv(k_rope, v) -> cache_k [4,5], cache_v [4,5]
scores = scores(q_rope, cache_k) -> scores [5,3,4]
softmax = softmax(scores) -> softmax [5,3,4]
context = context(softmax, cache_v) -> context [8,3]
gate_sigmoid = sigmoid(q) -> gate_sigmoid [8,3]
attn_gated = mul(context, gate_sigmoid) -> attn_gated [8,3]
attn_out = matmul(attn_gated) with attn_output.weight -> attn_out [8,3]
attn_add = add(attn_out, embed) -> attn_add [8,3]
)");
}

TEST(AttentionGraphTest, ValuesThatAreKeysAreTakenBeforeNormAndRope) {
  EXPECT_EQ(op_table(with("value is key"), kThree, "q", "attn_out"),
            R"(
q = matmul(attn_norm) with attn_q.weight -> q [8,3]
k = matmul(attn_norm) with attn_k.weight -> k [4,3]
q_rope = rope(q, positions) -> q_rope [8,3]
k_rope = rope(k, positions) -> k_rope [4,3]
store_kv = store_kv(k_rope, k) -> cache_k [4,5], cache_v [4,5]
attention = flash_attention(q_rope, cache_k, cache_v) -> attention [8,3]
)");
}
// 2 x 3 = 6 values a cell, a context of 4 x 3 = 12.
TEST(AttentionGraphTest, ValuesMayBeWiderThanKeys) {
  EXPECT_EQ(op_table(with("wide values"), kPlain, "v", "attn_add"),
            R"(
v = matmul(attn_norm) with attn_v.weight -> v [6,3]
q_rope = rope(q, positions) -> q_rope [8,3]
k_rope = rope(k, positions) -> k_rope [4,3]
store_kv = store_kv(k_rope, v) -> cache_k [4,5], cache_v [6,5]
scores = scores(q_rope, cache_k) -> scores [5,3,4]
softmax = softmax(scores) -> softmax [5,3,4]
context = context(softmax, cache_v) -> context [12,3]
attn_out = matmul(context) with attn_output.weight -> attn_out [8,3]
)");
}

TEST(AttentionGraphTest, SinksBelongToTheSoftmax) {
  EXPECT_EQ(op_table(with("sinks"), kPlain, "scores", "context"),
            R"(
scores = scores(q_rope, cache_k) -> scores [5,3,4]
softmax = softmax(scores) with attn_sinks.weight -> softmax [5,3,4]
)");
}
// No rope: [5 cells, 3 tokens, 4 heads] of bias.
TEST(AttentionGraphTest, APositionBiasIsLookedUpAndAddedToTheScores) {
  EXPECT_EQ(op_table(with("buckets"), kPlain, "store_kv", "attn_out"),
            R"(
store_kv = store_kv(k, v) -> cache_k [4,5], cache_v [4,5]
position_bias = embed(positions) with attn_rel_b.weight -> position_bias [5,3,4]
scores = scores(q, cache_k) -> scores [5,3,4]
scores_bias = add(scores, position_bias) -> scores_bias [5,3,4]
softmax = softmax(scores_bias) -> softmax [5,3,4]
context = context(softmax, cache_v) -> context [8,3]
)");
}
// kMla: 4 heads, q_lora 3, kv_lora 5, nope 2, rope 2, v 3: q 4 x 4 = 16, a latent row 5 + 2 = 7.
// q_latent 4 x 5 = 20, q_cat 4 x 7 = 28, values 4 x 3 = 12. One row of the cache is K and V.
TEST(MlaGraphTest, AbsorbedAttentionMeetsLatents) {
  EXPECT_EQ(op_table(with("mla latent true split true"), kThree, "q_a", "attn_add"),
            R"(
q_a = matmul(attn_norm) with attn_q_a.weight -> q_a [3,3]
q_a_norm = rms_norm(q_a) with attn_q_a_norm.weight -> q_a_norm [3,3]
q = matmul(q_a_norm) with attn_q_b.weight -> q [16,3]
q_rope = rope(q, positions) -> q_rope [16,3]
kv_a = matmul(attn_norm) with attn_kv_a_mqa.weight -> kv_a [7,3]
k_rope = rope(kv_a, positions) -> k_rope [7,3]
kv_a_norm = rms_norm(k_rope) with attn_kv_a_norm.weight -> kv_a_norm [5,3]
store_kv = store_kv(kv_a_norm, k_rope) -> cache_k [7,5]
q_latent = matmul(q_rope) with attn_k_b.weight -> q_latent [20,3]
q_cat = concat(q_latent, q_rope) -> q_cat [28,3]
attention = flash_attention(q_cat, cache_k) -> attention [20,3]
values = matmul(attention) with attn_v_b.weight -> values [12,3]
attn_out = matmul(values) with attn_output.weight -> attn_out [8,3]
)");
}
// kv 4 x (2 + 3) = 20, K 4 x 4 = 16, V 4 x 3 = 12.
TEST(MlaGraphTest, ExpandedAttentionMeetsEveryHeadsKeysAndValues) {
  EXPECT_EQ(op_table(with("mla latent false split false"), kPlain, "kv_a", "attn_add"),
            R"(
kv_a = matmul(attn_norm) with attn_kv_a_mqa.weight -> kv_a [7,3]
k_rope = rope(kv_a, positions) -> k_rope [7,3]
kv_a_norm = rms_norm(k_rope) with attn_kv_a_norm.weight -> kv_a_norm [5,3]
kv = matmul(kv_a_norm) with attn_kv_b.weight -> kv [20,3]
k = concat(kv, k_rope) -> k [16,3]
store_kv = store_kv(k, kv) -> cache_k [16,5], cache_v [12,5]
scores = scores(q_rope, cache_k) -> scores [5,3,4]
softmax = softmax(scores) -> softmax [5,3,4]
context = context(softmax, cache_v) -> context [12,3]
attn_out = matmul(context) with attn_output.weight -> attn_out [8,3]
)");
}

TEST(MlaGraphTest, OperationsAndBytesByHand) {
  const Graph graph = graph_of(with("mla latent true split true"), kThree);
  // k_b: 2 x 5 x 4 heads, v_b: 5 x 3 x 4 heads; two operations for each and each of 3 tokens.
  EXPECT_EQ(op_named(graph, "q_latent").operations, 2 * 40 * 3);
  EXPECT_EQ(op_named(graph, "values").operations, 2 * 60 * 3);
  EXPECT_EQ(op_named(graph, "q_latent").weights_read, 80_B);
  // A cell: 4 heads x 3 tokens x (7 for its score + 5 for its part of the context).
  EXPECT_EQ(op_named(graph, "attention").operations_per_cell, 2 * 4 * 3 * (7 + 5));
  EXPECT_EQ(op_named(graph, "attention").state_read_per_cell, 14_B);  // once: 7 values of f16
}

TEST(MlaGraphTest, OneMatrixForKeysAndValuesIsReadInTwoParts) {
  const Graph graph = graph_of(with("mla latent true split false"), kThree);
  // kv_b: 4 x (2 + 3) = 20 rows of 5; 8 of them make keys, 12 values.
  EXPECT_EQ(op_named(graph, "q_latent").weights_read, Bytes::of(8 * 10));
  EXPECT_EQ(op_named(graph, "values").weights_read, Bytes::of(12 * 10));
  EXPECT_EQ(op_named(graph, "q_latent").operations, 2 * 8 * 5 * 3);
}

// A window of 2 and passes of 3 tokens: 2 + 3 = 5 of 40 cells are kept, and 2 attended.
TEST(AttentionGraphTest, AWindowLimitsCacheScoresAndWhatIsAttended) {
  GraphOptions options = kPlain;
  options.n_cells = 40;
  for (const char* kind : {"window", "chunk"}) {
    Graph graph = graph_of(with(kind), options);
    EXPECT_EQ(tensor_named(graph, "cache_k").shape, (std::array<int64_t, 4>{4, 5, 1, 1}));
    EXPECT_EQ(tensor_named(graph, "scores").shape, (std::array<int64_t, 4>{5, 3, 4, 1}));
    EXPECT_EQ(op_named(graph, "scores").most_cells, 2);
    EXPECT_EQ(op_named(graph, "context").most_cells, 2);
    options.n_tokens = 1;  // decode: the cache still makes room for a pass of 3
    options.n_ubatch = 3;
    graph = graph_of(with(kind), options);
    EXPECT_EQ(tensor_named(graph, "scores").shape, (std::array<int64_t, 4>{5, 1, 4, 1}));
    options.swa_full = true;
    EXPECT_EQ(tensor_named(graph_of(with(kind), options), "cache_v").shape[1], 40);
    options = kPlain;
    options.n_cells = 40;
  }
}

TEST(AttentionGraphTest, OneCacheForAllSequences) {
  GraphOptions options = kPlain;
  options.n_seq = 3;
  EXPECT_EQ(tensor_named(graph_of(with("dense"), options), "cache_k").shape,
            (std::array<int64_t, 4>{4, 5, 3, 1}));
  options.unified = true;
  options.n_cells = 15;
  const Graph graph = graph_of(with("dense"), options);
  EXPECT_EQ(tensor_named(graph, "cache_k").shape, (std::array<int64_t, 4>{4, 15, 1, 1}));
  EXPECT_EQ(tensor_named(graph, "scores").shape, (std::array<int64_t, 4>{15, 3, 4, 1}));
}

// Gemma 3n and 4: the last layers read the cache of an earlier one.
TEST(AttentionGraphTest, ASharedCacheIsReadAndNotStored) {
  AttentionSpec sharing = testing::kHeads;
  sharing.shares_kv_with = 0;
  ModelSpec model = model_of(testing::attention_with(testing::kHeads));
  testing::dims_of(model).layers.push_back(testing::attention_with(sharing));
  EXPECT_EQ(op_table(model, kThree, "blk.1.q", "blk.1.attn_out"), R"(
blk.1.q = matmul(blk.1.attn_norm) with blk.1.attn_q.weight -> blk.1.q [8,3]
blk.1.q_rope = rope(blk.1.q, positions) -> blk.1.q_rope [8,3]
blk.1.attention = flash_attention(blk.1.q_rope, cache_k, cache_v) -> blk.1.attention [8,3]
)");
  for (const int64_t other : {1, 7}) {
    sharing.shares_kv_with = other;
    testing::dims_of(model).layers[1] = testing::attention_with(sharing);
    EXPECT_THROW(graph_of(model, kThree), InternalError);
  }
}

// T5: the first layer's bias is added in every layer.
TEST(AttentionGraphTest, APositionBiasIsHandedOn) {
  ModelSpec model = with("buckets");
  testing::dims_of(model).layers.push_back(testing::attention_with(testing::kHeads));
  const Graph graph = graph_of(model, kPlain);
  EXPECT_EQ(graph.tensor(op_named(graph, "blk.1.scores_bias").inputs.at(1)).name,
            "blk.0.position_bias");
}

// An encoder: 6 tokens of 2 sequences, so every token meets 3.
TEST(AttentionGraphTest, WithoutACausalMaskThereIsNoCache) {
  ModelSpec model = with("dense");
  testing::dims_of(model).is_causal = false;
  GraphOptions options{
      .n_tokens = 6, .n_outputs = 6, .n_cells = 99, .n_seq = 2, .flash_attention = false};
  EXPECT_EQ(op_table(model, options, "q_rope", "attn_out"), R"(
q_rope = rope(q, positions) -> q_rope [8,6]
k_rope = rope(k, positions) -> k_rope [4,6]
scores = scores(q_rope, k_rope) -> scores [3,6,4]
softmax = softmax(scores) -> softmax [3,6,4]
context = context(softmax, v) -> context [8,6]
)");
  const Graph graph = graph_of(model, options);
  EXPECT_EQ(op_named(graph, "scores").operations, 2 * 8 * 6 * 3);
  EXPECT_EQ(op_named(graph, "scores").operations_per_cell, 0);
  EXPECT_EQ(op_named(graph, "scores").state_moved, 0_B);
}

}  // namespace
}  // namespace tidemark

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

// n_embd 8, n_ff 6, 3 tokens; 8 experts of which 2 run, 6 wide.
ModelSpec with(const std::string& kind) {
  for (const testing::LayerKind& one : testing::feed_forward_kinds()) {
    if (one.name == kind) return model_of(one.layer);
  }
  throw std::invalid_argument(kind);
}

constexpr GraphOptions kPlain{
    .n_tokens = 3, .n_outputs = 1, .n_cells = 5, .n_source = 4, .flash_attention = false};

TEST(FeedForwardGraphTest, WithoutAGate) {
  EXPECT_EQ(op_table(with("ungated"), kThree, "ffn_norm", "select_rows"),
            R"(
ffn_norm = rms_norm(attn_add) with ffn_norm.weight -> ffn_norm [8,3]
up = matmul(ffn_norm) with ffn_up.weight -> up [6,3]
up_bias = add_bias(up) with ffn_up.bias -> up_bias [6,3]
act = activation(up_bias) -> act [6,3]
down = matmul(act) with ffn_down.weight -> down [8,3]
down_bias = add_bias(down) with ffn_down.bias -> down_bias [8,3]
ffn_add = add(down_bias, attn_add) -> ffn_add [8,3]
)");
}
// 2 x 6 = 12 rows.
TEST(FeedForwardGraphTest, GateAndUpInOneMatrix) {
  EXPECT_EQ(op_table(with("fused gate and up"), kThree, "gate_up", "select_rows"),
            R"(
gate_up = matmul(ffn_norm) with ffn_up.weight -> gate_up [12,3]
gate_up_bias = add_bias(gate_up) with ffn_up.bias -> gate_up_bias [12,3]
glu = glu(gate_up_bias) -> glu [6,3]
down = matmul(glu) with ffn_down.weight -> down [8,3]
down_bias = add_bias(down) with ffn_down.bias -> down_bias [8,3]
ffn_add = add(down_bias, attn_add) -> ffn_add [8,3]
)");
}

TEST(FeedForwardGraphTest, AParallelBlockReadsTheSameNorm) {
  EXPECT_EQ(op_table(with("parallel, one norm"), kThree, "attn_out", "select_rows"),
            R"(
attn_out = matmul(attention) with attn_output.weight -> attn_out [8,3]
attn_add = add(attn_out, embed) -> attn_add [8,3]
gate = matmul(attn_norm) with ffn_gate.weight -> gate [6,3]
up = matmul(attn_norm) with ffn_up.weight -> up [6,3]
silu = silu(gate) -> silu [6,3]
mul = mul(silu, up) -> mul [6,3]
down = matmul(mul) with ffn_down.weight -> down [8,3]
ffn_add = add(down, attn_add) -> ffn_add [8,3]
)");
}

TEST(FeedForwardGraphTest, AParallelBlockWithTwoNormsReadsTheSameInput) {
  EXPECT_EQ(op_table(with("parallel, two norms"), kThree, "attn_add", "gate"),
            R"(
attn_add = add(attn_out, embed) -> attn_add [8,3]
ffn_norm = rms_norm(embed) with ffn_norm.weight -> ffn_norm [8,3]
)");
}

TEST(FeedForwardGraphTest, ALayerWithoutAMixer) {
  EXPECT_EQ(op_table(with("no mixer"), kThree, "attn_norm", "select_rows"),
            R"(
attn_norm = rms_norm(embed) with attn_norm.weight -> attn_norm [8,3]
gate = matmul(attn_norm) with ffn_gate.weight -> gate [6,3]
up = matmul(attn_norm) with ffn_up.weight -> up [6,3]
silu = silu(gate) -> silu [6,3]
mul = mul(silu, up) -> mul [6,3]
down = matmul(mul) with ffn_down.weight -> down [8,3]
ffn_add = add(down, embed) -> ffn_add [8,3]
)");
}

TEST(FeedForwardGraphTest, NormsBeforeAndBehind) {
  // before_mixer none, after_mixer RMSNorm, before_ffn without parameters, after_ffn LayerNorm.
  EXPECT_EQ(op_table(with("norms around"), kThree, "attn_out", "gate"), R"(
attn_out = matmul(attention) with attn_output.weight -> attn_out [8,3]
attn_post_norm = rms_norm(attn_out) with post_attention_norm.weight -> attn_post_norm [8,3]
attn_add = add(attn_post_norm, embed) -> attn_add [8,3]
ffn_norm = layer_norm(attn_add) -> ffn_norm [8,3]
)");
  EXPECT_EQ(op_table(with("norms around"), kThree, "down", "select_rows"), R"(
down = matmul(mul) with ffn_down.weight -> down [8,3]
ffn_post_norm = layer_norm(down) with post_ffw_norm.weight, post_ffw_norm.bias -> ffn_post_norm [8,3]
ffn_add = add(ffn_post_norm, attn_add) -> ffn_add [8,3]
)");
}

// Two rows a token in between.
TEST(ExpertGraphTest, RouterChoiceExpertsAndSum) {
  EXPECT_EQ(op_table(with("experts"), kThree, "router", "select_rows"),
            R"(
router = matmul(ffn_norm) with ffn_gate_inp.weight -> router [8,3]
router_softmax = softmax(router) -> router_softmax [8,3]
expert_weights = top_k(router_softmax) -> expert_weights [2,3], experts [2,3]
expert_gate = expert_matmul(ffn_norm, experts) with ffn_gate_exps.weight -> expert_gate [6,2,3]
expert_up = expert_matmul(ffn_norm, experts) with ffn_up_exps.weight -> expert_up [6,2,3]
expert_silu = silu(expert_gate) -> expert_silu [6,2,3]
expert_mul = mul(expert_silu, expert_up) -> expert_mul [6,2,3]
expert_down = expert_matmul(expert_mul, experts) with ffn_down_exps.weight -> expert_down [8,2,3]
expert_weighted = mul(expert_down, expert_weights) -> expert_weighted [8,2,3]
expert_sum = sum_rows(expert_weighted) -> expert_sum [8,3]
ffn_add = add(expert_sum, attn_add) -> ffn_add [8,3]
)");
}
// n_ff_shared 5; its weight is one value a token.
TEST(ExpertGraphTest, ASharedExpertRunsForEveryToken) {
  EXPECT_EQ(op_table(with("experts with everything"), kThree, "expert_sum", "ffn_add"),
            R"(
expert_sum = sum_rows(expert_weighted) -> expert_sum [8,3]
shared_gate = matmul(ffn_norm) with ffn_gate_shexp.weight -> shared_gate [5,3]
shared_gate_bias = add_bias(shared_gate) with ffn_gate_shexp.bias -> shared_gate_bias [5,3]
shared_up = matmul(ffn_norm) with ffn_up_shexp.weight -> shared_up [5,3]
shared_up_bias = add_bias(shared_up) with ffn_up_shexp.bias -> shared_up_bias [5,3]
shared_silu = silu(shared_gate_bias) -> shared_silu [5,3]
shared_mul = mul(shared_silu, shared_up_bias) -> shared_mul [5,3]
shared_down = matmul(shared_mul) with ffn_down_shexp.weight -> shared_down [8,3]
shared_down_bias = add_bias(shared_down) with ffn_down_shexp.bias -> shared_down_bias [8,3]
shared_router = matmul(ffn_norm) with ffn_gate_inp_shexp.weight -> shared_router [1,3]
shared_sigmoid = sigmoid(shared_router) -> shared_sigmoid [1,3]
shared_weighted = mul(shared_down_bias, shared_sigmoid) -> shared_weighted [8,3]
shared_add = add(expert_sum, shared_weighted) -> shared_add [8,3]
)");
}

// 8 experts, 2 a token: one token touches 2, three touch at most 6, ten all 8.
TEST(ExpertGraphTest, ExpertsThatNobodyIsSentToAreNotRead) {
  struct Case {
    int64_t n_tokens = 0;
    int64_t touched = 0;
  };
  for (const Case& row : {Case{1, 2}, Case{3, 6}, Case{10, 8}}) {
    const Graph graph =
        graph_of(with("experts with everything"), {.n_tokens = row.n_tokens, .n_cells = 10});
    const int64_t expert = 6 * 8 * 2;  // 6 rows of 8 at f16
    EXPECT_EQ(op_named(graph, "expert_gate").weights_read, Bytes::of(row.touched * expert));
    EXPECT_EQ(op_named(graph, "expert_down").weights_read, Bytes::of(row.touched * expert));
    EXPECT_EQ(op_named(graph, "expert_up_bias").weights_read, Bytes::of(row.touched * 6 * 2));
    EXPECT_EQ(op_named(graph, "expert_up").operations, 2 * 8 * 6 * 2 * row.n_tokens);
  }
}

TEST(ExpertGraphTest, BytesByHand) {
  const Graph graph = graph_of(with("experts"), kThree, DType::kInt8);
  EXPECT_EQ(tensor_named(graph, "router").bytes, Bytes::of(8 * 3 * 4));
  EXPECT_EQ(tensor_named(graph, "experts").dtype, DType::kI32);
  EXPECT_EQ(tensor_named(graph, "experts").bytes, Bytes::of(2 * 3 * 4));
  EXPECT_EQ(tensor_named(graph, "expert_up").bytes, Bytes::of(6 * 2 * 3 * 4));
  EXPECT_EQ(tensor_named(graph, "expert_down").bytes, Bytes::of(8 * 2 * 3 * 4));
  // Each token's row once; then each of its two rows.
  EXPECT_EQ(op_named(graph, "expert_up").scratch, Bytes::of(3 * (8 + 4)));
  EXPECT_EQ(op_named(graph, "expert_down").scratch, Bytes::of(3 * 2 * (6 + 4)));
}

// The encoder's 4 states have 2 heads of 2 at f16: 8 B of K and as much of V each.
TEST(CrossAttentionGraphTest, ReadsTheEncodersStates) {
  EXPECT_EQ(op_table(with("cross-attention"), kPlain, "cross_norm", "ffn_norm"),
            R"(
cross_norm = layer_norm(attn_add) with cross_attn_norm.weight, cross_attn_norm.bias -> cross_norm [8,3]
cross_q = matmul(cross_norm) with cross_attn_q.weight -> cross_q [8,3]
cross_q_bias = add_bias(cross_q) with cross_attn_q.bias -> cross_q_bias [8,3]
cross_scores = scores(cross_q_bias, cross_k) -> cross_scores [4,3,4]
cross_softmax = softmax(cross_scores) -> cross_softmax [4,3,4]
cross_context = context(cross_softmax, cross_v) -> cross_context [8,3]
cross_out = matmul(cross_context) with cross_attn_output.weight -> cross_out [8,3]
cross_out_bias = add_bias(cross_out) with cross_attn_output.bias -> cross_out_bias [8,3]
cross_add = add(cross_out_bias, attn_add) -> cross_add [8,3]
)");
  const Graph graph = graph_of(with("cross-attention"), kPlain);
  EXPECT_EQ(tensor_named(graph, "cross_k").kind, TensorKind::kState);
  EXPECT_EQ(graph.producer(tensor_named(graph, "cross_k").id), std::nullopt);
  EXPECT_EQ(op_named(graph, "cross_scores").operations, 2 * 8 * 3 * 4);
  EXPECT_EQ(op_named(graph, "cross_scores").state_moved, Bytes::of(4 * 8));
  EXPECT_EQ(op_named(graph, "cross_scores").operations_per_cell, 0);
}

TEST(CrossAttentionGraphTest, IsSkippedWhereThereIsNothingToMeet) {
  EXPECT_THROW(op_named(graph_of(with("cross-attention"), kThree), "cross_q"),
               std::invalid_argument);
}

// A vector of 8, a table of 10 rows (one a word) of 4, of which 3 are looked up, and 3 factors.
TEST(ExtrasGraphTest, AreReadAndChangeNoShape) {
  const Graph graph = graph_of(with("extras"), kThree);
  EXPECT_EQ(op_named(graph, "extras").weights_read, Bytes::of(2 * (8 + 3 * 4 + 3)));
  EXPECT_EQ(tensor_named(graph, "extras").bytes, tensor_named(graph, "ffn_add").bytes);
}

}  // namespace
}  // namespace tidemark

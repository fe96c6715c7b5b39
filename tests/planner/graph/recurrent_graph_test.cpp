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

// n_embd 8, 3 tokens. The mixer of each kind, up to the sum.
ModelSpec with(const std::string& kind, size_t n_layer = 1) {
  for (const testing::LayerKind& one : testing::recurrent_kinds()) {
    if (one.name == kind) return model_of(one.layer, n_layer);
  }
  throw std::invalid_argument(kind);
}

// d_inner 16, d_state 3, dt_rank 2, d_conv 4: ssm_x makes 2 + 2 x 3 = 8.
TEST(RecurrentGraphTest, Mamba) {
  EXPECT_EQ(op_table(with("mamba"), kThree, "ssm_in", "attn_add"),
            R"(
ssm_in = matmul(attn_norm) with ssm_in.weight -> ssm_in [32,3]
conv = conv(ssm_in) with ssm_conv1d.weight, ssm_conv1d.bias -> conv [16,3], conv_state [3,16]
conv_silu = silu(conv) -> conv_silu [16,3]
ssm_x = matmul(conv_silu) with ssm_x.weight -> ssm_x [8,3]
dt = matmul(ssm_x) with ssm_dt.weight -> dt [16,3]
dt_bias = add_bias(dt) with ssm_dt.bias -> dt_bias [16,3]
ssm_scan = scan(conv_silu, dt_bias, ssm_x) with ssm_a, ssm_d -> ssm_scan [16,3], state [3,16]
z_silu = silu(ssm_in) -> z_silu [16,3]
ssm_mul = mul(ssm_scan, z_silu) -> ssm_mul [16,3]
ssm_out = matmul(ssm_mul) with ssm_out.weight -> ssm_out [8,3]
)");
}

TEST(RecurrentGraphTest, MambaWithNormsAndBiases) {
  EXPECT_EQ(op_table(with("jamba"), kThree, "ssm_in", "attn_add"),
            R"(
ssm_in = matmul(attn_norm) with ssm_in.weight -> ssm_in [32,3]
ssm_in_bias = add_bias(ssm_in) with ssm_in.bias -> ssm_in_bias [32,3]
conv = conv(ssm_in_bias) with ssm_conv1d.weight -> conv [16,3], conv_state [3,16]
conv_silu = silu(conv) -> conv_silu [16,3]
ssm_x = matmul(conv_silu) with ssm_x.weight -> ssm_x [8,3]
dt_norm = rms_norm(ssm_x) with ssm_dt_norm.weight -> dt_norm [2,3]
b_norm = rms_norm(ssm_x) with ssm_b_norm.weight -> b_norm [3,3]
c_norm = rms_norm(ssm_x) with ssm_c_norm.weight -> c_norm [3,3]
dt = matmul(dt_norm) with ssm_dt.weight -> dt [16,3]
dt_bias = add_bias(dt) with ssm_dt.bias -> dt_bias [16,3]
ssm_scan = scan(conv_silu, dt_bias, b_norm, c_norm) with ssm_a, ssm_d -> ssm_scan [16,3], state [3,16]
z_silu = silu(ssm_in_bias) -> z_silu [16,3]
ssm_mul = mul(ssm_scan, z_silu) -> ssm_mul [16,3]
ssm_out = matmul(ssm_mul) with ssm_out.weight -> ssm_out [8,3]
ssm_out_bias = add_bias(ssm_out) with ssm_out.bias -> ssm_out_bias [8,3]
)");
}
// ssm_in makes z 16, x 16, B and C 2 x 2 x 3 = 12, dt 2: 46; 16 + 12 = 28 are convolved.
TEST(RecurrentGraphTest, Mamba2) {
  EXPECT_EQ(op_table(with("mamba2"), kThree, "ssm_in", "attn_add"),
            R"(
ssm_in = matmul(attn_norm) with ssm_in.weight -> ssm_in [46,3]
conv = conv(ssm_in) with ssm_conv1d.weight, ssm_conv1d.bias -> conv [28,3], conv_state [3,28]
conv_silu = silu(conv) -> conv_silu [28,3]
dt_bias = add_bias(ssm_in) with ssm_dt.bias -> dt_bias [2,3]
ssm_scan = scan(conv_silu, dt_bias) with ssm_a, ssm_d -> ssm_scan [16,3], state [3,16]
z_silu = silu(ssm_in) -> z_silu [16,3]
ssm_mul = mul(ssm_scan, z_silu) -> ssm_mul [16,3]
ssm_norm = rms_norm(ssm_mul) with ssm_norm.weight -> ssm_norm [16,3]
ssm_out = matmul(ssm_norm) with ssm_out.weight -> ssm_out [8,3]
)");
}
// Keys 2 x 3 = 6, values 4 x 2 = 8: 6 + 6 + 8 = 20 convolved; a state of 3 x 8.
TEST(RecurrentGraphTest, GatedDelta) {
  EXPECT_EQ(op_table(with("gated delta"), kThree, "ssm_in", "attn_add"),
            R"(
ssm_in = matmul(attn_norm) with attn_qkv.weight -> ssm_in [20,3]
z = matmul(attn_norm) with attn_gate.weight -> z [8,3]
beta_alpha = matmul(attn_norm) with ssm_ba.weight -> beta_alpha [8,3]
conv = conv(ssm_in) with ssm_conv1d.weight -> conv [20,3], conv_state [3,20]
conv_silu = silu(conv) -> conv_silu [20,3]
beta_sigmoid = sigmoid(beta_alpha) -> beta_sigmoid [4,3]
dt_bias = add_bias(beta_alpha) with ssm_dt.bias -> dt_bias [4,3]
delta_rule = delta_rule(conv_silu, beta_sigmoid, dt_bias) with ssm_a -> delta_rule [8,3], state [3,8]
ssm_norm = rms_norm(delta_rule) with ssm_norm.weight -> ssm_norm [8,3]
z_silu = silu(z) -> z_silu [8,3]
ssm_mul = mul(ssm_norm, z_silu) -> ssm_mul [8,3]
ssm_out = matmul(ssm_mul) with ssm_out.weight -> ssm_out [8,3]
)");
}
// 2 heads of 3: 6 wide, 18 for Q, K and V; a state of 3 x 6.
TEST(RecurrentGraphTest, LinearAttention) {
  EXPECT_EQ(op_table(with("linear attention"), kThree, "qkv", "attn_add"),
            R"(
qkv = matmul(attn_norm) with attn_qkv.weight -> qkv [18,3]
qkv_silu = silu(qkv) -> qkv_silu [18,3]
linear_attention = scan(qkv_silu) -> linear_attention [6,3], state [3,6]
ssm_norm = rms_norm(linear_attention) with ssm_norm.weight -> ssm_norm [6,3]
attn_gate = matmul(attn_norm) with attn_gate.weight -> attn_gate [6,3]
gate_sigmoid = sigmoid(attn_gate) -> gate_sigmoid [6,3]
attn_gated = mul(ssm_norm, gate_sigmoid) -> attn_gated [6,3]
ssm_out = matmul(attn_gated) with attn_output.weight -> ssm_out [8,3]
)");
}
// b, c and x: 3 x 8 = 24.
TEST(RecurrentGraphTest, ShortConvolution) {
  EXPECT_EQ(op_table(with("short conv with bias"), kThree, "conv_in", "attn_add"),
            R"(
conv_in = matmul(attn_norm) with shortconv.in_proj.weight -> conv_in [24,3]
conv_in_bias = add_bias(conv_in) with shortconv.in_proj.bias -> conv_in_bias [24,3]
bx = mul(conv_in_bias) -> bx [8,3]
conv = conv(bx) with shortconv.conv.weight, shortconv.conv.bias -> conv [8,3], conv_state [2,8]
c_mul = mul(conv, conv_in_bias) -> c_mul [8,3]
conv_out = matmul(c_mul) with shortconv.out_proj.weight -> conv_out [8,3]
conv_out_bias = add_bias(conv_out) with shortconv.out_proj.bias -> conv_out_bias [8,3]
)");
}
// Channel mixing 12 wide.
TEST(RwkvGraphTest, Version4) {
  EXPECT_EQ(op_table(with("rwkv4"), kThree, "attn_norm", "select_rows"),
            R"(
attn_norm = layer_norm(embed) with attn_norm.weight, attn_norm.bias -> attn_norm [8,3]
time_shift = token_shift(attn_norm) with time_mix_lerp_k, time_mix_lerp_v, time_mix_lerp_r -> time_shift_k [8,3], time_shift_v [8,3], time_shift_r [8,3], time_shift_state [8,1]
key = matmul(time_shift_k) with time_mix_key.weight -> key [8,3]
value = matmul(time_shift_v) with time_mix_value.weight -> value [8,3]
receptance = matmul(time_shift_r) with time_mix_receptance.weight -> receptance [8,3]
wkv = scan(key, value) with time_mix_decay, time_mix_first -> wkv [8,3], state [8,3]
receptance_sigmoid = sigmoid(receptance) -> receptance_sigmoid [8,3]
time_gated = mul(wkv, receptance_sigmoid) -> time_gated [8,3]
time_out = matmul(time_gated) with time_mix_output.weight -> time_out [8,3]
attn_add = add(time_out, embed) -> attn_add [8,3]
ffn_norm = layer_norm(attn_add) with ffn_norm.weight, ffn_norm.bias -> ffn_norm [8,3]
channel_shift = token_shift(ffn_norm) with channel_mix_lerp_k, channel_mix_lerp_r -> channel_shift_k [8,3], channel_shift_r [8,3], channel_shift_state [8,1]
channel_key = matmul(channel_shift_k) with channel_mix_key.weight -> channel_key [12,3]
channel_act = activation(channel_key) -> channel_act [12,3]
channel_value = matmul(channel_act) with channel_mix_value.weight -> channel_value [8,3]
channel_receptance = matmul(channel_shift_r) with channel_mix_receptance.weight -> channel_receptance [8,3]
channel_sigmoid = sigmoid(channel_receptance) -> channel_sigmoid [8,3]
channel_gated = mul(channel_value, channel_sigmoid) -> channel_gated [8,3]
ffn_add = add(channel_gated, attn_add) -> ffn_add [8,3]
)");
}
// lora_mix 2 for each of 5 mixes, lora_decay 3, heads of 4.
TEST(RwkvGraphTest, Version6) {
  EXPECT_EQ(op_table(with("rwkv6"), kThree, "time_shift", "attn_add"),
            R"(
time_shift = token_shift(attn_norm) with time_mix_lerp_x.weight -> time_shift_x [8,3], time_shift_difference [8,3], time_shift_state [8,1]
mix_w1 = matmul(time_shift_x) with time_mix_w1.weight -> mix_w1 [10,3]
mix_w1_act = activation(mix_w1) -> mix_w1_act [10,3]
mix_w2 = matmul(mix_w1_act) with time_mix_w2.weight -> mix_w2 [8,3,5]
mix = mix(mix_w2, time_shift_difference, attn_norm) with time_mix_lerp_fused.weight -> mix [8,3,5]
receptance = matmul(mix) with time_mix_receptance.weight -> receptance [8,3]
key = matmul(mix) with time_mix_key.weight -> key [8,3]
value = matmul(mix) with time_mix_value.weight -> value [8,3]
gate = matmul(mix) with time_mix_gate.weight -> gate [8,3]
gate_silu = silu(gate) -> gate_silu [8,3]
decay_w1 = matmul(mix) with time_mix_decay_w1.weight -> decay_w1 [3,3]
decay_w1_act = activation(decay_w1) -> decay_w1_act [3,3]
decay_w2 = matmul(decay_w1_act) with time_mix_decay_w2.weight -> decay_w2 [8,3]
decay = add_bias(decay_w2) with time_mix_decay.weight -> decay [8,3]
wkv = scan(receptance, key, value, decay) with time_mix_first.weight -> wkv [8,3], state [4,8]
time_norm = layer_norm(wkv) with time_mix_ln.weight, time_mix_ln.bias -> time_norm [8,3]
time_gated = mul(time_norm, gate_silu) -> time_gated [8,3]
time_out = matmul(time_gated) with time_mix_output.weight -> time_out [8,3]
)");
}
// Ranks: decay 2, learning rate 3, value 4, gate 5.
TEST(RwkvGraphTest, Version7) {
  EXPECT_EQ(op_table(with("rwkv7"), kThree, "time_shift", "select_rows"),
            R"(
time_shift = token_shift(attn_norm) with time_mix_lerp_fused.weight -> time_shift [8,3,6], time_shift_state [8,1]
receptance = matmul(time_shift) with time_mix_receptance.weight -> receptance [8,3]
key = matmul(time_shift) with time_mix_key.weight -> key [8,3]
value = matmul(time_shift) with time_mix_value.weight -> value [8,3]
v1 = matmul(time_shift) with time_mix_v1.weight -> v1 [4,3]
v2 = matmul(v1) with time_mix_v2.weight -> v2 [8,3]
v0 = add_bias(v2) with time_mix_v0.weight -> v0 [8,3]
v_sigmoid = sigmoid(v0) -> v_sigmoid [8,3]
value_mix = mix(value, v_sigmoid) -> value_mix [8,3]
w1 = matmul(time_shift) with time_mix_w1.weight -> w1 [2,3]
w1_act = activation(w1) -> w1_act [2,3]
w2 = matmul(w1_act) with time_mix_w2.weight -> w2 [8,3]
w0 = add_bias(w2) with time_mix_w0.weight -> w0 [8,3]
a1 = matmul(time_shift) with time_mix_a1.weight -> a1 [3,3]
a2 = matmul(a1) with time_mix_a2.weight -> a2 [8,3]
a0 = add_bias(a2) with time_mix_a0.weight -> a0 [8,3]
a_sigmoid = sigmoid(a0) -> a_sigmoid [8,3]
g1 = matmul(time_shift) with time_mix_g1.weight -> g1 [5,3]
g1_act = sigmoid(g1) -> g1_act [5,3]
g2 = matmul(g1_act) with time_mix_g2.weight -> g2 [8,3]
key_norm = rms_norm(key) with time_mix_k_k.weight -> key_norm [8,3]
key_mix = mix(key, a_sigmoid) with time_mix_k_a.weight -> key_mix [8,3]
wkv = delta_rule(receptance, w0, key_mix, value_mix, key_norm, a_sigmoid) -> wkv [8,3], state [4,8]
time_norm = layer_norm(wkv) with time_mix_ln.weight, time_mix_ln.bias -> time_norm [8,3]
time_bonus = mix(time_norm, receptance, key_mix, value_mix) with time_mix_r_k.weight -> time_bonus [8,3]
time_gated = mul(time_bonus, g2) -> time_gated [8,3]
time_out = matmul(time_gated) with time_mix_output.weight -> time_out [8,3]
attn_add = add(time_out, embed) -> attn_add [8,3]
ffn_norm = layer_norm(attn_add) with ffn_norm.weight, ffn_norm.bias -> ffn_norm [8,3]
channel_shift = token_shift(ffn_norm) with channel_mix_lerp_k.weight -> channel_shift_k [8,3], channel_shift_state [8,1]
channel_key = matmul(channel_shift_k) with channel_mix_key.weight -> channel_key [12,3]
channel_act = activation(channel_key) -> channel_act [12,3]
channel_value = matmul(channel_act) with channel_mix_value.weight -> channel_value [8,3]
ffn_add = add(channel_value, attn_add) -> ffn_add [8,3]
)");
}

TEST(RwkvGraphTest, TheFirstLayersValuesLiveUntilTheLastLayer) {
  const Graph graph = graph_of(with("rwkv7", 3), kThree);
  const auto second = [&graph](const char* op) {
    return graph.tensor(op_named(graph, op).inputs.at(1)).name;
  };
  EXPECT_EQ(second("blk.1.value_mix"), "blk.0.value");
  EXPECT_EQ(second("blk.2.value_mix"), "blk.0.value");
}

// Mamba above: the convolution sums 4 taps for 16 channels and 3 tokens; the state of 3 x 16 costs
// four operations a token. Both states are read and written: 2 x 4 B x 3 x 16 for each sequence.
TEST(RecurrentGraphTest, OperationsAndStateByHand) {
  GraphOptions options = kThree;
  options.n_seq = 2;
  const Graph graph = graph_of(with("mamba"), options);
  EXPECT_EQ(op_named(graph, "conv").operations, 2 * 4 * 16 * 3);
  EXPECT_EQ(op_named(graph, "ssm_scan").operations, 4 * 3 * 16 * 3);
  EXPECT_EQ(op_named(graph, "ssm_scan").state_moved, Bytes::of(2 * 4 * 3 * 16 * 2));
  EXPECT_EQ(tensor_named(graph, "state").kind, TensorKind::kState);
  EXPECT_EQ(tensor_named(graph, "state").dtype, DType::kF32);
  EXPECT_EQ(tensor_named(graph, "state").bytes, Bytes::of(4 * 3 * 16 * 2));
  EXPECT_EQ(op_named(graph_of(with("gated delta"), kThree), "delta_rule").operations,
            6 * 3 * 8 * 3);
}

TEST(RecurrentGraphTest, NothingDependsOnTheContextOrOnPositions) {
  const Graph graph = graph_of(with("mamba"), kThree);
  EXPECT_THROW(tensor_named(graph, "positions"), std::invalid_argument);
  for (const Op& op : graph.ops()) {
    EXPECT_EQ(op.operations_per_cell, 0);
    EXPECT_EQ(op.state_read_per_cell, 0_B);
  }
}

}  // namespace
}  // namespace tidemark

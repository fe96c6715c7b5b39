// Layers that keep a state of fixed size instead of a cache. I = d_inner, N = d_state:
//
//   Mamba (arXiv 2312.00752, 3.4)
//     ssm_in [2I,T]: x, and z behind it -> conv(x) [I,T] -> silu -> ssm_x [R+2N,T] -> dt [I,T]
//     scan(x, dt, B, C) [I,T], state [N,I] -> mul by silu(z) -> ssm_out [E,T]
//   Mamba-2 (arXiv 2405.21060): dt, B and C come out of ssm_in as well, dt is one value a head, and
//     a norm stands before ssm_out
//   gated delta rule (arXiv 2412.06464): qkv -> conv -> silu; dt and beta by head; state [K,V]
//   linear attention: qkv -> silu -> scan, state [D,H*D] -> norm -> mul by a gate
//   short convolution: in [3E,T] -> b * x -> conv -> mul by c -> out
//
// A recurrence costs four operations for each element of its state and token (decayed, added to;
// read into a sum), the delta rule six. Checked by RecurrentGraphTest.
#include <utility>

#include "planner/graph/layer_graph.h"

namespace tidemark {

Value recurrent_state(GraphWriter& writer, std::string_view name, std::array<int64_t, 2> shape) {
  return writer.state(name, DType::kF32, {shape[0], shape[1], writer.options().n_seq, 1});
}

Bytes moved_by(const Value& state) {
  return row_bytes(DType::kF32, state.shape[0]) * checked_mul(state.shape[1], state.shape[2]) * 2;
}

Value conv_graph(GraphWriter& writer, int64_t d_conv, const Value& x) {
  std::vector<WeightId> weights = {writer.weight(WeightRole::kStateConv)};
  const int64_t products = checked_mul(writer.tensor(weights.front()).elements(), x.shape[1]);
  if (writer.has(WeightRole::kStateConv, true)) {
    weights.push_back(writer.weight(WeightRole::kStateConv, true));
  }
  const Bytes bytes = writer.bytes_of(weights);
  const Value state = recurrent_state(writer, "conv_state", {d_conv - 1, x.shape[0]});
  return writer.emit_with("conv", x.shape,
                          {.kind = OpKind::kConv,
                           .inputs = {x.id},
                           .weights = std::move(weights),
                           .weights_read = bytes,
                           .operations = checked_mul(2, products),
                           .state_moved = moved_by(state)},
                          {state.id});
}

Value recurrence_graph(GraphWriter& writer, std::string_view name, Recurrence recurrence) {
  const int64_t n_tokens = writer.n_tokens();
  const int64_t elements = checked_mul(recurrence.state[0], recurrence.state[1]);
  const int64_t each = recurrence.kind == OpKind::kDeltaRule ? 6 : 4;
  const Bytes bytes = writer.bytes_of(recurrence.weights);
  const Value state = recurrent_state(writer, "state", recurrence.state);
  return writer.emit_with(name, {recurrence.width, n_tokens, 1, 1},
                          {.kind = recurrence.kind,
                           .inputs = std::move(recurrence.inputs),
                           .weights = std::move(recurrence.weights),
                           .weights_read = bytes,
                           .operations = checked_mul(each, checked_mul(elements, n_tokens)),
                           .state_moved = moved_by(state)},
                          {state.id});
}

namespace {

// A function of a view makes a tensor of its own.
Value of_view(GraphWriter& writer, std::string_view name, OpKind kind, const Value& whole,
              int64_t width) {
  return writer.unary(name, kind, view(whole, width));
}

Value state_out(GraphWriter& writer, const Value& x) {
  return writer.linear("ssm_out", WeightRole::kStateOut, x);
}

}  // namespace

Value mamba_graph(LayerContext& context, const MambaSpec& spec, const Value& x) {
  GraphWriter& writer = context.writer;
  const Value in = writer.linear("ssm_in", WeightRole::kStateIn, x);
  const Value mixed = conv_graph(writer, spec.d_conv, view(in, spec.d_inner));
  const Value u = writer.unary("conv_silu", OpKind::kSilu, mixed);
  const Value dt_b_c = writer.matmul("ssm_x", WeightRole::kStateX, u);
  Value dt = view(dt_b_c, spec.dt_rank);
  Value b = view(dt_b_c, spec.d_state);
  Value c = b;
  if (const std::vector<WeightId> norms = writer.all(WeightRole::kStateNorm); norms.size() == 3) {
    dt = writer.norm("dt_norm", {norms[0]}, dt);
    b = writer.norm("b_norm", {norms[1]}, b);
    c = writer.norm("c_norm", {norms[2]}, c);
  }
  dt = writer.linear("dt", WeightRole::kStateDt, dt);
  const Value y = recurrence_graph(writer, "ssm_scan",
                                   {.inputs = each_once({u.id, dt.id, b.id, c.id}),
                                    .weights = writer.all(WeightRole::kStateParameter),
                                    .width = spec.d_inner,
                                    .state = {spec.d_state, spec.d_inner}});
  const Value z = of_view(writer, "z_silu", OpKind::kSilu, in, spec.d_inner);
  return state_out(writer, writer.elementwise("ssm_mul", OpKind::kMul, y, z.id));
}

Value mamba2_graph(LayerContext& context, const Mamba2Spec& spec, const Value& x) {
  GraphWriter& writer = context.writer;
  const int64_t b_and_c = checked_mul(2, checked_mul(spec.n_group, spec.d_state));
  const Value in = writer.linear("ssm_in", WeightRole::kStateIn, x);
  const Value mixed = conv_graph(writer, spec.d_conv, view(in, checked_add(spec.d_inner, b_and_c)));
  const Value u = writer.unary("conv_silu", OpKind::kSilu, mixed);
  const Value dt =
      writer.add_bias("dt_bias", writer.weight(WeightRole::kStateDt, true), view(in, spec.n_head));
  const Value y = recurrence_graph(writer, "ssm_scan",
                                   {.inputs = {u.id, dt.id},
                                    .weights = writer.all(WeightRole::kStateParameter),
                                    .width = spec.d_inner,
                                    .state = {spec.d_state, spec.d_inner}});
  const Value z = of_view(writer, "z_silu", OpKind::kSilu, in, spec.d_inner);
  Value gated = writer.elementwise("ssm_mul", OpKind::kMul, y, z.id);
  if (spec.gated_norm) gated = writer.norm("ssm_norm", WeightRole::kStateNorm, gated);
  return state_out(writer, gated);
}

Value gated_delta_graph(LayerContext& context, const GatedDeltaSpec& spec, const Value& x) {
  GraphWriter& writer = context.writer;
  const int64_t value = checked_mul(spec.n_value_head, spec.value_dim);
  const std::vector<WeightId> gates = writer.all(WeightRole::kStateGates);  // z; beta and alpha
  const Value qkv = writer.matmul("ssm_in", WeightRole::kStateIn, x);
  const Value z = writer.product("z", gates.at(0), x);
  const Value beta_alpha = writer.product("beta_alpha", gates.at(1), x);
  const Value mixed = conv_graph(writer, spec.d_conv, qkv);
  const Value u = writer.unary("conv_silu", OpKind::kSilu, mixed);
  const Value beta =
      of_view(writer, "beta_sigmoid", OpKind::kSigmoid, beta_alpha, spec.n_value_head);
  const Value dt = writer.add_bias("dt_bias", writer.weight(WeightRole::kStateDt, true),
                                   view(beta_alpha, spec.n_value_head));
  const Value y = recurrence_graph(writer, "delta_rule",
                                   {.kind = OpKind::kDeltaRule,
                                    .inputs = {u.id, beta.id, dt.id},
                                    .weights = writer.all(WeightRole::kStateParameter),
                                    .width = value,
                                    .state = {spec.key_dim, value}});
  const Value normed = writer.norm("ssm_norm", WeightRole::kStateNorm, y);
  const Value gate = writer.unary("z_silu", OpKind::kSilu, z);
  return state_out(writer, writer.elementwise("ssm_mul", OpKind::kMul, normed, gate.id));
}

Value linear_attention_graph(LayerContext& context, const LinearAttentionSpec& spec,
                             const Value& x) {
  GraphWriter& writer = context.writer;
  const int64_t width = checked_mul(spec.n_head, spec.head_dim);
  const Value qkv = writer.matmul("qkv", WeightRole::kStateIn, x);
  const Value active = writer.unary("qkv_silu", OpKind::kSilu, qkv);
  const Value y =
      recurrence_graph(writer, "linear_attention",
                       {.inputs = {active.id}, .width = width, .state = {spec.head_dim, width}});
  const Value normed = writer.norm("ssm_norm", WeightRole::kStateNorm, y);
  const Value gate = writer.matmul("attn_gate", WeightRole::kStateGates, x);
  const Value sigmoid = writer.unary("gate_sigmoid", OpKind::kSigmoid, gate);
  return state_out(writer, writer.elementwise("attn_gated", OpKind::kMul, normed, sigmoid.id));
}

Value short_conv_graph(LayerContext& context, const ShortConvSpec& spec, const Value& x) {
  GraphWriter& writer = context.writer;
  const int64_t width = context.spec.n_embd;
  const Value in = writer.linear("conv_in", WeightRole::kStateIn, x);
  const Value bx = of_view(writer, "bx", OpKind::kMul, in, width);
  const Value mixed = conv_graph(writer, spec.d_conv, bx);
  const Value gated = writer.elementwise("c_mul", OpKind::kMul, mixed, in.id);
  return writer.linear("conv_out", WeightRole::kStateOut, gated);
}

}  // namespace tidemark

// RWKV: time mixing and channel mixing, each of which first mixes a token with the one before it
// (token shift). E = n_embd, F = n_ff, S = head size, L = rank of a low-rank product:
//
//   4  shift -> k, r, v -> wkv, state of 3 vectors -> mul by sigmoid(r) -> out
//   6  (arXiv 2404.05892) shift, then a mix that depends on the token: w1 [5L,T] -> tanh -> w2
//      [E,T,5] -> mix; r, k, v, g, decay = w + w2(tanh(w1)) -> wkv, state [S,E] -> norm -> mul by
//      silu(g) -> out
//   7  (arXiv 2503.14456) shift [E,T,6]; decay w, in-context learning rate a and value residual v
//   by
//      low-rank products; wkv takes back what the state held (delta rule); g = g2(sigmoid(g1))
//   channel mixing: shift -> key [F,T] -> squared ReLU -> value [E,T] (4 and 6: mul by sigmoid(r))
//
// The values of version 7's first layer live until the last layer has mixed them in.
#include "planner/graph/layer_graph.h"

namespace tidemark {
namespace {

// Mixed copies of x, one for each name; the first output carries the op's name. The token before
// the pass is read from the state, the last one of the pass written there.
std::vector<Value> token_shift(GraphWriter& writer, const std::string& name,
                               const std::vector<std::string>& copies, std::vector<WeightId> mixes,
                               const Value& x) {
  const Value state = recurrent_state(writer, name + "_state", {x.shape[0], 1});
  std::vector<Value> made;
  std::vector<TensorId> outputs;
  for (const std::string& copy : copies) {
    made.push_back(writer.activation(copy, x.shape));
    outputs.push_back(made.back().id);
  }
  outputs.push_back(state.id);
  const Bytes bytes = writer.bytes_of(mixes);
  writer.add(name, {.kind = OpKind::kTokenShift,
                    .inputs = {x.id},
                    .outputs = std::move(outputs),
                    .weights = std::move(mixes),
                    .weights_read = bytes,
                    .state_moved = moved_by(state)});
  return made;
}

Value mix(GraphWriter& writer, std::string_view name, std::vector<TensorId> inputs,
          std::vector<WeightId> weights, const Shape& shape) {
  const Bytes bytes = writer.bytes_of(weights);
  return writer.emit(name, shape,
                     {.kind = OpKind::kMix,
                      .inputs = std::move(inputs),
                      .weights = std::move(weights),
                      .weights_read = bytes});
}

Value product(GraphWriter& writer, std::string_view name, const std::string& weight,
              const Value& x) {
  return writer.product(name, writer.named(weight + ".weight"), x);
}

// second(function(first(x))); no function where the product is linear.
Value low_rank(GraphWriter& writer, const std::string& name, const std::string& weight,
               std::optional<OpKind> function, const Value& x) {
  Value inner = product(writer, name + "1", weight + "1", x);
  if (function) inner = writer.unary(name + "1_act", *function, inner);
  return product(writer, name + "2", weight + "2", inner);
}

Value time_out(GraphWriter& writer, const Value& mixed, const Value& gate) {
  const Value gated = writer.elementwise("time_gated", OpKind::kMul, mixed, gate.id);
  return writer.matmul("time_out", WeightRole::kStateOut, gated);
}

Value time_graph_4(GraphWriter& writer, const Value& x) {
  const std::vector<Value> shifted =
      token_shift(writer, "time_shift", {"time_shift_k", "time_shift_v", "time_shift_r"},
                  {writer.named("time_mix_lerp_k"), writer.named("time_mix_lerp_v"),
                   writer.named("time_mix_lerp_r")},
                  x);
  const Value k = product(writer, "key", "time_mix_key", shifted[0]);
  const Value v = product(writer, "value", "time_mix_value", shifted[1]);
  const Value r = product(writer, "receptance", "time_mix_receptance", shifted[2]);
  const Value wkv =
      recurrence_graph(writer, "wkv",
                       {.inputs = {k.id, v.id},
                        .weights = {writer.named("time_mix_decay"), writer.named("time_mix_first")},
                        .width = x.shape[0],
                        .state = {x.shape[0], 3}});
  return time_out(writer, wkv, writer.unary("receptance_sigmoid", OpKind::kSigmoid, r));
}

// The five copies of x of version 6 (w, k, v, r, g), as one tensor [E,T,5].
Value mixed_copies_6(GraphWriter& writer, const Value& x) {
  const std::vector<Value> shifted =
      token_shift(writer, "time_shift", {"time_shift_x", "time_shift_difference"},
                  {writer.named("time_mix_lerp_x.weight")}, x);
  const Value low = product(writer, "mix_w1", "time_mix_w1", shifted[0]);
  const Value active = writer.unary("mix_w1_act", OpKind::kActivation, low);
  const WeightId w2 = writer.named("time_mix_w2.weight");
  const Shape copies{x.shape[0], x.shape[1], writer.tensor(w2).count, 1};
  const Value weights = writer.emit("mix_w2", copies, writer.product_op(w2, active));
  return mix(writer, "mix", {weights.id, shifted[1].id, x.id},
             {writer.named("time_mix_lerp_fused.weight")}, copies);
}

Value time_graph_6(GraphWriter& writer, const RwkvSpec& spec, const Value& x) {
  Value copy = mixed_copies_6(writer, x);
  copy.shape = x.shape;  // one of the five
  const Value r = product(writer, "receptance", "time_mix_receptance", copy);
  const Value k = product(writer, "key", "time_mix_key", copy);
  const Value v = product(writer, "value", "time_mix_value", copy);
  const Value g = product(writer, "gate", "time_mix_gate", copy);
  const Value g_silu = writer.unary("gate_silu", OpKind::kSilu, g);
  const Value low = low_rank(writer, "decay_w", "time_mix_decay_w", OpKind::kActivation, copy);
  const Value decay = writer.add_bias("decay", writer.named("time_mix_decay.weight"), low);
  const Value wkv = recurrence_graph(writer, "wkv",
                                     {.inputs = {r.id, k.id, v.id, decay.id},
                                      .weights = {writer.named("time_mix_first.weight")},
                                      .width = x.shape[0],
                                      .state = {spec.head_size, x.shape[0]}});
  return time_out(writer, writer.norm("time_norm", WeightRole::kStateNorm, wkv), g_silu);
}

// letter0 + letter2(function(letter1(x))).
Value shifted_low_rank(GraphWriter& writer, char letter, std::optional<OpKind> function,
                       const Value& x) {
  const std::string name(1, letter);
  const std::string weight = "time_mix_" + name;
  const Value low = low_rank(writer, name, weight, function, x);
  return writer.add_bias(name + "0", writer.named(weight + "0.weight"), low);
}

// V, mixed with the first layer's V where the layer has a value residual.
Value values_7(LayerContext& context, const RwkvSpec& spec, const Value& x) {
  GraphWriter& writer = context.writer;
  const Value v = product(writer, "value", "time_mix_value", x);
  if (!context.first_values) context.first_values = v;
  if (spec.lora_value == 0) return v;
  const Value low = shifted_low_rank(writer, 'v', {}, x);
  const Value share = writer.unary("v_sigmoid", OpKind::kSigmoid, low);
  return mix(writer, "value_mix", each_once({v.id, context.first_values->id, share.id}), {},
             v.shape);
}

Value time_graph_7(LayerContext& context, const RwkvSpec& spec, const Value& x) {
  GraphWriter& writer = context.writer;
  const WeightId lerp = writer.named("time_mix_lerp_fused.weight");
  const Value shift = recurrent_state(writer, "time_shift_state", {x.shape[0], 1});
  Value copy = writer.emit_with("time_shift", {x.shape[0], x.shape[1], writer.tensor(lerp).rows, 1},
                                {.kind = OpKind::kTokenShift,
                                 .inputs = {x.id},
                                 .weights = {lerp},
                                 .weights_read = writer.tensor(lerp).bytes,
                                 .state_moved = moved_by(shift)},
                                {shift.id});
  copy.shape = x.shape;  // one of the six
  const Value r = product(writer, "receptance", "time_mix_receptance", copy);
  const Value k = product(writer, "key", "time_mix_key", copy);
  const Value v = values_7(context, spec, copy);
  const Value w = shifted_low_rank(writer, 'w', OpKind::kActivation, copy);
  const Value rate =
      writer.unary("a_sigmoid", OpKind::kSigmoid, shifted_low_rank(writer, 'a', {}, copy));
  const Value g = low_rank(writer, "g", "time_mix_g", OpKind::kSigmoid, copy);
  const Value removed = writer.norm("key_norm", {writer.named("time_mix_k_k.weight")}, k);
  const Value added =
      mix(writer, "key_mix", {k.id, rate.id}, {writer.named("time_mix_k_a.weight")}, k.shape);
  const Value wkv = recurrence_graph(writer, "wkv",
                                     {.kind = OpKind::kDeltaRule,
                                      .inputs = {r.id, w.id, added.id, v.id, removed.id, rate.id},
                                      .width = x.shape[0],
                                      .state = {spec.head_size, x.shape[0]}});
  const Value normed = writer.norm("time_norm", WeightRole::kStateNorm, wkv);
  const Value bonus = mix(writer, "time_bonus", {normed.id, r.id, added.id, v.id},
                          {writer.named("time_mix_r_k.weight")}, normed.shape);
  return time_out(writer, bonus, g);
}

}  // namespace

Value rwkv_time_graph(LayerContext& context, const RwkvSpec& spec, const Value& x) {
  if (spec.version == 4) return time_graph_4(context.writer, x);
  if (spec.version == 7) return time_graph_7(context, spec, x);
  return time_graph_6(context.writer, spec, x);
}

Value rwkv_channel_graph(LayerContext& context, const RwkvSpec& spec, const Value& x) {
  GraphWriter& writer = context.writer;
  const std::string suffix = spec.version == 4 ? "" : ".weight";
  const bool has_gate = spec.version != 7;
  std::vector<std::string> copies = {"channel_shift_k"};
  std::vector<WeightId> mixes = {writer.named("channel_mix_lerp_k" + suffix)};
  if (has_gate) {
    copies.emplace_back("channel_shift_r");
    mixes.push_back(writer.named("channel_mix_lerp_r" + suffix));
  }
  const std::vector<Value> shifted =
      token_shift(writer, "channel_shift", copies, std::move(mixes), x);
  const Value key = writer.matmul("channel_key", WeightRole::kChannelIn, shifted[0]);
  const Value active = writer.unary("channel_act", OpKind::kActivation, key);
  const Value value = writer.matmul("channel_value", WeightRole::kChannelOut, active);
  if (!has_gate) return value;
  const Value r = writer.matmul("channel_receptance", WeightRole::kChannelGate, shifted[1]);
  const Value gate = writer.unary("channel_sigmoid", OpKind::kSigmoid, r);
  return writer.elementwise("channel_gated", OpKind::kMul, value, gate.id);
}

}  // namespace tidemark

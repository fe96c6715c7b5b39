// What works on each token alone. Dense, F = n_ff: gate [F,T], up [F,T] -> silu -> mul -> down;
// with one matrix for both gate_up [2F,T] -> glu [F,T]; without a gate up -> activation -> down.
//
// Mixture of experts, N experts of which U run for a token, X = n_ff_exp:
//
//   router [N,T] -> softmax (in place) -> top_k: experts [U,T] of i32, weights [U,T]
//   expert_gate [X,U,T], expert_up [X,U,T] -> silu -> mul -> expert_down [E,U,T]
//   -> mul by weights -> sum over U [E,T] -> add the shared expert, itself a dense feed-forward
//
// Of an expert matrix at most min(N, T x U) experts are read: 8 experts, 2 a token, 3 tokens -> 6.
// Checked by ExpertGraphTest.ExpertsThatNobodyIsSentToAreNotRead.
#include <algorithm>

#include "planner/graph/layer_graph.h"

namespace tidemark {
namespace {

int64_t experts_touched(const MoeSpec& spec, int64_t n_tokens) {
  return std::min(spec.n_expert, checked_mul(n_tokens, spec.n_expert_used));
}

struct Choice {
  Value experts{};
  Value weights{};
};

Choice route(GraphWriter& writer, const MoeSpec& spec, const Value& x) {
  const Value router = writer.linear("router", WeightRole::kRouter, x);
  const Value probabilities = writer.unary("router_softmax", OpKind::kSoftmax, router);
  std::vector<WeightId> bias;
  if (writer.has(WeightRole::kBalanceBias, true)) {
    bias.push_back(writer.weight(WeightRole::kBalanceBias, true));
  }
  const Bytes bytes = writer.bytes_of(bias);
  const Shape shape{spec.n_expert_used, x.shape[1], 1, 1};
  const Value experts = writer.activation("experts", shape, DType::kI32);
  const Value weights = writer.emit_with("expert_weights", shape,
                                         {.kind = OpKind::kTopK,
                                          .inputs = {probabilities.id},
                                          .weights = std::move(bias),
                                          .weights_read = bytes},
                                         {experts.id});
  return {experts, weights};
}

// The product of each token's row, or of each of its `rows` rows, with the experts it was sent to.
Value expert_product(GraphWriter& writer, const std::string& name, WeightRole role,
                     const MoeSpec& spec, const Value& x, const Value& experts) {
  const WeightId id = writer.weight(role);
  const WeightTensor& matrix = writer.tensor(id);
  const int64_t n_tokens = writer.n_tokens();
  const int64_t touched = experts_touched(spec, n_tokens);
  const int64_t rows_made = checked_mul(n_tokens, spec.n_expert_used);
  const Shape shape{matrix.rows, spec.n_expert_used, n_tokens, 1};
  const Value made = writer.emit(
      name, shape,
      {.kind = OpKind::kExpertMatMul,
       .inputs = {x.id, experts.id},
       .weights = {id},
       .weights_read = row_bytes(matrix.dtype, matrix.columns) * checked_mul(matrix.rows, touched),
       .scratch = matmul_scratch(matrix.dtype, writer.options().type_act, matrix.columns,
                                 checked_mul(x.shape[1], x.shape[2])),
       .operations =
           checked_mul(checked_mul(2, checked_mul(matrix.columns, matrix.rows)), rows_made)});
  if (!writer.has(role, true)) return made;
  const WeightId bias = writer.weight(role, true);
  const WeightTensor& shifts = writer.tensor(bias);
  return writer.emit(name + "_bias", shape,
                     {.kind = OpKind::kAddBias,
                      .inputs = {made.id, experts.id},
                      .weights = {bias},
                      .weights_read = row_bytes(shifts.dtype, shifts.columns) * touched});
}

Value routed_experts(GraphWriter& writer, const MoeSpec& spec, const Value& x) {
  const Choice choice = route(writer, spec, x);
  const auto product = [&](const std::string& name, WeightRole role, const Value& in) {
    return expert_product(writer, name, role, spec, in, choice.experts);
  };
  Value inner;
  if (spec.gated) {
    const Value gate = product("expert_gate", WeightRole::kExpertGate, x);
    const Value up = product("expert_up", WeightRole::kExpertUp, x);
    inner = writer.gated("expert_", gate, up);
  } else {
    inner = writer.unary("expert_act", OpKind::kActivation,
                         product("expert_up", WeightRole::kExpertUp, x));
  }
  const Value down = product("expert_down", WeightRole::kExpertDown, inner);
  const Value weighted =
      writer.elementwise("expert_weighted", OpKind::kMul, down, choice.weights.id);
  return writer.emit("expert_sum", x.shape, {.kind = OpKind::kSumRows, .inputs = {weighted.id}});
}

Value shared_expert(GraphWriter& writer, const MoeSpec& spec, const Value& x) {
  Value inner;
  if (spec.gated) {
    const Value gate = writer.linear("shared_gate", WeightRole::kSharedGate, x);
    const Value up = writer.linear("shared_up", WeightRole::kSharedUp, x);
    inner = writer.gated("shared_", gate, up);
  } else {
    inner = writer.unary("shared_act", OpKind::kActivation,
                         writer.linear("shared_up", WeightRole::kSharedUp, x));
  }
  const Value down = writer.linear("shared_down", WeightRole::kSharedDown, inner);
  if (!spec.shared_gate) return down;
  const Value router = writer.matmul("shared_router", WeightRole::kSharedRouter, x);
  const Value share = writer.unary("shared_sigmoid", OpKind::kSigmoid, router);
  return writer.elementwise("shared_weighted", OpKind::kMul, down, share.id);
}

}  // namespace

Value feed_forward_graph(LayerContext& context, const FeedForwardSpec& spec, const Value& x) {
  GraphWriter& writer = context.writer;
  Value inner;
  if (spec.fused_gate_up) {
    const Value both = writer.linear("gate_up", WeightRole::kUp, x);
    inner = writer.emit("glu", {spec.n_ff, both.shape[1], 1, 1},
                        {.kind = OpKind::kGlu, .inputs = {both.id}});
  } else if (spec.gated) {
    const Value gate = writer.linear("gate", WeightRole::kGate, x);
    const Value up = writer.linear("up", WeightRole::kUp, x);
    inner = writer.gated("", gate, up);
  } else {
    inner = writer.unary("act", OpKind::kActivation, writer.linear("up", WeightRole::kUp, x));
  }
  return writer.linear("down", WeightRole::kDown, inner);
}

Value expert_graph(LayerContext& context, const MoeSpec& spec, const Value& x) {
  GraphWriter& writer = context.writer;
  const Value routed = routed_experts(writer, spec, x);
  if (spec.n_ff_shared == 0) return routed;
  return writer.elementwise("shared_add", OpKind::kAdd, routed, shared_expert(writer, spec, x).id);
}

}  // namespace tidemark

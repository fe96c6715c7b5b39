// What works on each token alone: a dense feed-forward, or a router and the experts it chose.
#include "planner/engine/llama_cpp/graph_scope.h"

namespace tidemark {
namespace {

constexpr int64_t kFloat = 4;

GgmlShape with_rows(GgmlShape ne, int64_t rows) {
  ne[0] = rows;
  return ne;
}

struct Routing {
  BuiltId chosen{};   // [used, tokens]
  BuiltId weights{};  // [1, used, tokens]
};

BuiltId probabilities(GraphScope& scope, BuiltId x, const MoeSpec& spec) {
  const BuiltId logits = add_linear(scope, x, "ffn_gate_inp", spec.n_expert, spec.router_bias);
  scope.name(logits, "ffn_moe_logits");
  const BuiltId made =
      scope.build.map(scope.traits.sigmoid_router ? "UNARY" : "SOFT_MAX", {logits});
  scope.name(made, "ffn_moe_probs");
  return made;
}

// The weights of those chosen, made to sum to 1.
BuiltId normed(GraphScope& scope, BuiltId weights, const MoeSpec& spec) {
  const int64_t n_tokens = scope.build[weights].ne[2];
  const BuiltId rows = scope.build.reshape(weights, {spec.n_expert_used, n_tokens, 1, 1});
  const BuiltId sum = scope.build.op("SUM_ROWS", {1, n_tokens, 1, 1}, {rows});
  scope.name(sum, "ffn_moe_weights_sum");
  const BuiltId clamped = scope.build.into("CLAMP", sum, {sum});
  scope.name(clamped, "ffn_moe_weights_sum_clamped");
  const BuiltId quotient = scope.build.map("DIV", {rows, clamped});
  scope.name(quotient, "ffn_moe_weights_norm");
  return scope.build.reshape(quotient, {1, spec.n_expert_used, n_tokens, 1});
}

Routing route(GraphScope& scope, BuiltId x, const MoeSpec& spec) {
  const BuiltId probs = probabilities(scope, x, spec);
  const int64_t n_tokens = scope.build[probs].ne[1];
  BuiltId ranked = probs;
  if (spec.balance_bias) {
    ranked = scope.build.map(
        "ADD", {probs, scope.layer_weight("exp_probs_b.bias", {spec.n_expert, 1, 1, 1})});
  }
  ranked = scope.build.op("ARGSORT", {spec.n_expert, n_tokens, 1, 1}, {ranked}, DType::kI32);
  scope.name(ranked, "ffn_moe_argsort");
  const int64_t stride = scope.build[ranked].nb[1];
  const int64_t end = checked_mul(stride, n_tokens);
  Routing routing;
  routing.chosen =
      scope.build.view(ranked, {spec.n_expert_used, n_tokens, 1, 1}, {stride, end, end}, 0);
  scope.name(routing.chosen, "ffn_moe_topk");
  const BuiltId table = scope.build.reshape(probs, {1, spec.n_expert, n_tokens, 1});
  routing.weights =
      scope.build.op("GET_ROWS", {1, spec.n_expert_used, n_tokens, 1}, {table, routing.chosen});
  scope.name(routing.weights, "ffn_moe_weights");
  if (scope.traits.normed_weights) routing.weights = normed(scope, routing.weights, spec);
  if (scope.traits.scaled_weights) {
    routing.weights = scope.build.map("SCALE", {routing.weights});
  }
  scope.build.expand(routing.weights);
  return routing;
}

// One matrix for each expert, of those that were chosen: [rows, used, tokens].
BuiltId expert_product(GraphScope& scope, BuiltId x, const Routing& routing, std::string_view name,
                       int64_t rows, const MoeSpec& spec) {
  const std::string local(name);
  const GgmlShape chosen = scope.build[routing.chosen].ne;
  const BuiltId matrices =
      scope.layer_weight(local + ".weight", {scope.build[x].ne[0], rows, spec.n_expert, 1});
  BuiltId cur =
      scope.build.op("MUL_MAT_ID", {rows, chosen[0], chosen[1], 1}, {matrices, x, routing.chosen});
  if (spec.expert_bias) {
    const BuiltId bias = scope.layer_weight(local + ".bias", {rows, spec.n_expert, 1, 1});
    cur = scope.build.map("ADD_ID", {cur, bias, routing.chosen});
  }
  return cur;
}

// The sum over the experts of a token, [rows, tokens], one after another.
BuiltId summed(GraphScope& scope, BuiltId weighted) {
  const GgmlShape all = scope.build[weighted].ne;
  const int64_t stride = scope.build[weighted].nb[2];
  const int64_t end = checked_mul(stride, all[2]);
  std::vector<BuiltId> parts;
  for (int64_t i = 0; i < all[1]; ++i) {
    parts.push_back(scope.build.view(weighted, {all[0], all[2], 1, 1}, {stride, end, end},
                                     checked_mul(i * kFloat, all[0])));
    scope.build.expand(parts.back());
  }
  BuiltId sum = parts.front();
  for (size_t i = 1; i < parts.size(); ++i) {
    sum = scope.build.op("ADD", scope.build[sum].ne, {sum, parts[i]});
    scope.build.expand(sum);
  }
  if (parts.size() == 1) sum = scope.build.cont(sum);
  scope.name(sum, "ffn_moe_out");
  return sum;
}

BuiltId chosen_experts(GraphScope& scope, BuiltId x, const MoeSpec& spec) {
  const Routing routing = route(scope, x, spec);
  const GgmlShape ne = scope.build[x].ne;
  const BuiltId in = scope.build.reshape(x, {ne[0], 1, ne[1], 1});
  const BuiltId up = expert_product(scope, in, routing, "ffn_up_exps", spec.n_ff_exp, spec);
  scope.name(up, "ffn_moe_up");
  BuiltId cur{};
  if (spec.gated) {
    const BuiltId gate = expert_product(scope, in, routing, "ffn_gate_exps", spec.n_ff_exp, spec);
    scope.name(gate, "ffn_moe_gate");
    cur = scope.build.map("GLU", {gate, up});
    scope.name(cur, "ffn_moe_swiglu");
  } else {
    cur = scope.build.map("UNARY", {up});
  }
  cur = expert_product(scope, cur, routing, "ffn_down_exps", ne[0], spec);
  scope.name(cur, "ffn_moe_down");
  cur = scope.build.map("MUL", {cur, routing.weights});
  scope.name(cur, "ffn_moe_weighted");
  return summed(scope, cur);
}

}  // namespace

BuiltId add_feed_forward(GraphScope& scope, BuiltId x, const FeedForwardSpec& spec,
                         std::string_view suffix) {
  const auto weight = [&](std::string_view name) {
    return std::string(name) + std::string(suffix);
  };
  const bool fused = spec.gated && spec.fused_gate_up && !scope.traits.split_gate_up;
  const int64_t up_rows = fused ? checked_mul(2, spec.n_ff) : spec.n_ff;
  const BuiltId up = add_linear(scope, x, weight("ffn_up"), up_rows, spec.bias);
  scope.name(up, "ffn_up");
  BuiltId cur{};
  if (fused) {
    cur = scope.build.op("GLU", with_rows(scope.build[up].ne, spec.n_ff), {up});
  } else if (spec.gated) {
    const BuiltId gate = add_linear(scope, x, weight("ffn_gate"), spec.n_ff, spec.bias);
    scope.name(gate, "ffn_gate");
    cur = scope.build.map("GLU", {gate, up});
  } else {
    cur = scope.build.map("UNARY", {up});
  }
  scope.name(cur, spec.gated ? "ffn_swiglu" : "ffn_act");
  cur = add_linear(scope, cur, weight("ffn_down"), scope.spec.n_embd, spec.bias);
  scope.name(cur, "ffn_out");
  return cur;
}

BuiltId add_experts(GraphScope& scope, BuiltId x, const MoeSpec& spec) {
  const BuiltId out = chosen_experts(scope, x, spec);
  if (spec.n_ff_shared == 0) return out;
  const FeedForwardSpec shared{
      .n_ff = spec.n_ff_shared, .gated = spec.gated, .bias = spec.shared_bias};
  BuiltId cur = add_feed_forward(scope, x, shared, "_shexp");
  scope.name(cur, "ffn_shexp");
  if (spec.shared_gate) {
    const BuiltId gate = add_linear(scope, x, "ffn_gate_inp_shexp", 1);
    cur = scope.build.map("MUL", {cur, scope.build.map("UNARY", {gate})});
  }
  cur = scope.build.map("ADD", {out, cur});
  scope.name(cur, "ffn_out");
  return cur;
}

}  // namespace tidemark

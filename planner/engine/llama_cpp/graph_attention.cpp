// Softmax attention: Q, K and V of a layer, apart or out of one matrix.
#include "planner/engine/llama_cpp/graph_scope.h"

namespace tidemark {
namespace {

struct Part {
  std::string_view name{};  // "Qcur"
  std::string_view norm{};  // "attn_q_norm"
  int64_t n_head = 0;
};

BuiltId by_heads(GraphScope& scope, BuiltId x, int64_t width, int64_t n_head) {
  return scope.build.reshape(x, {width, n_head, scope.run.n_tokens, 1});
}

// Norm, position and scale of Q or of K.
BuiltId placed(GraphScope& scope, BuiltId x, const AttentionSpec& spec, const Part& part) {
  if (spec.qk_norm == QkNormKind::kHead) {
    const auto kind = spec.qk_norm_bias ? NormKind::kScaleAndShift : NormKind::kScale;
    x = add_norm(scope, x, kind, part.norm);
  }
  x = add_rope(scope, x);
  scope.name(x, part.name);
  const bool is_query = part.name.front() == 'Q';
  return is_query && scope.traits.scaled_query ? scope.build.map("SCALE", {x}) : x;
}

BuiltId projected(GraphScope& scope, BuiltId x, const AttentionSpec& spec, const Part& part,
                  std::string_view weight, bool bias) {
  const int64_t rows = checked_mul(part.n_head, spec.head_dim);
  BuiltId cur = add_linear(scope, x, weight, rows, bias);
  scope.name(cur, part.name);
  if (spec.qk_norm == QkNormKind::kWidth) cur = add_norm(scope, cur, NormKind::kScale, part.norm);
  cur = by_heads(scope, cur, spec.head_dim, part.n_head);
  scope.name(cur, part.name);
  return placed(scope, cur, spec, part);
}

// [Q | K | V] of a token side by side: views at their places in the row.
void out_of_fused(GraphScope& scope, BuiltId x, const AttentionSpec& spec, AttentionHeads& heads) {
  const int64_t q_rows = checked_mul(spec.n_head, spec.head_dim);
  const int64_t k_rows = checked_mul(spec.n_head_kv, spec.head_dim);
  const int64_t v_rows = checked_mul(spec.n_head_kv, spec.value_dim());
  const int64_t rows = checked_add(q_rows, checked_add(k_rows, v_rows));
  const BuiltId fused = add_linear(scope, x, "attn_qkv", rows, spec.bias.q);
  scope.name(fused, "wqkv");
  const auto part = [&](int64_t width, int64_t n_head, int64_t first, std::string_view name) {
    const int64_t stride = scope.build[fused].nb[1];
    const BuiltId seen = scope.build.view(
        fused, {width, n_head, scope.run.n_tokens, 1},
        {.nb1 = width * 4, .nb2 = stride, .nb3 = checked_mul(stride, scope.run.n_tokens)},
        first * 4);
    scope.name(seen, name);
    return seen;
  };
  const Part q{"Qcur", "attn_q_norm", spec.n_head};
  const Part k{"Kcur", "attn_k_norm", spec.n_head_kv};
  heads.q = placed(scope, part(spec.head_dim, spec.n_head, 0, "Qcur"), spec, q);
  heads.k = placed(scope, part(spec.head_dim, spec.n_head_kv, q_rows, "Kcur"), spec, k);
  heads.v = part(spec.value_dim(), spec.n_head_kv, q_rows + k_rows, "Vcur");
}

void out_of_three(GraphScope& scope, BuiltId x, const AttentionSpec& spec, AttentionHeads& heads) {
  const Part q{"Qcur", "attn_q_norm", spec.n_head};
  const Part k{"Kcur", "attn_k_norm", spec.n_head_kv};
  heads.q = projected(scope, x, spec, q, "attn_q", spec.bias.q);
  if (heads.reads_layer) return;
  const int64_t rows = checked_mul(spec.n_head_kv, spec.value_dim());
  heads.k = projected(scope, x, spec, k, "attn_k", spec.bias.k);
  BuiltId v = add_linear(scope, x, spec.value_is_key ? "attn_k" : "attn_v", rows, spec.bias.v);
  scope.name(v, "Vcur");
  v = by_heads(scope, v, spec.value_dim(), spec.n_head_kv);
  scope.name(v, "Vcur");
  heads.v = v;
}

}  // namespace

BuiltId add_attention(GraphScope& scope, BuiltId x, const AttentionSpec& spec) {
  AttentionHeads heads{.n_head_kv = spec.n_head_kv,
                       .width_k = spec.head_dim,
                       .width_v = spec.value_dim(),
                       .window = spec.window > 0 || spec.chunk > 0,
                       .sinks = spec.sinks};
  if (spec.shares_kv_with >= 0) heads.reads_layer = spec.shares_kv_with;
  if (spec.fused_qkv) {
    out_of_fused(scope, x, spec, heads);
  } else {
    out_of_three(scope, x, spec, heads);
  }
  BuiltId cur = add_cached_attention(scope, heads);
  if (spec.output_gate) {
    const int64_t rows = scope.build[cur].ne[0];
    const BuiltId gate = add_linear(scope, x, "attn_gate", rows);
    cur = scope.build.map("MUL", {cur, scope.build.map("UNARY", {gate})});
  }
  cur = add_linear(scope, cur, "attn_output", scope.spec.n_embd, spec.bias.out);
  scope.name(cur, "attn_out");
  return cur;
}

}  // namespace tidemark

// Latent attention: absorbed, over a cache of latents, or expanded, over every head's K and V.
#include "planner/engine/llama_cpp/graph_scope.h"

namespace tidemark {
namespace {

constexpr int64_t kFloat = 4;

BuiltId named_norm(GraphScope& scope, BuiltId x, std::string_view weight, std::string_view name) {
  const BuiltId cur = add_norm(scope, x, NormKind::kScale, weight);
  scope.name(cur, name);
  return cur;
}

// All heads' queries, [qk_nope + qk_rope, heads, tokens].
BuiltId queries(GraphScope& scope, BuiltId x, const MlaSpec& spec) {
  const int64_t width = checked_add(spec.qk_nope, spec.qk_rope);
  const int64_t rows = checked_mul(spec.n_head, width);
  BuiltId q = x;
  if (spec.q_lora > 0) {
    q = add_linear(scope, q, "attn_q_a", spec.q_lora);
    scope.name(q, "q");
    q = named_norm(scope, q, "attn_q_a_norm", "q");
  }
  q = add_linear(scope, q, spec.q_lora > 0 ? "attn_q_b" : "attn_q", rows);
  scope.name(q, "q");
  q = scope.build.reshape(q, {width, spec.n_head, scope.run.n_tokens, 1});
  scope.name(q, "q");
  return q;
}

// Part of each head's row of `x` [row, heads, tokens], from value `first` on.
BuiltId part_of(GraphScope& scope, BuiltId x, int64_t width, int64_t first, std::string_view name) {
  const BuiltTensor& seen = scope.build[x];
  const int64_t end = checked_mul(seen.nb[2], seen.ne[2]);
  const BuiltId part = scope.build.view(x, {width, seen.ne[1], seen.ne[2], 1},
                                        {seen.nb[1], seen.nb[2], end}, first * kFloat);
  scope.name(part, name);
  return part;
}

struct Latent {
  BuiltId normed{};    // [kv_lora, tokens]
  BuiltId position{};  // [qk_rope, 1, tokens], not yet rotated
};

Latent latents(GraphScope& scope, BuiltId x, const MlaSpec& spec, std::string_view both,
               std::string_view name) {
  const int64_t rows = checked_add(spec.kv_lora, spec.qk_rope);
  const BuiltId joint = add_linear(scope, x, "attn_kv_a_mqa", rows);
  scope.name(joint, both);
  const int64_t stride = scope.build[joint].nb[1];
  const int64_t n_tokens = scope.run.n_tokens;
  const int64_t end = checked_mul(stride, n_tokens);
  const BuiltId latent =
      scope.build.view(joint, {spec.kv_lora, n_tokens, 1, 1}, {stride, end, end}, 0);
  scope.name(latent, name);
  const BuiltId position =
      scope.build.view(joint, {spec.qk_rope, 1, n_tokens, 1},
                       {.nb1 = stride, .nb2 = stride, .nb3 = end}, spec.kv_lora * kFloat);
  scope.name(position, "k_pe");
  return {named_norm(scope, latent, "attn_kv_a_norm", name), position};
}

BuiltId rotated(GraphScope& scope, BuiltId x, std::string_view name) {
  const BuiltId cur = add_rope(scope, x);
  scope.name(cur, name);
  return cur;
}

BuiltId joined(GraphScope& scope, BuiltId a, BuiltId b, std::string_view name) {
  GgmlShape ne = scope.build[a].ne;
  ne[0] += scope.build[b].ne[0];
  const BuiltId both = scope.build.op("CONCAT", ne, {a, b});
  scope.name(both, name);
  return both;
}

AttentionHeads absorbed(GraphScope& scope, BuiltId x, const MlaSpec& spec) {
  const BuiltId q = queries(scope, x, spec);
  BuiltId no_position = part_of(scope, q, spec.qk_nope, 0, "q_nope");
  const BuiltId position = part_of(scope, q, spec.qk_rope, spec.qk_nope, "q_pe");
  no_position = scope.build.permute(no_position, {0, 2, 1, 3});
  scope.name(no_position, "q_nope_perm");
  const BuiltId k_b =
      scope.layer_weight("attn_k_b.weight", {spec.qk_nope, spec.kv_lora, spec.n_head, 1});
  no_position = scope.build.mul_mat(k_b, no_position);
  scope.name(no_position, "q_nope_absorbed");
  no_position = scope.build.permute(no_position, {0, 2, 1, 3});
  scope.name(no_position, "q_nope_absorbed_perm");

  const Latent kv = latents(scope, x, spec, "kv_cmpr_pe", "kv_cmpr");
  const BuiltId values = scope.build.reshape(kv.normed, {spec.kv_lora, 1, scope.run.n_tokens, 1});
  scope.name(values, "Vcur");
  AttentionHeads heads{.n_head_kv = 1,
                       .width_k = checked_add(spec.kv_lora, spec.qk_rope),
                       .width_v = spec.kv_lora,
                       .is_latent = true};
  heads.q = joined(scope, no_position, rotated(scope, position, "q_pe"), "Qcur");
  heads.k = joined(scope, values, rotated(scope, kv.position, "k_pe"), "Kcur");
  heads.latent_to_v =
      scope.layer_weight("attn_v_b.weight", {spec.kv_lora, spec.v_head, spec.n_head, 1});
  return heads;
}

AttentionHeads expanded(GraphScope& scope, BuiltId x, const MlaSpec& spec) {
  const BuiltId q = rotated(scope, queries(scope, x, spec), "q_states");
  const Latent latent = latents(scope, x, spec, "kv_pe_compresseed", "kv_compressed");
  const int64_t width = checked_add(spec.qk_nope, spec.v_head);
  BuiltId kv = add_linear(scope, latent.normed, "attn_kv_b", checked_mul(spec.n_head, width));
  scope.name(kv, "kv");
  const int64_t n_tokens = scope.run.n_tokens;
  const int64_t stride = scope.build[kv].nb[1];
  const auto part = [&](int64_t values, int64_t first, std::string_view name) {
    const BuiltId seen = scope.build.view(
        kv, {values, spec.n_head, n_tokens, 1},
        {.nb1 = width * kFloat, .nb2 = stride, .nb3 = checked_mul(stride, n_tokens)},
        first * kFloat);
    scope.name(seen, name);
    return seen;
  };
  const BuiltId keys = part(spec.qk_nope, 0, "k_nope");
  const BuiltId values = scope.build.cont(part(spec.v_head, spec.qk_nope, "v_states"));
  scope.name(values, "v_states");
  const BuiltId position = rotated(scope, latent.position, "k_pe");
  const BuiltId repeated =
      scope.build.op("REPEAT", {spec.qk_rope, spec.n_head, n_tokens, 1}, {position});
  return {.q = q,
          .k = joined(scope, keys, repeated, "k_states"),
          .v = values,
          .n_head_kv = spec.n_head,
          .width_k = checked_add(spec.qk_nope, spec.qk_rope),
          .width_v = spec.v_head};
}

}  // namespace

BuiltId add_mla(GraphScope& scope, BuiltId x, const MlaSpec& spec) {
  const AttentionHeads heads =
      spec.latent_cache ? absorbed(scope, x, spec) : expanded(scope, x, spec);
  const BuiltId cur = add_cached_attention(scope, heads);
  return add_linear(scope, cur, "attn_output", scope.spec.n_embd);
}

}  // namespace tidemark

#include "planner/model/layer_weights.h"

#include <fmt/format.h>

#include <utility>

#include "planner/base/checked.h"

namespace tidemark {
namespace {

using Role = WeightRole;

// Calls the overload for what the mixer is.
template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace

void LayerWeights::add(WeightTensor tensor) {
  tensor.stack = stack_;
  tensor.layer = layer_;
  tensors_.push_back(std::move(tensor));
}

void LayerWeights::matrix(Role role, std::string_view stem, int64_t columns, int64_t rows,
                          int64_t count) {
  add({.name = fmt::format("{}{}.weight", prefix_, stem),
       .role = role,
       .columns = columns,
       .rows = rows,
       .count = count});
}

void LayerWeights::bias(Role role, std::string_view stem, int64_t columns, int64_t rows) {
  add({.name = fmt::format("{}{}.bias", prefix_, stem),
       .role = role,
       .is_bias = true,
       .columns = columns,
       .rows = rows});
}

void LayerWeights::linear(Role role, std::string_view stem, int64_t columns, int64_t rows,
                          bool with_bias) {
  matrix(role, stem, columns, rows);
  if (with_bias) bias(role, stem, rows);
}

void LayerWeights::norm(Role role, std::string_view stem, NormKind kind, int64_t width) {
  if (kind == NormKind::kNone || kind == NormKind::kPlain) return;
  matrix(role, stem, width, 1);
  if (kind == NormKind::kScaleAndShift) bias(role, stem, width);
}

void LayerWeights::table(Role role, std::string_view stem, int64_t columns, int64_t rows) {
  add({.name = fmt::format("{}{}", prefix_, stem), .role = role, .columns = columns, .rows = rows});
}

void LayerWeights::extra(const ExtraWeight& extra) {
  add({.name = prefix_ + extra.name,
       .role = Role::kExtra,
       .is_parameter = extra.is_parameter,
       .columns = extra.columns,
       .rows = extra.rows,
       .count = extra.count});
}

void LayerWeights::add_layer(const LayerSpec& layer) {
  norm(Role::kAttentionNorm, "attn_norm", layer.norms.before_mixer, n_embd_);
  std::visit(
      Overloaded{[&](const AttentionSpec& spec) { add_attention(spec); },
                 [&](const MlaSpec& spec) { add_mla(spec); },
                 [&](const MambaSpec& spec) { add_mamba(spec); },
                 [&](const Mamba2Spec& spec) { add_mamba2(spec); },
                 [&](const GatedDeltaSpec& spec) { add_gated_delta(spec); },
                 [&](const LinearAttentionSpec& spec) { add_linear_attention(spec); },
                 [&](const RwkvSpec& spec) { add_rwkv(spec); },
                 [&](const ShortConvSpec& spec) { add_short_conv(spec); }, [](const NoMixer&) {}},
      layer.mixer);
  norm(Role::kAttentionPostNorm, "post_attention_norm", layer.norms.after_mixer, n_embd_);
  if (layer.cross.attention.n_head > 0) add_cross(layer.cross);
  norm(Role::kFeedForwardNorm, "ffn_norm", layer.norms.before_ffn, n_embd_);
  if (layer.feed_forward.n_ff > 0) add_feed_forward(layer.feed_forward);
  if (layer.moe.n_expert > 0) add_experts(layer.moe);
  norm(Role::kFeedForwardPostNorm, "post_ffw_norm", layer.norms.after_ffn, n_embd_);
  for (const ExtraWeight& one : layer.extras) extra(one);
}

void LayerWeights::add_projections(const AttentionSpec& spec) {
  const int64_t query = checked_mul(spec.n_head, spec.head_dim);
  const int64_t query_rows = spec.output_gate ? checked_mul(2, query) : query;
  const int64_t key = checked_mul(spec.n_head_kv, spec.head_dim);
  const int64_t value = spec.value_is_key ? 0 : checked_mul(spec.n_head_kv, spec.value_dim());
  if (spec.fused_qkv) {
    linear(Role::kQkv, "attn_qkv", n_embd_, checked_add(checked_add(query_rows, key), value),
           spec.bias.q);
    return;
  }
  linear(Role::kQuery, "attn_q", n_embd_, query_rows, spec.bias.q);
  linear(Role::kKey, "attn_k", n_embd_, key, spec.bias.k);
  if (value > 0) linear(Role::kValue, "attn_v", n_embd_, value, spec.bias.v);
}

void LayerWeights::add_attention(const AttentionSpec& spec) {
  add_projections(spec);
  if (spec.qk_norm != QkNormKind::kNone) {
    const bool by_head = spec.qk_norm == QkNormKind::kHead;
    const NormKind kind = spec.qk_norm_bias ? NormKind::kScaleAndShift : NormKind::kScale;
    norm(Role::kQueryNorm, "attn_q_norm", kind, spec.head_dim * (by_head ? 1 : spec.n_head));
    norm(Role::kKeyNorm, "attn_k_norm", kind, spec.head_dim * (by_head ? 1 : spec.n_head_kv));
  }
  if (spec.sinks) matrix(Role::kSinks, "attn_sinks", spec.n_head, 1);
  if (spec.n_bucket > 0) matrix(Role::kRelativeBias, "attn_rel_b", spec.n_head, spec.n_bucket);
  linear(Role::kAttentionOutput, "attn_output", checked_mul(spec.n_head, spec.value_dim()), n_embd_,
         spec.bias.out);
}

void LayerWeights::add_cross(const CrossAttentionSpec& spec) {
  const AttentionSpec& heads = spec.attention;
  const int64_t source = spec.source_width == 0 ? n_embd_ : spec.source_width;
  const int64_t query = checked_mul(heads.n_head, heads.head_dim);
  norm(Role::kCrossNorm, "cross_attn_norm", spec.norm, n_embd_);
  linear(Role::kCrossQuery, "cross_attn_q", n_embd_, query, heads.bias.q);
  linear(Role::kCrossKey, "cross_attn_k", source, checked_mul(heads.n_head_kv, heads.head_dim),
         heads.bias.k);
  linear(Role::kCrossValue, "cross_attn_v", source, checked_mul(heads.n_head_kv, heads.value_dim()),
         heads.bias.v);
  linear(Role::kCrossOutput, "cross_attn_output", checked_mul(heads.n_head, heads.value_dim()),
         n_embd_, heads.bias.out);
}

void LayerWeights::add_mla(const MlaSpec& spec) {
  const int64_t query = checked_mul(spec.n_head, checked_add(spec.qk_nope, spec.qk_rope));
  if (spec.q_lora > 0) {
    matrix(Role::kQueryA, "attn_q_a", n_embd_, spec.q_lora);
    norm(Role::kQueryANorm, "attn_q_a_norm", NormKind::kScale, spec.q_lora);
    matrix(Role::kQueryB, "attn_q_b", spec.q_lora, query);
  } else {
    matrix(Role::kQuery, "attn_q", n_embd_, query);
  }
  matrix(Role::kKvA, "attn_kv_a_mqa", n_embd_, checked_add(spec.kv_lora, spec.qk_rope));
  norm(Role::kKvANorm, "attn_kv_a_norm", NormKind::kScale, spec.kv_lora);
  if (spec.split_kv_b) {
    matrix(Role::kKeyB, "attn_k_b", spec.qk_nope, spec.kv_lora, spec.n_head);
    matrix(Role::kValueB, "attn_v_b", spec.kv_lora, spec.v_head, spec.n_head);
  } else {
    matrix(Role::kKvB, "attn_kv_b", spec.kv_lora,
           checked_mul(spec.n_head, checked_add(spec.qk_nope, spec.v_head)));
  }
  matrix(Role::kAttentionOutput, "attn_output", checked_mul(spec.n_head, spec.v_head), n_embd_);
}

void LayerWeights::add_feed_forward(const FeedForwardSpec& spec) {
  if (spec.fused_gate_up) {
    linear(Role::kUp, "ffn_up", n_embd_, checked_mul(2, spec.n_ff), spec.bias);
  } else {
    if (spec.gated) linear(Role::kGate, "ffn_gate", n_embd_, spec.n_ff, spec.bias);
    linear(Role::kUp, "ffn_up", n_embd_, spec.n_ff, spec.bias);
  }
  linear(Role::kDown, "ffn_down", spec.n_ff, n_embd_, spec.bias);
}

void LayerWeights::add_experts(const MoeSpec& spec) {
  linear(Role::kRouter, "ffn_gate_inp", n_embd_, spec.n_expert, spec.router_bias);
  if (spec.balance_bias) bias(Role::kBalanceBias, "exp_probs_b", spec.n_expert);
  const auto experts = [&](Role role, std::string_view stem, int64_t columns, int64_t rows) {
    matrix(role, stem, columns, rows, spec.n_expert);
    if (spec.expert_bias) bias(role, stem, rows, spec.n_expert);
  };
  if (spec.gated) experts(Role::kExpertGate, "ffn_gate_exps", n_embd_, spec.n_ff_exp);
  experts(Role::kExpertUp, "ffn_up_exps", n_embd_, spec.n_ff_exp);
  experts(Role::kExpertDown, "ffn_down_exps", spec.n_ff_exp, n_embd_);
  if (spec.n_ff_shared == 0) return;
  if (spec.shared_gate) matrix(Role::kSharedRouter, "ffn_gate_inp_shexp", n_embd_, 1);
  if (spec.gated) {
    linear(Role::kSharedGate, "ffn_gate_shexp", n_embd_, spec.n_ff_shared, spec.shared_bias);
  }
  linear(Role::kSharedUp, "ffn_up_shexp", n_embd_, spec.n_ff_shared, spec.shared_bias);
  linear(Role::kSharedDown, "ffn_down_shexp", spec.n_ff_shared, n_embd_, spec.shared_bias);
}

}  // namespace tidemark

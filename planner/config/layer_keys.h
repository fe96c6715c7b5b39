// The keys of a layer, each beside the member it fills: what the loader reads and the writer
// writes.
//
//   visit_keys(visitor, attention) calls
//     visitor.number("n_head", attention.n_head, 1), visitor.flag("sinks", attention.sinks), ...
//
// Every struct is taken apart by structured bindings: a new member does not compile here until it
// has a key. A visitor has
//   number(key, int64_t&, least, most = kMostWidth)   flag(key, bool&)
//   norm(key, NormKind&)   qk_norm(key, QkNormKind&)   projections(key, AttentionBias&)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/model/model_spec.h"

namespace tidemark {

inline constexpr int64_t kMostLayers = 1000;
inline constexpr int64_t kMostWidth = int64_t{1} << 24;
inline constexpr int64_t kMostExperts = 4096;
inline constexpr int64_t kMostExtras = 10000;
inline constexpr int64_t kMostLayerExtras = 32;  // of one layer
inline constexpr int64_t kMostStacks = 8;
inline constexpr int64_t kMostVocabulary = int64_t{1} << 26;
inline constexpr int64_t kMostContext = int64_t{1} << 30;

// Heads and what is made of them; cross-attention has these keys alone.
template <typename Visitor>
void visit_heads(Visitor& visitor, AttentionSpec& spec) {
  visitor.number("n_head", spec.n_head, 1);
  visitor.number("n_head_kv", spec.n_head_kv, 1);
  visitor.number("head_dim", spec.head_dim, 1);
  visitor.number("head_dim_v", spec.head_dim_v, 1);
  visitor.projections("attn_bias", spec.bias);
  visitor.flag("fused_qkv", spec.fused_qkv);
  visitor.qk_norm("qk_norm", spec.qk_norm);
  visitor.flag("qk_norm_bias", spec.qk_norm_bias);
}

template <typename Visitor>
void visit_keys(Visitor& visitor, AttentionSpec& spec) {
  auto& [n_head, n_head_kv, head_dim, head_dim_v, bias, fused_qkv, qk_norm, qk_norm_bias, window,
         chunk, sinks, output_gate, value_is_key, shares_kv_with, n_bucket] = spec;
  visit_heads(visitor, spec);
  visitor.number("window", window, 0, kMostContext);
  visitor.number("chunk", chunk, 0, kMostContext);
  visitor.flag("sinks", sinks);
  visitor.flag("output_gate", output_gate);
  visitor.flag("value_is_key", value_is_key);
  visitor.number("shares_kv_with", shares_kv_with, 0, kMostLayers - 1);
  visitor.number("n_bucket", n_bucket, 0);
}

template <typename Visitor>
void visit_keys(Visitor& visitor, MlaSpec& spec) {
  auto& [n_head, q_lora, kv_lora, qk_nope, qk_rope, v_head, latent_cache, split_kv_b] = spec;
  visitor.number("n_head", n_head, 1);
  visitor.number("q_lora", q_lora, 0);
  visitor.number("kv_lora", kv_lora, 1);
  visitor.number("qk_nope", qk_nope, 1);
  visitor.number("qk_rope", qk_rope, 1);
  visitor.number("v_head", v_head, 1);
  visitor.flag("latent_cache", latent_cache);
  visitor.flag("split_kv_b", split_kv_b);
}

template <typename Visitor>
void visit_keys(Visitor& visitor, MambaSpec& spec) {
  auto& [d_conv, d_inner, d_state, dt_rank, conv_bias, proj_bias, inner_norms] = spec;
  visitor.number("d_conv", d_conv, 1);
  visitor.number("d_inner", d_inner, 1);
  visitor.number("d_state", d_state, 1);
  visitor.number("dt_rank", dt_rank, 1);
  visitor.flag("conv_bias", conv_bias);
  visitor.flag("proj_bias", proj_bias);
  visitor.flag("inner_norms", inner_norms);
}

template <typename Visitor>
void visit_keys(Visitor& visitor, Mamba2Spec& spec) {
  auto& [d_conv, d_inner, d_state, n_head, n_group, conv_bias, proj_bias, gated_norm] = spec;
  visitor.number("d_conv", d_conv, 1);
  visitor.number("d_inner", d_inner, 1);
  visitor.number("d_state", d_state, 1);
  visitor.number("n_head", n_head, 1);
  visitor.number("n_group", n_group, 1);
  visitor.flag("conv_bias", conv_bias);
  visitor.flag("proj_bias", proj_bias);
  visitor.flag("gated_norm", gated_norm);
}

template <typename Visitor>
void visit_keys(Visitor& visitor, GatedDeltaSpec& spec) {
  auto& [n_key_head, n_value_head, key_dim, value_dim, d_conv] = spec;
  visitor.number("n_key_head", n_key_head, 1);
  visitor.number("n_value_head", n_value_head, 1);
  visitor.number("key_dim", key_dim, 1);
  visitor.number("value_dim", value_dim, 1);
  visitor.number("d_conv", d_conv, 1);
}

template <typename Visitor>
void visit_keys(Visitor& visitor, LinearAttentionSpec& spec) {
  auto& [n_head, head_dim] = spec;
  visitor.number("n_head", n_head, 1);
  visitor.number("head_dim", head_dim, 1);
}

template <typename Visitor>
void visit_keys(Visitor& visitor, RwkvSpec& spec) {
  auto& [version, head_size, n_ff, lora_mix, lora_decay, lora_iclr, lora_value, lora_gate] = spec;
  visitor.number("version", version, 4, 7);
  visitor.number("head_size", head_size, 1);
  visitor.number("n_ff_channel", n_ff, 1);
  visitor.number("lora_mix", lora_mix, 1);
  visitor.number("lora_decay", lora_decay, 1);
  visitor.number("lora_iclr", lora_iclr, 1);
  visitor.number("lora_value", lora_value, 0);
  visitor.number("lora_gate", lora_gate, 1);
}

template <typename Visitor>
void visit_keys(Visitor& visitor, ShortConvSpec& spec) {
  auto& [d_conv, bias] = spec;
  visitor.number("d_conv", d_conv, 1);
  visitor.flag("conv_bias", bias);
}

template <typename Visitor>
void visit_keys(Visitor&, NoMixer&) {}

template <typename Visitor>
void visit_keys(Visitor& visitor, FeedForwardSpec& spec) {
  auto& [n_ff, gated, fused_gate_up, bias] = spec;
  visitor.number("n_ff", n_ff, 0);
  visitor.flag("gated", gated);
  visitor.flag("fused_gate_up", fused_gate_up);
  visitor.flag("ffn_bias", bias);
}

template <typename Visitor>
void visit_keys(Visitor& visitor, MoeSpec& spec) {
  auto& [n_expert, n_expert_used, n_ff_exp, n_ff_shared, gated, shared_gate, router_bias,
         balance_bias, expert_bias, shared_bias] = spec;
  visitor.number("n_expert", n_expert, 0, kMostExperts);
  visitor.number("n_expert_used", n_expert_used, 1, kMostExperts);
  visitor.number("n_ff_exp", n_ff_exp, 1);
  visitor.number("n_ff_shared", n_ff_shared, 0);
  visitor.flag("expert_gated", gated);
  visitor.flag("shared_gate", shared_gate);
  visitor.flag("router_bias", router_bias);
  visitor.flag("balance_bias", balance_bias);
  visitor.flag("expert_bias", expert_bias);
  visitor.flag("shared_bias", shared_bias);
}

template <typename Visitor>
void visit_keys(Visitor& visitor, LayerNorms& spec) {
  auto& [before_mixer, after_mixer, before_ffn, after_ffn] = spec;
  visitor.norm("before_mixer", before_mixer);
  visitor.norm("after_mixer", after_mixer);
  visitor.norm("before_ffn", before_ffn);
  visitor.norm("after_ffn", after_ffn);
}

template <typename Visitor>
void visit_keys(Visitor& visitor, CrossAttentionSpec& spec) {
  auto& [attention, source_width, norm] = spec;
  visit_heads(visitor, attention);
  visitor.number("source_width", source_width, 0);
  visitor.norm("norm", norm);
}

template <typename Visitor>
void visit_keys(Visitor& visitor, ImageSpec& spec) {
  auto& [image_size, patch_size, merge, extra_tokens] = spec;
  visitor.number("image_size", image_size, 0);
  visitor.number("patch_size", patch_size, 1);
  visitor.number("merge", merge, 1);
  visitor.number("extra_tokens", extra_tokens, 0);
}

// Everything beside the mixer that is one value.
template <typename Visitor>
void visit_common_keys(Visitor& visitor, LayerSpec& layer) {
  auto& [mixer, cross, feed_forward, moe, norms, is_parallel, extras] = layer;
  visit_keys(visitor, feed_forward);
  visit_keys(visitor, moe);
  visit_keys(visitor, norms);
  visitor.flag("parallel", is_parallel);
}

template <typename Visitor>
void visit_mixer_keys(Visitor& visitor, Mixer& mixer) {
  std::visit([&](auto& spec) { visit_keys(visitor, spec); }, mixer);
}

// One default of every kind, in the order of the variant.
std::vector<Mixer> all_mixers();

// Is it a key of this mixer?
bool is_mixer_key(const Mixer& mixer, std::string_view key);

// What before_mixer and before_ffn are when they are not stated: a part that is not there has no
// norm before it.
LayerNorms default_norms(const LayerSpec& layer);

// Must the file say n_ff, if only 0? A transformer without a feed-forward is rather a slip.
bool must_state_n_ff(const LayerSpec& layer);

}  // namespace tidemark

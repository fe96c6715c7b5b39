// The tensors of the recurrent layer kinds, under the names and in the shapes that GGUF gives them.
#include "planner/base/check.h"
#include "planner/base/checked.h"
#include "planner/model/layer_weights.h"

namespace tidemark {
namespace {

using Role = WeightRole;

}  // namespace

void LayerWeights::add_mamba(const MambaSpec& spec) {
  linear(Role::kStateIn, "ssm_in", n_embd_, checked_mul(2, spec.d_inner), spec.proj_bias);
  matrix(Role::kStateConv, "ssm_conv1d", spec.d_conv, spec.d_inner);
  if (spec.conv_bias) bias(Role::kStateConv, "ssm_conv1d", spec.d_inner);
  matrix(Role::kStateX, "ssm_x", spec.d_inner,
         checked_add(spec.dt_rank, checked_mul(2, spec.d_state)));
  linear(Role::kStateDt, "ssm_dt", spec.dt_rank, spec.d_inner, true);
  if (spec.inner_norms) {
    matrix(Role::kStateNorm, "ssm_dt_norm", spec.dt_rank, 1);
    matrix(Role::kStateNorm, "ssm_b_norm", spec.d_state, 1);
    matrix(Role::kStateNorm, "ssm_c_norm", spec.d_state, 1);
  }
  table(Role::kStateParameter, "ssm_a", spec.d_state, spec.d_inner);
  table(Role::kStateParameter, "ssm_d", spec.d_inner);
  linear(Role::kStateOut, "ssm_out", spec.d_inner, n_embd_, spec.proj_bias);
}

void LayerWeights::add_mamba2(const Mamba2Spec& spec) {
  const int64_t b_and_c = checked_mul(2, checked_mul(spec.n_group, spec.d_state));
  const int64_t convolved = checked_add(spec.d_inner, b_and_c);
  linear(Role::kStateIn, "ssm_in", n_embd_,
         checked_add(checked_add(spec.d_inner, convolved), spec.n_head), spec.proj_bias);
  matrix(Role::kStateConv, "ssm_conv1d", spec.d_conv, convolved);
  if (spec.conv_bias) bias(Role::kStateConv, "ssm_conv1d", convolved);
  bias(Role::kStateDt, "ssm_dt", spec.n_head);
  table(Role::kStateParameter, "ssm_a", 1, spec.n_head);
  table(Role::kStateParameter, "ssm_d", 1, spec.n_head);
  if (spec.gated_norm) {
    check(spec.n_group > 0 && spec.d_inner % spec.n_group == 0, "groups divide the inner width");
    matrix(Role::kStateNorm, "ssm_norm", spec.d_inner / spec.n_group, spec.n_group);
  }
  linear(Role::kStateOut, "ssm_out", spec.d_inner, n_embd_, spec.proj_bias);
}

void LayerWeights::add_gated_delta(const GatedDeltaSpec& spec) {
  const int64_t key = checked_mul(spec.n_key_head, spec.key_dim);
  const int64_t value = checked_mul(spec.n_value_head, spec.value_dim);
  const int64_t convolved = checked_add(checked_mul(2, key), value);
  matrix(Role::kStateIn, "attn_qkv", n_embd_, convolved);
  matrix(Role::kStateGates, "attn_gate", n_embd_, value);
  matrix(Role::kStateGates, "ssm_ba", n_embd_, checked_mul(2, spec.n_value_head));
  matrix(Role::kStateConv, "ssm_conv1d", spec.d_conv, convolved);
  bias(Role::kStateDt, "ssm_dt", spec.n_value_head);
  table(Role::kStateParameter, "ssm_a", spec.n_value_head);
  matrix(Role::kStateNorm, "ssm_norm", spec.value_dim, 1);
  matrix(Role::kStateOut, "ssm_out", value, n_embd_);
}

void LayerWeights::add_linear_attention(const LinearAttentionSpec& spec) {
  const int64_t width = checked_mul(spec.n_head, spec.head_dim);
  matrix(Role::kStateIn, "attn_qkv", n_embd_, checked_mul(3, width));
  matrix(Role::kStateGates, "attn_gate", n_embd_, width);
  matrix(Role::kStateNorm, "ssm_norm", width, 1);
  matrix(Role::kStateOut, "attn_output", width, n_embd_);
}

void LayerWeights::add_short_conv(const ShortConvSpec& spec) {
  linear(Role::kStateIn, "shortconv.in_proj", n_embd_, checked_mul(3, n_embd_), spec.bias);
  matrix(Role::kStateConv, "shortconv.conv", spec.d_conv, n_embd_);
  if (spec.bias) bias(Role::kStateConv, "shortconv.conv", n_embd_);
  linear(Role::kStateOut, "shortconv.out_proj", n_embd_, n_embd_, spec.bias);
}

void LayerWeights::add_rwkv(const RwkvSpec& spec) {
  if (spec.version == 4) return add_rwkv4(spec);
  return spec.version == 7 ? add_rwkv7(spec) : add_rwkv6(spec);
}

// The Hugging Face class RwkvModel: a mix of one vector for each projection.
void LayerWeights::add_rwkv4(const RwkvSpec& spec) {
  table(Role::kStateParameter, "time_mix_decay", n_embd_);
  table(Role::kStateParameter, "time_mix_first", n_embd_);
  for (const auto* stem : {"time_mix_lerp_k", "time_mix_lerp_v", "time_mix_lerp_r"}) {
    table(Role::kStateParameter, stem, n_embd_);
  }
  for (const auto* stem : {"time_mix_key", "time_mix_value", "time_mix_receptance"}) {
    matrix(Role::kStateIn, stem, n_embd_, n_embd_);
  }
  matrix(Role::kStateOut, "time_mix_output", n_embd_, n_embd_);
  table(Role::kStateParameter, "channel_mix_lerp_k", n_embd_);
  table(Role::kStateParameter, "channel_mix_lerp_r", n_embd_);
  matrix(Role::kChannelIn, "channel_mix_key", n_embd_, spec.n_ff);
  matrix(Role::kChannelGate, "channel_mix_receptance", n_embd_, n_embd_);
  matrix(Role::kChannelOut, "channel_mix_value", spec.n_ff, n_embd_);
}

void LayerWeights::add_rwkv6(const RwkvSpec& spec) {
  constexpr int64_t kMixed = 5;  // w, k, v, r, g
  check(spec.head_size > 0, "version 6 has heads");
  table(Role::kStateParameter, "time_mix_lerp_x.weight", n_embd_);
  table(Role::kStateParameter, "time_mix_lerp_fused.weight", n_embd_, kMixed);
  matrix(Role::kStateX, "time_mix_w1", n_embd_, checked_mul(kMixed, spec.lora_mix));
  matrix(Role::kStateX, "time_mix_w2", spec.lora_mix, n_embd_, kMixed);
  table(Role::kStateParameter, "time_mix_first.weight", spec.head_size, n_embd_ / spec.head_size);
  table(Role::kStateParameter, "time_mix_decay.weight", n_embd_);
  matrix(Role::kStateDt, "time_mix_decay_w1", n_embd_, spec.lora_decay);
  matrix(Role::kStateDt, "time_mix_decay_w2", spec.lora_decay, n_embd_);
  for (const auto* stem :
       {"time_mix_key", "time_mix_value", "time_mix_receptance", "time_mix_gate"}) {
    matrix(Role::kStateIn, stem, n_embd_, n_embd_);
  }
  norm(Role::kStateNorm, "time_mix_ln", NormKind::kScaleAndShift, n_embd_);
  matrix(Role::kStateOut, "time_mix_output", n_embd_, n_embd_);
  table(Role::kStateParameter, "channel_mix_lerp_k.weight", n_embd_);
  table(Role::kStateParameter, "channel_mix_lerp_r.weight", n_embd_);
  matrix(Role::kChannelIn, "channel_mix_key", n_embd_, spec.n_ff);
  matrix(Role::kChannelGate, "channel_mix_receptance", n_embd_, n_embd_);
  matrix(Role::kChannelOut, "channel_mix_value", spec.n_ff, n_embd_);
}

void LayerWeights::add_rwkv7(const RwkvSpec& spec) {
  constexpr int64_t kMixed = 6;  // r, w, k, v, a, g
  const auto lora = [&](const char* letter, int64_t rank) {
    table(Role::kStateParameter, std::string("time_mix_") + letter + "0.weight", n_embd_);
    matrix(Role::kStateX, std::string("time_mix_") + letter + "1", n_embd_, rank);
    matrix(Role::kStateX, std::string("time_mix_") + letter + "2", rank, n_embd_);
  };
  table(Role::kStateParameter, "time_mix_lerp_fused.weight", n_embd_, kMixed);
  lora("w", spec.lora_decay);
  lora("a", spec.lora_iclr);
  if (spec.lora_value > 0) lora("v", spec.lora_value);
  matrix(Role::kStateX, "time_mix_g1", n_embd_, spec.lora_gate);
  matrix(Role::kStateX, "time_mix_g2", spec.lora_gate, n_embd_);
  for (const auto* stem : {"time_mix_k_k.weight", "time_mix_k_a.weight", "time_mix_r_k.weight"}) {
    table(Role::kStateParameter, stem, n_embd_);
  }
  for (const auto* stem : {"time_mix_key", "time_mix_value", "time_mix_receptance"}) {
    matrix(Role::kStateIn, stem, n_embd_, n_embd_);
  }
  norm(Role::kStateNorm, "time_mix_ln", NormKind::kScaleAndShift, n_embd_);
  matrix(Role::kStateOut, "time_mix_output", n_embd_, n_embd_);
  table(Role::kStateParameter, "channel_mix_lerp_k.weight", n_embd_);
  matrix(Role::kChannelIn, "channel_mix_key", n_embd_, spec.n_ff);
  matrix(Role::kChannelOut, "channel_mix_value", spec.n_ff, n_embd_);
}

}  // namespace tidemark

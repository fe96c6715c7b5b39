// The layer kinds of LayerReader besides softmax attention.
#include <algorithm>

#include "planner/import/gguf/layer_reader.h"

namespace tidemark {

// With k_b and v_b split (n_head = 1 KV head in the keys) the widths of a head are the "_mla" keys,
// and key_length is the cache's row; else key_length is a head's.
MlaSpec LayerReader::mla(int64_t layer, const TensorBlock& block) {
  const bool is_split = block.has("attn_k_b.weight");
  const int64_t key = widths_.key_length_mla > 0 ? widths_.key_length_mla
                                                 : need("attention.key_length", widths_.key_length);
  MlaSpec spec{
      .n_head = need("attention.head_count", widths_.n_head.at(static_cast<size_t>(layer))),
      .q_lora = block.has("attn_q_a.weight") ? need("attention.q_lora_rank", widths_.q_lora) : 0,
      .kv_lora = need("attention.kv_lora_rank", widths_.kv_lora),
      .qk_rope = need("rope.dimension_count", widths_.rope_dims),
      .latent_cache = is_split,
      .split_kv_b = is_split};
  spec.qk_nope = need("attention.key_length", std::max<int64_t>(key - spec.qk_rope, 0));
  if (is_split) {
    spec.v_head = block.rows("attn_v_b.weight");
  } else if (spec.n_head > 0) {
    spec.v_head = block.columns("attn_output.weight") / spec.n_head;
  }
  return spec;
}

MambaSpec LayerReader::mamba(const TensorBlock& block) {
  return {.d_conv = need("ssm.conv_kernel", widths_.d_conv),
          .d_inner = need("ssm.inner_size", widths_.d_inner),
          .d_state = need("ssm.state_size", widths_.d_state),
          .dt_rank = need("ssm.time_step_rank", widths_.dt_rank),
          .conv_bias = block.has("ssm_conv1d.bias"),
          .proj_bias = block.has("ssm_in.bias"),
          .inner_norms = block.has("ssm_dt_norm.weight")};
}

Mamba2Spec LayerReader::mamba2(const TensorBlock& block) {
  Mamba2Spec spec{.d_conv = need("ssm.conv_kernel", widths_.d_conv),
                  .d_inner = need("ssm.inner_size", widths_.d_inner),
                  .d_state = need("ssm.state_size", widths_.d_state),
                  .n_head = need("ssm.time_step_rank", widths_.dt_rank),
                  .n_group = need("ssm.group_count", widths_.n_group),
                  .conv_bias = block.has("ssm_conv1d.bias"),
                  .proj_bias = block.has("ssm_in.bias"),
                  .gated_norm = block.has("ssm_norm.weight")};
  if (spec.n_group > 0 && spec.d_inner % spec.n_group != 0 && reported_.insert("groups").second) {
    keys_.wrong("ssm.group_count", "must divide ssm.inner_size");
  }
  return spec;
}

// state_size is the width of a key, group_count the number of key heads, time_step_rank that of
// value heads, inner_size the width of all values.
GatedDeltaSpec LayerReader::gated_delta() {
  GatedDeltaSpec spec{.n_key_head = need("ssm.group_count", widths_.n_group),
                      .n_value_head = need("ssm.time_step_rank", widths_.dt_rank),
                      .key_dim = need("ssm.state_size", widths_.d_state),
                      .d_conv = need("ssm.conv_kernel", widths_.d_conv)};
  const int64_t inner = need("ssm.inner_size", widths_.d_inner);
  if (spec.n_value_head > 0) spec.value_dim = need("ssm.inner_size", inner / spec.n_value_head);
  return spec;
}

RwkvSpec LayerReader::rwkv(int64_t layer, const TensorBlock& block) {
  RwkvSpec spec{.version = block.architecture().rwkv_version,
                .head_size = need("wkv.head_size", widths_.wkv_head),
                .n_ff = need("feed_forward_length", widths_.n_ff.at(static_cast<size_t>(layer)))};
  if (spec.version == 7) {
    spec.lora_decay = block.rows("time_mix_w1.weight");
    spec.lora_iclr = block.rows("time_mix_a1.weight");
    spec.lora_value = block.rows("time_mix_v1.weight");
    spec.lora_gate = block.rows("time_mix_g1.weight");
    return spec;
  }
  constexpr int64_t kMixed = 5;
  spec.version = 6;
  spec.lora_mix = block.rows("time_mix_w1.weight") / kMixed;
  spec.lora_decay = block.rows("time_mix_decay_w1.weight");
  return spec;
}

}  // namespace tidemark

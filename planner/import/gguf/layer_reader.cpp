#include "planner/import/gguf/layer_reader.h"

#include <algorithm>

namespace tidemark {
namespace {

int64_t at(const std::vector<int64_t>& values, int64_t layer) {
  return values.at(static_cast<size_t>(layer));
}

bool has_feed_forward(const TensorBlock& block) {
  return block.has("ffn_down.weight") || block.has("ffn_down_exps.weight");
}

bool is_gated_delta(const TensorBlock& block) {
  return block.has("ssm_ba.weight") ||
         (block.has("ssm_beta.weight") && block.has("ssm_alpha.weight"));
}

}  // namespace

LayerSpec LayerReader::read(int64_t layer, const TensorBlock& block) {
  const NormKind absent = block.architecture().plain_norms ? NormKind::kPlain : NormKind::kNone;
  LayerSpec spec;
  spec.mixer = mixer(layer, block);
  spec.cross = cross(layer, block);
  spec.feed_forward = feed_forward(layer, block);
  spec.moe = experts(block);
  spec.norms = {.before_mixer = block.norm("attn_norm", absent),
                .after_mixer = block.norm("post_attention_norm"),
                .before_ffn = block.norm("ffn_norm", absent),
                .after_ffn = block.norm("post_ffw_norm")};
  spec.is_parallel = is_parallel(spec, block);
  spec.extras = block.extras();
  return spec;
}

Mixer LayerReader::mixer(int64_t layer, const TensorBlock& block) {
  if (block.has("attn_kv_a_mqa.weight")) return mla(layer, block);
  if (block.has("time_mix_key.weight")) return rwkv(layer, block);
  if (is_gated_delta(block)) return gated_delta();
  if (block.has("ssm_conv1d.weight")) {
    if (block.has("ssm_x.weight")) return mamba(block);
    return mamba2(block);
  }
  if (block.has("shortconv.conv.weight")) {
    return ShortConvSpec{.d_conv = need("shortconv.l_cache", widths_.short_conv),
                         .bias = block.has("shortconv.in_proj.bias")};
  }
  if (block.has("attn_q.weight") || block.has("attn_qkv.weight")) return attention(layer, block);
  return NoMixer{};
}

AttentionSpec LayerReader::attention(int64_t layer, const TensorBlock& block) {
  const GgufArchitecture& architecture = block.architecture();
  const int64_t n_head = need("attention.head_count", at(widths_.n_head, layer));
  AttentionSpec spec{.n_head = n_head,
                     .n_head_kv = need("attention.head_count_kv", at(widths_.n_head_kv, layer)),
                     .head_dim = widths_.key_length};
  const int64_t span = at(widths_.window, layer);
  spec.window = architecture.chunked ? 0 : span;
  spec.chunk = architecture.chunked ? span : 0;
  int64_t value = widths_.value_length;
  if (span > 0 && widths_.key_length_window > 0) spec.head_dim = widths_.key_length_window;
  if (span > 0 && widths_.value_length_window > 0) value = widths_.value_length_window;
  if (spec.head_dim == 0 && n_head > 0) {
    spec.head_dim = need("attention.key_length", widths_.n_embd / n_head);
  }
  spec.head_dim_v = value == spec.head_dim ? 0 : value;
  spec.fused_qkv = block.has("attn_qkv.weight");
  if (spec.fused_qkv) {
    const bool bias = block.has("attn_qkv.bias");
    spec.bias = {.q = bias, .k = bias, .v = bias};
  } else {
    spec.bias = {.q = block.has("attn_q.bias"),
                 .k = block.has("attn_k.bias"),
                 .v = block.has("attn_v.bias")};
    spec.value_is_key =
        architecture.value_is_key && block.has("attn_k.weight") && !block.has("attn_v.weight");
  }
  spec.bias.out = block.has("attn_output.bias");
  read_norms_of_heads(block, spec);
  spec.sinks = block.has("attn_sinks.weight");
  spec.output_gate = architecture.output_gate;
  spec.shares_kv_with = shared_with(layer);
  spec.n_bucket = block.rows("attn_rel_b.weight");
  return spec;
}

void LayerReader::read_norms_of_heads(const TensorBlock& block, AttentionSpec& spec) {
  const StoredTensor* norm = block.find("attn_q_norm.weight");
  if (norm == nullptr) return;
  const bool by_head = norm->columns == spec.head_dim && norm->rows == 1;
  spec.qk_norm = by_head ? QkNormKind::kHead : QkNormKind::kWidth;
  spec.qk_norm_bias = block.has("attn_q_norm.bias");
}

// The last layer of the same kind, sliding or not, that still has a cache of its own.
int64_t LayerReader::shared_with(int64_t layer) const {
  const int64_t n_own = widths_.n_own_cache;
  if (n_own == 0 || layer < n_own || layer >= widths_.n_layer - widths_.n_draft) return -1;
  for (int64_t i = n_own - 1; i >= 0; --i) {
    if ((at(widths_.window, i) > 0) == (at(widths_.window, layer) > 0)) return i;
  }
  return -1;
}

CrossAttentionSpec LayerReader::cross(int64_t layer, const TensorBlock& block) {
  if (!block.has("cross_attn_q.weight")) return {};
  const int64_t n_head = need("attention.head_count", at(widths_.n_head, layer));
  AttentionSpec spec{.n_head = n_head,
                     .n_head_kv = need("attention.head_count_kv", at(widths_.n_head_kv, layer)),
                     .head_dim = widths_.key_length};
  if (spec.head_dim == 0 && n_head > 0) {
    spec.head_dim = need("attention.key_length", widths_.n_embd / n_head);
  }
  spec.head_dim_v = widths_.value_length == spec.head_dim ? 0 : widths_.value_length;
  spec.bias = {.q = block.has("cross_attn_q.bias"),
               .k = block.has("cross_attn_k.bias"),
               .v = block.has("cross_attn_v.bias"),
               .out = block.has("cross_attn_output.bias")};
  return {.attention = spec, .norm = block.norm("cross_attn_norm")};
}

FeedForwardSpec LayerReader::feed_forward(int64_t layer, const TensorBlock& block) {
  const int64_t columns = block.columns("ffn_down.weight");
  if (columns == 0) return {};
  const bool has_gate = block.has("ffn_gate.weight");
  const int64_t stated = at(widths_.n_ff, layer);
  // The keys of a fused matrix state either width; its down projection tells.
  const bool is_fused = !has_gate && block.rows("ffn_up.weight") / 2 == columns;
  return {.n_ff = stated > 0 && !is_fused ? stated : columns,
          .gated = has_gate || is_fused,
          .fused_gate_up = is_fused,
          .bias = block.has("ffn_up.bias")};
}

MoeSpec LayerReader::experts(const TensorBlock& block) {
  if (!block.has("ffn_down_exps.weight")) return {};
  const int64_t columns = block.columns("ffn_down_exps.weight");
  MoeSpec spec{.n_expert = need("expert_count", widths_.n_expert),
               .n_expert_used = need("expert_used_count", widths_.n_expert_used),
               .n_ff_exp = widths_.n_ff_exp > 0 ? widths_.n_ff_exp : columns};
  if (spec.n_expert_used > spec.n_expert && reported_.insert("used").second) {
    keys_.wrong("expert_used_count", "more experts are used than there are");
  }
  spec.gated = block.has("ffn_gate_exps.weight") || block.has("ffn_gate_up_exps.weight");
  spec.router_bias = block.has("ffn_gate_inp.bias");
  spec.balance_bias = block.has("exp_probs_b.bias");
  spec.expert_bias = block.has("ffn_down_exps.bias");
  spec.n_ff_shared = block.columns("ffn_down_shexp.weight");
  spec.shared_gate = block.has("ffn_gate_inp_shexp.weight");
  spec.shared_bias = block.has("ffn_down_shexp.bias");
  return spec;
}

// Without a norm of its own, and without norms behind, a feed-forward reads what attention reads.
bool LayerReader::is_parallel(const LayerSpec& spec, const TensorBlock& block) {
  if (std::holds_alternative<NoMixer>(spec.mixer) || !has_feed_forward(block)) return false;
  const bool shares_norm =
      block.has("attn_norm.weight") && spec.norms.before_ffn == NormKind::kNone;
  return keys_.flag("use_parallel_residual", shares_norm || block.architecture().parallel);
}

int64_t LayerReader::need(std::string_view key, int64_t value) {
  if (value <= 0 && reported_.insert(std::string(key)).second) {
    if (keys_.has(key)) {
      keys_.wrong(key, "must be more than 0 in a layer that needs it");
    } else {
      keys_.missing(key);
    }
  }
  return value;
}

}  // namespace tidemark

#include "planner/import/gguf/model_keys.h"

#include <algorithm>
#include <optional>

namespace tidemark {
namespace {

using Layers = std::vector<const LayerSpec*>;

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

constexpr float kEpsilon = 1e-5F;

// In file order: main layers, then draft layers.
Layers layers_in_file(const TransformerSpec& spec) {
  Layers layers;
  for (const LayerSpec& layer : spec.layers) layers.push_back(&layer);
  for (const StackSpec& stack : spec.stacks) {
    if (stack.role != StackRole::kDraft) continue;
    for (const LayerSpec& layer : stack.layers) layers.push_back(&layer);
  }
  return layers;
}

// One value a layer; where `value_of` gives none the layer does not care, and takes what the first
// that does care has.
template <class ValueOf>
std::vector<int64_t> values_of(const Layers& layers, const ValueOf& value_of) {
  std::vector<std::optional<int64_t>> values;
  for (const LayerSpec* layer : layers) values.push_back(value_of(*layer));
  const auto first = std::ranges::find_if(values, [](const auto& v) { return v.has_value(); });
  const int64_t filler = first == values.end() ? 0 : **first;
  std::vector<int64_t> filled;
  for (const std::optional<int64_t>& value : values) filled.push_back(value.value_or(filler));
  return filled;
}

std::optional<int64_t> heads_of(const LayerSpec& layer) {
  if (const AttentionSpec* attention = layer.attention()) return attention->n_head;
  if (const auto* mla = std::get_if<MlaSpec>(&layer.mixer)) return mla->n_head;
  return std::nullopt;
}

// 0 marks a layer without attention.
std::optional<int64_t> kv_heads_of(const LayerSpec& layer) {
  if (const AttentionSpec* attention = layer.attention()) return attention->n_head_kv;
  if (const auto* mla = std::get_if<MlaSpec>(&layer.mixer))
    return mla->split_kv_b ? 1 : mla->n_head;
  return 0;
}

std::optional<int64_t> feed_forward_of(const LayerSpec& layer) {
  if (layer.feed_forward.n_ff > 0) return layer.feed_forward.n_ff;
  if (const auto* rwkv = std::get_if<RwkvSpec>(&layer.mixer)) return rwkv->n_ff;
  return layer.moe.n_expert > 0 ? std::nullopt : std::optional<int64_t>(0);
}

int64_t span_of(const LayerSpec& layer) {
  const AttentionSpec* attention = layer.attention();
  if (attention == nullptr) return 0;
  return attention->window > 0 ? attention->window : attention->chunk;
}

void write_heads(const AttentionSpec& spec, bool is_window, bool windows_differ,
                 GgufKeyWriter& keys) {
  const bool is_apart = is_window && windows_differ;
  keys.number(is_apart ? "attention.key_length_swa" : "attention.key_length", spec.head_dim);
  keys.number(is_apart ? "attention.value_length_swa" : "attention.value_length", spec.value_dim());
  if (!is_apart) keys.number("rope.dimension_count", spec.head_dim);
}

void write_mla(const MlaSpec& spec, GgufKeyWriter& keys) {
  const int64_t key = checked_add(spec.qk_nope, spec.qk_rope);
  keys.number("attention.kv_lora_rank", spec.kv_lora);
  if (spec.q_lora > 0) keys.number("attention.q_lora_rank", spec.q_lora);
  keys.number("rope.dimension_count", spec.qk_rope);
  if (spec.split_kv_b) {
    keys.number("attention.key_length", checked_add(spec.kv_lora, spec.qk_rope));
    keys.number("attention.value_length", spec.kv_lora);
    keys.number("attention.key_length_mla", key);
    keys.number("attention.value_length_mla", spec.v_head);
  } else {
    keys.number("attention.key_length", key);
    keys.number("attention.value_length", spec.v_head);
  }
}

void write_ssm(int64_t d_conv, int64_t d_inner, int64_t d_state, int64_t dt_rank, int64_t n_group,
               GgufKeyWriter& keys) {
  keys.number("ssm.conv_kernel", d_conv);
  keys.number("ssm.inner_size", d_inner);
  keys.number("ssm.state_size", d_state);
  keys.number("ssm.time_step_rank", dt_rank);
  keys.number("ssm.group_count", n_group);
}

void write_rwkv(const RwkvSpec& spec, GgufKeyWriter& keys) {
  keys.number("wkv.head_size", spec.head_size);
  keys.number("token_shift_count", 2);
  if (spec.version == 6) {
    keys.number("time_mix_extra_dim", spec.lora_mix);
    keys.number("time_decay_extra_dim", spec.lora_decay);
    return;
  }
  keys.number("attention.decay_lora_rank", spec.lora_decay);
  keys.number("attention.iclr_lora_rank", spec.lora_iclr);
  keys.number("attention.gate_lora_rank", spec.lora_gate);
  // Absent in layer 0, so not the same everywhere.
  if (spec.lora_value > 0) {
    keys.number("attention.value_residual_mix_lora_rank", spec.lora_value);
  }
}

// Do sliding layers have heads of another width than the full ones?
bool windows_differ(const Layers& layers) {
  const AttentionSpec* full = nullptr;
  for (const LayerSpec* layer : layers) {
    if (layer->attention() != nullptr && span_of(*layer) == 0) full = layer->attention();
  }
  return full != nullptr && std::ranges::any_of(layers, [full](const LayerSpec* layer) {
           const AttentionSpec* spec = layer->attention();
           return spec != nullptr && span_of(*layer) > 0 &&
                  (spec->head_dim != full->head_dim || spec->value_dim() != full->value_dim());
         });
}

void write_mixers(const Layers& layers, GgufKeyWriter& keys) {
  const bool differ = windows_differ(layers);
  for (const LayerSpec* layer : layers) {
    const bool is_window = span_of(*layer) > 0;
    std::visit(
        Overloaded{
            [&](const AttentionSpec& spec) { write_heads(spec, is_window, differ, keys); },
            [&](const MlaSpec& spec) { write_mla(spec, keys); },
            [&](const MambaSpec& spec) {
              write_ssm(spec.d_conv, spec.d_inner, spec.d_state, spec.dt_rank, 0, keys);
            },
            [&](const Mamba2Spec& spec) {
              write_ssm(spec.d_conv, spec.d_inner, spec.d_state, spec.n_head, spec.n_group, keys);
            },
            [&](const GatedDeltaSpec& spec) {
              write_ssm(spec.d_conv, checked_mul(spec.n_value_head, spec.value_dim), spec.key_dim,
                        spec.n_value_head, spec.n_key_head, keys);
            },
            [&](const RwkvSpec& spec) { write_rwkv(spec, keys); },
            [&](const ShortConvSpec& spec) { keys.number("shortconv.l_cache", spec.d_conv); },
            [](const LinearAttentionSpec&) {}, [](const NoMixer&) {}},
        layer->mixer);
  }
}

void write_expert_widths(const Layers& layers, GgufKeyWriter& keys) {
  for (const LayerSpec* layer : layers) {
    const MoeSpec& moe = layer->moe;
    if (moe.n_expert == 0) continue;
    keys.number("expert_count", moe.n_expert);
    keys.number("expert_used_count", moe.n_expert_used);
    keys.number("expert_feed_forward_length", moe.n_ff_exp);
    if (moe.n_ff_shared == 0) continue;
    keys.number("expert_shared_feed_forward_length", moe.n_ff_shared);
    if (moe.n_ff_shared % moe.n_ff_exp == 0) {
      keys.number("expert_shared_count", moe.n_ff_shared / moe.n_ff_exp);
    }
  }
}

void write_experts(const GgufArchitecture& architecture, const Layers& layers,
                   GgufKeyWriter& keys) {
  const auto first =
      std::ranges::find_if(layers, [](const LayerSpec* layer) { return layer->moe.n_expert > 0; });
  if (first == layers.end()) return;
  const int64_t n_dense = first - layers.begin();
  if (n_dense > 0) keys.number("leading_dense_block_count", n_dense);
  if (architecture.chunked) keys.number("interleave_moe_layer_step", n_dense + 1);
  write_expert_widths(layers, keys);
}

void write_windows(const GgufArchitecture& architecture, const Layers& layers,
                   GgufKeyWriter& keys) {
  std::vector<bool> slides;
  bool is_default = true;
  for (const LayerSpec* layer : layers) {
    const int64_t period = architecture.window_period;
    const auto i = static_cast<int64_t>(slides.size());
    slides.push_back(span_of(*layer) > 0);
    is_default = is_default && slides.back() == (period > 0 && i % period < period - 1);
    if (slides.back()) keys.number("attention.sliding_window", span_of(*layer));
  }
  const bool any = std::ranges::find(slides, true) != slides.end();
  if (!any && architecture.default_window > 0) keys.number("attention.sliding_window", 0);
  if (any && !is_default) keys.flags("attention.sliding_window_pattern", slides);
}

void write_shared_caches(const GgufArchitecture& architecture, const TransformerSpec& spec,
                         GgufKeyWriter& keys) {
  const auto shares = [](const LayerSpec& layer) {
    return layer.attention() != nullptr && layer.attention()->shares_kv_with >= 0;
  };
  const int64_t n_shared = std::ranges::count_if(spec.layers, shares);
  const bool expected = architecture.n_own_cache > 0 &&
                        architecture.n_own_cache < static_cast<int64_t>(spec.layers.size());
  if (n_shared > 0 || expected) keys.number("attention.shared_kv_layers", n_shared);
}

// Said only where the norms do not say it already (layer_reader.h).
void write_parallel(const GgufArchitecture& architecture, const Layers& layers,
                    GgufKeyWriter& keys) {
  const auto obvious = [&](const LayerSpec& layer) {
    const NormKind before = layer.norms.before_mixer;
    const bool has_norm = before == NormKind::kScale || before == NormKind::kScaleAndShift;
    return architecture.parallel || (has_norm && layer.norms.before_ffn == NormKind::kNone);
  };
  const auto concerns = [](const LayerSpec& layer) {
    return !std::holds_alternative<NoMixer>(layer.mixer) &&
           (layer.feed_forward.n_ff > 0 || layer.moe.n_expert > 0);
  };
  const bool is_obvious = std::ranges::all_of(layers, [&](const LayerSpec* layer) {
    return !concerns(*layer) || layer->is_parallel == obvious(*layer);
  });
  if (is_obvious) return;
  for (const LayerSpec* layer : layers) {
    if (concerns(*layer)) keys.flag("use_parallel_residual", layer->is_parallel);
  }
}

// The keys are the decoder's; an encoder of another shape has none.
void write_encoder(const TransformerSpec& spec, GgufKeyWriter& keys) {
  for (const StackSpec& stack : spec.stacks) {
    if (stack.role != StackRole::kEncoder) continue;
    Layers layers;
    for (const LayerSpec& layer : stack.layers) layers.push_back(&layer);
    keys.per_layer("feed_forward_length", values_of(layers, feed_forward_of));
    keys.per_layer("attention.head_count", values_of(layers, heads_of));
    keys.per_layer("attention.head_count_kv", values_of(layers, kv_heads_of));
    write_mixers(layers, keys);
    write_expert_widths(layers, keys);
  }
}

// How many layers there are, and which of them recur.
void write_counts(const GgufArchitecture& architecture, const TransformerSpec& spec,
                  const Layers& layers, GgufKeyWriter& keys) {
  const auto n_draft = static_cast<int64_t>(layers.size() - spec.layers.size());
  if (n_draft > 0) keys.number("nextn_predict_layers", n_draft);
  if (!architecture.is_encoder_decoder) {
    keys.number("block_count", static_cast<int64_t>(layers.size()));
  } else {
    keys.number("decoder_block_count", static_cast<int64_t>(spec.layers.size()));
    for (const StackSpec& stack : spec.stacks) {
      if (stack.role != StackRole::kEncoder) continue;
      keys.number("block_count", static_cast<int64_t>(stack.layers.size()));
    }
  }
  std::vector<bool> recurs;
  for (const LayerSpec* layer : layers) {
    recurs.push_back(std::holds_alternative<GatedDeltaSpec>(layer->mixer));
  }
  const bool any = std::ranges::find(recurs, true) != recurs.end();
  const int64_t n_recurrent = std::ranges::find(recurs, false) - recurs.begin();
  if (!any) return;
  keys.flags("attention.recurrent_layers", recurs);
  keys.number("full_attention_interval", n_recurrent + 1);
}

}  // namespace

void write_model_keys(const GgufArchitecture& architecture, const TransformerSpec& spec,
                      GgufKeyWriter& keys) {
  const Layers layers = layers_in_file(spec);
  write_counts(architecture, spec, layers, keys);
  keys.number("vocab_size", spec.n_vocab);
  keys.number("context_length", spec.n_ctx_train.count());
  keys.number("embedding_length", spec.n_embd);
  keys.per_layer("feed_forward_length", values_of(layers, feed_forward_of));
  keys.per_layer("attention.head_count", values_of(layers, heads_of));
  keys.per_layer("attention.head_count_kv", values_of(layers, kv_heads_of));
  keys.real(
      architecture.layer_norm ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon",
      kEpsilon);
  if (spec.is_causal == architecture.is_encoder || architecture.is_encoder) {
    keys.flag("attention.causal", spec.is_causal);
  }
  write_mixers(layers, keys);
  write_encoder(spec, keys);
  write_experts(architecture, layers, keys);
  write_windows(architecture, layers, keys);
  write_shared_caches(architecture, spec, keys);
  write_parallel(architecture, layers, keys);
  for (const LayerSpec* layer : layers) {
    const AttentionSpec* attention = layer->attention();
    if (attention == nullptr || attention->n_bucket == 0) continue;
    keys.number("attention.relative_buckets_count", attention->n_bucket);
  }
}

}  // namespace tidemark

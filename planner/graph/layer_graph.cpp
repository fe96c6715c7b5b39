#include "planner/graph/layer_graph.h"

#include <algorithm>
#include <utility>

namespace tidemark {
namespace {

// Calls the overload for what the mixer is.
template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

Value mixer_graph(LayerContext& c, const LayerSpec& layer, const Value& x) {
  return std::visit(
      Overloaded{
          [&](const AttentionSpec& spec) { return attention_graph(c, spec, x); },
          [&](const MlaSpec& spec) { return mla_graph(c, spec, x); },
          [&](const MambaSpec& spec) { return mamba_graph(c, spec, x); },
          [&](const Mamba2Spec& spec) { return mamba2_graph(c, spec, x); },
          [&](const GatedDeltaSpec& spec) { return gated_delta_graph(c, spec, x); },
          [&](const LinearAttentionSpec& spec) { return linear_attention_graph(c, spec, x); },
          [&](const RwkvSpec& spec) { return rwkv_time_graph(c, spec, x); },
          [&](const ShortConvSpec& spec) { return short_conv_graph(c, spec, x); },
          [&](const NoMixer&) { return x; }},
      layer.mixer);
}

bool works_on_tokens(const LayerSpec& layer) {
  return layer.feed_forward.n_ff > 0 || layer.moe.n_expert > 0 ||
         std::holds_alternative<RwkvSpec>(layer.mixer);
}

// Feed-forward, experts, or both added; RWKV has its channel mixing in their place.
Value on_each_token(LayerContext& context, const LayerSpec& layer, const Value& x) {
  if (const auto* rwkv = std::get_if<RwkvSpec>(&layer.mixer)) {
    return rwkv_channel_graph(context, *rwkv, x);
  }
  if (layer.moe.n_expert == 0) return feed_forward_graph(context, layer.feed_forward, x);
  if (layer.feed_forward.n_ff == 0) return expert_graph(context, layer.moe, x);
  const Value dense = feed_forward_graph(context, layer.feed_forward, x);
  const Value experts = expert_graph(context, layer.moe, x);
  return context.writer.elementwise("experts_add", OpKind::kAdd, dense, experts.id);
}

}  // namespace

bool layers_read_positions(const TransformerSpec& spec) {
  const auto reads = [&spec](const LayerSpec& layer) {
    if (std::holds_alternative<MlaSpec>(layer.mixer)) return true;
    const AttentionSpec* attention = layer.attention();
    return attention != nullptr && (turns_queries(spec, *attention) || attention->n_bucket > 0);
  };
  return std::any_of(spec.layers.begin(), spec.layers.end(), reads);
}

// Whether a norm behind a part stands before or behind the sum changes no size: it is drawn
// before it.
Value layer_graph(LayerContext& context, const LayerSpec& spec, const Value& x) {
  GraphWriter& writer = context.writer;
  const Value normed =
      writer.norm_if("attn_norm", WeightRole::kAttentionNorm, spec.norms.before_mixer, x);
  const bool has_mixer = !std::holds_alternative<NoMixer>(spec.mixer);
  Value mixed = has_mixer ? mixer_graph(context, spec, normed) : normed;
  mixed = writer.norm_if("attn_post_norm", WeightRole::kAttentionPostNorm, spec.norms.after_mixer,
                         mixed);
  Value sum = has_mixer ? writer.elementwise("attn_add", OpKind::kAdd, mixed, x.id) : x;
  Value next = has_mixer ? sum : mixed;  // what the part behind the mixer reads
  if (spec.cross.attention.n_head > 0 && writer.options().n_source > 0) {
    const Value met = cross_attention_graph(context, spec.cross, next);
    sum = next = writer.elementwise("cross_add", OpKind::kAdd, met, sum.id);
  }
  if (!works_on_tokens(spec)) return next;
  const bool one_norm = spec.is_parallel && spec.norms.before_ffn == NormKind::kNone;
  const Value read = writer.norm_if("ffn_norm", WeightRole::kFeedForwardNorm, spec.norms.before_ffn,
                                    spec.is_parallel ? x : next);
  const Value made = on_each_token(context, spec, one_norm ? normed : read);
  const Value scaled =
      writer.norm_if("ffn_post_norm", WeightRole::kFeedForwardPostNorm, spec.norms.after_ffn, made);
  return writer.elementwise("ffn_add", OpKind::kAdd, scaled, sum.id);
}

Value extras_graph(LayerContext& context, const Value& x) {
  GraphWriter& writer = context.writer;
  std::vector<WeightId> weights = writer.all(WeightRole::kExtra);
  if (weights.empty()) return x;
  Bytes bytes;
  for (const WeightId id : weights) {
    const WeightTensor& tensor = writer.tensor(id);
    const bool by_word = tensor.rows == context.spec.n_vocab;
    bytes += by_word ? writer.looked_up(tensor) * tensor.count : tensor.bytes;
  }
  return writer.emit("extras", x.shape,
                     {.kind = OpKind::kExtra,
                      .inputs = {x.id},
                      .weights = std::move(weights),
                      .weights_read = bytes});
}

}  // namespace tidemark

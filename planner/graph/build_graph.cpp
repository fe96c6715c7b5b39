#include "planner/graph/build_graph.h"

#include <algorithm>
#include <utility>

#include "planner/base/check.h"
#include "planner/graph/layer_graph.h"

namespace tidemark {
namespace {

// Calls the overload for what the mixer is.
template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

bool reads_positions(const TransformerSpec& spec) {
  const auto reads = [&spec](const LayerSpec& layer) {
    if (std::holds_alternative<MlaSpec>(layer.mixer)) return true;
    const AttentionSpec* attention = layer.attention();
    return attention != nullptr && (turns_queries(spec, *attention) || attention->n_bucket > 0);
  };
  return spec.n_position > 0 || std::any_of(spec.layers.begin(), spec.layers.end(), reads);
}

// Puts the layers of the main stack together: the norms and sums around their parts, and what
// stands before and behind them.
class TransformerGraph {
 public:
  TransformerGraph(const TransformerSpec& spec, const WeightsInventory& weights,
                   const GraphOptions& options)
      : spec_(spec), options_(options), writer_(weights, options) {
    context_.caches.resize(spec.layers.size());
  }

  Graph build() && {
    const Value token_ids = writer_.input("token_ids");
    if (reads_positions(spec_)) context_.positions = writer_.input("positions");
    Value x = embedding(token_ids);
    for (size_t i = 0; i < spec_.layers.size(); ++i) {
      writer_.enter_layer(i);
      x = extras(layer(spec_.layers[i], x));
    }
    writer_.leave_layers();
    x = extras(x);
    if (spec_.has_head) {
      head(x);
    } else {
      embeddings_out(x);
    }
    return std::move(writer_).build();
  }

 private:
  // A lookup reads one row per token, and no more rows than there are.
  Value lookup(std::string_view name, WeightRole role, const Value& ids) {
    const WeightId weight = writer_.weight(role);
    return writer_.emit(name, {spec_.n_embd, options_.n_tokens, 1, 1},
                        {.kind = OpKind::kEmbed,
                         .inputs = {ids.id},
                         .weights = {weight},
                         .weights_read = looked_up(writer_.tensor(weight))});
  }

  Bytes looked_up(const WeightTensor& table) const {
    return row_bytes(table.dtype, table.columns) * std::min(options_.n_tokens, table.rows);
  }

  Value embedding(const Value& token_ids) {
    Value x = lookup("embed", WeightRole::kTokenEmbedding, token_ids);
    if (spec_.n_position > 0) {
      const Value position =
          lookup("position_embed", WeightRole::kPositionEmbedding, *context_.positions);
      x = writer_.elementwise("position_add", OpKind::kAdd, x, position.id);
    }
    if (spec_.n_token_type > 0) {  // all tokens are of one type
      const WeightId types = writer_.weight(WeightRole::kTokenTypes);
      const WeightTensor& table = writer_.tensor(types);
      x = writer_.emit("type_add", x.shape,
                       {.kind = OpKind::kAddBias,
                        .inputs = {x.id},
                        .weights = {types},
                        .weights_read = row_bytes(table.dtype, table.columns)});
    }
    return writer_.norm_if("embed_norm", WeightRole::kEmbeddingNorm, spec_.embedding_norm, x);
  }

  // Whether a norm behind a part stands before or behind the sum changes no size: it is drawn
  // before it.
  Value layer(const LayerSpec& spec, const Value& x) {
    const Value normed =
        writer_.norm_if("attn_norm", WeightRole::kAttentionNorm, spec.norms.before_mixer, x);
    const bool has_mixer = !std::holds_alternative<NoMixer>(spec.mixer);
    Value mixed = has_mixer ? mixer(spec, normed) : normed;
    mixed = writer_.norm_if("attn_post_norm", WeightRole::kAttentionPostNorm,
                            spec.norms.after_mixer, mixed);
    Value sum = has_mixer ? writer_.elementwise("attn_add", OpKind::kAdd, mixed, x.id) : x;
    Value next = has_mixer ? sum : mixed;  // what the part behind the mixer reads
    if (spec.cross.attention.n_head > 0 && options_.n_source > 0) {
      const Value met = cross_attention_graph(context_, spec.cross, next);
      sum = next = writer_.elementwise("cross_add", OpKind::kAdd, met, sum.id);
    }
    if (!works_on_tokens(spec)) return next;
    const bool one_norm = spec.is_parallel && spec.norms.before_ffn == NormKind::kNone;
    const Value read = writer_.norm_if("ffn_norm", WeightRole::kFeedForwardNorm,
                                       spec.norms.before_ffn, spec.is_parallel ? x : next);
    const Value made = on_each_token(spec, one_norm ? normed : read);
    const Value scaled = writer_.norm_if("ffn_post_norm", WeightRole::kFeedForwardPostNorm,
                                         spec.norms.after_ffn, made);
    return writer_.elementwise("ffn_add", OpKind::kAdd, scaled, sum.id);
  }

  Value mixer(const LayerSpec& layer, const Value& x) {
    LayerContext& c = context_;
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

  static bool works_on_tokens(const LayerSpec& layer) {
    return layer.feed_forward.n_ff > 0 || layer.moe.n_expert > 0 ||
           std::holds_alternative<RwkvSpec>(layer.mixer);
  }

  // Feed-forward, experts, or both added; RWKV has its channel mixing in their place.
  Value on_each_token(const LayerSpec& layer, const Value& x) {
    if (const auto* rwkv = std::get_if<RwkvSpec>(&layer.mixer)) {
      return rwkv_channel_graph(context_, *rwkv, x);
    }
    if (layer.moe.n_expert == 0) return feed_forward_graph(context_, layer.feed_forward, x);
    if (layer.feed_forward.n_ff == 0) return expert_graph(context_, layer.moe, x);
    const Value dense = feed_forward_graph(context_, layer.feed_forward, x);
    const Value experts = expert_graph(context_, layer.moe, x);
    return writer_.elementwise("experts_add", OpKind::kAdd, dense, experts.id);
  }

  // Weights that no width describes are read whole, but for a table with a row for each word, which
  // is looked up. What is computed with them is unknown: nothing is counted, and x keeps its shape.
  Value extras(const Value& x) {
    std::vector<WeightId> weights = writer_.all(WeightRole::kExtra);
    if (weights.empty()) return x;
    Bytes bytes;
    for (const WeightId id : weights) {
      const WeightTensor& tensor = writer_.tensor(id);
      const bool by_word = tensor.rows == spec_.n_vocab;
      bytes += by_word ? looked_up(tensor) * tensor.count : tensor.bytes;
    }
    return writer_.emit("extras", x.shape,
                        {.kind = OpKind::kExtra,
                         .inputs = {x.id},
                         .weights = std::move(weights),
                         .weights_read = bytes});
  }

  Value wanted_rows(const Value& x) {
    if (options_.n_outputs == options_.n_tokens) return x;
    return writer_.emit("select_rows", {spec_.n_embd, options_.n_outputs, 1, 1},
                        {.kind = OpKind::kSelectRows, .inputs = {x.id}});
  }

  void head(const Value& x) {
    const Value normed =
        writer_.norm_if("output_norm", WeightRole::kOutputNorm, spec_.final_norm, wanted_rows(x));
    const WeightRole role =
        spec_.tied_embeddings ? WeightRole::kTokenEmbedding : WeightRole::kOutput;
    Op op = writer_.product_op(writer_.weight(role), normed);
    if (spec_.head_bias) {  // added by the product: logits stand outside the arena
      op.weights.push_back(writer_.weight(WeightRole::kOutput, true));
      op.weights_read += writer_.tensor(op.weights.back()).bytes;
    }
    writer_.output("logits", {spec_.n_vocab, options_.n_outputs, 1, 1}, std::move(op));
  }

  // Without a head the output is what the last norm makes.
  void embeddings_out(const Value& x) {
    const Shape shape{spec_.n_embd, options_.n_outputs, 1, 1};
    if (spec_.final_norm == NormKind::kNone) {
      writer_.output("embeddings", shape, {.kind = OpKind::kSelectRows, .inputs = {x.id}});
      return;
    }
    std::vector<WeightId> weights;
    if (spec_.final_norm != NormKind::kPlain) {
      weights = writer_.norm_weights(WeightRole::kOutputNorm);
    }
    writer_.output("embeddings", shape, writer_.norm_op(std::move(weights), wanted_rows(x)));
  }

  const TransformerSpec& spec_;
  const GraphOptions& options_;
  GraphWriter writer_;
  LayerContext context_{.writer = writer_, .spec = spec_};
};

Graph build_layer_list(const LayerListSpec& list) {
  GraphBuilder builder;
  std::vector<TensorId> previous;  // none before the first layer
  for (size_t i = 0; i < list.layers.size(); ++i) {
    const PlainLayer& layer = list.layers[i];
    const TensorId out =
        builder.add_sized_tensor(layer.name, TensorKind::kActivation, layer.activation);
    builder.add_op({.name = layer.name,
                    .kind = OpKind::kPlainLayer,
                    .layer = static_cast<int64_t>(i),
                    .inputs = previous,
                    .outputs = {out},
                    .weights = {WeightId::of(i)},
                    .weights_read = layer.weights});
    previous = {out};
  }
  return std::move(builder).build();
}

// Plain softmax attention and a gated feed-forward, nothing else.
bool is_dense(const LayerSpec& layer) {
  const AttentionSpec* attention = layer.attention();
  if (attention == nullptr) return false;
  const LayerSpec dense{.mixer = AttentionSpec{.n_head = attention->n_head,
                                               .n_head_kv = attention->n_head_kv,
                                               .head_dim = attention->head_dim,
                                               .head_dim_v = attention->head_dim_v,
                                               .window = attention->window,
                                               .chunk = attention->chunk},
                        .feed_forward = {.n_ff = layer.feed_forward.n_ff}};
  return layer == dense;
}

}  // namespace

std::string_view name_of(Phase phase) { return phase == Phase::kPrefill ? "prefill" : "decode"; }

StateOptions state_options(const GraphOptions& options) {
  return {.n_cells = options.n_cells,
          .n_seq = options.n_seq,
          .n_ubatch = options.n_ubatch == 0 ? options.n_tokens : options.n_ubatch,
          .n_source = options.n_source,
          .type_k = options.type_k,
          .type_v = options.type_v,
          .unified = options.unified,
          .swa_full = options.swa_full,
          .cell_multiple = options.cell_multiple};
}

Graph build_graph(const ModelSpec& model, const WeightsInventory& weights,
                  const GraphOptions& options) {
  if (const LayerListSpec* list = model.layer_list()) return build_layer_list(*list);
  return TransformerGraph(*model.transformer(), weights, options).build();
}

int64_t most_ops(const ModelSpec& model) {
  constexpr int64_t kOfDenseLayer = 19;
  constexpr int64_t kOfAnyLayer = 90;  // parallel experts beside RWKV 7's 31, and all norms
  constexpr int64_t kOutsideLayers = 9;
  const TransformerSpec* spec = model.transformer();
  if (spec == nullptr) return model.n_layer();
  int64_t ops = kOutsideLayers;
  for (const LayerSpec& layer : spec->layers) ops += is_dense(layer) ? kOfDenseLayer : kOfAnyLayer;
  return ops;
}

Bytes matmul_scratch(DType weight_type, DType type_act, int64_t columns, int64_t n_tokens) {
  if (!format_of(weight_type).quantized || format_of(type_act).quantized) return {};
  const int64_t int8_row_with_scale = checked_add(columns, 4);
  return Bytes::of(int8_row_with_scale) * n_tokens;
}

Bytes flash_attention_scratch(int64_t head_dim) {
  const int64_t maximum_and_sum = 2;
  return row_bytes(DType::kF32, checked_add(head_dim, maximum_and_sum + kFlashTile));
}

}  // namespace tidemark

#include "planner/graph/build_graph.h"

#include <algorithm>
#include <utility>

#include "planner/base/check.h"
#include "planner/graph/layer_graph.h"

namespace tidemark {
namespace {

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
    if (spec_.n_position > 0 || layers_read_positions(spec_)) {
      context_.positions = writer_.input("positions");
    }
    Value x = embedding(token_ids);
    for (size_t i = 0; i < spec_.layers.size(); ++i) {
      writer_.enter_layer(i);
      x = extras_graph(context_, layer_graph(context_, spec_.layers[i], x));
      x = deeper_rows(x);
    }
    writer_.leave_layers();
    x = extras_graph(context_, x);
    if (spec_.has_head) {
      head(x);
    } else {
      embeddings_out(x);
    }
    return std::move(writer_).build();
  }

 private:
  Value lookup(std::string_view name, WeightRole role, const Value& ids) {
    return writer_.embed(name, writer_.weight(role), spec_.n_embd, ids);
  }

  // A tower's rows take the place of those of the tokens that stand for them.
  Value mixed_with_rows(const Value& x) {
    if (options_.n_tower_rows == 0) return x;
    const int64_t width = checked_mul(spec_.n_embd, 1 + options_.n_deep_rows);
    tower_rows_ = writer_.input("tower_rows", Shape{width, options_.n_tower_rows, 1, 1});
    return writer_.elementwise("tower_rows_mix", OpKind::kMix, x, tower_rows_->id);
  }

  // DeepStack: behind each of the first layers, a part of each row is added.
  Value deeper_rows(const Value& x) {
    if (!tower_rows_ || writer_.layer() >= options_.n_deep_rows) return x;
    return writer_.elementwise("deep_rows_add", OpKind::kMix, x, tower_rows_->id);
  }

  // Rows that this pass has no tokens for wait for the next one.
  void hold_rows(Op& last) const {
    if (tower_rows_ && options_.n_tower_rows > options_.n_tokens) {
      last.inputs.push_back(tower_rows_->id);
    }
  }

  Value embedding(const Value& token_ids) {
    Value x = mixed_with_rows(lookup("embed", WeightRole::kTokenEmbedding, token_ids));
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
    hold_rows(op);
    writer_.output("logits", {spec_.n_vocab, options_.n_outputs, 1, 1}, std::move(op));
  }

  // Without a head the output is what the last norm makes.
  void embeddings_out(const Value& x) {
    Op op{.kind = OpKind::kSelectRows, .inputs = {x.id}};
    if (spec_.final_norm != NormKind::kNone) {
      std::vector<WeightId> weights;
      if (spec_.final_norm != NormKind::kPlain) {
        weights = writer_.norm_weights(WeightRole::kOutputNorm);
      }
      op = writer_.norm_op(std::move(weights), wanted_rows(x));
    }
    hold_rows(op);
    writer_.output("embeddings", {spec_.n_embd, options_.n_outputs, 1, 1}, std::move(op));
  }

  const TransformerSpec& spec_;
  const GraphOptions& options_;
  GraphWriter writer_;
  LayerContext context_{.writer = writer_, .spec = spec_};
  std::optional<Value> tower_rows_{};
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
                    .weights_read = layer.weights,
                    .operations = layer.operations});
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

// int8 with one scale a row is multiplied as it stands (sim/kernels/attention/kv_rows.h).
bool is_packed(DType type) { return format_of(type).quantized && type != DType::kInt8; }

}  // namespace

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::kEncode:
      return "encode";
    case Phase::kPrefill:
      return "prefill";
    case Phase::kDecode:
      return "decode";
  }
  return "";
}

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
  // A tower's rows are mixed in before the layers, and may be behind each of them.
  return spec->stacks.empty() ? ops : ops + 1 + std::ssize(spec->layers);
}

Bytes matmul_scratch(DType weight_type, DType type_act, int64_t columns, int64_t n_tokens) {
  if (!format_of(weight_type).quantized || format_of(type_act).quantized) return {};
  const int64_t int8_row_with_scale = checked_add(columns, 4);
  return Bytes::of(int8_row_with_scale) * n_tokens;
}

Bytes expanded_rows_scratch(DType cache_type, int64_t head_dim) {
  return is_packed(cache_type) ? row_bytes(DType::kF32, head_dim) * kFlashTile : Bytes{};
}

Bytes flash_attention_scratch(int64_t head_dim) {
  const int64_t maximum_and_sum = 2;
  return row_bytes(DType::kF32, checked_add(head_dim, maximum_and_sum + kFlashTile));
}

}  // namespace tidemark

// Softmax attention. Beyond the picture of build_graph.h, where a layer has them:
//
//   qkv [(H+2K)*D,T]     one product; q, k and v are views of it
//   q_norm, k_norm       before rope
//   q [2*H*D,T]          with an output gate: queries, and the gate behind them
//   position_bias [C,T,H] looked up in a table of buckets, added to the scores (T5)
//   window, chunk        scores and cache hold the cells that the layer keeps (state.h, cells_of)
//   shared K and V       no store: the other layer's cache is read
//   not causal           no cache: every token meets all tokens of its sequence
//   cross-attention      the cache is that of the encoder's states, which this graph only reads
#include <algorithm>

#include "planner/base/check.h"
#include "planner/graph/layer_graph.h"

namespace tidemark {
namespace {

int64_t values_of(const Value& x) { return checked_mul(x.shape[0], x.shape[1]); }

// One of the two products of attention, for one cell: a multiply-add for each element of q or of
// the context (all heads, all tokens).
int64_t product_per_cell(const Value& x) { return checked_mul(2, values_of(x)); }

// What grows with the context is counted by cell; what does not, once.
void charge(Op& op, const Cells& cells, int64_t operations, Bytes bytes) {
  if (cells.is_context) {
    op.operations_per_cell = operations;
    op.state_read_per_cell = bytes;
    op.most_cells = cells.most_attended;
  } else {
    op.operations = checked_mul(operations, cells.count);
    op.state_moved = bytes * cells.count;
  }
}

Value attend_flash(GraphWriter& writer, const std::string& stem, const Heads& heads, const Value& q,
                   const Cells& cells, const ScoreTerms& terms) {
  const Shape shape{checked_mul(heads.count, heads.value_dim), q.shape[1], 1, 1};
  // Values that are a part of the keys are read with them, and expanded with them.
  const bool one_row = cells.keys.id == cells.values.id;
  const Bytes expanded =
      expanded_rows_scratch(cells.key_type, heads.key_dim) +
      (one_row ? Bytes{} : expanded_rows_scratch(cells.value_type, heads.value_dim));
  Op op{.kind = OpKind::kFlashAttention,
        .inputs = each_once({q.id, cells.keys.id, cells.values.id}),
        .weights = terms.sinks,
        .weights_read = writer.bytes_of(terms.sinks),
        .scratch = flash_attention_scratch(heads.value_dim) + expanded};
  if (terms.position_bias) op.inputs.push_back(terms.position_bias->id);
  const int64_t operations =
      checked_add(product_per_cell(q), product_per_cell({.id = {}, .shape = shape}));
  charge(op, cells, operations, cells.key_bytes + (one_row ? Bytes{} : cells.value_bytes));
  return writer.emit(stem + "attention", shape, std::move(op));
}

Value attend_plain(GraphWriter& writer, const std::string& stem, const Heads& heads, const Value& q,
                   const Cells& cells, const ScoreTerms& terms) {
  // A product with a quantized matrix, as those with weights are.
  const int64_t rows = checked_mul(q.shape[1], heads.count);
  Op product{
      .kind = OpKind::kScores,
      .inputs = each_once({q.id, cells.keys.id}),
      .scratch = matmul_scratch(cells.key_type, writer.options().type_act, heads.key_dim, rows)};
  charge(product, cells, product_per_cell(q), cells.key_bytes);
  Value scores = writer.emit(stem + "scores", {cells.count, q.shape[1], heads.count, 1}, product);
  if (terms.position_bias) {
    scores =
        writer.elementwise(stem + "scores_bias", OpKind::kAdd, scores, terms.position_bias->id);
  }
  const Value softmax = writer.emit(stem + "softmax", scores.shape,
                                    {.kind = OpKind::kSoftmax,
                                     .inputs = {scores.id},
                                     .weights = terms.sinks,
                                     .weights_read = writer.bytes_of(terms.sinks)});
  const Shape shape{checked_mul(heads.count, heads.value_dim), q.shape[1], 1, 1};
  Op weighted{.kind = OpKind::kContext,
              .inputs = {softmax.id, cells.values.id},
              .scratch = expanded_rows_scratch(cells.value_type, heads.value_dim)};
  charge(weighted, cells, product_per_cell({.id = {}, .shape = shape}), cells.value_bytes);
  return writer.emit(stem + "context", shape, std::move(weighted));
}

// Q, K and V before norm and rope; with an output gate, the gate is the rest of q's tensor.
struct Projections {
  Value q{};
  Value gate{};
  std::optional<Value> k{};  // none where another layer's cache is read
  Value v{};
};

Projections project(GraphWriter& writer, const AttentionSpec& spec, const Value& x) {
  const int64_t query = checked_mul(spec.n_head, spec.head_dim);
  const int64_t key = checked_mul(spec.n_head_kv, spec.head_dim);
  const int64_t value = checked_mul(spec.n_head_kv, spec.value_dim());
  const bool stores = spec.shares_kv_with < 0;
  Projections made;
  if (spec.fused_qkv) {
    const Value qkv = writer.linear("qkv", WeightRole::kQkv, x);
    made = {.q = view(qkv, query), .gate = view(qkv, query), .v = view(qkv, value)};
    if (stores) made.k = view(qkv, key);
    return made;
  }
  const Value q = writer.linear("q", WeightRole::kQuery, x);
  made = {.q = view(q, query), .gate = view(q, query)};
  if (!stores) return made;
  made.k = writer.linear("k", WeightRole::kKey, x);
  made.v = spec.value_is_key ? view(*made.k, value) : writer.linear("v", WeightRole::kValue, x);
  return made;
}

// Norm and rope of queries or keys, as far as the layer has them.
Value turned(LayerContext& context, const AttentionSpec& spec, const std::string& name,
             WeightRole norm, Value x) {
  if (spec.qk_norm != QkNormKind::kNone) x = context.writer.norm(name + "_norm", norm, x);
  if (!turns_queries(context.spec, spec)) return x;
  return context.writer.elementwise(name + "_rope", OpKind::kRope, x, context.positions->id);
}

Cells cells_met(LayerContext& context, const AttentionSpec& spec, const Projections& made) {
  if (!made.k) {
    const auto other = static_cast<size_t>(spec.shares_kv_with);
    check(other < context.caches.size() && context.caches[other].has_value(),
          "a layer shares the cache of a layer before it");
    return *context.caches[other];
  }
  const Value k = turned(context, spec, "k", WeightRole::kKeyNorm, *made.k);
  return store(context, {.rows = each_once({k.id, made.v.id}),
                         .keys = k,
                         .values = made.v,
                         .key_width = k.shape[0],
                         .value_width = checked_mul(spec.n_head_kv, spec.value_dim())});
}

// The table's rows by distance, [cells, tokens, heads].
void look_up_position_bias(LayerContext& context, const AttentionSpec& spec, const Cells& cells) {
  GraphWriter& writer = context.writer;
  const WeightId table = writer.weight(WeightRole::kRelativeBias);
  context.position_bias =
      writer.emit("position_bias", {cells.count, writer.n_tokens(), spec.n_head, 1},
                  {.kind = OpKind::kEmbed,
                   .inputs = {context.positions->id},
                   .weights = {table},
                   .weights_read = writer.tensor(table).bytes});
}

Value output_gate(GraphWriter& writer, const Value& gate, const Value& attended) {
  const Value sigmoid =
      writer.emit("gate_sigmoid", attended.shape, {.kind = OpKind::kSigmoid, .inputs = {gate.id}});
  return writer.elementwise("attn_gated", OpKind::kMul, attended, sigmoid.id);
}

}  // namespace

bool turns_queries(const TransformerSpec& spec, const AttentionSpec& attention) {
  return spec.n_position == 0 && attention.n_bucket == 0;
}

Value attend(GraphWriter& writer, const std::string& stem, const Heads& heads, const Value& q,
             const Cells& cells, const ScoreTerms& terms) {
  return writer.options().flash_attention ? attend_flash(writer, stem, heads, q, cells, terms)
                                          : attend_plain(writer, stem, heads, q, cells, terms);
}

Cells store(LayerContext& context, const Stored& stored) {
  GraphWriter& writer = context.writer;
  const GraphOptions& options = writer.options();
  if (!context.spec.is_causal) {
    return {.keys = stored.keys,
            .values = stored.values,
            .count = ceil_div(options.n_tokens, options.n_seq),
            .is_context = false};
  }
  const int64_t count = cells_of(context.layer(), state_options(options));
  const int64_t streams = options.unified ? 1 : options.n_seq;
  const AttentionSpec* spec = context.layer().attention();
  Cells cells{.count = count,
              .most_attended = spec == nullptr ? 0 : std::max(spec->window, spec->chunk),
              .key_type = options.type_k,
              .value_type = stored.value_width > 0 ? options.type_v : options.type_k};
  cells.keys = writer.state("cache_k", options.type_k, {stored.key_width, count, streams, 1});
  cells.key_bytes = row_bytes(options.type_k, stored.key_width) * options.n_seq;
  std::vector<TensorId> caches = {cells.keys.id};
  if (stored.value_width > 0) {
    cells.values = writer.state("cache_v", options.type_v, {stored.value_width, count, streams, 1});
    // Cells are counted per sequence, so reading "one cell" reads that cell of each sequence.
    cells.value_bytes = row_bytes(options.type_v, stored.value_width) * options.n_seq;
    caches.push_back(cells.values.id);
  } else {
    cells.values = cells.keys;
  }
  writer.add("store_kv",
             {.kind = OpKind::kStoreKv, .inputs = stored.rows, .outputs = std::move(caches)});
  return cells;
}

Value attention_graph(LayerContext& context, const AttentionSpec& spec, const Value& x) {
  GraphWriter& writer = context.writer;
  const Projections made = project(writer, spec, x);
  const Value q = turned(context, spec, "q", WeightRole::kQueryNorm, made.q);
  const Cells cells = cells_met(context, spec, made);
  context.caches.at(static_cast<size_t>(writer.layer())) = cells;
  if (spec.n_bucket > 0) look_up_position_bias(context, spec, cells);
  ScoreTerms terms{.sinks = writer.all(WeightRole::kSinks)};
  if (context.position_bias && context.position_bias->shape[0] == cells.count) {
    terms.position_bias = context.position_bias;
  }
  const Heads heads{spec.n_head, spec.head_dim, spec.value_dim()};
  Value attended = attend(writer, "", heads, q, cells, terms);
  if (spec.output_gate) attended = output_gate(writer, made.gate, attended);
  return writer.linear("attn_out", WeightRole::kAttentionOutput, attended);
}

Value cross_attention_graph(LayerContext& context, const CrossAttentionSpec& spec, const Value& x) {
  GraphWriter& writer = context.writer;
  const GraphOptions& options = writer.options();
  const AttentionSpec& heads = spec.attention;
  const int64_t key = checked_mul(heads.n_head_kv, heads.head_dim);
  const int64_t value = checked_mul(heads.n_head_kv, heads.value_dim());
  const Value normed = writer.norm_if("cross_norm", WeightRole::kCrossNorm, spec.norm, x);
  const Value q = writer.linear("cross_q", WeightRole::kCrossQuery, normed);
  const Cells cells{
      .keys = writer.state("cross_k", options.type_k, {key, options.n_source, options.n_seq, 1}),
      .values =
          writer.state("cross_v", options.type_v, {value, options.n_source, options.n_seq, 1}),
      .count = options.n_source,
      .key_bytes = row_bytes(options.type_k, key) * options.n_seq,
      .value_bytes = row_bytes(options.type_v, value) * options.n_seq,
      .is_context = false,
      .key_type = options.type_k,
      .value_type = options.type_v};
  const Value attended =
      attend(writer, "cross_", {heads.n_head, heads.head_dim, heads.value_dim()}, q, cells);
  return writer.linear("cross_out", WeightRole::kCrossOutput, attended);
}

void cross_cache_graph(GraphWriter& writer, const CrossAttentionSpec& spec, int64_t n_seq,
                       const Value& states) {
  const GraphOptions& options = writer.options();
  const AttentionSpec& heads = spec.attention;
  const int64_t n_source = states.shape[1];
  const Value k = writer.linear("cross_key", WeightRole::kCrossKey, states);
  const Value v = writer.linear("cross_value", WeightRole::kCrossValue, states);
  const auto cache = [&](std::string_view name, DType type, int64_t head_dim) {
    const int64_t width = checked_mul(heads.n_head_kv, head_dim);
    return writer.state(name, type, {width, n_source, n_seq, 1}).id;
  };
  writer.add("cross_store", {.kind = OpKind::kStoreKv,
                             .inputs = {k.id, v.id},
                             .outputs = {cache("cross_k", options.type_k, heads.head_dim),
                                         cache("cross_v", options.type_v, heads.value_dim())}});
}

}  // namespace tidemark

#include "planner/graph/build_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "planner/base/check.h"

namespace tidemark {
namespace {

// Keeps the weights of each layer at hand, so that a deep model does not search its whole inventory
// for every op.
class WeightIndex {
 public:
  explicit WeightIndex(const WeightsInventory& weights) : weights_(weights) {
    for (size_t i = 0; i < weights.tensors.size(); ++i) {
      const WeightTensor& tensor = weights.tensors[i];
      ids_.emplace(std::pair(tensor.layer, tensor.role), WeightId::of(i));
    }
  }

  WeightId find(WeightRole role, int64_t layer) const {
    const auto found = ids_.find({layer, role});
    check(found != ids_.end(), "the inventory holds every weight that the graph reads");
    return found->second;
  }

  const WeightTensor& tensor(WeightId id) const { return weights_.tensors.at(id.index()); }

 private:
  const WeightsInventory& weights_;
  std::map<std::pair<int64_t, WeightRole>, WeightId> ids_{};
};

using Shape = std::array<int64_t, 4>;

// A tensor on its way, with the shape that the ops reading it build theirs from.
struct Value {
  TensorId id{};
  Shape shape{};
};

// Builds the graph of the header's picture; the methods are named after its parts.
//
// `operations` counts the products (matrix products, scores, context) and nothing else: norms, rope
// and the other elementwise ops wait for memory, not for arithmetic.
class TransformerGraph {
 public:
  TransformerGraph(const TransformerSpec& spec, const WeightsInventory& weights,
                   const GraphOptions& options)
      : spec_(spec), weights_(weights), options_(options) {}

  Graph build() && {
    token_ids_ = input("token_ids");
    positions_ = input("positions");
    Value x = embedding();
    for (size_t i = 0; i < spec_.layers.size(); ++i) {
      layer_ = static_cast<int64_t>(i);
      prefix_ = fmt::format("blk.{}.", i);
      x = feed_forward(attention(*spec_.layers[i].attention(), x));
    }
    layer_ = -1;
    prefix_.clear();
    head(x);
    return std::move(builder_).build();
  }

 private:
  TensorId input(std::string name) {
    return builder_.add_tensor(std::move(name), TensorKind::kInput, DType::kI32,
                               {options_.n_tokens, 1, 1, 1});
  }

  Value embedding() {
    const WeightId weight = weights_.find(WeightRole::kTokenEmbedding, -1);
    const WeightTensor& table = weights_.tensor(weight);
    // A lookup reads one row per token, and no more rows than there are.
    const int64_t rows_read = std::min(options_.n_tokens, table.rows);
    return emit("embed", {spec_.n_embd, options_.n_tokens, 1, 1},
                {.kind = OpKind::kEmbed,
                 .inputs = {token_ids_},
                 .weights = {weight},
                 .weights_read = row_bytes(table.dtype, table.columns) * rows_read});
  }

  Value attention(const AttentionSpec& spec, const Value& x) {
    const Value normed = norm("attn_norm", WeightRole::kAttentionNorm, x);
    const Value q = matmul("q", WeightRole::kQuery, normed);
    const Value k = matmul("k", WeightRole::kKey, normed);
    const Value v = matmul("v", WeightRole::kValue, normed);
    const Value q_rope = elementwise("q_rope", OpKind::kRope, q, positions_);
    const Value k_rope = elementwise("k_rope", OpKind::kRope, k, positions_);
    const Value cache_k = cache("cache_k", options_.type_k, k);
    const Value cache_v = cache("cache_v", options_.type_v, v);
    add("store_kv", {.kind = OpKind::kStoreKv,
                     .inputs = {k_rope.id, v.id},
                     .outputs = {cache_k.id, cache_v.id}});
    const Value context = options_.flash_attention
                              ? flash_attention(spec, q_rope, cache_k, cache_v)
                              : plain_attention(spec, q_rope, cache_k, cache_v);
    const Value out = matmul("attn_out", WeightRole::kAttentionOutput, context);
    return elementwise("attn_add", OpKind::kAdd, out, x.id);
  }

  // The cache of this layer, whole: every cell of every sequence.
  Value cache(std::string_view name, DType dtype, const Value& stored) {
    const Shape shape{stored.shape[0], options_.n_cells, options_.n_seq, 1};
    return {builder_.add_tensor(full_name(name), TensorKind::kState, dtype, shape), shape};
  }

  Value flash_attention(const AttentionSpec& spec, const Value& q, const Value& cache_k,
                        const Value& cache_v) {
    return emit("attention", q.shape,
                {.kind = OpKind::kFlashAttention,
                 .inputs = {q.id, cache_k.id, cache_v.id},
                 .scratch = flash_attention_scratch(spec.head_dim),
                 .operations_per_cell = checked_mul(2, product_per_cell(q)),
                 .state_read_per_cell =
                     cell_bytes(options_.type_k, cache_k) + cell_bytes(options_.type_v, cache_v)});
  }

  Value plain_attention(const AttentionSpec& spec, const Value& q, const Value& cache_k,
                        const Value& cache_v) {
    const Value scores = emit("scores", {options_.n_cells, options_.n_tokens, spec.n_head, 1},
                              {.kind = OpKind::kScores,
                               .inputs = {q.id, cache_k.id},
                               .operations_per_cell = product_per_cell(q),
                               .state_read_per_cell = cell_bytes(options_.type_k, cache_k)});
    const Value softmax =
        emit("softmax", scores.shape, {.kind = OpKind::kSoftmax, .inputs = {scores.id}});
    return emit("context", q.shape,
                {.kind = OpKind::kContext,
                 .inputs = {softmax.id, cache_v.id},
                 .operations_per_cell = product_per_cell(q),
                 .state_read_per_cell = cell_bytes(options_.type_v, cache_v)});
  }

  // One of the two products of attention, for one cell: a multiply-add per element of q (all heads,
  // all tokens).
  static int64_t product_per_cell(const Value& q) {
    return checked_mul(2, checked_mul(q.shape[0], q.shape[1]));
  }

  // Cells are counted per sequence, so reading "one cell" reads that cell of each sequence.
  Bytes cell_bytes(DType dtype, const Value& cached) const {
    return row_bytes(dtype, cached.shape[0]) * options_.n_seq;
  }

  Value feed_forward(const Value& x) {
    const Value normed = norm("ffn_norm", WeightRole::kFeedForwardNorm, x);
    const Value gate = matmul("gate", WeightRole::kGate, normed);
    const Value up = matmul("up", WeightRole::kUp, normed);
    const Value silu = emit("silu", gate.shape, {.kind = OpKind::kSilu, .inputs = {gate.id}});
    const Value product = elementwise("mul", OpKind::kMul, silu, up.id);
    const Value down = matmul("down", WeightRole::kDown, product);
    return elementwise("ffn_add", OpKind::kAdd, down, x.id);
  }

  void head(Value x) {
    if (options_.n_outputs != options_.n_tokens) {
      x = emit("select_rows", {spec_.n_embd, options_.n_outputs, 1, 1},
               {.kind = OpKind::kSelectRows, .inputs = {x.id}});
    }
    const Value normed = norm("output_norm", WeightRole::kOutputNorm, x);
    const WeightRole role =
        spec_.tied_embeddings ? WeightRole::kTokenEmbedding : WeightRole::kOutput;
    const TensorId logits = builder_.add_tensor("logits", TensorKind::kOutput, DType::kF32,
                                                {spec_.n_vocab, options_.n_outputs, 1, 1});
    Op op = product_op(role, normed);
    op.outputs = {logits};
    add("logits", std::move(op));
  }

  Value norm(std::string_view name, WeightRole role, const Value& x) {
    const WeightId weight = weights_.find(role, layer_);
    return emit(name, x.shape,
                {.kind = OpKind::kRmsNorm,
                 .inputs = {x.id},
                 .weights = {weight},
                 .weights_read = weights_.tensor(weight).bytes});
  }

  Value matmul(std::string_view name, WeightRole role, const Value& x) {
    const int64_t width = weights_.tensor(weights_.find(role, layer_)).rows;
    return emit(name, {width, x.shape[1], 1, 1}, product_op(role, x));
  }

  // Everything of a matrix product but its name and output.
  Op product_op(WeightRole role, const Value& x) const {
    const WeightId weight = weights_.find(role, layer_);
    const WeightTensor& matrix = weights_.tensor(weight);
    const int64_t n_rows = x.shape[1];
    return {.kind = OpKind::kMatMul,
            .inputs = {x.id},
            .weights = {weight},
            .weights_read = matrix.bytes,
            .scratch = matmul_scratch(matrix.dtype, options_.type_act, matrix.columns, n_rows),
            .operations = checked_mul(checked_mul(2, matrix.parameters()), n_rows)};
  }

  // The output has the shape of the first input.
  Value elementwise(std::string_view name, OpKind kind, const Value& first, TensorId second) {
    return emit(name, first.shape, {.kind = kind, .inputs = {first.id, second}});
  }

  // Adds the op and the activation it writes; both carry the same name.
  Value emit(std::string_view name, const Shape& shape, Op op) {
    const TensorId out =
        builder_.add_tensor(full_name(name), TensorKind::kActivation, options_.type_act, shape);
    op.outputs = {out};
    add(name, std::move(op));
    return {out, shape};
  }

  void add(std::string_view name, Op op) {
    op.name = full_name(name);
    op.layer = layer_;
    builder_.add_op(std::move(op));
  }

  std::string full_name(std::string_view name) const { return prefix_ + std::string(name); }

  const TransformerSpec& spec_;
  WeightIndex weights_;
  const GraphOptions& options_;
  GraphBuilder builder_{};
  TensorId token_ids_{};
  TensorId positions_{};
  int64_t layer_ = -1;
  std::string prefix_{};
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

}  // namespace

std::string_view name_of(Phase phase) { return phase == Phase::kPrefill ? "prefill" : "decode"; }

Graph build_graph(const ModelSpec& model, const WeightsInventory& weights,
                  const GraphOptions& options) {
  if (const LayerListSpec* list = model.layer_list()) return build_layer_list(*list);
  return TransformerGraph(*model.transformer(), weights, options).build();
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

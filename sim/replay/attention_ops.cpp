#include "sim/replay/attention_ops.h"

#include "planner/base/check.h"
#include "planner/base/checked.h"
#include "sim/kernels/attention/plain_attention.h"

namespace tidemark {
namespace {

KvType kv_type(DType dtype) {
  check(dtype == DType::kInt8 || dtype == DType::kF16, "a replay's KV cache is int8 or f16");
  return dtype == DType::kInt8 ? KvType::kInt8 : KvType::kF16;
}

// One op by its spec, its tensors and their scales.
class Attention {
 public:
  explicit Attention(const AttentionOp& at)
      : at_(at),
        spec_(*at.model.layers.at(static_cast<size_t>(at.op.layer)).attention()),
        owner_(cache_owner(at.model, at.op.layer)) {}

  void store() const {
    const RowPart k = part_of(0, key_shape(), fused_keys());
    const size_t last = at_.op.inputs.size() - 1;
    const int64_t behind_keys = spec_.value_is_key ? 0 : width_of(key_shape());
    const RowPart v = part_of(last, value_shape(), fused_keys() + behind_keys);
    store_kv(key_shape(), in(0), in_scale(0), cells_of(at_.op.outputs[0]),
             at_.memory.used(at_.op.outputs.at(0)), k);
    store_kv(value_shape(), in(last), in_scale(last), cells_of(at_.op.outputs.at(1)),
             at_.memory.used(at_.op.outputs.at(1)), v);
  }

  void attend_flash() const {
    AttentionInput input = of_cache(1);
    input.queries = queries();
    input.keys = at_.memory.used(at_.op.inputs.at(1));
    input.values = at_.memory.used(at_.op.inputs.at(2));
    input.sinks = at_.sinks;
    const auto floats = static_cast<size_t>(flash_attention_scratch_floats(value_shape().head_dim));
    flash_attention(input, in(0), {in_scale(0), out_scale()}, at_.scratch.first(floats), out());
  }

  void score() const {
    AttentionInput input = of_cache(1);
    input.queries = queries();
    input.keys = at_.memory.used(at_.op.inputs.at(1));
    attention_scores(input, columns_of(at_.op.outputs[0]), in(0), {in_scale(0), out_scale()},
                     out());
  }

  void soften() const {
    const ScoresShape columns = columns_of(at_.op.inputs[0]);
    softmax_s8(columns, token_cells(columns.cells), in(0), in_scale(0), out(), at_.sinks);
  }

  void attend_scores() const {
    AttentionInput input = of_cache(1);
    input.values = at_.memory.used(at_.op.inputs.at(1));
    attention_context(input, columns_of(at_.op.inputs[0]), in(0), out_scale(), out());
  }

 private:
  const Tensor& tensor(TensorId id) const { return at_.phase.graph.tensor(id); }
  std::span<int8_t> bytes_of(TensorId id) const {
    const std::span<std::byte> bytes = at_.memory.used(id);
    return {reinterpret_cast<int8_t*>(bytes.data()), bytes.size()};
  }
  std::span<const int8_t> in(size_t i) const { return bytes_of(at_.op.inputs.at(i)); }
  std::span<int8_t> out() const { return bytes_of(at_.op.outputs.at(0)); }
  float in_scale(size_t i) const { return at_.scales[at_.op.inputs.at(i).index()]; }
  float out_scale() const { return at_.scales[at_.op.outputs.at(0).index()]; }

  KvShape key_shape() const {
    return {kv_type(at_.phase.options.type_k), owner_.n_head_kv, owner_.head_dim};
  }
  KvShape value_shape() const {
    return {kv_type(at_.phase.options.type_v), owner_.n_head_kv, owner_.value_dim()};
  }
  static int64_t width_of(const KvShape& shape) { return shape.n_head_kv * shape.head_dim; }

  // Where keys begin in a fused product: behind the queries and, if they have one, their gate.
  int64_t fused_keys() const {
    return checked_mul(spec_.n_head * spec_.head_dim, spec_.output_gate ? 2 : 1);
  }
  bool is_fused(const Tensor& rows) const {
    const int64_t values = spec_.value_is_key ? 0 : width_of(value_shape());
    return spec_.fused_qkv && rows.shape[0] == fused_keys() + width_of(key_shape()) + values;
  }
  // Of input i: the whole of it, the first values of each row, or those from `fused` on.
  RowPart part_of(size_t i, const KvShape& shape, int64_t fused) const {
    const Tensor& rows = tensor(at_.op.inputs.at(i));
    if (is_fused(rows)) return {.first = fused, .stride = rows.shape[0]};
    check(rows.shape[0] >= width_of(shape), "what is stored is in the row");
    return {.first = 0, .stride = rows.shape[0]};
  }
  // They are the first values of their rows, whatever stands behind them.
  RowPart queries() const { return {.first = 0, .stride = tensor(at_.op.inputs[0]).shape[0]}; }

  TokenCells token_cells(int64_t ring) const {
    return {.positions = at_.memory.positions(),
            .ring = ring,
            .window = owner_.window,
            .chunk = owner_.chunk};
  }
  TokenCells cells_of(TensorId cache) const { return token_cells(tensor(cache).shape[1]); }
  ScoresShape columns_of(TensorId scores) const { return {.cells = tensor(scores).shape[0]}; }

  // Input i is the cache.
  AttentionInput of_cache(size_t i) const {
    return {.n_head = spec_.n_head,
            .key_shape = key_shape(),
            .value_shape = value_shape(),
            .cells = cells_of(at_.op.inputs.at(i))};
  }

  const AttentionOp& at_;
  const AttentionSpec& spec_;
  const AttentionSpec& owner_;  // of the cache
};

}  // namespace

void run_attention(const AttentionOp& at) {
  const Attention attention(at);
  switch (at.op.kind) {
    case OpKind::kStoreKv:
      return attention.store();
    case OpKind::kFlashAttention:
      return attention.attend_flash();
    case OpKind::kScores:
      return attention.score();
    case OpKind::kSoftmax:
      return attention.soften();
    case OpKind::kContext:
      return attention.attend_scores();
    default:
      break;
  }
  check(false, "an op of attention");
}

const AttentionSpec& cache_owner(const TransformerSpec& model, int64_t layer) {
  const AttentionSpec* spec = model.layers.at(static_cast<size_t>(layer)).attention();
  check(spec != nullptr, "a layer of attention");
  if (spec->shares_kv_with < 0) return *spec;
  check(spec->shares_kv_with < layer, "a cache is that of a layer before");
  return cache_owner(model, spec->shares_kv_with);
}

}  // namespace tidemark

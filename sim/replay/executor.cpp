#include "sim/replay/executor.h"

#include <algorithm>

#include "planner/base/check.h"
#include "sim/kernels/activation_tables.h"
#include "sim/kernels/affine_ops.h"
#include "sim/kernels/attention/rope.h"
#include "sim/kernels/conv/short_conv.h"
#include "sim/kernels/matmul/block_embedding.h"
#include "sim/kernels/matmul/block_weights.h"
#include "sim/kernels/norm/layer_norm.h"
#include "sim/kernels/norm/rms_norm.h"
#include "sim/kernels/rows.h"
#include "sim/replay/attention_ops.h"
#include "sim/replay/value_ranges.h"
#include "sim/replay/weight_format.h"

namespace tidemark {
namespace {

template <typename T>
std::span<T> as(std::span<std::byte> bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace

struct Executor::Call {
  const Op& op;
  const PassMemory& memory;
  std::span<const std::byte> weight{};         // of its first weight
  std::span<const std::byte> second_weight{};  // a shift, a bias

  std::span<std::byte> in(size_t i) const { return memory.used(op.inputs.at(i)); }
  std::span<std::byte> out() const { return memory.used(op.outputs.at(0)); }
  std::span<int8_t> in_s8(size_t i) const { return as<int8_t>(in(i)); }
  std::span<int8_t> out_s8() const { return as<int8_t>(out()); }
};

Executor::Executor(const TransformerSpec& model, const MemoryPlan& plan, const PhasePlan& phase,
                   const UnitLayout& layout, std::span<float> scratch)
    : model_(model),
      phase_(phase),
      inventory_(plan.weights),
      layout_(layout),
      scratch_(scratch),
      scales_(activation_scales(phase.graph, plan.weights, std::ssize(model.layers))),
      ones_(static_cast<size_t>(model.n_embd), 1.0F),
      expert_ops_(expert_ops(phase.graph, plan.weights)) {}

// Calls `work` with all rows at once, or row by row where they do not follow each other.
template <typename Work>
void Executor::for_rows(const Call& call, Work work) const {
  const int64_t read = width_of(call.op.outputs[0]);
  const int64_t whole = width_of(call.op.inputs[0]);
  if (read == whole) return work(call.in_s8(0), call.out_s8());
  const int64_t first = first_value(call.op);
  for (int64_t row = 0; row < std::ssize(call.in(0)) / whole; ++row) {
    work(row_of(std::span<const int8_t>(call.in_s8(0)), row, whole)
             .subspan(static_cast<size_t>(first), static_cast<size_t>(read)),
         row_of(call.out_s8(), row, read));
  }
}

Executor::Call Executor::call_of(const Op& op, const PassMemory& memory,
                                 std::span<const std::byte> unit) const {
  Call call{.op = op, .memory = memory};
  if (op.kind == OpKind::kExtra) return call;  // may lie in several units
  const auto bytes_of = [&](WeightId id) {
    const WeightPlace& place = layout_.place(id);
    return unit.subspan(place.offset, place.bytes);
  };
  if (!op.weights.empty()) call.weight = bytes_of(op.weights.front());
  if (op.weights.size() > 1) call.second_weight = bytes_of(op.weights[1]);
  return call;
}

void Executor::run(const Op& op, const PassMemory& memory, std::span<const std::byte> unit) const {
  const Call call = call_of(op, memory, unit);
  if (expert_ops_[op.id.index()] != ExpertOp::kNone) return run_expert_part(call);
  switch (op.kind) {
    case OpKind::kEmbed:
      return embed(call);
    case OpKind::kRmsNorm:
    case OpKind::kLayerNorm:
      return norm(call);
    case OpKind::kMatMul:
      return product(call);
    case OpKind::kAddBias:
      return add_bias(call);
    case OpKind::kRope:
      return turn(call);
    case OpKind::kStoreKv:
    case OpKind::kFlashAttention:
    case OpKind::kScores:
    case OpKind::kSoftmax:
    case OpKind::kContext:
      return run_attention({.model = model_,
                            .phase = phase_,
                            .op = op,
                            .memory = memory,
                            .scales = scales_,
                            .scratch = scratch_,
                            .sinks = call.weight});
    case OpKind::kAdd:
    case OpKind::kMul:
      return combine(call);
    case OpKind::kSilu:
    case OpKind::kActivation:
    case OpKind::kSigmoid:
      return look_up(call);
    case OpKind::kGlu:
      return gate_and_multiply(call);
    case OpKind::kMix:
    case OpKind::kExtra:
      return pass_on(call);
    case OpKind::kConv:
      return convolve(call);
    case OpKind::kSelectRows:
      return select(call);
    case OpKind::kExpertMatMul:  // ops of experts are done by now
    case OpKind::kTopK:
    case OpKind::kSumRows:  // the rest belongs to models that are refused (replay_input.cpp)
    case OpKind::kConcat:
    case OpKind::kPrepend:
    case OpKind::kUnfold:
    case OpKind::kTokenShift:
    case OpKind::kScan:
    case OpKind::kDeltaRule:
    case OpKind::kPlainLayer:
      break;
  }
  check(false, "the replay refuses what it has no kernel for");
}

void Executor::run_expert_part(const Call& call) const {
  const std::vector<WeightId>& weights = call.op.weights;
  run_expert_op(
      expert_ops_[call.op.id.index()],
      {.op = call.op,
       .graph = phase_.graph,
       .memory = call.memory,
       .tensor = weights.empty() ? nullptr : &inventory_.tensors.at(weights.front().index()),
       .weight = call.weight,
       .scales = scales_});
}

void Executor::embed(const Call& call) const {
  const auto ids = as<int32_t>(call.in(0));
  const bool is_float = inventory_.tensors.at(call.op.weights.front().index()).dtype == DType::kF32;
  if (is_float) {
    return float_lookup(model_.n_embd, ids, call.weight, scale(call.op.outputs[0]), call.out_s8());
  }
  block_embedding_lookup(row_format(inventory_.tensors.at(call.op.weights.front().index())),
                         model_.n_embd, ids, call.weight, scale(call.op.outputs[0]), call.out_s8());
}

// A norm without parameters has a gain of ones.
void Executor::norm(const Call& call) const {
  const Scales scales{scale(call.op.inputs[0]), scale(call.op.outputs[0])};
  const auto width = static_cast<size_t>(width_of(call.op.outputs[0]));
  const std::span<const std::byte> gain =
      call.op.weights.empty() ? std::as_bytes(std::span(ones_).first(width)) : call.weight;
  for_rows(call, [&](std::span<const int8_t> x, std::span<int8_t> out) {
    if (call.op.kind == OpKind::kRmsNorm) return rms_norm(x, gain, {.scales = scales}, out);
    layer_norm(x, gain, call.second_weight, {.scale_in = scales.in, .out = {.scale = scales.out}},
               out);
  });
}

// Of a table of token types, all tokens take the first row.
void Executor::add_bias(const Call& call) const {
  const auto width = static_cast<size_t>(width_of(call.op.outputs[0]));
  const std::span<const std::byte> row = call.weight.first(width * sizeof(float));
  add_bias_s8(call.in_s8(0), row, {scale(call.op.inputs[0]), scale(call.op.outputs[0])},
              call.out_s8());
}

void Executor::product(const Call& call) const {
  const WeightTensor& matrix = inventory_.tensors.at(call.op.weights.front().index());
  const MatMulShape shape{.tokens = std::ssize(call.in(0)) / matrix.columns,
                          .columns = matrix.columns,
                          .rows = matrix.rows};
  const TensorId in = call.op.inputs[0];
  const TensorId out = call.op.outputs[0];
  if (phase_.graph.tensor(out).kind == TensorKind::kOutput) {
    block_matmul_f32(row_format(matrix), shape, call.in_s8(0), call.weight, scale(in),
                     as<float>(call.out()));
    add_to_rows(call.second_weight, as<float>(call.out()));
  } else {
    block_matmul_s8(row_format(matrix), shape, call.in_s8(0), call.weight, {scale(in), scale(out)},
                    call.out_s8());
  }
}

void Executor::turn(const Call& call) const {
  const int64_t head_dim = attention(call.op).head_dim;
  const int64_t width = width_of(call.op.outputs[0]);
  const RopeShape shape{.heads = width / head_dim, .head_dim = head_dim};
  auto positions = std::span<const int32_t>(as<int32_t>(call.in(1)));
  for_rows(call, [&](std::span<const int8_t> x, std::span<int8_t> out) {
    const size_t tokens = out.size() / static_cast<size_t>(width);
    rope(shape, positions.first(tokens), x, out);
    positions = positions.subspan(tokens);
  });
}

void Executor::combine(const Call& call) const {
  if (call.op.kind == OpKind::kMul &&
      width_of(call.op.inputs.back()) > width_of(call.op.outputs[0])) {
    return multiply_parts(call);
  }
  const BinaryScales scales{scale(call.op.inputs[0]), scale(call.op.inputs[1]),
                            scale(call.op.outputs[0])};
  if (call.op.kind == OpKind::kAdd) {
    add_s8(call.in_s8(0), call.in_s8(1), scales, call.out_s8());
  } else if (is_share(call.op.inputs[1])) {
    multiply_affine(call.in_s8(0), call.in_s8(1),
                    {.a = {.scale = scales.a}, .b = kLogisticOut, .out = {.scale = scales.out}},
                    call.out_s8());
  } else {
    multiply_s8(call.in_s8(0), call.in_s8(1), scales, call.out_s8());
  }
}

void Executor::look_up(const Call& call) const {
  const Affine in{.scale = scale(call.op.inputs[0])};
  const Affine out{.scale = scale(call.op.outputs[0])};
  ByteTable table{};
  switch (call.op.kind) {
    case OpKind::kSilu:
      table = silu_table({in.scale, out.scale});
      break;
    case OpKind::kActivation:  // the spec names no function; sizes are the same for all
      table = gelu_table(in, out, GeluForm::kTanh);
      break;
    default:
      table = logistic_table(in);
      break;
  }
  for_rows(call,
           [&](std::span<const int8_t> x, std::span<int8_t> made) { apply_table(table, x, made); });
}

// Gate and up side by side in each row; the gated half waits where the product goes.
void Executor::gate_and_multiply(const Call& call) const {
  const float in = scale(call.op.inputs[0]);
  const float out = scale(call.op.outputs[0]);
  const ByteTable table = silu_table({in, out});
  const int64_t width = width_of(call.op.outputs[0]);
  const std::span<int8_t> made = call.out_s8();
  for (int64_t row = 0; row < std::ssize(made) / width; ++row) {
    const std::span<const int8_t> gate = row_of(call.in_s8(0), 2 * row, width);
    const std::span<const int8_t> up = row_of(call.in_s8(0), 2 * row + 1, width);
    const std::span<int8_t> product = row_of(made, row, width);
    apply_table(table, gate, product);
    multiply_s8(product, up, {.a = out, .b = in, .out = out}, product);
  }
}

// The prompt is text: none of its tokens stands for a row of a tower. Nor is it known what tensors
// do that no width describes.
void Executor::pass_on(const Call& call) const {
  const std::span<const int8_t> x = call.in_s8(0);
  if (x.data() != call.out_s8().data()) std::ranges::copy(x, call.out_s8().begin());
}

// The state is that of the whole run: the first pass finds zeros.
void Executor::convolve(const Call& call) const {
  const int64_t width = width_of(call.op.outputs[0]);
  const int64_t taps = inventory_.tensors.at(call.op.weights.front().index()).columns;
  short_conv({.channels = width, .taps = taps}, call.in_s8(0), call.weight, call.second_weight,
             {scale(call.op.inputs[0]), scale(call.op.outputs[0])},
             as<float>(call.memory.used(call.op.outputs.at(1))), call.out_s8());
}

// A short convolution's input projection holds b, c and x side by side: b times x goes in, and what
// comes out is multiplied by c.
void Executor::multiply_parts(const Call& call) const {
  const int64_t width = width_of(call.op.outputs[0]);
  const bool is_before = call.op.inputs.size() == 1;
  const TensorId parts = call.op.inputs.back();
  const TensorId first = call.op.inputs.front();
  const std::span<const int8_t> projected = as<int8_t>(call.memory.used(parts));
  const std::span<int8_t> out = call.out_s8();
  for (int64_t row = 0; row < std::ssize(out) / width; ++row) {
    const auto part = [&](int64_t index) { return row_of(projected, 3 * row + index, width); };
    const auto other =
        is_before ? part(2) : row_of(std::span<const int8_t>(call.in_s8(0)), row, width);
    multiply_s8(other, part(is_before ? 0 : 1),
                {scale(first), scale(parts), scale(call.op.outputs[0])}, row_of(out, row, width));
  }
}

// The last rows of the pass are those whose logits are wanted.
void Executor::select(const Call& call) const {
  const int64_t kept = call.memory.output_rows();
  std::vector<int32_t> rows;
  for (int64_t row = call.memory.pass().tokens - kept; row < call.memory.pass().tokens; ++row) {
    rows.push_back(static_cast<int32_t>(row));
  }
  select_rows(model_.n_embd, rows, call.in_s8(0), call.out_s8());
}

bool Executor::is_share(TensorId id) const {
  const std::optional<OpId> producer = phase_.graph.producer(id);
  return producer && phase_.graph.op(*producer).kind == OpKind::kSigmoid;
}

// Where the rows that the op reads lie in its input's: whole, or a view. Queries are the first
// values; behind them stands their gate, if they have one, and keys follow.
int64_t Executor::first_value(const Op& op) const {
  const int64_t read = width_of(op.outputs[0]);
  const int64_t whole = width_of(op.inputs[0]);
  if (read == whole) return 0;
  const AttentionSpec& spec = attention(op);
  const int64_t queries = spec.n_head * spec.head_dim;
  if (op.kind == OpKind::kSigmoid) return queries;
  const bool is_key = op.name.ends_with(".k_norm") || op.name.ends_with(".k_rope");
  return is_key ? queries * (spec.output_gate ? 2 : 1) : 0;
}

const AttentionSpec& Executor::attention(const Op& op) const {
  return *model_.layers.at(static_cast<size_t>(op.layer)).attention();
}

}  // namespace tidemark

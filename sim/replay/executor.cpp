#include "sim/replay/executor.h"

#include <algorithm>

#include "planner/base/check.h"
#include "sim/kernels/attention/rope.h"
#include "sim/kernels/matmul/block_embedding.h"
#include "sim/kernels/matmul/block_weights.h"
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
  std::span<const std::byte> weight{};  // of its first weight

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
      scales_(activation_scales(phase.graph, plan.weights, std::ssize(model.layers))) {}

void Executor::run(const Op& op, const PassMemory& memory, std::span<const std::byte> unit) const {
  Call call{.op = op, .memory = memory};
  if (!op.weights.empty()) {
    const WeightPlace& place = layout_.place(op.weights.front());
    call.weight = unit.subspan(place.offset, place.bytes);
  }
  switch (op.kind) {
    case OpKind::kEmbed:
      return embed(call);
    case OpKind::kRmsNorm:
      return norm(call);
    case OpKind::kMatMul:
      return product(call);
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
      return gate(call);
    case OpKind::kSelectRows:
      return select(call);
    case OpKind::kLayerNorm:  // the rest belongs to models that are refused (replay_input.cpp)
    case OpKind::kExpertMatMul:
    case OpKind::kAddBias:
    case OpKind::kActivation:
    case OpKind::kSigmoid:
    case OpKind::kGlu:
    case OpKind::kMix:
    case OpKind::kConcat:
    case OpKind::kPrepend:
    case OpKind::kUnfold:
    case OpKind::kTopK:
    case OpKind::kSumRows:
    case OpKind::kConv:
    case OpKind::kTokenShift:
    case OpKind::kScan:
    case OpKind::kDeltaRule:
    case OpKind::kExtra:
    case OpKind::kPlainLayer:
      break;
  }
  check(false, "the replay refuses what it has no kernel for");
}

void Executor::embed(const Call& call) const {
  const auto ids = as<int32_t>(call.in(0));
  block_embedding_lookup(row_format(inventory_.tensors.at(call.op.weights.front().index())),
                         model_.n_embd, ids, call.weight, scale(call.op.outputs[0]),
                         call.out_s8());
}

void Executor::norm(const Call& call) const {
  const Scales scales{scale(call.op.inputs[0]), scale(call.op.outputs[0])};
  rms_norm(call.in_s8(0), call.weight, {.scales = scales}, call.out_s8());
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
  } else {
    block_matmul_s8(row_format(matrix), shape, call.in_s8(0), call.weight, {scale(in), scale(out)},
                    call.out_s8());
  }
}

void Executor::turn(const Call& call) const {
  const int64_t head_dim = attention(call.op).head_dim;
  const int64_t width = phase_.graph.tensor(call.op.inputs[0]).shape[0];
  rope({.heads = width / head_dim, .head_dim = head_dim}, as<int32_t>(call.in(1)), call.in_s8(0),
       call.out_s8());
}

void Executor::combine(const Call& call) const {
  const BinaryScales scales{scale(call.op.inputs[0]), scale(call.op.inputs[1]),
                            scale(call.op.outputs[0])};
  if (call.op.kind == OpKind::kAdd) {
    add_s8(call.in_s8(0), call.in_s8(1), scales, call.out_s8());
  } else {
    multiply_s8(call.in_s8(0), call.in_s8(1), scales, call.out_s8());
  }
}

void Executor::gate(const Call& call) const {
  apply_table(silu_table({scale(call.op.inputs[0]), scale(call.op.outputs[0])}), call.in_s8(0),
              call.out_s8());
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

const AttentionSpec& Executor::attention(const Op& op) const {
  return *model_.layers.at(static_cast<size_t>(op.layer)).attention();
}

}  // namespace tidemark

#include "sim/replay/expert_ops.h"

#include "planner/base/check.h"
#include "sim/kernels/experts/expert_rows.h"
#include "sim/kernels/experts/float_rows.h"
#include "sim/kernels/experts/top_k.h"
#include "sim/kernels/matmul/block_weights.h"
#include "sim/kernels/rows.h"
#include "sim/kernels/softmax.h"
#include "sim/replay/weight_format.h"

namespace tidemark {
namespace {

// The op's tensors as the kernels want them.
class Operands {
 public:
  explicit Operands(const ExpertCall& call) : call_(call) {}

  std::span<int8_t> in(size_t i) const { return as<int8_t>(call_.op.inputs.at(i)); }
  std::span<int8_t> out() const { return as<int8_t>(call_.op.outputs.at(0)); }
  std::span<int32_t> chosen() const { return as<int32_t>(call_.op.inputs.at(1)); }
  std::span<int32_t> chosen_out() const { return as<int32_t>(call_.op.outputs.at(1)); }
  float in_scale(size_t i) const { return call_.scales[call_.op.inputs.at(i).index()]; }
  float out_scale() const { return call_.scales[call_.op.outputs.at(0).index()]; }
  Scales scales() const { return {in_scale(0), out_scale()}; }
  int64_t in_size(size_t i, size_t dimension) const {
    return call_.graph.tensor(call_.op.inputs.at(i)).shape.at(dimension);
  }
  int64_t out_size(size_t dimension) const {
    return call_.graph.tensor(call_.op.outputs.at(0)).shape.at(dimension);
  }
  const WeightTensor& tensor() const {
    check(call_.tensor != nullptr, "the op has a weight");
    return *call_.tensor;
  }

 private:
  template <typename T>
  std::span<T> as(TensorId id) const {
    const std::span<std::byte> bytes = call_.memory.used(id);
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  const ExpertCall& call_;
};

void float_product(const ExpertCall& call, const Operands& operands) {
  const WeightTensor& matrix = operands.tensor();
  float_matmul_s8({.tokens = std::ssize(operands.in(0)) / matrix.columns,
                   .columns = matrix.columns,
                   .rows = matrix.rows},
                  operands.in(0), call.weight, operands.scales(), operands.out());
}

void product(const ExpertCall& call, const Operands& operands) {
  const WeightTensor& tensor = operands.tensor();
  const ExpertShape shape{.experts = tensor.count,
                          .used = operands.in_size(1, 0),
                          .columns = tensor.columns,
                          .rows = tensor.rows};
  if (tensor.dtype == DType::kInt8) {
    return expert_matmul_s8(shape, operands.chosen(), operands.in(0), call.weight,
                            operands.scales(), operands.out());
  }
  const bool is_float = tensor.dtype == DType::kF32;  // a single row of a single expert
  const RowFormat format = is_float ? RowFormat::kInt8 : row_format(tensor);
  const int64_t matrix = tensor.rows * static_cast<int64_t>(weight_row_bytes(tensor));
  expert_matmul(shape, operands.chosen(), operands.in(0), operands.out(),
                [&](int64_t expert, const MatMulShape& of_rows, std::span<const int8_t> in,
                    std::span<int8_t> made) {
                  const auto rows = row_of(call.weight, expert, matrix);
                  if (is_float) {
                    return float_matmul_s8(of_rows, in, rows, operands.scales(), made);
                  }
                  block_matmul_s8(format, of_rows, in, rows, operands.scales(), made);
                });
}

bool follows_a_router(const Graph& graph, const Op& softmax) {
  for (const OpId reader : graph.consumers(softmax.outputs.front())) {
    if (graph.op(reader).kind == OpKind::kTopK) return true;
  }
  return false;
}

ExpertOp kind_of(const Graph& graph, const WeightsInventory& weights, const Op& op) {
  switch (op.kind) {
    case OpKind::kMatMul:
      return weights.tensors.at(op.weights.front().index()).dtype == DType::kF32
                 ? ExpertOp::kFloatProduct
                 : ExpertOp::kNone;
    case OpKind::kSoftmax:
      return follows_a_router(graph, op) ? ExpertOp::kProbabilities : ExpertOp::kNone;
    case OpKind::kTopK:
      return ExpertOp::kChoice;
    case OpKind::kExpertMatMul:
      return ExpertOp::kProduct;
    case OpKind::kAddBias:
      return op.inputs.size() > 1 ? ExpertOp::kBias : ExpertOp::kNone;
    case OpKind::kMul:
      return weighs_rows(graph, op) ? ExpertOp::kWeigh : ExpertOp::kNone;
    case OpKind::kSumRows:
      return ExpertOp::kSum;
    default:
      return ExpertOp::kNone;
  }
}

}  // namespace

bool weighs_rows(const Graph& graph, const Op& op) {
  if (op.kind != OpKind::kMul || op.inputs.size() < 2) return false;
  const auto& rows = graph.tensor(op.inputs[0]).shape;
  const auto& factors = graph.tensor(op.inputs[1]).shape;
  return rows != factors &&
         rows[1] * rows[2] * rows[3] == factors[0] * factors[1] * factors[2] * factors[3];
}

std::vector<ExpertOp> expert_ops(const Graph& graph, const WeightsInventory& weights) {
  std::vector<ExpertOp> kinds;
  for (const Op& op : graph.ops()) kinds.push_back(kind_of(graph, weights, op));
  return kinds;
}

void run_expert_op(ExpertOp kind, const ExpertCall& call) {
  const Operands operands(call);
  switch (kind) {
    case ExpertOp::kNone:
      break;
    case ExpertOp::kFloatProduct:
      return float_product(call, operands);
    case ExpertOp::kProbabilities:
      return softmax_rows(softmax_table(operands.in_scale(0)), operands.in_size(0, 0),
                          operands.in(0), operands.out());
    case ExpertOp::kChoice:
      return top_k({.experts = operands.in_size(0, 0), .used = operands.out_size(0)},
                   operands.in(0), call.weight, operands.out(), operands.chosen_out());
    case ExpertOp::kProduct:
      return product(call, operands);
    case ExpertOp::kBias:
      return add_expert_bias(operands.tensor().rows, operands.chosen(), operands.in(0), call.weight,
                             operands.scales(), operands.out());
    case ExpertOp::kWeigh:
      return weigh_rows(
          operands.in(0), operands.in(1),
          {.a = operands.in_scale(0), .b = operands.in_scale(1), .out = operands.out_scale()},
          operands.out());
    case ExpertOp::kSum:
      return sum_rows(operands.in_size(0, 1), operands.out_size(0), operands.in(0),
                      operands.scales(), operands.out());
  }
  check(false, "an op of no expert is the executor's own");
}

}  // namespace tidemark

#include "sim/device/device_model.h"

#include <algorithm>
#include <optional>

namespace tidemark {
namespace {

Bytes arena_bytes(const Graph& graph, const std::vector<TensorId>& tensors) {
  Bytes sum;
  for (const TensorId id : tensors) {
    const Tensor& tensor = graph.tensor(id);
    const bool in_arena =
        tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kActivation;
    if (in_arena) sum += tensor.bytes;
  }
  return sum;
}

int64_t values_of(const Tensor& tensor) {
  int64_t values = 1;
  for (const int64_t extent : tensor.shape) values = checked_mul(values, extent);
  return values;
}

// Is a row of it that of a chosen expert, and a token a plane? Scores have planes too, by head.
bool is_by_expert(const Graph& graph, TensorId id) {
  while (graph.tensor(id).shape[2] > 1) {
    const std::optional<OpId> producer = graph.producer(id);
    if (!producer || graph.op(*producer).inputs.empty()) return false;
    if (graph.op(*producer).kind == OpKind::kExpertMatMul) return true;
    id = graph.op(*producer).inputs.front();
  }
  return false;
}

// Rows are tokens: the second extent of what is written (the third of what experts write); of the K
// and V that a cache takes in.
OpSize size_of(const Graph& graph, const Op& op) {
  const std::vector<TensorId>& written = op.kind == OpKind::kStoreKv ? op.inputs : op.outputs;
  OpSize size{.kind = op.kind};
  if (op.kind == OpKind::kPlainLayer || written.empty()) return size;
  const Tensor& rows = graph.tensor(written.front());
  size.rows = rows.shape[is_by_expert(graph, rows.id) ? 2 : 1];
  if (size.rows <= 0) return {.kind = op.kind};
  for (const TensorId id : written) size.row_outputs += values_of(graph.tensor(id)) / size.rows;
  const bool counts_operations = op.operations > 0 || op.operations_per_cell > 0;
  size.row_work = counts_operations ? op.operations / size.rows : size.row_outputs;
  return size;
}

std::optional<Duration> measured(const DeviceSpec& device, const OpWork& work, int64_t cells) {
  if (device.op_rates.empty()) return std::nullopt;
  OpSize size = work.size;
  if (work.operations_per_cell > 0 && size.rows > 0) {
    // Token t of T attends cells - T + 1 + t: cells - (T - 1) / 2 on average.
    const int64_t attended_twice = std::max<int64_t>(2, 2 * cells - size.rows + 1);
    size.row_work += checked_mul(work.operations_per_cell / size.rows, attended_twice) / 2;
  }
  return measured_time(device.op_rates, size);
}

OpClass class_of(OpKind kind) {
  switch (kind) {
    case OpKind::kMatMul:
    case OpKind::kExpertMatMul:
      return OpClass::kMatMul;
    case OpKind::kFlashAttention:
    case OpKind::kScores:
    case OpKind::kContext:
      return OpClass::kAttention;
    default:
      return OpClass::kOther;
  }
}

// Products: of their weights. Attention: of the cached keys, or values, its second input. Others:
// of what they write. A layer of a layer list states sizes alone.
std::optional<ValueType> type_of(const Graph& graph, const Op& op,
                                 const WeightsInventory* weights) {
  const OpClass op_class = class_of(op.kind);
  if (op_class == OpClass::kMatMul) {
    if (weights == nullptr || op.weights.empty()) return std::nullopt;
    return value_type_of(weights->tensors.at(op.weights.front().index()).dtype);
  }
  const bool attends = op_class == OpClass::kAttention;
  const std::vector<TensorId>& tensors = attends ? op.inputs : op.outputs;
  const size_t which = attends ? 1 : 0;
  if (op.kind == OpKind::kPlainLayer || tensors.size() <= which) return std::nullopt;
  return value_type_of(graph.tensor(tensors[which]).dtype);
}

int64_t share(int64_t amount, int64_t tokens, int64_t of) {
  return ceil_div(checked_mul(amount, tokens), of);
}

}  // namespace

Duration read_time(const DeviceSpec& device, Bytes bytes) {
  return device.flash_latency + transfer_time(bytes, device.flash_read);
}

OpWork op_work(const Graph& graph, const Op& op, const WeightsInventory* weights) {
  OpWork work{.operations = op.operations,
              .operations_per_cell = op.operations_per_cell,
              .weights_read = op.weights_read,
              .tensors = arena_bytes(graph, op.inputs) + arena_bytes(graph, op.outputs),
              .state_read_per_cell = op.state_read_per_cell,
              .most_cells = op.most_cells,
              .state_moved = op.state_moved,
              .size = size_of(graph, op),
              .op = class_of(op.kind),
              .type = type_of(graph, op, weights)};
  // A lookup reads a row per token; every other op reads its weights once, whatever the tokens.
  if (op.kind == OpKind::kEmbed) {
    work.tensors += work.weights_read;
    work.weights_read = {};
  }
  return work;
}

OpWork with_tokens(const OpWork& work, int64_t tokens, int64_t of) {
  OpWork part = work;
  part.operations = share(work.operations, tokens, of);
  part.operations_per_cell = share(work.operations_per_cell, tokens, of);
  part.tensors = Bytes::of(share(work.tensors.count(), tokens, of));
  // Behind a selection there are as many rows as logits are wanted, whatever the tokens.
  const bool is_selected = work.size.rows != of;
  part.size.rows = is_selected ? std::min(work.size.rows, tokens) : tokens;
  return part;
}

OpCost& OpCost::operator+=(const OpCost& other) {
  arithmetic += other.arithmetic;
  memory += other.memory;
  overhead += other.overhead;
  operations_picojoules = checked_add(operations_picojoules, other.operations_picojoules);
  moved += other.moved;
  return *this;
}

OpCost OpCost::operator*(int64_t ops) const {
  return {.arithmetic = arithmetic * ops,
          .memory = memory * ops,
          .overhead = overhead * ops,
          .operations_picojoules = checked_mul(operations_picojoules, ops),
          .moved = moved * ops};
}

OpCost op_cost(const DeviceSpec& device, const OpWork& work, int64_t cells) {
  if (work.most_cells > 0) cells = std::min(cells, work.most_cells);
  const int64_t operations =
      checked_add(work.operations, checked_mul(work.operations_per_cell, cells));
  const Bytes moved =
      work.weights_read + work.tensors + work.state_moved + work.state_read_per_cell * cells;
  OpCost cost{.moved = moved};
  std::optional<Duration> arithmetic = measured(device, work, cells);
  if (!arithmetic) {
    const bool one_row = work.op == OpClass::kMatMul && work.size.rows == 1;
    const OpClass op = one_row ? OpClass::kGemv : work.op;
    arithmetic =
        compute_time(operations, rate_of(device.compute_rates, op, work.type, device.compute));
    cost.overhead = device.op_overhead;
  }
  const Duration transfer = transfer_time(moved, device.memory_bandwidth);
  (transfer > *arithmetic ? cost.memory : cost.arithmetic) = std::max(transfer, *arithmetic);
  if (device.energy) {
    cost.operations_picojoules = operations_picojoules(*device.energy, work.type, operations);
  }
  return cost;
}

Duration op_time(const DeviceSpec& device, const OpWork& work, int64_t cells) {
  return op_cost(device, work, cells).time();
}

Duration op_time(const DeviceSpec& device, const Graph& graph, const Op& op, int64_t cells) {
  return op_time(device, op_work(graph, op), cells);
}

}  // namespace tidemark

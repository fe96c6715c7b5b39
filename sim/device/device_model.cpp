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

// Rows are tokens: the second extent of what is written; of the K and V that a cache takes in.
OpSize size_of(const Graph& graph, const Op& op) {
  const std::vector<TensorId>& written = op.kind == OpKind::kStoreKv ? op.inputs : op.outputs;
  OpSize size{.kind = op.kind};
  if (op.kind == OpKind::kPlainLayer || written.empty()) return size;
  size.rows = graph.tensor(written.front()).shape[1];
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

int64_t share(int64_t amount, int64_t tokens, int64_t of) {
  return ceil_div(checked_mul(amount, tokens), of);
}

}  // namespace

Duration read_time(const DeviceSpec& device, Bytes bytes) {
  return device.flash_latency + transfer_time(bytes, device.flash_read);
}

OpWork op_work(const Graph& graph, const Op& op) {
  OpWork work{.operations = op.operations,
              .operations_per_cell = op.operations_per_cell,
              .weights_read = op.weights_read,
              .tensors = arena_bytes(graph, op.inputs) + arena_bytes(graph, op.outputs),
              .state_read_per_cell = op.state_read_per_cell,
              .most_cells = op.most_cells,
              .state_moved = op.state_moved,
              .size = size_of(graph, op)};
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

Duration op_time(const DeviceSpec& device, const OpWork& work, int64_t cells) {
  if (work.most_cells > 0) cells = std::min(cells, work.most_cells);
  const int64_t operations =
      checked_add(work.operations, checked_mul(work.operations_per_cell, cells));
  const Bytes moved =
      work.weights_read + work.tensors + work.state_moved + work.state_read_per_cell * cells;
  const Duration arithmetic =
      measured(device, work, cells).value_or(compute_time(operations, device.compute));
  return std::max(arithmetic, transfer_time(moved, device.memory_bandwidth));
}

Duration op_time(const DeviceSpec& device, const Graph& graph, const Op& op, int64_t cells) {
  return op_time(device, op_work(graph, op), cells);
}

}  // namespace tidemark

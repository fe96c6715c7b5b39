#include "sim/device/device_model.h"

#include <algorithm>

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
              .state_moved = op.state_moved};
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
  return part;
}

Duration op_time(const DeviceSpec& device, const OpWork& work, int64_t cells) {
  if (work.most_cells > 0) cells = std::min(cells, work.most_cells);
  const int64_t operations =
      checked_add(work.operations, checked_mul(work.operations_per_cell, cells));
  const Bytes moved =
      work.weights_read + work.tensors + work.state_moved + work.state_read_per_cell * cells;
  return std::max(compute_time(operations, device.compute),
                  transfer_time(moved, device.memory_bandwidth));
}

Duration op_time(const DeviceSpec& device, const Graph& graph, const Op& op, int64_t cells) {
  return op_time(device, op_work(graph, op), cells);
}

}  // namespace tidemark

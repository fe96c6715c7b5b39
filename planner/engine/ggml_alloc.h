// What an engine built on ggml reserves for a graph: its graph allocator, replayed on sizes alone.
//
//   1. A tensor takes its bytes rounded up to 32. Views, external and empty tensors take nothing.
//   2. Leaves are placed first, then nodes flagged as inputs, then the nodes in order.
//   3. Of the free blocks below the open end the smallest that fits is cut, the later one of
//   equals,
//      from its start. If none fits, the open end gives: only this raises the mark.
//   4. A node whose op runs in place takes over the memory of its first source that is placed, no
//      output, of the same layout, read once more (by this node) and seen by no view in use.
//   5. After each node, each source loses a reader for each use. What has no reader and no view is
//      freed, outputs excepted; a view without readers is one view less of its owner. (The flag
//      of a view that is an output does not keep its owner.)
//   6. So what nobody ever reads is never freed, an unused input for one.
//   7. Reserved is the highest end ever reached.
//
//   x 64 (leaf), a = f(x) 64, b = ADD(a, x) 64, c = g(b) 96, an output
//     x at 0; a at 64; b over a, then x is freed; c: the block [0,64) is too small, so at 128
//     reserved: 224
//   Checked by GgmlAllocTest.WorkedInTheHeader.
//
// Source: ggml 0.21.0, ggml-alloc.c: ggml_gallocr_alloc_graph_impl, ggml_gallocr_allocate_node,
// ggml_dyn_tallocr_alloc and _free_tensor, for one backend and one chunk.
#pragma once

#include <optional>
#include <vector>

#include "planner/engine/ggml_graph.h"

namespace tidemark {

struct GgmlReservation {
  Bytes reserved{};
  std::vector<std::optional<Bytes>> offsets{};        // by TensorId; of what needs memory
  std::vector<std::optional<TensorId>> overwrites{};  // by TensorId; whose memory was taken over
  std::optional<TensorId> high_water{};               // the last to raise the mark
};

// O(n log n).
GgmlReservation reserve(const GgmlGraph& graph);

}  // namespace tidemark

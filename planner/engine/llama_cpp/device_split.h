// One graph over several devices: which device computes each node, what is copied between them,
// and what each device's allocator then sees. The last device is the CPU.
//
//   w0 on GPU 0, w1 on GPU 1, the table on the CPU:
//     e = GET_ROWS(table, tokens)   CPU: where the table is
//     a = MUL_MAT(w0, e)            GPU 0; a copy of e there, made before a
//     b = SQR(a)                    no weight: where its neighbours are, GPU 0
//     c = MUL_MAT(w1, b)            GPU 1; a copy of b there
//     three runs of nodes ("splits"), two copies
//   Checked by DeviceSplitTest.WorkedInTheHeader.
//
//   1. Inputs belong to the CPU; what is written into a cache to where the cache is; a node with a
//      weight among its sources to where that weight is (not ROPE and FLASH_ATTN_EXT, whose weights
//      are small). With `offload_batch`, a product of at least so many rows with a weight of the
//      CPU goes to the first device.
//   2. The rest follow their neighbours: first devices that are no CPU spread down, then up, then
//      all.
//   3. A run ends where the device changes, and where a product wants a weight copied that its run
//      has not. What a run reads from elsewhere is copied to its device before the run, once a
//      device.
// Every device is taken to have every op. Source: ggml 0.21.0, ggml-backend.cpp,
// ggml_backend_sched_split_graph.
#pragma once

#include <optional>
#include <vector>

#include "planner/engine/ggml_graph.h"

namespace tidemark {

struct DeviceRequest {
  size_t n_devices = 1;                       // with the CPU
  std::vector<std::optional<size_t>> home{};  // by TensorId: of what is external, where it is
  std::vector<bool> is_weight{};              // by TensorId: of that, a weight and no cache
  std::vector<std::optional<size_t>> wish{};  // by TensorId: of nodes that were assigned by hand
  int64_t offload_batch = 0;                  // 0 = products stay where their weights are
  int64_t n_copies = 1;  // of what is copied and of the inputs, for batches in flight
};

struct DeviceSplit {
  std::vector<size_t> device{};     // by TensorId
  std::vector<GgmlGraph> graphs{};  // by device: what its allocator places, in its order
  int64_t n_splits = 0;
};

// CHECKs that the vectors of the request are as long as the graph and name devices there are.
DeviceSplit split_devices(const GgmlGraph& graph, const DeviceRequest& request);

}  // namespace tidemark

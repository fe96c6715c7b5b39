// The same model over a CPU and other devices: which layers go where, and every buffer of each.
//
//   80 layers and the output, -ngl 81, two equal devices: 81 places; place i goes to the first
//   device whose share of the total is above i / 81:
//     device 0: i / 81 < 1/2: layers 0 to 40;  device 1: layers 41 to 79 and the output
//   Checked by LlamaOffloadTest.WorkedInTheHeader.
//
// The token embedding stays with the CPU; a tied one exists twice if the output does not. Each
// device has a compute buffer of its own: what its part of the graph needs, with the copies of what
// it reads from others.
// Source: llama.cpp at 3f545bec, src/llama-model.cpp (load_tensors), src/llama-context.cpp
// (graph_get_cb); device_split.h. Not compared with runs on devices: the ground truth at this
// commit is CPU only.
#pragma once

#include <string>
#include <vector>

#include "planner/engine/llama_cpp/llama_graph.h"
#include "planner/engine/llama_cpp/llama_override.h"

namespace tidemark {

struct LlamaDevice {
  std::string name{};
  float share = 1;           // of the layers: its free bytes, or the ratio that was asked for
  int64_t alignment = 128;   // of tensors, a power of two; 128 is CUDA's
  int64_t row_multiple = 1;  // rows of quantized matrices are padded to it; 512 is CUDA's
};

struct LlamaOffload {
  int64_t n_gpu_layers = 0;  // of n_layer + 1: the output is one more
  std::vector<LlamaDevice> devices{};
  bool kv_with_layers = true;              // else all caches stay with the CPU
  std::vector<LlamaOverride> overrides{};  // weights placed by hand; the first that fits decides
  int64_t n_cpu_moe = 0;         // the experts of so many layers from the front stay with the CPU
  bool mapped = false;           // the CPU's weights are the file, from the first to the last
  bool offload_products = true;  // large batches are computed on a device even for the CPU's layers
  int64_t n_copies = 1;  // batches in flight: 4 where several devices take all layers and can wait
                         // for events
};

// Batches in flight when every device can wait for events, as CUDA's can: 4 if several devices hold
// all layers, the output and the caches, and no weight is placed by hand; else 1.
int64_t copies_in_flight(int64_t n_layer, const LlamaOffload& offload);

// By layer, then the output: index into offload.devices, or their number for the CPU.
std::vector<size_t> llama_devices_of_layers(int64_t n_layer, const LlamaOffload& offload);

struct LlamaDeviceMemory {
  std::string name{};
  int64_t n_layers = 0;
  Bytes model{};
  Bytes kv{};
  Bytes recurrent{};
  Bytes compute{};
};

struct LlamaOffloadedMemory {
  std::vector<LlamaDeviceMemory> devices{};  // as offload.devices, then the CPU
  LlamaContext context{};                    // if it is rejected, nothing above counts
  Bytes output{};                            // with the CPU
  int64_t n_splits = 0;
  bool exact_for_architecture = false;
};

// Refused as llama_graph refuses. CHECKs that shares are not negative and some are positive, and
// that overrides name devices there are.
Result<LlamaOffloadedMemory> llama_offloaded_memory(const ModelSpec& model,
                                                    const WeightsInventory& weights,
                                                    const LlamaSettings& settings,
                                                    const LlamaOffload& offload);

}  // namespace tidemark

// Which layers of a logged run are on which device, worked out from what the log says: devices of
// layers, counts of offloaded layers, or how the KV cache is spread.
//
//   offloaded 33/33, one device CUDA0, 32 layers   all layers and the head on CUDA0
//   KV: RPC0 656 MiB, RPC1 624 MiB of 16 MiB a layer   41 layers, then 39 and the head
//   Checked by PlacementTest.WorkedInTheHeader.
#pragma once

#include <string>
#include <vector>

#include "planner/compare/llama_era.h"
#include "planner/model/state.h"

namespace tidemark {

struct DeviceShare {
  std::string device{};  // "" = the host
  int64_t first = 0;     // layers [first, last)
  int64_t last = 0;
  bool head = false;
  bool operator==(const DeviceShare&) const = default;
};

struct Placement {
  std::vector<DeviceShare> shares{};  // in the order of the layers; empty = not known
  std::string how{};                  // or why it is not known
  bool cache_on_host = false;         // although layers are not
};

// "CUDA0", "RPC1", "HTP0" of a buffer's name; "" for what is the host's: CPU, CPU_Mapped,
// CUDA_Host.
std::string device_of(std::string_view buffer);

// `layer_cache`: bytes that each layer keeps in the cache, 0 for one that keeps none.
Placement placement_of(const LoggedRun& run, const std::vector<Bytes>& layer_cache,
                       const LlamaEra& era);

}  // namespace tidemark

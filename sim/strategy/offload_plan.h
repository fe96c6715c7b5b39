// What a layer of an offload run moves and computes in one pass, as times; offload_run.h has the
// table.
#pragma once

#include <vector>

#include "planner/capacity/memory_plan.h"

namespace tidemark {

// Of one layer in one pass.
struct LayerMoves {
  Duration from_storage{};
  Duration to_device{};
  Duration products{};  // on the accelerator, with its share of attention
  Duration host{};      // attention of the main processor
  Duration from_device{};
  Duration to_storage{};
  Bytes read{};     // from storage
  Bytes written{};  // to storage
};

// Widths of one layer.
struct OffloadLayer {
  Bytes weights{};
  int64_t parameters = 0;           // of its matrices
  int64_t operations_per_cell = 0;  // of attention, a token
  Bytes cache_per_cell{};           // of one sequence
  Bytes hidden{};                   // one token's state
};

// By layer. Refused: a layer whose mixer is not attention, a list of layers.
Result<std::vector<OffloadLayer>> offload_layers(const Scenario& scenario, const MemoryPlan& plan);

// `tokens` of each of `sequences` pass through the layer, each attending `cells`.
struct OffloadPass {
  bool is_prefill = false;
  int64_t sequences = 1;
  int64_t tokens = 1;
  int64_t cells = 1;
};
LayerMoves moves_of(const OffloadLayer& layer, const OffloadPass& pass,
                    const OffloadChoices& choices, const Accelerator& device);

// Held for the whole run: what lives there and the layers in flight, two of them.
Bytes offload_device_bytes(const std::vector<OffloadLayer>& layers, const Scenario& scenario);
Breakdown offload_memory(const std::vector<OffloadLayer>& layers, const Scenario& scenario,
                         const MemoryPlan& plan);

}  // namespace tidemark

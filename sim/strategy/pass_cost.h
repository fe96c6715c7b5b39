// How long the steps and visits of one pass take, and what its activations hold step by step.
#pragma once

#include <vector>

#include "planner/capacity/memory_plan.h"
#include "sim/device/device_model.h"

namespace tidemark {

// Durations of a pass of `tokens` tokens. What does not depend on the cells attended is summed
// once, so that a decode pass costs no more than its attention ops.
class PassCost {
 public:
  // Fewer tokens than the phase's graph was built for: a partial ubatch. Sizes of a layer list are
  // given, not per token, and stay as they are.
  // `weights`, of the phase's model, tell the types of products.
  PassCost(const DeviceSpec& device, const PhasePlan& phase, int64_t tokens,
           const WeightsInventory* weights = nullptr);

  OpCost step_cost(StepIndex step, int64_t cells) const;
  OpCost visit_cost(size_t use, int64_t cells) const;  // the sum of its steps
  Duration step(StepIndex step, int64_t cells) const { return step_cost(step, cells).time(); }
  Duration visit(size_t use, int64_t cells) const { return visit_cost(use, cells).time(); }

 private:
  struct Visit {
    OpCost fixed{};
    std::vector<OpWork> by_cells{};
  };
  const DeviceSpec& device_;
  std::vector<OpWork> work_{};  // by step
  std::vector<Visit> visits_{};
};

// Bytes of the compute part under ActivationPolicy::kLive, where tensors are allocated and freed
// one by one.
//   embedding 64, layer1 128, layer2 128, each reading the one before it:
//   during  64  192  256        after  64  128  0        Checked by PassCostTest.LiveBytesOfAChain.
struct LiveBytes {
  std::vector<Bytes> during{};  // while step s runs: its load and its scratch
  std::vector<Bytes> after{};   // what later steps still need
};

LiveBytes live_bytes(const PhasePlan& phase);

}  // namespace tidemark

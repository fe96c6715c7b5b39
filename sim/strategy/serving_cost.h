// How long a pass over several sequences takes, each with tokens and cells of its own.
//
// Weights are read once for all of them, what grows with the tokens counts their sum; attention
// counts for each sequence its tokens times its cells, and reads its cells once:
//   one layer of 2 heads of 16 values in f16, 1 op/ns, 10 B/ns: a cell that a token attends takes
//   2 x 2 x 2 x 16 = 128 ns of arithmetic, the 128 B of its K and V 12.8 ns. Tokens at 3 and at 7
//   cells take as long as two at 5, and 8 x 128 ns longer than two at 1.
//   Checked by ServingCostTest.WorkedInTheHeader.
// Equal sequences cost what PassCost says of them (ServingCostTest.AgreesWithPassCost).
#pragma once

#include <map>
#include <span>
#include <vector>

#include "planner/capacity/memory_plan.h"
#include "sim/device/device_model.h"
#include "sim/strategy/serving_queue.h"

namespace tidemark {

class ServingCost {
 public:
  // Both must outlive it.
  ServingCost(const DeviceSpec& device, const PhasePlan& phase,
              const WeightsInventory* weights = nullptr);

  Duration pass(std::span<const ServedTokens> sequences);
  const OpCost& spent() const { return spent_; }  // in all passes

 private:
  // Attention ops that are alike.
  struct Attention {
    OpWork work{};
    int64_t count = 0;
  };

  OpCost fixed(int64_t tokens);
  OpCost cost_of(const OpWork& work, int64_t tokens, std::span<const ServedTokens> sequences) const;

  const DeviceSpec& device_;
  int64_t n_tokens_;  // of the phase's graph
  int64_t n_seq_;
  std::vector<OpWork> fixed_work_{};
  std::vector<Attention> attention_{};
  std::map<int64_t, OpCost> fixed_by_tokens_{};
  OpCost spent_{};
};

}  // namespace tidemark

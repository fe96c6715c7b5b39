// How long a pass over several sequences takes, each with tokens and cells of its own.
//
// Weights are read once for all of them, what grows with the tokens counts their sum; attention
// counts for each sequence its tokens times its cells, and reads its cells once:
//   an op of 4 operations a cell for each of its 2 tokens, 10 B a cell of each of 2 sequences, on
//   1 op/ns and 10 B/ns; sequences of 1 token at 3 cells and 1 token at 7:
//   4 x 3 + 4 x 7 = 40 ns against (10 x 3 + 10 x 7) B / 10 = 10 ns: 40 ns
//   Checked by ServingCostTest.WorkedInTheHeader.
// With equal sequences it is what PassCost says of them (ServingCostTest.AgreesWithPassCost).
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
  ServingCost(const DeviceSpec& device, const PhasePlan& phase);

  Duration pass(std::span<const ServedTokens> sequences);

 private:
  // Attention ops that are alike.
  struct Attention {
    OpWork work{};
    int64_t count = 0;
  };

  Duration fixed(int64_t tokens);
  Duration time_of(const OpWork& work, int64_t tokens,
                   std::span<const ServedTokens> sequences) const;

  const DeviceSpec& device_;
  int64_t n_tokens_;  // of the phase's graph
  int64_t n_seq_;
  std::vector<OpWork> fixed_work_{};
  std::vector<Attention> attention_{};
  std::map<int64_t, Duration> fixed_by_tokens_{};
};

}  // namespace tidemark

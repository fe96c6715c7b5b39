// Load: the sum of the sizes live at one step. Its maximum is a lower bound of every plan.
#pragma once

#include <vector>

#include "planner/lifetime/live_ranges.h"

namespace tidemark {

struct LoadProfile {
  std::vector<Bytes> load{};  // by step
  Bytes peak{};
  StepIndex peak_step{};  // the first step that reaches the peak
};

// O(buffers + steps): differences at the ends, then a running sum. CHECKs that every lifetime lies
// within the steps; throws std::overflow_error.
LoadProfile load_profile(const std::vector<ArenaBuffer>& buffers, int64_t step_count);

}  // namespace tidemark

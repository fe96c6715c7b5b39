// Which bodies leave a pool that is overloaded (pools.h, step 1).
#pragma once

#include <span>
#include <vector>

#include "planner/alloc/body.h"

namespace tidemark {

struct SpillCandidate {
  size_t body = 0;
  int64_t cost = 0;
};

// Bodies, of those that may leave, without which the load of the rest is at most `capacity`, or as
// low as it gets. `staying` count but never leave. Both are positions in `bodies`.
std::vector<size_t> spill_by_load(const std::vector<Body>& bodies, std::span<const size_t> staying,
                                  std::span<const SpillCandidate> leaving, Bytes capacity);

}  // namespace tidemark

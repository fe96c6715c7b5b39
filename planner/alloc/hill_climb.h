// Hill climbing over placement orders: first fit places the buffers in some order, and what the
// peak rests on says which buffer should come earlier.
//
//   a [0,2) 5, b [0,3) 1, c [2,5) 2, d [3,4) 4     by size: a and d at 0, c on d at 4, b at 6: 7
//
//   The chain of a buffer: one that it stands on, one that this stands on, and so on down to 0: b
//   stands on c, c on d. A step takes the chain of a buffer with the highest end, and one of the
//   chain goes to an earlier place of the order, or changes places with any other: with c before d,
//   c stands at 0, d on it ends at 6, the load, and b beside it. Checked by HillClimbTest.TheChain.
//
// A new order is kept when its plan is no worse than the present one or than the one of
// a few steps ago (late acceptance: Burke and Bykov 2017), so that it may climb out of a dip
// without any temperature to choose. Worse: a higher peak; at equal peaks, more bytes above the
// load. All numbers are integers and every choice comes from the seed: the same plan on every
// machine.
#pragma once

#include <cstdint>
#include <functional>

#include "planner/alloc/problem.h"

namespace tidemark {

struct HillClimbOptions {
  int64_t steps = 2000;  // orders tried
  uint64_t seed = 0;
  std::function<bool()> stop{};              // true: return the best plan so far
  std::function<void(const Plan&)> found{};  // each better plan, as soon as it is known
};

// The lowest plan of all orders tried, the first of which are first fit by size, by area, by width
// and by conflicts, and the lowest floor (skyline.h) pressed down: so never above
// first-fit-by-size. Ends early at the lower bound, the load. Of a plain problem; alignments, gaps
// and fixed offsets are kept. kInfeasible, without offsets, when fixed offsets clash. O(n) for each
// buffer placed, so O(n^2) for each step.
Plan plan_by_hill_climb(const Problem& problem, const HillClimbOptions& options = {});

}  // namespace tidemark

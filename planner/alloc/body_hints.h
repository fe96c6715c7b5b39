// Hints: where a buffer would best stand, when nothing is lost by it.
#pragma once

#include "planner/alloc/problem.h"

namespace tidemark {

// Moves buffers to their hints in a valid plan of one pool; the peak never rises. First all that
// can stand at their hints beside each other are held there and the rest is placed anew, by first
// fit in several orders. When that ends above the peak, hints are tried one after the other, in
// order of id: what is in the way moves to the lowest offset that is free then, and if that ends
// above the peak, the hint is given up. So a hint may stay unmet that a search would meet. A group
// goes by the hint of its first member. `placements` bounds the work.
void meet_hints(const Problem& problem, int64_t placements, Plan& plan);

// Of the buffers that are ever live and have a hint: how many there are, and how many stand there.
struct HintCount {
  int64_t hints = 0;
  int64_t met = 0;
};
HintCount count_hints(const Problem& problem, const Plan& plan);

}  // namespace tidemark

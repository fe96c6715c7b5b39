// Greedy placement: buffers one after the other in a fixed order, each into a gap among the buffers
// already placed that are live at the same time as it (its neighbours). Nothing is ever moved.
//
//   Neighbours of a new buffer, by offset, and the gaps it may use:
//
//     0        8         15     21         26
//     |  gap   |  first  |  gap |  second  |  and everything above
//
//   For a size of 2 the lowest gap is [0,8), the smallest is [15,21).
//   Checked by GreedyTest.LowestAndSmallestGap.
//
//   The space below the first neighbour is a gap like any other. Neighbours need not be neighbours
//   of each other, so one may lie beside or within another: a gap starts at the highest end passed.
//
// Both walk the placed buffers in order of offset: O(n) for each buffer, with no list of
// conflicting pairs (but for the order by conflicts, which counts them by sorting). Offsets are
// aligned to the new buffer's own alignment, never to its
// neighbour's.
#pragma once

#include <vector>

#include "planner/alloc/problem.h"

namespace tidemark {

// Each function returns offsets by BufferId. A buffer that is never live goes to 0, one with a
// fixed offset there, whatever else stands there.

// Each above the other and above every fixed one, the widest alignment first so that no more than
// the padding of each size is lost.
std::vector<Bytes> place_apart(const Problem& problem);

enum class PlacementOrder {
  kSize,       // largest first, equal ones by start
  kStart,      // earliest first, equal ones by size, largest first
  kWidth,      // longest life first, equal ones by size, largest first
  kArea,       // largest product of size and life first
  kConflicts,  // most buffers at the same time as it first, equal ones by size, largest first
};

enum class GapRule {
  kLowest,    // the lowest offset that is free
  kSmallest,  // the smallest gap that holds it, counted from its aligned start, the lowest of equal
              // ones; above its highest neighbour when no gap holds it
};

// Buffers with a fixed offset first, then in `order`, then by id.
std::vector<Bytes> place_greedily(const Problem& problem, PlacementOrder order, GapRule rule);

// By size into the lowest gap; by start into the smallest.
std::vector<Bytes> place_first_fit_by_size(const Problem& problem);
std::vector<Bytes> place_best_fit_by_start(const Problem& problem);

}  // namespace tidemark

// Lowest-floor placement without a list of conflicting pairs: for very many buffers.
//
// The skyline is the highest end placed so far, by clique. The lowest run of equal level is a
// valley; what can be placed lowest is exactly what lives within it, and of that the first by rank
// goes in. When nothing lives within it, the valley is filled up to its lower wall:
//
//    level 4 |       ####          a valley of level 0 at cliques 0-1: of the items within [0,1]
//    level 2 |    ###########      the first by rank is placed at 0. If there is none, the valley
//    level 0 |####           ##    rises to 2 and becomes one with cliques 2-4.
//             0 1 2 3 4 5 6 7
//
// This gives the same plan as taking, again and again, the item with the lowest floor, ties by
// rank. A tree over (first, last clique) finds the first by rank within a valley. Memory O(n), time
// about O(n log n) in practice: n queries and at most n valleys that rise. Of up to 1,000 items
// each query looks at all that are left.
#pragma once

#include <vector>

#include "planner/alloc/exact_rank.h"

namespace tidemark {

// Offsets by item number, in units. `by_rank` holds every item once. An item with gaps is placed as
// if it had none; alignments are kept; fixed offsets are not looked at.
std::vector<int64_t> place_on_skyline(const exact::Instance& instance,
                                      const std::vector<int32_t>& by_rank);

// All items in the order of exact::sort_by.
std::vector<int32_t> rank_all(const exact::Instance& instance, const exact::Order& order);

}  // namespace tidemark

// Why a problem does not fit: a set of buffers that can not, of which none can be left out.
//
//   capacity 10: a [0,2) 6, b [0,2) 5, c [1,3) 4, d [2,4) 9   ->  {a, b}: 11 at instant 0; and d
//   with c. Checked by ConflictTest.TwoOfFour.
#pragma once

#include <vector>

#include "planner/alloc/exact.h"
#include "planner/alloc/problem.h"

namespace tidemark {

struct Infeasibility {
  std::vector<BufferId> buffers{};  // by id
  bool proved = false;              // do they fail to fit within the capacity, for certain?
  bool irreducible = false;         // does what is left of them fit whenever one is taken out?
};

// Empty when the problem fits or no proof was found within `options.node_limit` nodes, which each
// of the O(n) searches may use. Where the load alone exceeds the capacity, the buffers live at one
// such instant, the largest ones, are named; without a search when none has an alignment or a fixed
// offset.
// Groups are taken as one, and all members named; nothing is said where rectangles can not tell the
// whole (body.h, Reduction::exact), or of pools and pairs.
Infeasibility why_infeasible(const Problem& problem, Bytes capacity,
                             const ExactOptions& options = {});

}  // namespace tidemark

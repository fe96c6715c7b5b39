// Pools: several memories with addresses of their own, in the order in which they are to be filled.
//
//   sram 10, dram without a limit; a [0,4) 6, b [0,4) 4, c [1,3) 3, d [4,9) 9 pinned to dram
//   the load of a, b, c is 13 on [1,3): c, which costs 3 and frees 3 bytes there, goes to dram at
//   offset 0, and sram is full with a and b. Checked by PoolsTest.TheCheapestThatRelieves.
//
// Each pool in turn takes what is pinned to it, or may stand nowhere after it, and everything else
// that may stand there and has not yet found room. What it can not hold is spilled to later pools:
//   1 while the load exceeds the capacity: of the bodies live then, the one that costs least for
//     each byte-instant by which it lowers the excess; cost is the buffer's own, or its size
//   2 while no plan is found: as 1, among what ends above the capacity
//   3 then back again, dearest first: into free space, and for the first few by planning anew
// So what stays in the earlier pool is much, not proved to be the most.
#pragma once

#include "planner/alloc/body_plan.h"

namespace tidemark {

// Needs pools, and a problem without faults. Status: kProvedOptimal when nothing was spilled and
// each pool's peak is proved; kInfeasible when it is proved that something finds no room (by
// itself, or because what must stand in one pool does not fit there, or because the load exceeds
// all pools together); kLimitReached when something found none. `unplaced` names it, and there are
// no offsets then. A single pool whose plan fits has the very plan of the problem without pools.
Plan plan_in_pools(const Problem& problem, const PlainPlanner& planner, const BodyOptions& options);

}  // namespace tidemark

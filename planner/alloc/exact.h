// The exact planner: finds a plan within a capacity or proves that there is none; finds the lowest
// peak or says between which bounds it lies.
//
//   five buffers of problem.h:  decide(12) -> plan of peak 12, proved optimal (12 is the load)
//                               decide(11) -> infeasible
//   the bound counts padding: two of 4 bytes at multiples of 8 need 12
//
// Parts of the problem that share no instant are solved apart. Each is searched under one order
// after the other (exact_rank.h), with a limit of nodes that doubles from round to round: a search
// that goes astray early is cut off early. What was found to fail is kept for all later runs.
// minimise() climbs from order to order besides (exact_climb.h). Later runs are made four at a time
// by the caller's executor (exact_lanes.h); the outcome does not depend on its threads.
#pragma once

#include <functional>

#include "planner/alloc/exact_lanes.h"
#include "planner/alloc/problem.h"

namespace tidemark {

struct ExactOptions {
  int64_t node_limit = 1'000'000;            // of all searches together
  uint64_t seed = 0;                         // of the disturbed orders
  std::function<bool()> stop{};              // true: give up now; asked by any thread of run_all
  std::function<void(const Plan&)> found{};  // each better plan, as soon as it is known
  bool bound_first = true;  // minimise: try the lower bound before anything above it
  Executor run_all{};       // absent: one after the other
  exact::Rules rules{};
  size_t table_bytes = size_t{64} << 20;  // for states known to fail
};

// A plan with peak <= capacity (kProvedOptimal when the peak is the lower bound, else kFeasible),
// kInfeasible only when proved (no offsets then), kLimitReached otherwise (no offsets), at once
// when a part has more than exact::kLargestPart buffers. Deterministic unless `stop` decides,
// whatever the executor; `nodes` too.
Plan decide(const Problem& problem, Bytes capacity, const ExactOptions& options = {});

// The lowest plan found, starting from `best`, a valid plan: kProvedOptimal or kLimitReached.
// lower_bound is what was proved. Deterministic unless `stop` decides.
Plan minimise(const Problem& problem, Plan best, const ExactOptions& options = {});

}  // namespace tidemark

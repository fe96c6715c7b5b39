// Planners made of others.
#pragma once

#include <optional>

#include "planner/alloc/exact.h"
#include "planner/alloc/problem.h"

namespace tidemark {

struct PortfolioOptions {
  int64_t node_limit = 30'000;     // of the exact search; 0: none
  int64_t placements = 4'000'000;  // of single buffers, by repeated lowest-floor passes
  uint64_t seed = 0;
  std::function<bool()> stop{};              // true: return the best plan so far
  std::function<void(const Plan&)> found{};  // each better plan, as soon as it is known
  Executor run_all{};                        // for the exact search; see ExactOptions
};

// For answers within about 10 ms for some hundred buffers: a few passes, and short searches where
// these are cheap enough to pay.
PortfolioOptions quick_portfolio(const Problem& problem);

// In order of cost: first fit by size, best fit by start, lowest floor in several orders, a short
// exact search at the load, lowest floor repeated with what ended too high placed earlier, and the
// exact search downward. Ends as soon as a peak meets the lower bound. `planner` names the stage
// that made the offsets. kProvedOptimal, kFeasible (a valid plan, not proved), or kInfeasible when
// fixed offsets clash (no offsets then).
Plan plan_by_portfolio(const Problem& problem, const PortfolioOptions& options = {});

// Lowest floor (skyline.h) in several orders; then each repeated, with the buffers that ended above
// the load first, for about `placements` placements in all. Fixed offsets are beyond it: nullopt.
std::optional<Plan> plan_by_lowest_floor(const Problem& problem, const PortfolioOptions& options);

// Are there two buffers whose fixed offsets clash, or one that breaks its own alignment?
bool fixed_offsets_clash(const Problem& problem);

// Totals of a plan made of `offsets`: peak, lower bound, status.
Plan with_totals(const Problem& problem, std::string_view planner, std::vector<Bytes> offsets);

}  // namespace tidemark

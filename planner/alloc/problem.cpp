#include "planner/alloc/problem.h"

#include <algorithm>
#include <compare>

#include "planner/base/check.h"

namespace tidemark {
namespace {

// The load changes by `change` at `instant`.
struct LoadChange {
  int64_t instant = 0;
  Bytes change{};
  auto operator<=>(const LoadChange&) const = default;
};

}  // namespace

std::string_view name_of(PlanStatus status) {
  switch (status) {
    case PlanStatus::kProvedOptimal:
      return "proved_optimal";
    case PlanStatus::kFeasible:
      return "feasible";
    case PlanStatus::kInfeasible:
      return "infeasible";
    case PlanStatus::kLimitReached:
      return "limit_reached";
  }
  check(false, "every plan status has a name");
  return {};
}

Bytes peak_load(const Problem& problem) {
  std::vector<LoadChange> changes;
  for (const Buffer& buffer : problem.buffers) {
    if (!is_ever_live(buffer)) continue;
    changes.push_back({buffer.lifetime.lower, buffer.size});
    changes.push_back({buffer.lifetime.upper, Bytes{} - buffer.size});
  }
  // Lifetimes are half-open: what ends at an instant is gone before what starts there.
  std::ranges::sort(changes);
  Bytes load;
  Bytes peak;
  for (const LoadChange& change : changes) {
    load += change.change;
    peak = std::max(peak, load);
  }
  return peak;
}

Bytes no_reuse_bytes(const Problem& problem) {
  Bytes sum;
  for (const Buffer& buffer : problem.buffers) {
    if (is_ever_live(buffer)) sum += align_up(buffer.size, buffer.alignment);
  }
  return sum;
}

}  // namespace tidemark

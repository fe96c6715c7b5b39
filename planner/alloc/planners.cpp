#include "planner/alloc/planners.h"

#include <algorithm>
#include <array>
#include <utility>

#include "planner/alloc/greedy.h"
#include "planner/base/check.h"

namespace tidemark {
namespace {

constexpr std::array kPlanners{
    PlannerInfo{PlannerKind::kNoReuse, "no-reuse", "every buffer apart: the upper bound"},
    PlannerInfo{PlannerKind::kFirstFitBySize, "first-fit-by-size",
                "largest first, each at the lowest offset that is free"},
    PlannerInfo{PlannerKind::kBestFitByStart, "best-fit-by-start",
                "earliest first, each in the smallest gap that holds it, as a run-time allocator"},
    PlannerInfo{PlannerKind::kBestOf, "best-of",
                "the lower peak of first-fit-by-size and best-fit-by-start"},
};

Plan with_totals(const Problem& problem, PlannerKind kind, std::vector<Bytes> offsets) {
  Plan plan{.planner = std::string(name_of(kind)), .offsets = std::move(offsets)};
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (is_ever_live(buffer)) plan.peak = std::max(plan.peak, plan.offsets[i] + buffer.size);
  }
  plan.lower_bound = peak_load(problem);
  plan.status = plan.peak == plan.lower_bound ? PlanStatus::kProvedOptimal : PlanStatus::kFeasible;
  return plan;
}

Plan best_of(Plan first, Plan second) {
  return second.peak < first.peak ? std::move(second) : std::move(first);
}

}  // namespace

std::span<const PlannerInfo> planners() { return kPlanners; }

std::string_view name_of(PlannerKind kind) {
  const auto found = std::find_if(kPlanners.begin(), kPlanners.end(),
                                  [&](const PlannerInfo& info) { return info.kind == kind; });
  check(found != kPlanners.end(), "every planner stands in the table");
  return found->name;
}

std::optional<PlannerKind> parse_planner(std::string_view name) {
  for (const PlannerInfo& info : kPlanners) {
    if (info.name == name) return info.kind;
  }
  return std::nullopt;
}

Plan plan(const Problem& problem, PlannerKind kind) {
  for (const Buffer& buffer : problem.buffers) {
    check(Bytes{} <= buffer.size, "no buffer has a negative size");
  }
  switch (kind) {
    case PlannerKind::kNoReuse:
      return with_totals(problem, kind, place_apart(problem));
    case PlannerKind::kFirstFitBySize:
      return with_totals(problem, kind, place_first_fit_by_size(problem));
    case PlannerKind::kBestFitByStart:
      return with_totals(problem, kind, place_best_fit_by_start(problem));
    case PlannerKind::kBestOf:
      return best_of(plan(problem, PlannerKind::kFirstFitBySize),
                     plan(problem, PlannerKind::kBestFitByStart));
  }
  check(false, "every planner kind is planned");
  return {};
}

}  // namespace tidemark

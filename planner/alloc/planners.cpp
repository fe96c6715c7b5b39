#include "planner/alloc/planners.h"

#include <algorithm>
#include <array>
#include <utility>

#include "planner/alloc/body_plan.h"
#include "planner/alloc/exact.h"
#include "planner/alloc/greedy.h"
#include "planner/alloc/hill_climb.h"
#include "planner/alloc/portfolio.h"
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
    PlannerInfo{PlannerKind::kLinearScan, "linear-scan",
                "earliest first, each at the lowest offset that is free"},
    PlannerInfo{PlannerKind::kFirstFitByWidth, "first-fit-by-width",
                "longest life first, each at the lowest offset that is free"},
    PlannerInfo{PlannerKind::kFirstFitByArea, "first-fit-by-area",
                "largest size times life first, each at the lowest offset that is free"},
    PlannerInfo{PlannerKind::kFirstFitByConflicts, "first-fit-by-conflicts",
                "most neighbours first, each at the lowest offset that is free"},
    PlannerInfo{PlannerKind::kBestFitBySize, "best-fit-by-size",
                "largest first, each in the smallest gap that holds it"},
    PlannerInfo{PlannerKind::kLowestFloor, "lowest-floor",
                "whatever can stand lowest next, in several orders; for very many buffers"},
    PlannerInfo{PlannerKind::kHillClimb, "hill-climb",
                "first fit over many orders, moving forward what the peak rests on"},
    PlannerInfo{PlannerKind::kExact, "exact", "search for the lowest peak, with proof"},
    PlannerInfo{PlannerKind::kPortfolio, "portfolio",
                "fits, lowest floor and exact search by rising cost, until the peak is proved"},
};

// Nodes of the exact search, of which each takes some microseconds.
constexpr int64_t kExactNodes = 100'000;
constexpr double kHillClimbPairs = 1e9;  // of buffers held against each other
constexpr int64_t kDecisionNodes = 20'000;

Plan greedy(const Problem& problem, PlannerKind kind, PlacementOrder order, GapRule rule) {
  return with_totals(problem, name_of(kind), place_greedily(problem, order, rule));
}

Plan lowest_floor(const Problem& problem) {
  std::optional<Plan> plan = plan_by_lowest_floor(problem, {});
  // Around fixed offsets there are gaps to fill.
  return plan ? std::move(*plan)
              : greedy(problem, PlannerKind::kLowestFloor, PlacementOrder::kArea, GapRule::kLowest);
}

// As many orders as are tried in about the same time, whatever the number of buffers.
Plan hill_climb(const Problem& problem) {
  const double pairs =
      static_cast<double>(problem.buffers.size()) * static_cast<double>(problem.buffers.size());
  HillClimbOptions options;
  options.steps = static_cast<int64_t>(
      std::min(static_cast<double>(options.steps), kHillClimbPairs / std::max(1.0, pairs)));
  return plan_by_hill_climb(problem, options);
}

Plan exact_plan(const Problem& problem) {
  Plan start = with_totals(problem, "exact", place_first_fit_by_size(problem));
  Plan plan = minimise(problem, std::move(start), {.node_limit = kExactNodes});
  if (plan.status != PlanStatus::kProvedOptimal) plan.status = PlanStatus::kFeasible;
  return plan;
}

Plan best_of(Plan first, Plan second) {
  return second.peak < first.peak ? std::move(second) : std::move(first);
}

Plan plan_plain(const Problem& problem, PlannerKind kind) {
  if (fixed_offsets_clash(problem)) {
    return {.planner = std::string(name_of(kind)),
            .status = PlanStatus::kInfeasible,
            .lower_bound = peak_load(problem)};
  }
  switch (kind) {
    case PlannerKind::kNoReuse:
      return with_totals(problem, name_of(kind), place_apart(problem));
    case PlannerKind::kFirstFitBySize:
      return greedy(problem, kind, PlacementOrder::kSize, GapRule::kLowest);
    case PlannerKind::kBestFitByStart:
      return greedy(problem, kind, PlacementOrder::kStart, GapRule::kSmallest);
    case PlannerKind::kBestOf:
      return best_of(plan_plain(problem, PlannerKind::kFirstFitBySize),
                     plan_plain(problem, PlannerKind::kBestFitByStart));
    case PlannerKind::kLinearScan:
      return greedy(problem, kind, PlacementOrder::kStart, GapRule::kLowest);
    case PlannerKind::kFirstFitByWidth:
      return greedy(problem, kind, PlacementOrder::kWidth, GapRule::kLowest);
    case PlannerKind::kFirstFitByArea:
      return greedy(problem, kind, PlacementOrder::kArea, GapRule::kLowest);
    case PlannerKind::kFirstFitByConflicts:
      return greedy(problem, kind, PlacementOrder::kConflicts, GapRule::kLowest);
    case PlannerKind::kBestFitBySize:
      return greedy(problem, kind, PlacementOrder::kSize, GapRule::kSmallest);
    case PlannerKind::kLowestFloor:
      return lowest_floor(problem);
    case PlannerKind::kHillClimb:
      return hill_climb(problem);
    case PlannerKind::kExact:
      return exact_plan(problem);
    case PlannerKind::kPortfolio:
      return plan_by_portfolio(problem);
  }
  check(false, "every planner kind is planned");
  return {};
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

PlainPlanner plain_planner(PlannerKind kind) {
  return [kind](const Problem& plain, std::optional<Bytes> capacity) {
    Plan plan = plan_plain(plain, kind);
    if (!capacity || plan.status == PlanStatus::kInfeasible || plan.peak <= *capacity) return plan;
    Plan decided = decide(plain, *capacity, {.node_limit = kDecisionNodes});
    return decided.status == PlanStatus::kLimitReached ? plan : decided;
  };
}

Plan plan(const Problem& problem, PlannerKind kind) {
  return plan_all(problem, std::nullopt, plain_planner(kind),
                  {.by_pieces = kind != PlannerKind::kNoReuse});
}

}  // namespace tidemark

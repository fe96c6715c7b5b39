// The planners. Each is a pure function of the problem: same input, same plan.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "planner/alloc/problem.h"

namespace tidemark {

enum class PlannerKind {
  kNoReuse,         // every buffer apart: the upper bound
  kFirstFitBySize,  // largest first, each at the lowest gap among placed neighbours that fits
  kBestFitByStart,  // earliest first, each in the smallest gap that fits, as a run-time allocator
  kBestOf,          // first-fit-by-size and best-fit-by-start, the lower peak; ties to the former
};

struct PlannerInfo {
  PlannerKind kind = PlannerKind::kBestOf;
  std::string_view name{};     // "first-fit-by-size"
  std::string_view summary{};  // one line for `tidemark list planners`
};

std::span<const PlannerInfo> planners();
std::string_view name_of(PlannerKind kind);
std::optional<PlannerKind> parse_planner(std::string_view name);

// status is kProvedOptimal exactly when peak == lower bound. `planner` names who made the offsets:
// of kBestOf, the winner. CHECKs that no size is negative; throws std::overflow_error when an end
// leaves 63 bits.
Plan plan(const Problem& problem, PlannerKind kind);

}  // namespace tidemark

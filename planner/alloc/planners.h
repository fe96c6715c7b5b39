// The planners. Each is a pure function of the problem: same input, same plan.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "planner/alloc/body_plan.h"
#include "planner/alloc/problem.h"

namespace tidemark {

enum class PlannerKind {
  kNoReuse,          // every buffer apart: the upper bound
  kFirstFitBySize,   // largest first, each at the lowest gap among placed neighbours that fits
  kBestFitByStart,   // earliest first, each in the smallest gap, as a run-time allocator
  kBestOf,           // first-fit-by-size and best-fit-by-start, the lower peak; ties to the former
  kLinearScan,       // earliest first, each at the lowest gap; optimal for buffers of one size
  kFirstFitByWidth,  // longest life first
  kFirstFitByArea,   // largest size times life first
  kFirstFitByConflicts,  // most neighbours first
  kBestFitBySize,        // largest first, each in the smallest gap
  kLowestFloor,          // whatever can stand lowest next, in several orders (skyline.h)
  kHillClimb,            // first fit over many orders, each learning from the last (hill_climb.h)
  kExact,                // search with proof (exact.h)
  kPortfolio,            // all that is cheap, then the exact search (portfolio.h)
};

struct PlannerInfo {
  PlannerKind kind = PlannerKind::kBestOf;
  std::string_view name{};     // "first-fit-by-size"
  std::string_view summary{};  // one line for `tidemark list planners`
};

std::span<const PlannerInfo> planners();
std::string_view name_of(PlannerKind kind);
std::optional<PlannerKind> parse_planner(std::string_view name);

// Handles everything a problem may ask for (body_plan.h); plain ones go straight to the planner.
// status is kProvedOptimal exactly when peak == lower bound (and nothing was spilled). `planner`
// names who made the offsets: of those made of others, the winner. kInfeasible, without offsets,
// when fixed offsets clash. CHECKs that faults_of(problem) is empty; throws std::overflow_error
// when an end leaves 63 bits. kExact and kPortfolio search a fixed number of nodes and may prove a
// lower bound above the load.
Plan plan(const Problem& problem, PlannerKind kind);

// As it plans a plain problem. With a capacity that its own plan exceeds, a short exact search
// tries.
PlainPlanner plain_planner(PlannerKind kind);

}  // namespace tidemark

// What a run is made of, checked: names turned into units, a cache that can serve every visit, an
// amount of work that ends. Everything wrong comes back at once.
#pragma once

#include <vector>

#include "planner/capacity/memory_plan.h"
#include "sim/strategy/passes.h"
#include "sim/strategy/simulate.h"

namespace tidemark {

// Bounds of one run; see docs/explanation/time-model.md.
inline constexpr int64_t kMostVisits = 50'000'000;
inline constexpr int64_t kMostCurvePoints = 20'000'000;
inline constexpr int64_t kMostAnnouncedVisits =
    10'000'000;  // next-use must hold the whole sequence
inline constexpr int64_t kMostTracedEvents = 2'000'000;

struct RunInput {
  bool is_access_list = false;  // scenario.trace is given
  Passes passes{};              // none for an access list
  Itinerary itinerary{};
  Bytes cache_capacity{};      // block-cache only
  std::vector<bool> pinned{};  // by unit
};

Result<RunInput> run_input(const Scenario& scenario, const MemoryPlan& plan, SimOptions options);

// The least capacity with which every visit can be served: the largest unit beside what is pinned
// by then.
Bytes least_cache_capacity(const Itinerary& itinerary, const std::vector<WeightUnit>& units,
                           const std::vector<bool>& pinned);

}  // namespace tidemark

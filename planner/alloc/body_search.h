// Exact search for a few bodies. Two bodies whose pieces meet forbid some differences of their
// bases; a plan settles for each such range whether the difference lies below or above it. Any
// choice of sides has one lowest plan, found by raising bases until every chosen side holds.
//
//   a: [0,4) x [0,2) and [0,2) x [2,6), b: [1,4) x [0,2)
//   b clashes with a's lower piece for -2 < b - a < 2, with its upper one for 0 < b - a < 6:
//   together -2 < b - a < 6, so b stands 2 below a or 6 above it. Checked by
//   BodySearchTest.TwoBodies.
//
// The search starts from the lowest bases of all, and where two bodies clash it tries both sides.
// Raised bases only rise further down, so a branch ends once a body ends above the limit.
#pragma once

#include <functional>
#include <vector>

#include "planner/alloc/body_fit.h"

namespace tidemark {

struct BodySearchOptions {
  Bytes limit{};  // highest peak that is of use
  Bytes bound{};  // a lower bound: end when a peak meets it
  int64_t nodes = 20'000;
  std::function<bool()> stop{};  // true: give up now
};

struct BodySearchResult {
  std::vector<Bytes> bases{};  // of the lowest peak found within the limit; empty when none was
  bool complete = false;       // is there, for certain, none lower (or none at all)?
  int64_t nodes = 0;
};

// Not complete, at once, for more than kMostSearched bodies or kMostSides ranges of differences.
// Requires that every body is possible.
BodySearchResult search_bodies(const BodyProblem& problem, const BodySearchOptions& options);

inline constexpr size_t kMostSearched = 64;
inline constexpr size_t kMostSides = 4000;

}  // namespace tidemark

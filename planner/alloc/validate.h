// The judge: written from the definition, pair by pair, sharing no code with the planners. Every plan passes
// here before anyone sees it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/alloc/problem.h"

namespace tidemark {

enum class Rule { kOffsetCount, kNegativeOffset, kAlignment, kOverlap, kPeak, kBound };

struct Violation {
  Rule rule = Rule::kOverlap;
  BufferId first{};
  BufferId second{};  // only for kOverlap
  std::string message{};
};

// All broken rules: one offset per buffer, none negative, each aligned, no two live at the same instant share an
// address, `peak` is exactly the highest end, lower_bound <= peak. O(n^2).
std::vector<Violation> validate(const Problem& problem, const Plan& plan);

}  // namespace tidemark

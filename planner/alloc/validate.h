// The judge: written from the definition, pair by pair, sharing no code with the planners. Every
// plan passes here before anyone sees it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "planner/alloc/problem.h"

namespace tidemark {

enum class Rule { kOffsetCount, kNegativeOffset, kAlignment, kOverlap, kPeak, kBound };

struct Violation {
  Rule rule = Rule::kOverlap;
  BufferId first{};   // only for a rule about buffers
  BufferId second{};  // only for kOverlap
  std::string message{};
};

// A plan with this many violations is wrong enough; the rest is not listed.
inline constexpr size_t kMaxViolations = 100;

// The broken rules: one offset per buffer, none negative, each aligned, no two live at the same
// instant share an address, `peak` is exactly the highest end, lower_bound <= peak. Never throws,
// whatever the offsets. O(n^2).
std::vector<Violation> validate(const Problem& problem, const Plan& plan);

}  // namespace tidemark

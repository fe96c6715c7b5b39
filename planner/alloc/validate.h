// The judge: written from the definition, pair by pair, sharing no code with the planners. Every
// plan passes here before anyone sees it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "planner/alloc/problem.h"

namespace tidemark {

enum class Rule { kOffsetCount, kNegativeOffset, kAlignment, kFixed, kOverlap, kPeak, kBound };

struct Violation {
  Rule rule = Rule::kOverlap;
  BufferId first{};   // only for a rule about buffers
  BufferId second{};  // only for kOverlap
  std::string message{};
};

// A plan with this many violations is wrong enough; the rest is not listed.
inline constexpr size_t kMaxViolations = 100;

// The broken rules: one offset per buffer, none negative, each aligned and where it is fixed, no
// two live (gaps excepted) at the same instant share an address, `peak` is exactly the highest end,
// lower_bound <= peak. Never throws, whatever the offsets. Pair by pair, O(n^2), up to
// kMostBuffersByPairs; by a sweep for more.
std::vector<Violation> validate(const Problem& problem, const Plan& plan);

inline constexpr size_t kMostBuffersByPairs = 5000;

// Overlaps alone, by a sweep over time: what is live stands in order of offset, and each newcomer
// is held against its two neighbours there. Finds an overlap whenever there is one, not each of
// them; at most kMaxViolations. Requires one offset for each buffer. O(n log n).
std::vector<Violation> overlaps_by_sweep(const Problem& problem, const Plan& plan);

}  // namespace tidemark

// The judge: written from the definition, pair by pair, sharing no code with the planners. Every
// plan passes here before anyone sees it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "planner/alloc/problem.h"

namespace tidemark {

enum class Rule {
  kOffsetCount,
  kNegativeOffset,
  kAlignment,
  kFixed,
  kGroup,     // members keep their distances, and stand in one pool
  kPool,      // each buffer in one of the pools, the one it is pinned to, none it is excluded from
  kCapacity,  // no buffer that is ever live ends above its pool
  kOverlap,
  kApart,  // no byte, and no bank, in common with whom it is kept apart from
  kPeak,
  kBound,
};

struct Violation {
  Rule rule = Rule::kOverlap;
  BufferId first{};   // only for a rule about buffers
  BufferId second{};  // only for kGroup, kOverlap and kApart
  std::string message{};
};

// A plan with this many violations is wrong enough; the rest is not listed.
inline constexpr size_t kMaxViolations = 100;

// The broken rules: one offset per buffer, none negative, each aligned and where it is fixed, no
// two of different groups in one pool that use the same address at the same instant (gaps excepted,
// and of a partial gap what it leaves free), `peak` is exactly the highest end (with pools: of
// each, and their sum), lower_bound <= peak; and what the rules above say. Never throws, whatever
// the offsets. Pair by pair, O(n^2), up to kMostBuffersByPairs with up to kMostGapsByPairs gaps in
// all; by a sweep for more. Requires a problem without faults (problem.h).
std::vector<Violation> validate(const Problem& problem, const Plan& plan);

inline constexpr size_t kMostBuffersByPairs = 5000;
inline constexpr size_t kMostGapsByPairs = 5000;

// Overlaps alone, by a sweep over time: what is live stands in order of offset, and each newcomer
// is held against what stands within its own addresses. Finds an overlap whenever there is one, not
// each of them; at most kMaxViolations. Requires one offset (and pool, where there are any) for
// each buffer. O(n log n), times the members of one group that live at once.
std::vector<Violation> overlaps_by_sweep(const Problem& problem, const Plan& plan);

}  // namespace tidemark

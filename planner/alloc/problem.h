// Offset assignment: give every buffer an offset so that no two buffers that are live at the same
// instant share an address, and keep the highest end low.
//
// The example used all over the project (id, lifetime, size), time to the right, offset upward:
//   b1 [0,3) 4    b2 [3,9) 4    b3 [0,9) 4    b4 [9,21) 4    b5 [0,21) 4        sum 20
//
//   12 +---+-----+              one plan of height 12:  b5 at 0, b3 at 4, b4 at 4, b1 at 8, b2 at 8
//      |b1 | b2  |
//    8 +---+-----+-----------+  load: 12 on [0,9), 8 on [9,21), so no plan is lower than 12:
//      |   b3    |    b4     |  this one is optimal.
//    4 +---------+-----------+
//      |         b5          |
//    0 +---------+-----------+
//      0   3     9          21
//   Checked by ProblemTest.FiveBuffers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/ids.h"
#include "planner/base/interval.h"

namespace tidemark {

struct Buffer {
  std::string name{};
  Bytes size{};                  // 0 is allowed and conflicts with nothing
  Interval<int64_t> lifetime{};  // half-open; empty is allowed and conflicts with nothing
  Alignment alignment{};
  std::vector<Interval<int64_t>> gaps{};  // when the buffer holds nothing; any order, may overlap
  std::optional<Bytes> offset{};          // where it must stand
  std::optional<Bytes> hint{};            // where it would best stand; planners may ignore it
};

struct Problem {
  std::vector<Buffer> buffers{};  // indexed by BufferId
};

// The lifetime without its gaps: intervals by time, none empty, no two touching.
//   lifetime [0,9), gaps [2,4) [3,5) [8,20)  ->  [0,2) [5,8)
//   Checked by ProblemTest.GapsSplitALifetime.
std::vector<Interval<int64_t>> occupied_intervals(const Buffer& buffer);

// Is there an instant at which the buffer needs memory? Any other buffer may stand anywhere and
// counts in no total.
bool is_ever_live(const Buffer& buffer);

// Is there an instant at which both need memory?
bool conflict(const Buffer& a, const Buffer& b);

// What a plan promises. "Proved optimal" is never said without proof.
enum class PlanStatus { kProvedOptimal, kFeasible, kInfeasible, kLimitReached };

std::string_view name_of(PlanStatus status);  // "proved_optimal", ...

struct Plan {
  std::string planner{};
  PlanStatus status = PlanStatus::kFeasible;
  std::vector<Bytes> offsets{};  // by BufferId
  Bytes peak{};                  // highest end of any buffer that is ever live; 0 for no buffers
  Bytes lower_bound{};           // peak load, each size as given (not aligned)
  int64_t nodes = 0;             // search nodes; 0 for greedy planners
};

// Largest sum of sizes live at one instant, by sorting the ends and sweeping. O(n log n).
Bytes peak_load(const Problem& problem);

// The highest end of any buffer that is ever live, at `offsets` (one for each buffer).
Bytes peak_of(const Problem& problem, const std::vector<Bytes>& offsets);

// Sum of all sizes, each rounded up to its own alignment: enough to place every buffer apart.
Bytes no_reuse_bytes(const Problem& problem);

}  // namespace tidemark

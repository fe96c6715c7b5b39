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

using GroupId = Id<struct GroupTag>;  // index into Problem::groups
using PoolId = Id<struct PoolTag>;    // index into Problem::pools

// A time within a buffer's life in which only a part of it stays in use.
struct PartialGap {
  Interval<int64_t> when{};
  Interval<Bytes> used{};  // counted from the buffer's own start
  auto operator<=>(const PartialGap&) const = default;
};

struct Buffer {
  std::string name{};
  Bytes size{};                  // 0 is allowed and conflicts with nothing
  Interval<int64_t> lifetime{};  // half-open; empty is allowed and conflicts with nothing
  Alignment alignment{};
  std::vector<Interval<int64_t>> gaps{};  // when the buffer holds nothing; any order, may overlap
  std::optional<Bytes> offset{};          // where it must stand
  std::optional<Bytes> hint{};            // where it would best stand; planners may ignore it

  // A byte is in use at an instant of the life that no gap covers, when it lies within `used` of
  // every partial gap that covers the instant.
  std::vector<PartialGap> partial_gaps{};
  std::optional<GroupId> group{};  // stands `group_offset` above the start of its group
  Bytes group_offset{};            // not negative
  std::optional<PoolId> pool{};    // the only pool it may stand in
  std::vector<PoolId> not_in{};    // pools it may not stand in
  std::optional<int64_t> cost{};   // of leaving the first pool it may stand in; its size if unset
};

// Buffers that keep their distances: views of one tensor, results written in place of an operand,
// parts of a whole. They are placed as one body. Members may share addresses at the same instant,
// which is the point of them; towards all others each counts as any buffer.
//
//   out [3,9) 8 at 0, in1 [0,4) 4 at 0, in2 [1,4) 4 at 4: two inputs that are written where the
//   output will hold them, so that joining them costs nothing. Checked by
//   BodyTest.InputsInAnOutput.
struct Group {
  std::string name{};
};

inline constexpr int64_t kMostGroupMembers = 10'000;

// Memory with addresses of its own, from 0 up.
struct Pool {
  std::string name{};
  std::optional<Bytes> capacity{};  // no limit when unset
};

// Two buffers that share no byte, nor a bank, even if they never live together; in different pools
// they never do.
struct ApartPair {
  BufferId first{};
  BufferId second{};
  auto operator<=>(const ApartPair&) const = default;
};

struct Problem {
  std::vector<Buffer> buffers{};   // indexed by BufferId
  std::vector<Group> groups{};     // indexed by GroupId
  std::vector<Pool> pools{};       // fastest first; none: one without a name or a limit
  std::vector<ApartPair> apart{};  // never two of one group
  Alignment bank{};                // bank k holds the addresses from k * bank on
};

// No groups, partial gaps, pools or pairs to keep apart: rectangles that every planner understands.
bool is_plain(const Problem& problem);

// What no planner can make sense of: an index that is out of range, a negative size, cost or
// group_offset, a partial gap that keeps nothing or more than there is, a buffer that may stand in
// no pool, a pair of one group. Empty when there is nothing; one line each, with the buffer's name.
std::vector<std::string> faults_of(const Problem& problem);

// The lifetime without its gaps (a partial gap is none): intervals by time, none empty, no two
// touching.
//   lifetime [0,9), gaps [2,4) [3,5) [8,20)  ->  [0,2) [5,8)
//   Checked by ProblemTest.GapsSplitALifetime.
std::vector<Interval<int64_t>> occupied_intervals(const Buffer& buffer);

// Is there an instant at which the buffer needs memory? Any other buffer may stand anywhere and
// counts in no total.
bool is_ever_live(const Buffer& buffer);

// Is there an instant at which both need memory? Of plain problems.
bool conflict(const Buffer& a, const Buffer& b);

// What a plan promises. "Proved optimal" is never said without proof.
enum class PlanStatus { kProvedOptimal, kFeasible, kInfeasible, kLimitReached };

std::string_view name_of(PlanStatus status);  // "proved_optimal", ...

// What a plan makes of one pool.
struct PoolPlan {
  std::string planner{};  // who made the offsets
  PlanStatus status = PlanStatus::kFeasible;
  Bytes peak{};
  Bytes lower_bound{};  // for the buffers that stand there
};

struct Plan {
  std::string planner{};
  PlanStatus status = PlanStatus::kFeasible;
  std::vector<Bytes> offsets{};  // by BufferId
  Bytes peak{};                  // highest end of any buffer that is ever live; 0 for no buffers
  Bytes lower_bound{};           // what was proved; at least the peak load
  int64_t nodes = 0;             // search nodes; 0 for greedy planners

  // Only for a problem with pools, whose peak and lower bound are the sums over them.
  std::vector<PoolId> pool_of{};     // by BufferId
  std::vector<PoolPlan> pools{};     // by PoolId
  std::vector<BufferId> unplaced{};  // of no plan: what found no room
};

// Largest sum of sizes live at one instant, by sorting the ends and sweeping. O(n log n). What
// several members of a group use counts once, what a partial gap leaves free does not count.
Bytes peak_load(const Problem& problem);

// The highest end of any buffer that is ever live, at `offsets` (one for each buffer), in one pool.
Bytes peak_of(const Problem& problem, const std::vector<Bytes>& offsets);

// Sum of all sizes, each rounded up to its own alignment: enough to place every buffer apart. A
// group counts as one buffer.
Bytes no_reuse_bytes(const Problem& problem);

}  // namespace tidemark

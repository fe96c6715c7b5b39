// What `tidemark pack` says of a packing problem and its plan: the bound, the peak, and why the
// peak is where it is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/alloc/problem.h"
#include "planner/base/quantity.h"
#include "planner/report/writers.h"

namespace tidemark {

// A buffer, or a group of them, that stands at the instant of the highest load.
struct PeakBuffer {
  std::string name{};
  Bytes offset{};
  Bytes size{};          // in use at that instant
  int64_t lifetime = 0;  // instants
  Bytes saves{};         // by how much the load falls when this is moved away
};

// The largest free stretch at the fullest instant of those that reach the peak, and who stands
// above it: whoever has to stand there for long may be what splits the space that others need.
struct PeakHole {
  int64_t instant = 0;
  Bytes offset{};
  Bytes size{};
  std::string above{};         // the buffer, or group, on top of it; empty: the peak itself
  int64_t above_lifetime = 0;  // instants
  // By how much the peak falls without that buffer, and with it cut in two at `split_at`, each part
  // with an offset of its own (not for groups and what is fixed). At least: all is planned anew by
  // a short search, and only some instants are tried.
  std::optional<Bytes> saves_moved{};
  std::optional<Bytes> saves_split{};
  int64_t split_at = 0;
};

struct PackPool {
  std::string name{};
  std::optional<Bytes> capacity{};
  int64_t buffers = 0;
  PoolPlan plan{};  // as given; zeros without one
};

// Which few buffers show the lower bound.
struct PackBound {
  std::string kind{};                // "load", "padding", "fixed", "search"
  std::vector<std::string> names{};  // at most kPeakRows of them
  int64_t buffers = 0;
};

// Buffers, or groups, that do not fit within the capacity together.
struct PackConflict {
  std::vector<std::string> names{};  // at most kPeakRows of them
  int64_t buffers = 0;
  bool irreducible = false;  // whichever is taken out, the rest fits
};

struct PackReport {
  std::string instance{};
  int64_t buffers = 0;
  int64_t groups = 0;  // that have members
  int64_t apart = 0;   // pairs kept apart
  Bytes bank = Bytes::of(1);
  std::optional<Bytes> capacity{};  // as asked for
  Plan plan{};
  Bytes load{};      // largest sum live at one instant
  Bytes no_reuse{};  // every buffer apart
  std::optional<PackBound> bound{};
  Duration solve_wall{};
  bool limited_by_time = false;       // a time limit was given: another run may differ
  std::string explained{};            // the pool of what follows; empty: the only one
  int64_t peak_instant = 0;           // first instant of the highest load
  int64_t peak_buffers = 0;           // live at it, each group once
  std::vector<PeakBuffer> largest{};  // at most kPeakRows of them, by size
  std::optional<PeakHole> hole{};     // none without a plan, or when the instant has no hole
  std::vector<PackPool> pools{};      // in order; none: one without a name
  int64_t hints = 0;                  // buffers that have one
  int64_t hints_met = 0;              // and stand there
  int64_t spilled = 0;  // buffers that are not in the first pool that they may stand in
  Bytes spilled_bytes{};
  std::vector<std::string> unplaced{};     // what found no room
  std::optional<PackConflict> conflict{};  // why a capacity can not be met
  std::vector<std::string> notes{};
};

inline constexpr size_t kPeakRows = 8;

// No buffers need no offsets.
inline bool has_plan(const PackReport& report) {
  return !report.plan.offsets.empty() || report.buffers == 0;
}

// Plans parts of the problem anew, shortly, to say what moving a buffer would save.
PackReport make_pack_report(std::string instance, const Problem& problem, Plan plan);

// The plan of one pool as rows for arena_map(); a step is the time between two instants at which
// something begins or ends.
ArenaFacts map_of(const Problem& problem, const Plan& plan, PoolId pool = {});
// When those steps begin, in the problem's instants, and when the last one ends. Buffers [0, 3),
// [3, 9) and [0, 21) make three steps: 0 3 9 21.
std::vector<int64_t> instants_of(const Problem& problem, const Plan& plan, PoolId pool = {});
// arena_map() of it, with the instants in place of the steps.
std::string pack_map(const Problem& problem, const Plan& plan, PoolId pool = {});

std::string to_text(const PackReport& report, TextStyle style = {});
std::string to_json(const PackReport& report);

// Rectangles: time to the right, offset upward, the peak and the load as lines; pools one above the
// other. Members of a group have one colour. Needs a plan.
std::string pack_to_svg(const Problem& problem, const PackReport& report);

}  // namespace tidemark

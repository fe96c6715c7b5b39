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

// A buffer that stands at the instant of the highest load.
struct PeakBuffer {
  std::string name{};
  Bytes offset{};
  Bytes size{};
  int64_t lifetime = 0;  // instants
  Bytes saves{};         // by how much the load falls when this buffer is moved away
};

// The largest free stretch below the peak at that instant, and who stands above it.
struct PeakHole {
  Bytes offset{};
  Bytes size{};
  std::string above{};         // the buffer on top of it
  int64_t above_lifetime = 0;  // instants
};

struct PackReport {
  std::string instance{};
  int64_t buffers = 0;
  std::optional<Bytes> capacity{};  // as asked for
  Plan plan{};
  Bytes load{};      // largest sum live at one instant
  Bytes no_reuse{};  // every buffer apart
  Duration solve_wall{};
  bool limited_by_time = false;       // a time limit was given: another run may differ
  int64_t peak_instant = 0;           // first instant of the highest load
  int64_t peak_buffers = 0;           // live at it
  std::vector<PeakBuffer> largest{};  // at most kPeakRows of them, by size
  std::optional<PeakHole> hole{};     // none without a plan, or when the instant has no hole
  std::vector<std::string> notes{};
};

inline constexpr size_t kPeakRows = 8;

// No buffers need no offsets.
inline bool has_plan(const PackReport& report) {
  return !report.plan.offsets.empty() || report.buffers == 0;
}

PackReport make_pack_report(std::string instance, const Problem& problem, Plan plan);

// The plan as rows for arena_map(); a step is the time between two instants at which something
// begins or ends.
ArenaFacts map_of(const Problem& problem, const Plan& plan);

std::string to_text(const PackReport& report, TextStyle style = {});
std::string to_json(const PackReport& report);

// Rectangles: time to the right, offset upward, the peak and the load as lines. Needs a plan.
std::string pack_to_svg(const Problem& problem, const PackReport& report);

}  // namespace tidemark

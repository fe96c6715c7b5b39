// Runs the scenarios of a grid that a store does not hold yet, on all cores.
//
//   grid point -> prepare -> in the store?  -- yes --> counted as present
//                                           -- no ---> compute -> row -> batch -> one transaction
//   one thread at a time |--------- any thread ---------|------ one thread at a time, in grid order
//   ------|
//
// Rows are pure values of their scenario and are written in the order of the grid, so the store is
// the same whatever the number of threads. At most a few rows for each thread and one batch are in
// memory; a batch is written after 256 rows or a second, so that is the most a killed program
// loses.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "planner/base/result.h"
#include "sim/sweep/evaluate.h"
#include "sim/sweep/grid.h"
#include "sim/sweep/scenario_id.h"
#include "sim/sweep/store.h"

namespace tidemark {

struct SweepProgress {
  int64_t done = 0;  // computed, present or failed
  int64_t total = 0;
  double seconds = 0.0;         // since the start
  double rate() const;          // scenarios per second; 0 at the start
  double seconds_left() const;  // at this rate; 0 when nothing is known yet
};

struct SweepOptions {
  int threads = 0;  // 0 = as many as the machine runs at once
  std::function<void(const SweepProgress&)>
      progress{};                           // after every scenario, never two at a time
  const std::atomic<bool>* stop = nullptr;  // looked at between scenarios
  // For tests: what a scenario is and gives, and how ids are made.
  std::function<PreparedScenario(SettingMap)> prepare = prepare_scenario;
  std::function<SweepRow(const PreparedScenario&)> compute = compute_row;
  std::function<uint64_t(std::string_view)> hash = fnv1a_64;
};

struct SweepSummary {
  int64_t total = 0;     // of the grid
  int64_t computed = 0;  // rows written by this run
  int64_t present = 0;   // already in the store, or the same scenario as an earlier grid point
  int64_t failed = 0;    // of both: rows that hold a diagnostic instead of a result
  bool stopped = false;
  Diagnostics collisions{};  // scenarios left out because another one has their id
};

inline constexpr int kMostThreads = 1024;

// Diagnostics only when the store cannot be read or written. A failing scenario is a row.
Result<SweepSummary> run_sweep(const Grid& grid, Store& store, const SweepOptions& options = {});

}  // namespace tidemark

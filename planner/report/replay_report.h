// A replay as it is shown: what was predicted, what was measured, and whether the outputs are
// right.
//
// Both curves count the arena, operator scratch, the KV cache, the output buffer and the weights,
// and leave out the runtime, which a replay does not model: its own code and tables are in the
// process peak alone.
//
//   step 0  predicted 100 MiB  measured 101 MiB    + 1 MiB   allowed: max(2 % of the step, 4 MiB) =
//   4 MiB step 1  predicted 300 MiB  measured 293 MiB    - 7 MiB   allowed: 6 MiB, so this step is
//   out peaks   300 and 293 MiB, relative error -0.0233; allowed: max(1 %, 1 MiB) = 3 MiB, so it is
//   out as well Checked by ReplayReportTest.WorkedExample.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/report/replay_time.h"
#include "planner/report/report.h"
#include "planner/report/writers.h"

namespace tidemark {

// One op of one pass, and what was resident when it ended.
struct ReplayStep {
  int64_t step = 0;    // over all passes
  std::string pass{};  // "prefill 0"
  std::string op{};    // "blk.3.q"
  Bytes predicted{};
  Bytes measured{};
  Duration wall{};                           // of the op, and of waiting for its weights
  std::optional<Duration> predicted_wall{};  // where times are compared
};

// A tensor that does not hold what was written to it.
struct Corruption {
  std::string pass{};
  std::string tensor{};
  std::string
      reader{};  // the op that was about to read it; empty for the guard bytes behind the arena
  std::string writer{};  // what wrote over it; empty = not known
  bool operator==(const Corruption&) const = default;
};

enum class ReplayEnd {
  kCompleted,  // also of a run that a corruption stopped
  kKilled,     // by the system, for want of memory
  kRefused,    // the system did not give it the memory it asked for
};
std::string_view name_of(ReplayEnd end);  // "completed", "killed", "refused"

// A limit that the system enforced.
struct ReplayLimit {
  Bytes limit{};
  std::string mechanism{};         // "control group, version 1"
  std::string counts{};            // what it counts, in words
  std::optional<Bytes> highest{};  // the most it counted; unknown where the system does not say
};

// Of a block cache.
struct CacheCounts {
  int64_t hits = 0;
  int64_t misses = 0;
  int64_t evictions = 0;
  bool operator==(const CacheCounts&) const = default;
};

struct ReplayReport {
  std::vector<Setting> settings{};
  ModelFacts model{};
  std::string engine{};
  std::string strategy{};
  Bytes excluded_runtime{};
  Bytes arena{};                    // as planned
  std::vector<ReplayStep> steps{};  // up to where the replay got
  int64_t planned_steps = 0;
  Bytes predicted_peak{};
  Bytes measured_peak{};
  std::optional<Bytes>
      process_peak{};  // of everything the process held; unknown where the system does not say
  bool outputs_match =
      false;  // every logit of every pass, and the tokens, with the run without reuse
  // Every logit is the same number, as with weights that are all zeros: a match then shows nothing.
  bool outputs_all_equal = false;
  std::optional<Corruption> corruption{};
  std::vector<int32_t> tokens{};  // sampled, in order
  Bytes bytes_read{};
  Duration wall{};        // reading and computing, not measuring
  std::string weights{};  // where they come from: "made up from seed 0"
  // Weights that are loaded and that no op computes with, in words.
  std::vector<std::string> not_computed{};
  ReplayEnd end = ReplayEnd::kCompleted;
  // What a run was doing that did not complete, what stands before a comma being its pass:
  // "starting", "loading weights", "prefill 0, reading blk.3", "prefill 0, blk.3.q", "comparing
  // outputs" behind the last step.
  std::string end_place{};
  std::optional<ReplayLimit> limit{};
  std::string cache_policy{};  // block-cache only, as the two below
  std::optional<CacheCounts> predicted_cache{};
  std::optional<CacheCounts> measured_cache{};
  std::optional<TimeComparison> time{};  // --compare-time
};

Bytes peak_tolerance(Bytes predicted);
Bytes step_tolerance(Bytes predicted);

// (measured - predicted) / predicted; 0 when nothing was predicted.
double relative_error(const ReplayReport& report);
// The step that is furthest off, the first of several; none without steps.
const ReplayStep* worst_step(const ReplayReport& report);
Bytes error_of(const ReplayStep& step);  // measured - predicted
bool peak_is_close(const ReplayReport& report);
bool steps_are_close(const ReplayReport& report);
// Outputs right, all steps done, errors within their tolerances, a cache that did what was
// predicted.
bool passed(const ReplayReport& report);

std::string describe(const Corruption& corruption);

std::string to_text(std::span<const ReplayReport> reports, TextStyle style = {});
std::string to_markdown(std::span<const ReplayReport> reports);
std::string to_json(std::span<const ReplayReport> reports);
// strategy,step,pass,op,predicted_bytes,measured_bytes,wall_ns
std::string to_csv(std::span<const ReplayReport> reports);
// Both curves by step, one panel a report; of a long run the most of each few steps.
std::string to_svg(std::span<const ReplayReport> reports);

}  // namespace tidemark

// Executes planned scenarios on this machine and compares what is resident with what the simulator
// says.
//
//   weights -> scratch file -> judge: every tensor in memory of its own, logits kept
//                           -> for each strategy: the planned arena, logits compared, each step
//                           measured
//
// Scenarios in a row that differ in nothing but how weights are loaded share the weight file and
// the judge.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "planner/report/replay_report.h"
#include "sim/replay/child_run.h"
#include "sim/replay/tensor_memory.h"

namespace tidemark {

struct ReplayOptions {
  std::filesystem::path scratch{};      // folder for the scratch files; must exist
  std::filesystem::path weights{};      // a model's own file (file_weights.h); empty = made up
  std::optional<OffsetShift> shift{};   // breaks the plan on purpose
  std::optional<Bytes> memory_limit{};  // of each run, enforced by the system (child_run.h)
  LimitMechanism mechanism = LimitMechanism::kAny;
  std::optional<uint64_t> prompt_seed{};  // of the prompt alone; none = the scenario's seed
  int64_t timed_runs = 0;  // further runs without any measuring, for report.time; not with a limit
  std::function<void(std::string_view stage, int64_t done, int64_t total)> progress{};
  const std::atomic<bool>* stop = nullptr;  // null = never
};

struct ReplayOutcome {
  std::vector<ReplayReport> reports{};  // of the first scenarios, as far as it came
  bool interrupted = false;             // between two replays, or while times were taken
};

// Bad input and failed files come back as diagnostics; wrong outputs and errors out of tolerance
// are ordinary reports (passed(report) is false), and so is a run that its memory limit has ended.
Result<ReplayOutcome> replay(std::span<const Scenario> scenarios, const ReplayOptions& options);

}  // namespace tidemark

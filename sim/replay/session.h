// What the strategies of one scenario share: the weights, the prompt and the judge's answer; and
// the run of one of them.
//
// With a memory limit each run, the judge's too, is a process of its own (child_run.h): the limit
// then counts what a run holds and nothing of what this process has held before.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/replay/observers.h"
#include "sim/replay/replay.h"
#include "sim/strategy/simulate.h"

namespace tidemark {

// A scenario with all that is known about it before anything runs.
struct Prepared {
  const Scenario* scenario = nullptr;
  MemoryPlan plan{};
  SimResult predicted{};
  std::shared_ptr<WeightSource> source{};
};

class Session {
 public:
  // Writes the weights and runs the judge. What it is given must outlive it. Throws
  // std::system_error.
  Session(const Prepared& first, const ReplayOptions& options);

  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }
  // A scenario that differs from the first in its strategy alone. None when interrupted.
  std::optional<ReplayReport> replay(const Prepared& prepared);
  // Fills report.time of those that were right: one run of each in turn, and again, so that what
  // else the machine does meanwhile meets all of them. False when interrupted: the times are then
  // of the runs that were finished.
  bool time_runs(std::span<const Prepared> all, std::span<ReplayReport> reports) const;

 private:
  void judge(const Prepared& first);
  void judge_here(const Prepared& first);
  void judge_in_child(const Prepared& first);
  bool run(const Prepared& prepared, const RunListener& listener, ReplayReport& report) const;
  bool run_in_child_of(const Prepared& prepared, const RunListener& listener,
                       ReplayReport& report) const;
  ReplayReport facts(const Prepared& prepared) const;
  std::function<void(int64_t)> step_progress(std::string stage, int64_t total) const;
  void show(std::string_view stage, int64_t done, int64_t total) const;

  const ReplayOptions& options_;
  const TransformerSpec& model_;
  Passes passes_;
  std::vector<int32_t> prompt_;
  std::string weights_from_;
  WeightFile weights_;
  ScratchFile logits_;
  std::vector<int32_t> judged_tokens_{};
  bool logits_all_equal_ = false;
  bool judge_interrupted_ = false;
};

}  // namespace tidemark

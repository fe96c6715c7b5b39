// A run in which nothing is measured but time: no residency is asked for and no tensor is hashed,
// so a loader that reads ahead gets no more time than the ops take.
//
// In a virtual machine, memory that nobody used for some seconds may have gone to the host, and
// comes back at a fraction of the speed. How much of it has depends on what ran before, so half as
// much again as the run will hold is taken and given back just before, if there is so much.
#pragma once

#include <atomic>
#include <optional>
#include <span>

#include "sim/replay/step_times.h"
#include "sim/replay/weight_file.h"

namespace tidemark {

struct TimedParts {
  const Scenario& scenario;
  const MemoryPlan& plan;
  const Passes& passes;
  const WeightFile& weights;
  std::span<const int32_t> prompt;
  Bytes held{};                             // at the peak
  const std::atomic<bool>* stop = nullptr;  // null = never
};

// None when stopped. Throws as a run does.
std::optional<TimedRun> timed_run(const TimedParts& parts);

}  // namespace tidemark

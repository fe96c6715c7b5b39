// A run in which nothing is measured but time: no residency is asked for and no tensor is hashed,
// so a loader that reads ahead gets no more time than the ops take.
//
// Memory that the run before has given back is quick to take again, on a virtual machine several
// times as quick: only after about two seconds is it the host's. A model is loaded into memory that
// nobody used just before, so a run of many weights begins with a rest.
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
  const std::atomic<bool>* stop = nullptr;  // null = never
};

// None when stopped. Throws as a run does. Rests where there are 256 MiB of weights.
std::optional<TimedRun> timed_run(const TimedParts& parts);

}  // namespace tidemark

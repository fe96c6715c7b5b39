// What the simulator says each step of a replay takes, and both sides compared.
//
//   a visit that ends at 100 ms, the one before it at 60 ms; its ops take 10, 5 and 5 ms: it waited
//   20 ms for its weights, so its steps take 30, 5 and 5 ms.
// As the replay measures it: the first op of a visit has the wait for the weights in it. What was
// read before the first pass belongs to no step.
#pragma once

#include <vector>

#include "planner/capacity/memory_plan.h"
#include "planner/report/replay_report.h"
#include "sim/strategy/passes.h"
#include "sim/strategy/simulate.h"

namespace tidemark {

struct StepTimes {
  Duration before{};              // loading before the first pass
  std::vector<Duration> steps{};  // over all passes
};

// `result` has steps (SimOptions::steps).
StepTimes predicted_step_times(const Scenario& scenario, const MemoryPlan& plan,
                               const Passes& passes, const SimResult& result);

// One run that nobody measured anything but time in.
struct TimedRun {
  Duration total{};
  std::vector<Duration> steps{};
};

// Puts the median of the runs beside the prediction: report.time, and each step's predicted_wall
// and wall. CHECKs that there is a run and that all have the report's steps.
void compare_times(const MemoryPlan& plan, const Passes& passes, const StepTimes& predicted,
                   std::vector<TimedRun> runs, ReplayReport& report);

}  // namespace tidemark

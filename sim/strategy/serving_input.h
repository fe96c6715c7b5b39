// What a serving run is made of, checked.
#pragma once

#include <vector>

#include "planner/capacity/memory_plan.h"
#include "sim/strategy/serving_queue.h"
#include "sim/strategy/simulate.h"

namespace tidemark {

struct ServingInput {
  std::vector<Request> requests{};
  ServingLimits limits{};
};

// Everything wrong that can be known before the run.
Result<ServingInput> serving_input(const Scenario& scenario, const MemoryPlan& plan);

}  // namespace tidemark

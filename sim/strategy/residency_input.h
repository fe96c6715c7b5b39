// Are the choices of files, processes, experts and rows ones that this run can make?
#pragma once

#include "planner/base/diagnostic.h"
#include "planner/capacity/memory_plan.h"

namespace tidemark {

// Of a run by a strategy: what does not suit the strategy, the model or another choice is added.
void check_residency(const Scenario& scenario, const MemoryPlan& plan, Diagnostics& problems);

// An offload, or several requests, know none of them.
Diagnostics residency_without_strategy(const Scenario& scenario);

}  // namespace tidemark

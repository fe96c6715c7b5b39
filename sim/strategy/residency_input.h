// Are the choices of files, processes, experts and rows ones that this run can make?
#pragma once

#include "planner/base/diagnostic.h"
#include "planner/capacity/memory_plan.h"

namespace tidemark {

// Of a run by a strategy: what does not suit the strategy, the model or another choice is added.
void check_residency(const Scenario& scenario, const MemoryPlan& plan, Diagnostics& problems);

// Experts that all tokens of the run are sent to, counted over layers; an upper bound of what a
// pass of several tokens asks for. 0 without an expert cache.
int64_t expert_accesses(const Scenario& scenario, const MemoryPlan& plan);

// An offload, or several requests, know none of them.
Diagnostics residency_without_strategy(const Scenario& scenario);

}  // namespace tidemark

// What a reader must know about settings that do nothing, and about what a simulated run leaves
// out.
#pragma once

#include <string>
#include <vector>

#include "planner/capacity/memory_plan.h"

namespace tidemark {

// Settings that were stated, but mean nothing to this engine; "" when there are none.
std::string ignored_note(const Scenario& scenario);

// Stated settings that change the memory of a run and not the plan, joined by commas.
std::string not_planned(const Scenario& scenario);

// Of a plan: those; "" when there are none.
std::string run_only_note(const Scenario& scenario);

// Of a plan whose weights are kept in part: what all of them would be; "" of any other.
std::string kept_note(const Scenario& scenario, const MemoryPlan& plan);

// Of times that a device's measured products give to weights of another format than int8, which
// `tidemark calibrate` measures; "" where there is nothing to say.
std::string format_note(const Scenario& scenario);

// Of a simulation: that, what the strategy ignores, and what of the model is not run.
std::vector<std::string> run_notes(const Scenario& scenario, const MemoryPlan& plan);

}  // namespace tidemark

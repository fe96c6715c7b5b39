// Any stage of the chain as text, so that every number of the report can be walked back to what it
// was made from.
#pragma once

#include <string>
#include <string_view>

#include "planner/base/result.h"
#include "planner/capacity/memory_plan.h"

namespace tidemark {

// "weights, units, graph, dot, ranges, load, problem, map, kinds".
std::string stage_names();

// Stages are of the phase with the larger arena; append ":prefill" or ":decode" to choose
// ("graph:decode"). An unknown stage is a diagnostic with did-you-mean.
Result<std::string> show_stage_text(std::string_view stage, const Scenario& scenario,
                                    const MemoryPlan& plan);

}  // namespace tidemark

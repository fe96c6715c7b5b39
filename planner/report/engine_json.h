// What the engine's profile adds to the JSON of a plan.
#pragma once

#include "planner/report/json_document.h"
#include "planner/report/report.h"

namespace tidemark {

// "memory_kinds", "memory_interval" and "llama_cpp", those there are.
void add_engine_json(const PlanReport& report, Json& json);

}  // namespace tidemark

// The parts of a run's document that speak of prefetch, processes, experts and rows that come and
// go.
#pragma once

#include "planner/report/json_document.h"
#include "planner/report/report.h"

namespace tidemark {

// Adds what the run has of these.
void add_residency_json(const SimReport& report, Json& json);

}  // namespace tidemark

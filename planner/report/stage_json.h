// The parts of a run's document that speak of what was busy and of what it drew.
#pragma once

#include "planner/report/json_document.h"
#include "planner/report/report.h"

namespace tidemark {

Json stages_json(const StageFacts& stages);
Json energy_json(const EnergyFacts& energy);

}  // namespace tidemark

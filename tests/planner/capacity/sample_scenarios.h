// A scenario around a model: a 3 GB device of which the system takes 0.5 GB, and an engine with no
// overhead.
#pragma once

#include <utility>

#include "planner/capacity/scenario.h"
#include "support/sample_models.h"

namespace tidemark::testing {

inline Scenario scenario_of(ModelSpec model) {
  using namespace literals;
  Scenario scenario;
  scenario.model = std::move(model);
  scenario.device = {.name = "phone", .ram_total = 3_GB, .app_available = 2500_MB};
  scenario.prompt = Tokens(1);
  scenario.generate = Tokens(1);
  return scenario;
}

inline Scenario demo_scenario() { return scenario_of(demo_layers()); }

}  // namespace tidemark::testing

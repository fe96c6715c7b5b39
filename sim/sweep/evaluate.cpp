#include "sim/sweep/evaluate.h"

#include <utility>

#include "planner/report/run_notes.h"
#include "sim/strategy/simulate.h"
#include "sim/sweep/scenario_id.h"

namespace tidemark {
namespace {

void set_written(std::vector<SweepCell>& cells, const SettingMap& written) {
  for (const auto& [key, setting] : written) {
    if (find_setting(key) != nullptr) set_cell(cells, key, setting_cell(setting.text));
  }
}

void set_results(std::vector<SweepCell>& cells, const Scenario& scenario) {
  for (const Setting& setting : scenario.settings) {
    set_cell(cells, setting.key, setting_cell(setting.value));
  }
  const Result<MemoryPlan> plan = plan_scenario(scenario);
  if (!plan) return set_failed(cells, plan.diagnostics());
  set_plan(cells, make_plan_report(scenario, *plan));
  if (std::string keys = not_planned(scenario); !keys.empty()) {
    set_cell(cells, "not_planned", std::move(keys));
  }
  const Result<SimResult> result = simulate(scenario, *plan, {.curve = false});
  if (!result) return set_failed(cells, result.diagnostics());
  set_simulation(cells, result->report);
}

}  // namespace

PreparedScenario prepare_scenario(SettingMap settings) {
  PreparedScenario prepared{.written = std::move(settings)};
  Result<Scenario> scenario = resolve_scenario(prepared.written);
  if (scenario) {
    prepared.canonical = canonical_text(*scenario);
    prepared.scenario = std::move(scenario).value();
  } else {
    prepared.canonical = unresolved_text(prepared.written);
    prepared.problems = scenario.diagnostics();
  }
  return prepared;
}

SweepRow compute_row(const PreparedScenario& prepared) {
  SweepRow row{.canonical = prepared.canonical, .cells = blank_cells()};
  if (prepared.scenario) {
    set_results(row.cells, *prepared.scenario);
  } else {
    set_written(row.cells, prepared.written);
    set_failed(row.cells, prepared.problems);
  }
  return row;
}

}  // namespace tidemark

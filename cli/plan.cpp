// tidemark plan MODEL: memory breakdown, arena plan, verdict.
#include <algorithm>

#include "options.h"
#include "planner/report/stages.h"
#include "render.h"

namespace tidemark::cli {
namespace {

int show_stage(const PlanOptions& options, const Scenario& scenario, const MemoryPlan& plan) {
  const Result<std::string> text = show_stage_text(options.show, scenario, plan);
  return text ? emit(options.output, *text, kYes) : fail(text.diagnostics());
}

}  // namespace

int run_plan(const PlanOptions& options) {
  const Result<std::vector<Scenario>> scenarios =
      resolve(options.scenario, {{"-o", options.output.file}});
  if (!scenarios) return fail(scenarios.diagnostics());
  if (scenarios->size() > 1 && !options.show.empty()) {
    return fail(one_error("--show", "shows one plan, but the settings list several",
                          "give one value to each setting"));
  }
  if (!options.show.empty() && options.output.format != OutputFormat::kTable) {
    return fail(one_error("--show", "prints a stage as text and knows no other format",
                          "leave --format out; `--show problem` is CSV already"));
  }
  std::vector<PlanReport> reports;
  for (const Scenario& scenario : *scenarios) {
    const Result<MemoryPlan> plan = plan_scenario(scenario);
    if (!plan) return fail(plan.diagnostics());
    if (!options.show.empty()) return show_stage(options, scenario, *plan);
    reports.push_back(make_plan_report(scenario, *plan));
    reports.back().arena.scalings = arena_scaling(scenario, *plan);
    if (options.relief > 0) {
      reports.back().relief = relief_of(scenario, *plan, static_cast<size_t>(options.relief));
    }
  }
  const bool any_fits = std::any_of(reports.begin(), reports.end(),
                                    [](const PlanReport& report) { return report.verdict.fits; });
  return emit(options.output, render(reports, options.output), any_fits ? kYes : kNo);
}

}  // namespace tidemark::cli

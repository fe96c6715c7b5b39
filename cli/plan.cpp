// tidemark plan MODEL: memory breakdown, arena plan, verdict.
#include <algorithm>

#include "options.h"
#include "planner/report/stages.h"
#include "planner/report/writers.h"

namespace tidemark::cli {
namespace {

std::string write(const std::vector<PlanReport>& reports, const OutputOptions& output) {
  switch (output.format) {
    case OutputFormat::kJson:
      return to_json(reports);
    case OutputFormat::kCsv:
      return to_csv(reports);
    case OutputFormat::kMarkdown:
      return to_markdown(reports);
    case OutputFormat::kTable:
      break;
  }
  const TextStyle style{.color = use_color(output)};
  return reports.size() == 1 ? to_text(reports.front(), style) : to_comparison(reports, style);
}

int show_stage(const PlanOptions& options, const Scenario& scenario, const MemoryPlan& plan) {
  const Result<std::string> text = show_stage_text(options.show, scenario, plan);
  return text ? emit(options.output, *text, kYes) : fail(text.diagnostics());
}

}  // namespace

int run_plan(const PlanOptions& options) {
  const Result<std::vector<Scenario>> scenarios = resolve(options.scenario);
  if (!scenarios) return fail(scenarios.diagnostics());
  std::vector<PlanReport> reports;
  for (const Scenario& scenario : *scenarios) {
    const Result<MemoryPlan> plan = plan_scenario(scenario);
    if (!plan) return fail(plan.diagnostics());
    if (!options.show.empty()) return show_stage(options, scenario, *plan);
    reports.push_back(make_plan_report(scenario, *plan));
  }
  const bool any_fits = std::any_of(reports.begin(), reports.end(),
                                    [](const PlanReport& report) { return report.verdict.fits; });
  return emit(options.output, write(reports, options.output), any_fits ? kYes : kNo);
}

}  // namespace tidemark::cli

// tidemark simulate MODEL: the memory curve over time under one or several strategies.
#include "sim/strategy/simulate.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "options.h"
#include "render.h"

namespace tidemark::cli {
namespace {

Result<std::vector<SimResult>> simulate_all(const std::vector<Scenario>& scenarios,
                                            SimOptions options) {
  std::vector<SimResult> results;
  for (const Scenario& scenario : scenarios) {
    const Result<MemoryPlan> plan = plan_scenario(scenario);
    if (!plan) return plan.diagnostics();
    Result<SimResult> result = simulate(scenario, *plan, options);
    if (!result) return result.diagnostics();
    results.push_back(std::move(result).value());
  }
  return results;
}

// A curve or a trace is of one run; asked for several strategies it would have to choose.
Diagnostics one_run_only(const std::string& flag) {
  return one_error(flag, "needs exactly one run, but the settings list several",
                   "give one --strategy, or write the picture of all of them with --svg");
}

std::vector<NamedFile> outputs_of(const SimulateOptions& options) {
  return {{"-o", options.output.file},
          {"--curve", options.curve_file},
          {"--trace", options.trace_file},
          {"--svg", options.svg_file}};
}

int write_files(const SimulateOptions& options, const std::vector<SimResult>& results,
                const std::vector<SimReport>& reports, int code) {
  if (!options.curve_file.empty()) {
    code = write_extra(options.output, options.curve_file, curve_to_csv(reports.front()), code);
  }
  if (!options.trace_file.empty() && code != kBadInput) {
    code =
        write_extra(options.output, options.trace_file, to_perfetto(results.front().trace), code);
  }
  if (!options.svg_file.empty() && code != kBadInput) {
    code = write_extra(options.output, options.svg_file, curve_to_svg(reports), code);
  }
  return code;
}

}  // namespace

int run_simulate(const SimulateOptions& options) {
  if (const auto clash = same_file_twice(outputs_of(options))) return fail(*clash);
  const Result<std::vector<Scenario>> scenarios = resolve(options.scenario, outputs_of(options));
  if (!scenarios) return fail(scenarios.diagnostics());
  if (scenarios->size() > 1 && !options.curve_file.empty()) return fail(one_run_only("--curve"));
  if (scenarios->size() > 1 && !options.trace_file.empty()) return fail(one_run_only("--trace"));
  if (const auto refused = unwritable(outputs_of(options))) return fail(*refused);

  const Result<std::vector<SimResult>> results =
      simulate_all(*scenarios, {.trace = !options.trace_file.empty()});
  if (!results) return fail(results.diagnostics());
  std::vector<SimReport> reports;
  for (const SimResult& result : *results) reports.push_back(result.report);
  const bool any_completed =
      std::any_of(reports.begin(), reports.end(),
                  [](const SimReport& report) { return report.outcome == SimOutcome::kCompleted; });
  const int code =
      emit(options.output, render(reports, options.output), any_completed ? kYes : kNo);
  return code == kBadInput ? code : write_files(options, *results, reports, code);
}

}  // namespace tidemark::cli

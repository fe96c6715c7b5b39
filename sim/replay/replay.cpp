#include "sim/replay/replay.h"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "sim/replay/file_weights.h"
#include "sim/replay/replay_input.h"
#include "sim/replay/session.h"
#include "sim/replay/weight_source.h"

namespace tidemark {
namespace {

Result<Prepared> prepare(const Scenario& scenario, const ReplayOptions& options) {
  Result<MemoryPlan> plan = plan_scenario(scenario);
  if (!plan) return plan.diagnostics();
  Prepared prepared{.scenario = &scenario, .plan = std::move(plan).value()};
  if (Diagnostics problems = unsupported(scenario, prepared.plan); !problems.empty())
    return problems;
  if (options.shift) {
    const auto moved = shifted(planned_layout(prepared.plan), prepared.plan, *options.shift);
    if (!moved) return moved.diagnostics();
  }
  Result<SimResult> predicted = simulate(scenario, prepared.plan, {.steps = true});
  if (!predicted) return predicted.diagnostics();
  prepared.predicted = std::move(predicted).value();
  const Bytes held = prepared.predicted.report.peak - prepared.plan.breakdown.runtime;
  Diagnostics problems =
      missing_room(prepared.plan, passes_of(scenario, prepared.plan), held, options.scratch);
  if (problems.empty()) problems = never_cold(scenario, options.scratch);
  if (!problems.empty()) return problems;
  if (options.weights.empty()) {
    prepared.source = std::make_shared<MadeUpWeights>(scenario.seed, scenario.model.n_layer());
    return prepared;
  }
  auto source = weights_from_file(prepared.plan.weights, options.weights);
  if (!source) return source.diagnostics();
  prepared.source = *source;
  return prepared;
}

// How weights come and go, and the device that times are predicted for; what is computed is the
// same.
bool is_about_loading(const Setting& setting) {
  constexpr std::array<std::string_view, 14> kKeys{
      "strategy",   "chunk",      "prefetch",   "read_size",    "read_depth",
      "read_order", "page_cache", "initialise", "cache_policy", "pinned",
      "cache_size", "budget",     "margin",     "device"};
  return std::find(kKeys.begin(), kKeys.end(), setting.key) != kKeys.end();
}

bool differ_in_loading_alone(const Scenario& a, const Scenario& b) {
  const auto others = [](const Scenario& scenario) {
    std::vector<Setting> settings = scenario.settings;
    std::erase_if(settings, is_about_loading);
    return settings;
  };
  return a.model == b.model && others(a) == others(b);
}

// Those of one session. False when interrupted.
bool run_some(std::span<const Prepared> some, const ReplayOptions& options,
              std::vector<ReplayReport>& reports) {
  Session session(some.front(), options);
  for (const Prepared& prepared : some) {
    if (session.stopped()) return false;
    std::optional<ReplayReport> report = session.replay(prepared);
    if (!report) return false;
    reports.push_back(std::move(*report));
  }
  return session.time_runs(some, std::span(reports).last(some.size()));
}

ReplayOutcome run_all(std::span<const Prepared> all, const ReplayOptions& options) {
  ReplayOutcome outcome;
  while (!all.empty() && !outcome.interrupted) {
    const auto next = std::ranges::find_if_not(all, [&](const Prepared& prepared) {
      return differ_in_loading_alone(*all.front().scenario, *prepared.scenario);
    });
    const auto together = static_cast<size_t>(next - all.begin());
    outcome.interrupted = !run_some(all.first(together), options, outcome.reports);
    all = all.subspan(together);
  }
  return outcome;
}

}  // namespace

Result<ReplayOutcome> replay(std::span<const Scenario> scenarios, const ReplayOptions& options) {
  try {
    std::vector<Prepared> all;
    for (const Scenario& scenario : scenarios) {
      Result<Prepared> prepared = prepare(scenario, options);
      if (!prepared) return prepared.diagnostics();
      all.push_back(std::move(prepared).value());
    }
    return run_all(all, options);
  } catch (const BadWeights& bad) {
    return bad.problems();
  } catch (const std::system_error& failed) {
    return one_error("replay", failed.what(), hint_of(failed));
  } catch (const std::overflow_error&) {
    return one_error("replay", "sizes leave the 63-bit range",
                     "is a dimension, the context or a batch size a slip?");
  }
}

}  // namespace tidemark

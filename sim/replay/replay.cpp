#include "sim/replay/replay.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "planner/base/check.h"
#include "sim/replay/observers.h"
#include "sim/replay/replay_input.h"
#include "sim/replay/run_model.h"
#include "sim/replay/unit_loader.h"
#include "sim/replay/value_ranges.h"
#include "sim/replay/weight_file.h"
#include "sim/strategy/simulate.h"

namespace tidemark {
namespace {

// A scenario with all that is known about it before anything runs.
struct Prepared {
  const Scenario* scenario = nullptr;
  MemoryPlan plan{};
  SimResult predicted{};
};

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
  if (!problems.empty()) return problems;
  return prepared;
}

bool differ_in_strategy_alone(const Scenario& a, const Scenario& b) {
  const auto others = [](const Scenario& scenario) {
    std::vector<Setting> settings = scenario.settings;
    std::erase_if(settings, [](const Setting& setting) { return setting.key == "strategy"; });
    return settings;
  };
  return a.model == b.model && others(a) == others(b);
}

// What the strategies of one scenario share: weights, prompt and the judge's answer.
class Session {
 public:
  Session(const Prepared& first, const ReplayOptions& options)
      : options_(options),
        model_(*first.scenario->model.transformer()),
        passes_(passes_of(*first.scenario, first.plan)),
        prompt_(made_up_prompt(options.prompt_seed.value_or(first.scenario->seed),
                               passes_.prompt_tokens, model_.n_vocab)),
        weights_(first.plan, first.scenario->seed, std::ssize(model_.layers), options.scratch,
                 [this](int64_t done, int64_t total) {
                   show("writing weights", done, total);
                   return !stopped();
                 }),
        logits_(options.scratch) {
    if (!stopped()) judge(first);
  }

  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  // None when interrupted.
  std::optional<ReplayReport> replay(const Prepared& prepared) {
    const MemoryPlan& plan = prepared.plan;
    ArenaLayout layout = planned_layout(plan);
    if (options_.shift) layout = shifted(std::move(layout), plan, *options_.shift).value();
    ReplayReport report = facts(prepared);
    reset_process_peak();
    const Itinerary itinerary = itinerary_of(plan, passes_);
    const TensorMemory memory(plan, layout, Fault::kNow);
    const auto loader =
        make_unit_loader(prepared.scenario->strategy, weights_, itinerary, std::ssize(plan.units));
    const Expected expected{.steps = prepared.predicted.steps, .logits = logits_};
    Measurer measurer(expected, memory, *loader, report,
                      step_progress(report.strategy, report.planned_steps));
    const RunResult result = run_model(parts(plan, memory, *loader, measurer), prompt_);
    if (result.end == RunEnd::kInterrupted) return std::nullopt;
    report.tokens = result.tokens;
    report.outputs_match = report.outputs_match && result.tokens == judged_tokens_;
    report.wall = result.wall;
    report.bytes_read = loader->bytes_read();
    report.process_peak = process_peak();
    return report;
  }

 private:
  // Layerwise, so that the run without reuse is not the one that needs most.
  void judge(const Prepared& first) {
    const ArenaLayout layout = separate_layout(first.plan);
    const TensorMemory memory(first.plan, layout, Fault::kOnTouch);
    const Itinerary itinerary = itinerary_of(first.plan, passes_);
    const auto loader = make_unit_loader(StrategyKind::kLayerwise, weights_, itinerary,
                                         std::ssize(first.plan.units));
    LogitsKeeper keeper(logits_, step_progress("run without reuse", steps_of(first.plan, passes_)));
    judged_tokens_ = run_model(parts(first.plan, memory, *loader, keeper), prompt_).tokens;
  }

  RunParts parts(const MemoryPlan& plan, const TensorMemory& memory, UnitLoader& loader,
                 RunObserver& observer) const {
    return {.model = model_,
            .plan = plan,
            .passes = passes_,
            .weights = weights_,
            .memory = memory,
            .loader = loader,
            .observer = observer,
            .stop = options_.stop};
  }

  ReplayReport facts(const Prepared& prepared) const {
    const SimReport& simulated = prepared.predicted.report;
    const Bytes runtime = prepared.plan.breakdown.runtime;
    ReplayReport report{.settings = simulated.settings,
                        .model = simulated.model,
                        .engine = simulated.engine,
                        .strategy = simulated.strategy,
                        .excluded_runtime = runtime,
                        .arena = prepared.plan.activations,
                        .planned_steps = steps_of(prepared.plan, passes_),
                        .predicted_peak = simulated.peak - runtime};
    check(std::ssize(prepared.predicted.steps) == report.planned_steps,
          "the simulator and the replay take the same steps");
    // So that measuring grows nothing while it measures.
    report.steps.reserve(static_cast<size_t>(report.planned_steps));
    return report;
  }

  StepProgress step_progress(std::string stage, int64_t total) const {
    return [this, stage = std::move(stage), total](int64_t done) { show(stage, done, total); };
  }

  void show(std::string_view stage, int64_t done, int64_t total) const {
    if (options_.progress) options_.progress(stage, done, total);
  }

  const ReplayOptions& options_;
  const TransformerSpec& model_;
  Passes passes_;
  std::vector<int32_t> prompt_;
  WeightFile weights_;
  ScratchFile logits_;
  std::vector<int32_t> judged_tokens_{};
};

ReplayOutcome run_all(const std::vector<Prepared>& all, const ReplayOptions& options) {
  ReplayOutcome outcome;
  std::unique_ptr<Session> session;
  const Scenario* shared = nullptr;
  for (const Prepared& prepared : all) {
    if (shared == nullptr || !differ_in_strategy_alone(*shared, *prepared.scenario)) {
      session.reset();  // its files first: there may not be room for two
      session = std::make_unique<Session>(prepared, options);
      shared = prepared.scenario;
    }
    std::optional<ReplayReport> report;
    if (!session->stopped()) report = session->replay(prepared);
    if (!report) {
      outcome.interrupted = true;
      return outcome;
    }
    outcome.reports.push_back(std::move(*report));
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
  } catch (const std::system_error& failed) {
    return one_error("replay", failed.what(), "the scratch folder is taken from TMPDIR");
  } catch (const std::overflow_error&) {
    return one_error("replay", "sizes leave the 63-bit range",
                     "is a dimension, the context or a batch size a slip?");
  }
}

}  // namespace tidemark

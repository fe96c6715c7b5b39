#include "sim/replay/step_times.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "planner/base/check.h"
#include "sim/strategy/pass_cost.h"

namespace tidemark {
namespace {

const PhasePlan& phase_of(const MemoryPlan& plan, const Pass& pass) {
  return pass.phase == Phase::kPrefill ? plan.prefill : plan.decode;
}

// Calls step(pass, use, step within the pass) for every step of the run in order.
template <typename Step>
void for_each_step(const MemoryPlan& plan, const Passes& passes, Step step) {
  for (int64_t i = 0; i < passes.count(); ++i) {
    const Pass pass = passes.at(i);
    for (const UnitUse& use : phase_of(plan, pass).uses) {
      for (StepIndex at = use.steps.lower; at < use.steps.upper; at = StepIndex(at.value() + 1)) {
        step(pass, use, at);
      }
    }
  }
}

Duration sum_of(const std::vector<Duration>& durations) {
  Duration sum;
  for (const Duration duration : durations) sum += duration;
  return sum;
}

std::string part_name(const PhasePlan& phase, const Pass& pass, const UnitUse& use,
                      StepIndex step) {
  const Op& op = phase.graph.op(phase.schedule.order.at(step.index()));
  const bool waits = step == use.steps.lower;
  return fmt::format("{}, {}", waits ? "weights" : name_of(op.kind), name_of(pass.phase));
}

}  // namespace

StepTimes predicted_step_times(const Scenario& scenario, const MemoryPlan& plan,
                               const Passes& passes, const SimResult& result) {
  StepTimes times;
  std::optional<PassCost> cost;
  Pass cost_of;
  Duration end;  // of the visit before
  for_each_step(plan, passes, [&](const Pass& pass, const UnitUse& use, StepIndex step) {
    const bool fits = cost && cost_of.phase == pass.phase && cost_of.tokens == pass.tokens;
    if (!fits) cost.emplace(scenario.device, phase_of(plan, pass), pass.tokens);
    cost_of = pass;
    const Duration own = cost->step(step, pass.cells);
    times.steps.push_back(own);
    if (StepIndex(step.value() + 1) != use.steps.upper) return;
    const auto length = static_cast<size_t>(use.steps.upper.value() - use.steps.lower.value());
    const Duration visit_end = result.steps.at(times.steps.size() - 1).time;
    Duration waited = visit_end - end;
    for (size_t i = times.steps.size() - length; i < times.steps.size(); ++i) {
      waited = waited - times.steps[i];
    }
    end = visit_end;
    const bool is_first = times.steps.size() == length;
    const bool prepares = is_first && scenario.strategy == StrategyKind::kResident;
    (prepares ? times.before : times.steps[times.steps.size() - length]) +=
        std::max(waited, Duration{});
  });
  return times;
}

void compare_times(const MemoryPlan& plan, const Passes& passes, const StepTimes& predicted,
                   std::vector<TimedRun> runs, ReplayReport& report) {
  check(!runs.empty(), "something was timed");
  std::ranges::stable_sort(runs, {}, &TimedRun::total);
  const TimedRun& median = runs[runs.size() / 2];
  check(median.steps.size() == report.steps.size() && predicted.steps.size() >= median.steps.size(),
        "a timed run takes the steps of the measured one");
  TimeComparison time{.predicted = predicted.before + sum_of(predicted.steps),
                      .measured = median.total};
  for (const TimedRun& run : runs) time.runs.push_back(run.total);
  std::map<std::string, TimePart> parts;
  const auto add = [&](const std::string& what, Duration said, Duration was) {
    TimePart& part = parts[what];
    part.what = what;
    ++part.steps;
    part.predicted += said;
    part.measured += was;
  };
  size_t step = 0;
  for_each_step(plan, passes, [&](const Pass& pass, const UnitUse& use, StepIndex at) {
    if (step >= report.steps.size()) return;
    report.steps[step].predicted_wall = predicted.steps[step];
    report.steps[step].wall = median.steps[step];
    add(part_name(phase_of(plan, pass), pass, use, at), predicted.steps[step], median.steps[step]);
    ++step;
  });
  if (predicted.before > Duration{}) {
    add("before the first pass", predicted.before, median.total - sum_of(median.steps));
  }
  for (auto& [what, part] : parts) time.parts.push_back(std::move(part));
  std::ranges::stable_sort(time.parts, std::ranges::greater{}, &TimePart::measured);
  report.wall = median.total;
  report.time = std::move(time);
}

}  // namespace tidemark

#include "sim/replay/step_times.h"

#include <fmt/core.h>

#include <numeric>

#include "sim/strategy/pass_cost.h"
#include "tiny.h"

namespace tidemark {
namespace {

using testing::plan_of;
using testing::tiny_scenario;

struct Simulated {
  explicit Simulated(StrategyKind strategy)
      : scenario(tiny_scenario(strategy)),
        plan(plan_of(scenario)),
        passes(passes_of(scenario, plan)),
        result(simulate(scenario, plan, {.steps = true}).value()),
        times(predicted_step_times(scenario, plan, passes, result)) {}

  Duration sum() const {
    return std::accumulate(times.steps.begin(), times.steps.end(), Duration{});
  }

  Scenario scenario;
  MemoryPlan plan;
  Passes passes;
  SimResult result;
  StepTimes times;
};

TEST(StepTimesTest, StepsAndWhatComesBeforeThemAreTheWholeRun) {
  for (const StrategyKind strategy :
       {StrategyKind::kResident, StrategyKind::kLayerwise, StrategyKind::kDoubleBuffer}) {
    const Simulated simulated(strategy);
    EXPECT_EQ(simulated.times.before + simulated.sum(), simulated.result.steps.back().time);
  }
}

TEST(StepTimesTest, OnlyResidentWeightsAreReadBeforeTheFirstPass) {
  const Simulated resident(StrategyKind::kResident);
  EXPECT_GT(resident.times.before, Duration{});
  // Nothing waits after that: a step is its op.
  const PassCost cost(resident.scenario.device, resident.plan.prefill, 4);
  EXPECT_EQ(resident.times.steps[0], cost.step(StepIndex(0), 4));
  const Simulated layerwise(StrategyKind::kLayerwise);
  EXPECT_EQ(layerwise.times.before, Duration{});
  EXPECT_GT(layerwise.times.steps[0], resident.times.steps[0]);
}

// Two runs of 1 ns and 3 ns a step, and a third of 2 ns: the third is the median.
TEST(StepTimesTest, TheMedianRunStandsBesideThePrediction) {
  const Simulated simulated(StrategyKind::kLayerwise);
  const auto steps = static_cast<int64_t>(simulated.times.steps.size());
  const auto run_of = [&](int64_t ns) {
    return TimedRun{.total = Duration::ns(ns * steps),
                    .steps = std::vector<Duration>(simulated.times.steps.size(), Duration::ns(ns))};
  };
  ReplayReport report;
  report.steps.resize(simulated.times.steps.size());
  compare_times(simulated.plan, simulated.passes, simulated.times,
                {run_of(1), run_of(3), run_of(2)}, report);
  ASSERT_TRUE(report.time);
  EXPECT_EQ(report.time->measured, Duration::ns(2 * steps));
  EXPECT_EQ(report.wall, Duration::ns(2 * steps));
  EXPECT_EQ(report.time->predicted, simulated.sum());
  EXPECT_EQ(report.time->runs, (std::vector<Duration>{Duration::ns(steps), Duration::ns(2 * steps),
                                                      Duration::ns(3 * steps)}));
  EXPECT_EQ(report.steps[5].predicted_wall, simulated.times.steps[5]);
  EXPECT_EQ(report.steps[5].wall, Duration::ns(2));
  // Every step is in one part.
  int64_t counted = 0;
  Duration measured;
  for (const TimePart& part : report.time->parts) {
    counted += part.steps;
    measured += part.measured;
  }
  EXPECT_EQ(counted, steps);
  EXPECT_EQ(measured, report.wall);
  EXPECT_TRUE(
      std::ranges::is_sorted(report.time->parts, std::ranges::greater{}, &TimePart::measured));
}

TEST(StepTimesTest, AReplayIsTimedWhereThatIsAsked) {
  const auto reports =
      testing::replay_all({tiny_scenario(StrategyKind::kDoubleBuffer)}, {.timed_runs = 3});
  ASSERT_EQ(reports.size(), 1U);
  ASSERT_TRUE(reports[0].time);
  EXPECT_EQ(reports[0].time->runs.size(), 3U);
  EXPECT_GT(reports[0].time->measured, Duration{});
  EXPECT_TRUE(passed(reports[0]));
}

// So that what else the machine does for a while meets all of them.
TEST(StepTimesTest, StrategiesAreTimedInTurns) {
  std::vector<std::string> stages;
  const auto reports = testing::replay_all(
      {tiny_scenario(StrategyKind::kResident), tiny_scenario(StrategyKind::kLayerwise)},
      {.timed_runs = 2, .progress = [&](std::string_view stage, int64_t done, int64_t total) {
         if (stage.ends_with(", timed")) {
           stages.push_back(fmt::format("{} {}/{}", stage, done, total));
         }
       }});
  EXPECT_EQ(stages, (std::vector<std::string>{"resident, timed 0/4", "layerwise, timed 1/4",
                                              "resident, timed 2/4", "layerwise, timed 3/4"}));
  ASSERT_EQ(reports.size(), 2U);
  for (const ReplayReport& report : reports) {
    ASSERT_TRUE(report.time) << report.strategy;
    EXPECT_EQ(report.time->runs.size(), 2U) << report.strategy;
  }
}

}  // namespace
}  // namespace tidemark

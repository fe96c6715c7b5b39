// The same replay under limits below and above what is predicted. What the limit counts beside what
// a replay counts (page tables, the program's own pages) is a few MiB.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tiny.h"

namespace tidemark {
namespace {

using literals::operator""_MiB;
using testing::replay_all;
using testing::tiny_scenario;

// About 36 MiB of weights in twelve layers.
Scenario large_scenario(StrategyKind strategy) {
  testing::Dimensions large = testing::kTiny;
  large.n_layer = 12;
  large.n_embd = 512;
  large.n_ff = 2048;
  Scenario scenario = tiny_scenario(strategy, large);
  scenario.generate = Tokens(2);
  return scenario;
}

bool has_control_groups() {
  try {
    run_in_child({.limit = ChildLimit{64_MiB, LimitMechanism::kControlGroup},
                  .body = [](const Tell&) {},
                  .on_record = [](const Record&) {}});
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

ReplayReport under(Bytes limit, LimitMechanism mechanism, StrategyKind strategy) {
  return replay_all({large_scenario(strategy)}, {.memory_limit = limit, .mechanism = mechanism})
      .front();
}

TEST(ReplayLimit, AboveThePredictionARunIsWhatItIsWithoutOne) {
  for (const LimitMechanism mechanism :
       {LimitMechanism::kControlGroup, LimitMechanism::kDataLimit}) {
    if (mechanism == LimitMechanism::kControlGroup && !has_control_groups()) continue;
    for (const StrategyKind strategy : strategies()) {
      SCOPED_TRACE(name_of(strategy));
      const ReplayReport free = replay_all({large_scenario(strategy)}).front();
      const ReplayReport report = under(free.predicted_peak + 16_MiB, mechanism, strategy);
      EXPECT_TRUE(passed(report)) << to_text(std::span(&report, 1));
      EXPECT_EQ(report.end, ReplayEnd::kCompleted);
      EXPECT_EQ(report.tokens, free.tokens);
      EXPECT_EQ(report.steps.size(), free.steps.size());
      EXPECT_EQ(report.bytes_read, free.bytes_read);
      ASSERT_TRUE(report.limit.has_value());
      EXPECT_NE(report.limit->mechanism, "");
    }
  }
}

TEST(ReplayLimit, BelowThePredictionAControlGroupKills) {
  if (!has_control_groups()) GTEST_SKIP() << "no control group can be made here";
  const ReplayReport resident =
      under(20_MiB, LimitMechanism::kControlGroup, StrategyKind::kResident);
  ASSERT_GT(resident.predicted_peak, 30_MiB);
  EXPECT_EQ(resident.end, ReplayEnd::kKilled);
  EXPECT_EQ(resident.end_place, "loading weights");
  EXPECT_TRUE(resident.steps.empty());
  EXPECT_FALSE(passed(resident));
  EXPECT_LE(resident.limit->highest.value(), 20_MiB);
  const ReplayReport layerwise =
      under(20_MiB, LimitMechanism::kControlGroup, StrategyKind::kLayerwise);
  EXPECT_TRUE(passed(layerwise)) << "holds a layer of 3 MiB";
  // The cache fills until it is too much: the place is within the first pass.
  const ReplayReport cached =
      under(20_MiB, LimitMechanism::kControlGroup, StrategyKind::kBlockCache);
  EXPECT_EQ(cached.end, ReplayEnd::kKilled);
  EXPECT_THAT(cached.end_place, ::testing::StartsWith("prefill 0, "));
  EXPECT_FALSE(cached.steps.empty());
  EXPECT_LE(cached.steps.back().measured, 20_MiB);
  EXPECT_THAT(to_text(std::span(&cached, 1)),
              ::testing::ContainsRegex(
                  "killed by the system after [0-9]+ of [0-9]+ steps, in prefill 0, "));
}

TEST(ReplayLimit, BelowThePredictionADataLimitRefuses) {
  const ReplayReport report = under(8_MiB, LimitMechanism::kDataLimit, StrategyKind::kResident);
  EXPECT_EQ(report.end, ReplayEnd::kRefused);
  EXPECT_EQ(report.end_place, "loading weights");
  EXPECT_FALSE(passed(report));
  EXPECT_EQ(report.limit->mechanism, "data limit of the process");
}

TEST(ReplayLimit, StopsWhenAsked) {
  std::atomic<bool> stop{false};
  int signs = 0;
  const Scenario scenario = large_scenario(StrategyKind::kLayerwise);
  ReplayOptions options{.scratch = ::testing::TempDir(), .memory_limit = 256_MiB, .stop = &stop};
  options.progress = [&](std::string_view stage, int64_t, int64_t) {
    if (stage == "layerwise" && ++signs == 5) stop = true;
  };
  const Result<ReplayOutcome> outcome = replay(std::span(&scenario, 1), options);
  ASSERT_TRUE(outcome.ok()) << to_string(outcome.diagnostics());
  EXPECT_TRUE(outcome->interrupted);
}

}  // namespace
}  // namespace tidemark

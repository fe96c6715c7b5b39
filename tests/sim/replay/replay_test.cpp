#include "sim/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/replay/mapping.h"
#include "tiny.h"

namespace tidemark {
namespace {

using testing::replay_all;
using testing::tiny_scenario;
using testing::under_all_strategies;

// Each mapping is whole pages: arena, scratch, KV cache, output and at most every unit, which may
// begin and end within a page.
Bytes most_rounding(const MemoryPlan& plan) {
  return page_size() * (4 + 2 * std::ssize(plan.units)) + kLeastGuard;
}

// Outputs right, and every step measured as predicted but for whole pages.
void expect_as_predicted(const Scenario& scenario) {
  const std::vector<ReplayReport> reports = replay_all(under_all_strategies(scenario));
  const Bytes rounding = most_rounding(testing::plan_of(scenario));
  for (const ReplayReport& report : reports) {
    SCOPED_TRACE(report.strategy);
    EXPECT_TRUE(passed(report));
    EXPECT_TRUE(report.outputs_match);
    EXPECT_EQ(std::ssize(report.steps), report.planned_steps);
    EXPECT_EQ(std::ssize(report.tokens), scenario.generate.count());
    EXPECT_EQ(report.tokens, reports.front().tokens);
    for (const ReplayStep& step : report.steps) {
      EXPECT_GE(step.measured, step.predicted) << step.step << " " << step.op;
      EXPECT_LE(step.measured, step.predicted + rounding) << step.step << " " << step.op;
    }
  }
}

TEST(ReplayTest, MeasuresWhatIsPredictedStepByStep) { expect_as_predicted(tiny_scenario()); }

TEST(ReplayTest, SoWithAnUntiedHead) {
  testing::Dimensions untied = testing::kTiny;
  untied.tied_embeddings = false;
  expect_as_predicted(tiny_scenario(StrategyKind::kResident, untied));
}

TEST(ReplayTest, SoWithAScoresTensorAndAnInt8Cache) {
  Scenario scenario = tiny_scenario();
  scenario.flash_attention = false;
  scenario.type_k = DType::kInt8;
  scenario.type_v = DType::kInt8;
  expect_as_predicted(scenario);
  scenario.flash_attention = true;
  expect_as_predicted(scenario);
}

TEST(ReplayTest, SoWithLogitsOfEveryToken) {
  Scenario scenario = tiny_scenario();
  scenario.n_outputs = 4;
  expect_as_predicted(scenario);
  scenario.n_outputs = 3;  // more than the second pass has tokens
  expect_as_predicted(scenario);
}

// Projections far wider than the feed-forward: K and V are stored before Q is made. Memory and
// tokens are as predicted, and the tokens those of the program's order.
TEST(ReplayTest, SoWithTheOpsInTheOrderThatNeedsLeast) {
  testing::Dimensions wide = testing::kTiny;
  wide.n_head = wide.n_head_kv = 16;
  wide.n_ff = 8;
  Scenario scenario = tiny_scenario(StrategyKind::kResident, wide);
  const auto tokens = [](const Scenario& run) { return replay_all({run}).front().tokens; };
  const std::vector<int32_t> in_program_order = tokens(scenario);
  const Bytes peak = testing::plan_of(scenario).prefill.load.peak;
  scenario.op_order = OpOrder::kMemory;
  EXPECT_LT(testing::plan_of(scenario).prefill.load.peak, peak);
  expect_as_predicted(scenario);
  EXPECT_EQ(tokens(scenario), in_program_order);
}

TEST(ReplayTest, SoWithOneLayerAndWithoutAPrompt) {
  testing::Dimensions one = testing::kTiny;
  one.n_layer = 1;
  Scenario scenario = tiny_scenario(StrategyKind::kResident, one);
  scenario.prompt = Tokens(0);
  scenario.generate = Tokens(1);
  expect_as_predicted(scenario);
}

// Weights far larger than the rounding, so that the strategies cannot be mistaken for each other.
TEST(ReplayTest, EachStrategyHoldsItsOwnShareOfTheWeights) {
  testing::Dimensions wide = testing::kTiny;
  wide.n_layer = 6;
  wide.n_embd = 256;
  wide.n_ff = 1024;
  const Scenario scenario = tiny_scenario(StrategyKind::kResident, wide);
  const MemoryPlan plan = testing::plan_of(scenario);
  const std::vector<ReplayReport> reports = replay_all(under_all_strategies(scenario));
  const Bytes layer = plan.units[1].bytes;
  ASSERT_GT(layer, most_rounding(plan) * 9);
  EXPECT_GT(reports[0].measured_peak, layer * 6);
  EXPECT_LT(reports[1].measured_peak, layer * 2);
  EXPECT_GT(reports[2].measured_peak, layer * 2);
  EXPECT_LT(reports[2].measured_peak, layer * 3);
  for (const ReplayReport& report : reports) {
    EXPECT_TRUE(passed(report));
    EXPECT_NEAR(relative_error(report), 0.0, 0.05);
    EXPECT_GE(report.process_peak.value(), report.measured_peak);
  }
  EXPECT_EQ(reports[0].bytes_read, plan.weights.bytes);
  EXPECT_GT(reports[1].bytes_read, reports[2].bytes_read) << "a kept unit is not read again";
}

TEST(ReplayTest, PromptsAndSeedsChangeTheOutputs) {
  const std::vector<Scenario> one{tiny_scenario()};
  const auto tokens = [&](ReplayOptions options) {
    return replay_all(one, std::move(options))[0].tokens;
  };
  EXPECT_EQ(tokens({}), tokens({}));
  EXPECT_NE(tokens({.prompt_seed = 1}), tokens({.prompt_seed = 2}));
  Scenario other = tiny_scenario();
  other.seed = 7;
  EXPECT_NE(replay_all({other}, {.prompt_seed = 1})[0].tokens, tokens({.prompt_seed = 1}));
}

TEST(ReplayTest, ScenariosThatDifferInMoreHaveWeightsOfTheirOwn) {
  Scenario other = tiny_scenario(StrategyKind::kLayerwise);
  other.seed = 7;
  other.settings = {{"seed", "7", "flag --seed"}};
  const std::vector<ReplayReport> together = replay_all({tiny_scenario(), other});
  ASSERT_EQ(together.size(), 2U);
  EXPECT_TRUE(passed(together[0]) && passed(together[1]));
  EXPECT_EQ(together[1].tokens, replay_all({other})[0].tokens);
}

TEST(ReplayTest, TellsHowFarItIs) {
  std::vector<std::string> stages;
  ReplayOptions options;
  options.progress = [&](std::string_view stage, int64_t done, int64_t total) {
    EXPECT_LE(done, total);
    if (stages.empty() || stages.back() != stage) stages.emplace_back(stage);
  };
  replay_all({tiny_scenario()}, options);
  EXPECT_THAT(stages, ::testing::ElementsAre("writing weights", "run without reuse", "resident"));
}

TEST(ReplayTest, StopsWhereverItIs) {
  // At the n-th sign of progress, from the first to the last.
  for (int stop_at : {1, 2, 30, 150, 200}) {
    std::atomic<bool> stop{false};
    int signs = 0;
    ReplayOptions options{.scratch = ::testing::TempDir(), .stop = &stop};
    options.progress = [&](std::string_view, int64_t, int64_t) {
      if (++signs == stop_at) stop = true;
    };
    const std::vector<Scenario> scenarios = under_all_strategies(tiny_scenario());
    const Result<ReplayOutcome> outcome = replay(scenarios, options);
    ASSERT_TRUE(outcome.ok());
    EXPECT_TRUE(outcome->interrupted) << stop_at;
    EXPECT_LT(outcome->reports.size(), strategies().size());
  }
}

// Memory was measured and one of the runs was timed when the interrupt came.
TEST(ReplayTest, AnInterruptWhileTimingLeavesWhatWasFinished) {
  for (const int timed_runs : {0, 1, 3}) {
    std::atomic<bool> stop{false};
    int begun = 0;
    ReplayOptions options{.scratch = ::testing::TempDir(), .timed_runs = 4, .stop = &stop};
    options.progress = [&](std::string_view stage, int64_t, int64_t) {
      if (stage.ends_with(", timed") && begun++ == timed_runs) stop = true;
    };
    const std::vector<Scenario> scenarios{tiny_scenario(StrategyKind::kResident),
                                          tiny_scenario(StrategyKind::kLayerwise)};
    const Result<ReplayOutcome> outcome = replay(scenarios, options);
    ASSERT_TRUE(outcome.ok());
    EXPECT_TRUE(outcome->interrupted);
    ASSERT_EQ(outcome->reports.size(), 2U);
    for (size_t i = 0; i < 2; ++i) {
      const ReplayReport& report = outcome->reports[i];
      EXPECT_TRUE(passed(report));
      // In turns: of one run the first has it, of three the first has two.
      const size_t finished = (static_cast<size_t>(timed_runs) + 1 - i) / 2;
      EXPECT_EQ(report.time.has_value(), finished > 0);
      EXPECT_EQ(report.time ? report.time->runs.size() : 0U, finished);
    }
  }
}

}  // namespace
}  // namespace tidemark

#include "sim/sweep/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "rows.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using namespace tidemark::testing;

TEST(RunSweepTest, EveryPointOfTheGridBecomesARow) {
  Store store = temporary_store();
  const SweepSummary summary = run_ok(point_grid(30, 10), store, fake_options());
  EXPECT_EQ(summary.total, 300);
  EXPECT_EQ(summary.computed, 300);
  EXPECT_EQ(summary.present, 0);
  EXPECT_EQ(row_count(store), 300);
}

TEST(RunSweepTest, ASecondRunComputesNothing) {
  Store store = temporary_store();
  run_ok(point_grid(600), store, fake_options());
  const std::string before = exported(store);
  std::atomic<int> computed{0};
  SweepOptions options = fake_options();
  options.compute = [&](const PreparedScenario& prepared) {
    ++computed;
    return fake_compute(prepared);
  };
  const SweepSummary summary = run_ok(point_grid(600), store, options);
  EXPECT_EQ(computed, 0);
  EXPECT_EQ(summary.computed, 0);
  EXPECT_EQ(summary.present, 600);
  EXPECT_EQ(exported(store), before);
}

TEST(RunSweepTest, AWiderGridComputesOnlyWhatIsMissing) {
  Store store = temporary_store();
  run_ok(point_grid(10), store, fake_options());
  const SweepSummary summary = run_ok(point_grid(25), store, fake_options());
  EXPECT_EQ(summary.computed, 15);
  EXPECT_EQ(summary.present, 10);
}

TEST(RunSweepTest, TheNumberOfThreadsDoesNotShow) {
  std::string first;
  for (const int threads : {1, 2, 7}) {
    Store store = temporary_store();
    run_ok(point_grid(60, 10), store, fake_options(threads));
    if (first.empty()) first = exported(store);
    EXPECT_EQ(exported(store), first) << threads;
  }
}

TEST(RunSweepTest, NeverMoreRowsWaitThanAFewForEachThread) {
  Store store = temporary_store();
  std::atomic<int> begun{0};
  std::atomic<int> most_waiting{0};
  int taken = 0;
  SweepOptions options = fake_options(2);
  options.compute = [&](const PreparedScenario& prepared) {
    ++begun;
    return fake_compute(prepared);
  };
  options.progress = [&](const SweepProgress& progress) {
    ++taken;
    most_waiting = std::max(most_waiting.load(), begun.load() - taken);
    EXPECT_EQ(progress.done, taken);
    EXPECT_EQ(progress.total, 2000);
  };
  run_ok(point_grid(2000), store, options);
  EXPECT_EQ(taken, 2000);
  EXPECT_LE(most_waiting, 8);
}

TEST(RunSweepTest, WhatDoesNotResolveIsARowWithItsDiagnostic) {
  Store store = temporary_store();
  const Grid grid = make_grid({{"ctx_size", {.text = "1-3"}},
                               {"prompt", {.text = "1"}},
                               {"quant", {.text = "int4,bad"}}})
                        .value();
  const SweepSummary summary = run_ok(grid, store, fake_options());
  EXPECT_EQ(summary.computed, 6);
  EXPECT_EQ(summary.failed, 3);
  EXPECT_THAT(exported(store), HasSubstr("failed,\"error: quant: \"\"bad\"\" is no format\""));

  const SweepSummary again = run_ok(grid, store, fake_options());
  EXPECT_EQ(again.computed, 0);
  EXPECT_EQ(again.present, 6);
  EXPECT_EQ(again.failed, 3);
}

// A file that a failing scenario named was written in the meantime.
TEST(RunSweepTest, WhatResolvesNowReplacesItsFailure) {
  Store store = temporary_store();
  const Grid grid =
      make_grid(
          {{"ctx_size", {.text = "1"}}, {"prompt", {.text = "1"}}, {"quant", {.text = "int4,bad"}}})
          .value();
  run_ok(grid, store, fake_options());
  SweepOptions options = fake_options();
  options.prepare = [](SettingMap settings) {
    PreparedScenario prepared{.written = settings, .scenario = Scenario{}};
    for (const auto& [key, value] : settings) prepared.canonical += key + "=" + value.text + "\n";
    return prepared;
  };
  const SweepSummary summary = run_ok(grid, store, options);
  EXPECT_EQ(summary.computed, 1);
  EXPECT_EQ(summary.failed, 0);
  EXPECT_EQ(row_count(store), 2);
}

TEST(RunSweepTest, AFailureThatReadsOtherwiseNowIsWrittenAnew) {
  Store store = temporary_store();
  const Grid grid = make_grid({{"quant", {.text = "bad"}}}).value();
  run_ok(grid, store, fake_options());
  SweepOptions options = fake_options();
  options.prepare = [](SettingMap settings) {
    PreparedScenario prepared = fake_prepare(std::move(settings));
    prepared.problems = one_error("quant", "still bad");
    return prepared;
  };
  EXPECT_EQ(run_ok(grid, store, options).computed, 1);
  EXPECT_EQ(row_count(store), 1);
  EXPECT_THAT(exported(store), HasSubstr("still bad"));
}

TEST(RunSweepTest, GridPointsThatAreTheSameScenarioAreOneRow) {
  Store store = temporary_store();
  SweepOptions options = fake_options();
  options.prepare = [](SettingMap settings) {
    PreparedScenario prepared = fake_prepare(std::move(settings));
    prepared.canonical = prepared.written.at("ctx_size").text;
    return prepared;
  };
  const SweepSummary summary = run_ok(point_grid(4, 5), store, options);
  EXPECT_EQ(summary.computed, 4);
  EXPECT_EQ(summary.present, 16);
  EXPECT_EQ(row_count(store), 4);
}

TEST(RunSweepTest, TwoScenariosOfOneIdAreNoticedWithinARunAndAcrossRuns) {
  Store store = temporary_store();
  SweepOptions options = fake_options();
  options.hash = [](std::string_view) { return uint64_t{0x2a}; };
  const SweepSummary first = run_ok(point_grid(3), store, options);
  EXPECT_EQ(first.computed, 1);
  EXPECT_EQ(first.present, 0);
  ASSERT_EQ(first.collisions.size(), 2u);
  EXPECT_THAT(to_string(first.collisions.front()),
              HasSubstr("two scenarios have the id 000000000000002a; one is left out"));
  EXPECT_EQ(row_count(store), 1);

  const std::string before = exported(store);
  const SweepSummary second = run_ok(point_grid(3), store, options);
  EXPECT_EQ(second.present, 1);
  EXPECT_EQ(second.collisions.size(), 2u);
  EXPECT_EQ(exported(store), before);
}

TEST(RunSweepTest, AStopKeepsWhatIsFinishedAndTheNextRunDoesTheRest) {
  Store undisturbed = temporary_store();
  run_ok(point_grid(400), undisturbed, fake_options());

  Store store = temporary_store();
  std::atomic<bool> stop{false};
  SweepOptions options = fake_options();
  options.stop = &stop;
  options.progress = [&](const SweepProgress& progress) { stop = progress.done >= 50; };
  const SweepSummary summary = run_ok(point_grid(400), store, options);
  EXPECT_TRUE(summary.stopped);
  EXPECT_GE(summary.computed, 50);
  EXPECT_LE(summary.computed, 60);
  EXPECT_EQ(row_count(store), summary.computed);

  const SweepSummary rest = run_ok(point_grid(400), store, fake_options());
  EXPECT_FALSE(rest.stopped);
  EXPECT_EQ(rest.computed, 400 - summary.computed);
  EXPECT_EQ(exported(store), exported(undisturbed));
}

TEST(RunSweepTest, ABugInOneScenarioKeepsWhatTheOthersGave) {
  Store store = temporary_store();
  SweepOptions options = fake_options(1);
  options.compute = [](const PreparedScenario& prepared) {
    check(prepared.written.at("ctx_size").text != "100", "nobody asks for 100");
    return fake_compute(prepared);
  };
  EXPECT_THROW(static_cast<void>(run_sweep(point_grid(200), store, options)), InternalError);
  EXPECT_GT(row_count(store), 90);
}

TEST(RunSweepTest, RateAndTimeLeftFollowFromWhatIsDone) {
  const SweepProgress progress{.done = 50, .total = 200, .seconds = 2.0};
  EXPECT_EQ(progress.rate(), 25.0);
  EXPECT_EQ(progress.seconds_left(), 6.0);
  EXPECT_EQ(SweepProgress{}.rate(), 0.0);
  EXPECT_EQ(SweepProgress{}.seconds_left(), 0.0);
}

}  // namespace
}  // namespace tidemark

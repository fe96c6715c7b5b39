// What a run refuses, and what it bends instead.
#include "sim/strategy/run_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "scenarios.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using testing::layer_scenario;
using testing::refusal;
using testing::run;

Scenario three_layers(StrategyKind strategy) {
  return layer_scenario(
      {{"a", Bytes::of(100), {}}, {"b", Bytes::of(200), {}}, {"c", Bytes::of(300), {}}}, strategy);
}

TEST(RunInputTest, EveryUnknownUnitIsNamedOnceWithTheUnitsThereAre) {
  Scenario scenario = three_layers(StrategyKind::kBlockCache);
  scenario.cache = {.capacity = Bytes::of(300), .policy = CachePolicy::kPinned, .pinned = {"d"}};
  scenario.trace = {"a", "x", "b", "x", "y"};
  EXPECT_EQ(to_string(refusal(scenario)),
            "error: trace: the model has no weight unit 'x'\n"
            "  hint: its units are a, b, c\n"
            "error: trace: the model has no weight unit 'y'\n"
            "error: pinned: the model has no weight unit 'd'\n"
            "  hint: its units are a, b, c\n");
}

TEST(RunInputTest, AThousandUnknownUnitsDoNotMakeAThousandMessages) {
  Scenario scenario = three_layers(StrategyKind::kLayerwise);
  for (int i = 0; i < 1000; ++i) scenario.trace.push_back("x" + std::to_string(i));
  const Diagnostics problems = refusal(scenario);
  ASSERT_EQ(problems.size(), 11U);
  EXPECT_EQ(problems.back().message, "and 990 more unknown units");
}

TEST(RunInputTest, APinnedPolicyNeedsNames) {
  Scenario scenario = three_layers(StrategyKind::kBlockCache);
  scenario.cache = {.capacity = Bytes::of(300), .policy = CachePolicy::kPinned};
  EXPECT_EQ(refusal(scenario).front().path, "pinned");
}

TEST(RunInputTest, ABlockLargerThanTheCacheIsRefusedWithTheSizeThatWouldDo) {
  Scenario scenario = three_layers(StrategyKind::kBlockCache);
  scenario.cache = {.capacity = Bytes::of(299)};
  const Diagnostics problems = refusal(scenario);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems.front().path, "--cache-size");
  EXPECT_THAT(problems.front().message, HasSubstr("needs 300 B"));
  scenario.cache.pinned = {"b"};
  EXPECT_THAT(refusal(scenario).front().message, HasSubstr("needs 500 B"));
  scenario.cache.capacity = Bytes::of(500);
  EXPECT_EQ(run(scenario).report.peak, Bytes::of(500));
}

TEST(RunInputTest, WhatIsNeverVisitedNeedsNoRoom) {
  Scenario scenario = three_layers(StrategyKind::kBlockCache);
  scenario.cache = {.capacity = Bytes::of(200)};
  scenario.trace = {"a", "b", "a"};
  EXPECT_EQ(run(scenario).report.cache_misses, 3);
}

TEST(RunInputTest, LeastCapacityCountsWhatIsPinnedByThen) {
  const std::vector<WeightUnit> units{{.name = "a", .bytes = Bytes::of(5)},
                                      {.name = "b", .bytes = Bytes::of(3)}};
  const Itinerary once{.prefill = {UnitId(0), UnitId(1)}, .prefill_passes = 1};
  const Itinerary twice{.prefill = {UnitId(0), UnitId(1)}, .prefill_passes = 2};
  EXPECT_EQ(least_cache_capacity(once, units, {false, true}),
            Bytes::of(5));  // b comes when a may go
  EXPECT_EQ(least_cache_capacity(twice, units, {false, true}), Bytes::of(8));
  EXPECT_EQ(least_cache_capacity(twice, units, {true, true}), Bytes::of(8));
  EXPECT_EQ(least_cache_capacity(twice, units, {false, false}), Bytes::of(5));
}

// Nobody asked for this capacity, so that it does not do is an answer about the device and no
// mistake in the input.
TEST(RunInputTest, ACapacityLeftByTheLimitGivesWayAndTheRunIsOverTheLimit) {
  Scenario scenario = three_layers(StrategyKind::kBlockCache);
  scenario.budget = Bytes::of(250);
  const SimReport report = run(scenario).report;
  EXPECT_EQ(report.peak, Bytes::of(300));
  EXPECT_EQ(report.outcome, SimOutcome::kOverLimit);
  scenario.cache.pinned = {"b"};
  EXPECT_EQ(run(scenario).report.peak, Bytes::of(500));
}

TEST(RunInputTest, MoreVisitsThanAreSimulatedAreRefusedBeforeTheRun) {
  Scenario scenario = three_layers(StrategyKind::kBlockCache);
  scenario.cache = {.capacity = Bytes::of(600)};
  scenario.engine = testing::arena_engine();
  scenario.generate = Tokens(20'000'000);
  EXPECT_THAT(refusal(scenario).front().message, HasSubstr("60,000,000 visits"));
  scenario.generate = Tokens(10'000'000);
  EXPECT_THAT(refusal(scenario).front().message, HasSubstr("changes of memory"));
}

TEST(RunInputTest, ALongResidentRunIsBoundedByVisitsAlone) {
  Scenario scenario = three_layers(StrategyKind::kResident);
  scenario.engine = testing::arena_engine();
  scenario.generate = Tokens(100'000);
  const SimReport report = run(scenario).report;
  EXPECT_EQ(report.curve.size(), 3U);
  EXPECT_EQ(report.end, Duration::ns(600 + 100'000 * 60));
}

TEST(RunInputTest, ATraceOfTooManyEventsIsRefused) {
  Scenario scenario = three_layers(StrategyKind::kLayerwise);
  scenario.engine = testing::arena_engine();
  scenario.generate = Tokens(1'000'000);
  EXPECT_THAT(refusal(scenario, {.trace = true}).front().message, HasSubstr("trace events"));
}

TEST(RunInputTest, NextUseRefusesASequenceTooLongToHold) {
  Scenario scenario = three_layers(StrategyKind::kBlockCache);
  scenario.engine = testing::arena_engine();
  scenario.cache = {.capacity = Bytes::of(600), .policy = CachePolicy::kNextUse};
  scenario.generate = Tokens(4'000'000);
  EXPECT_THAT(refusal(scenario).front().message, HasSubstr("known to next-use in advance"));
}

TEST(RunInputTest, RatesMustBePositive) {
  Scenario scenario = three_layers(StrategyKind::kResident);
  scenario.device.flash_read = {};
  scenario.device.compute = OpsPerSecond::of(-1);
  scenario.device.memory_bandwidth = {};
  scenario.device.flash_latency = Duration::ns(-1);
  EXPECT_EQ(refusal(scenario).size(), 4U);
}

TEST(RunInputTest, AnythingPastSixtyThreeBitsIsADiagnostic) {
  Scenario scenario = three_layers(StrategyKind::kLayerwise);
  scenario.device.flash_latency = Duration::ns(std::numeric_limits<int64_t>::max() / 2);
  EXPECT_THAT(to_string(refusal(scenario)), HasSubstr("63-bit range"));
  scenario = three_layers(StrategyKind::kLayerwise);
  scenario.prompt = Tokens(std::numeric_limits<int64_t>::max());
  scenario.n_seq = 2;
  EXPECT_THAT(to_string(refusal(scenario)), HasSubstr("63-bit range"));
}

}  // namespace
}  // namespace tidemark

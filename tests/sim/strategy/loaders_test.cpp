// The strategies' timing and memory on instances worked out by hand. Flash reads 1 B/ns; a layer
// computes for a tenth of the bytes it moves.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenarios.h"

namespace tidemark {
namespace {

using testing::decoder_scenario;
using testing::layer_scenario;
using testing::plan_of;
using testing::run;

// Reads 100, 200, 300 ns; computes 10, 20, 30 ns. Nothing but weights counts.
Scenario three_layers(StrategyKind strategy, int64_t generate) {
  Scenario scenario = layer_scenario(
      {{"a", Bytes::of(100), {}}, {"b", Bytes::of(200), {}}, {"c", Bytes::of(300), {}}}, strategy);
  scenario.generate = Tokens(generate);
  return scenario;
}

// "time:bytes" for each point.
std::string curve(const SimReport& report) {
  std::string text;
  for (const CurvePoint& point : report.curve) {
    text += fmt::format("{}:{} ", point.time.count(), point.total().count());
  }
  return text;
}

// "lane name start-end" for each span of the lanes flash and compute, in the order they were
// written.
std::string spans(const SimResult& result) {
  std::string text;
  for (const TraceSpan& span : result.trace.spans) {
    if (span.lane == "pass") continue;
    text += fmt::format("{} {}-{}, ", span.name, span.start.count(),
                        (span.start + span.duration).count());
  }
  return text;
}

TEST(ResidentTest, ReadsEverythingOnceThenRuns) {
  const SimReport report = run(three_layers(StrategyKind::kResident, 2)).report;
  EXPECT_EQ(curve(report), "0:100 100:300 300:600 ");
  EXPECT_EQ(report.ttft, Duration::ns(660));
  EXPECT_EQ(report.tpot, Duration::ns(60));
  EXPECT_EQ(report.end, Duration::ns(720));
  EXPECT_EQ(report.stall, Duration::ns(600));
  EXPECT_EQ(report.bytes_read, Bytes::of(600));
  EXPECT_EQ(report.peak_at, "loading weights");
  EXPECT_EQ(report.peak_time, Duration::ns(300));
  EXPECT_DOUBLE_EQ(report.tokens_per_second, 1e9 / 60);
}

TEST(LayerwiseTest, ReadsAndReleasesEveryLayerInEveryPass) {
  const SimReport report = run(three_layers(StrategyKind::kLayerwise, 2)).report;
  // The release at 990 leaves nothing only at the very end; before that the next read begins at
  // once.
  EXPECT_EQ(curve(report), "0:100 110:200 330:300 660:100 770:200 990:300 1320:0 ");
  EXPECT_EQ(report.ttft, Duration::ns(660));
  EXPECT_EQ(report.end, Duration::ns(1320));
  EXPECT_EQ(report.stall, Duration::ns(1200));
  EXPECT_EQ(report.bytes_read, Bytes::of(1200));
  EXPECT_EQ(report.peak, Bytes::of(300));
  EXPECT_EQ(report.peak_at, "prefill 0, c");
}

TEST(DoubleBufferTest, ReadsTheNextLayerWhileOneComputesAndRunsOnIntoTheNextPass) {
  const SimResult result = run(three_layers(StrategyKind::kDoubleBuffer, 2), {.trace = true});
  EXPECT_EQ(spans(result),
            "read a 0-100, read b 100-300, a 100-110, read c 300-600, b 300-320, read a 600-700, c "
            "600-630, "
            "read b 700-900, a 700-710, read c 900-1200, b 900-920, c 1200-1230, ");
  EXPECT_EQ(curve(result.report),
            "0:100 100:300 110:200 300:500 320:300 600:400 630:100 700:300 710:200 900:500 "
            "920:300 1230:0 ");
  EXPECT_EQ(result.report.ttft, Duration::ns(630));
  EXPECT_EQ(result.report.end, Duration::ns(1230));
  EXPECT_EQ(result.report.peak, Bytes::of(500));
  EXPECT_EQ(result.report.peak_at, "prefill 0, b");
}

TEST(DoubleBufferTest, WaitsForASlotWhenComputingTakesLonger) {
  Scenario scenario = three_layers(StrategyKind::kDoubleBuffer, 1);
  scenario.device.memory_bandwidth = BytesPerSecond::of(500'000'000);  // computes 200, 400, 600 ns
  const SimResult result = run(scenario, {.trace = true});
  EXPECT_EQ(spans(result),
            "read a 0-100, read b 100-300, a 100-300, read c 300-600, b 300-700, c 700-1300, ");
}

TEST(DoubleBufferTest, AUnitInASlotIsNotReadAgain) {
  Scenario scenario = three_layers(StrategyKind::kDoubleBuffer, 1);
  scenario.trace = {"a", "b", "a", "b", "b", "c", "b"};
  const SimReport report = run(scenario).report;
  EXPECT_EQ(report.bytes_read, Bytes::of(100 + 200 + 300));
  EXPECT_EQ(report.end, Duration::ns(600));
  scenario.trace = {"a", "b", "c", "a"};
  EXPECT_EQ(run(scenario).report.bytes_read, Bytes::of(100 + 200 + 300 + 100));
}

// token_embd, blk.0, output, token_embd | token_embd, blk.0, output, token_embd: the seam between
// passes needs no read.
TEST(DoubleBufferTest, ATiedEmbeddingIsKeptFromTheHeadToTheNextLookup) {
  Scenario scenario = decoder_scenario(1, StrategyKind::kDoubleBuffer);
  scenario.prompt = Tokens(1);
  scenario.generate = Tokens(3);
  const MemoryPlan plan = plan_of(scenario);
  Bytes others;
  for (const WeightUnit& unit : plan.units) others += unit.bytes;
  const Bytes embedding = plan.units.front().bytes;
  ASSERT_EQ(plan.units.front().name, "token_embd");
  others -= embedding;
  EXPECT_EQ(run(scenario).report.bytes_read, embedding * 4 + others * 3);
}

TEST(BlockCacheTest, StallsOnAMissAndRunsFreelyOnAHit) {
  Scenario scenario = three_layers(StrategyKind::kBlockCache, 3);
  scenario.cache = {.capacity = Bytes::of(600)};
  const SimReport all = run(scenario).report;
  EXPECT_EQ(all.cache_misses, 3);
  EXPECT_EQ(all.cache_hits, 6);
  EXPECT_EQ(all.end, Duration::ns(600 + 3 * 60));
  EXPECT_EQ(curve(all), "0:100 110:300 330:600 ");
  EXPECT_DOUBLE_EQ(*all.hit_rate, 6.0 / 9.0);

  scenario.cache.capacity = Bytes::of(599);
  const SimReport thrashing = run(scenario).report;
  EXPECT_EQ(thrashing.cache_hits, 0);
  EXPECT_EQ(thrashing.end, Duration::ns(3 * 660));
}

TEST(BlockCacheTest, EvictionMakesRoomBeforeTheReadBegins) {
  Scenario scenario = three_layers(StrategyKind::kBlockCache, 1);
  scenario.cache = {.capacity = Bytes::of(500)};
  // c evicts a: never 600.
  EXPECT_EQ(curve(run(scenario).report), "0:100 110:300 330:500 ");
}

TEST(TokensTest, OneTokenHasATtftAndNoTpot) {
  for (const int64_t generate : {0, 1}) {
    const SimReport report = run(three_layers(StrategyKind::kLayerwise, generate)).report;
    EXPECT_EQ(report.ttft, Duration::ns(660));
    EXPECT_EQ(report.end, report.ttft);
    EXPECT_EQ(report.tpot, std::nullopt);
    EXPECT_EQ(report.tokens_per_second, 0.0);
    EXPECT_EQ(report.hit_rate, std::nullopt);
  }
}

TEST(TokensTest, SequencesMultiplyTheRateAndNotTheTimePerToken) {
  Scenario scenario = three_layers(StrategyKind::kResident, 4);
  scenario.n_seq = 3;
  const SimReport report = run(scenario).report;
  EXPECT_EQ(report.tpot, Duration::ns(60));
  EXPECT_DOUBLE_EQ(report.tokens_per_second, 3 * 1e9 / 60);
}

TEST(ReservedTest, WhatTheEngineReservesIsThereFromTheStart) {
  const Scenario scenario = decoder_scenario(2, StrategyKind::kLayerwise);
  const MemoryPlan plan = plan_of(scenario);
  const SimReport report = run(scenario).report;
  const CurvePoint& first = report.curve.front();
  EXPECT_EQ(first.time, SimTime{});
  EXPECT_EQ(first.kv_cache, plan.breakdown.kv_cache);
  EXPECT_EQ(first.compute, plan.breakdown.compute);
  EXPECT_EQ(first.output, plan.breakdown.output);
  EXPECT_EQ(first.runtime, Bytes::of(1000));
  EXPECT_EQ(first.weights, plan.units.front().bytes) << "the first read has begun";
  EXPECT_GT(first.kv_cache, Bytes{});
  EXPECT_EQ(report.curve.back().weights, Bytes{});
}

}  // namespace
}  // namespace tidemark

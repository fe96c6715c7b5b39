// The founding documents' two demo programs, run by the simulator.
#include <gtest/gtest.h>

#include "scenarios.h"

namespace tidemark {
namespace {

using literals::operator""_MB;
using testing::layer_scenario;
using testing::run;

Scenario demo(StrategyKind strategy) {
  return layer_scenario({{"embedding", 800_MB, 64_MB},
                         {"layer1", 600_MB, 128_MB},
                         {"layer2", 600_MB, 128_MB},
                         {"layer3", 600_MB, 128_MB},
                         {"layer4", 600_MB, 128_MB},
                         {"output", 200_MB, 32_MB}},
                        strategy);
}

struct TimedTotal {
  Duration time{};
  Bytes total{};
  bool operator==(const TimedTotal&) const = default;
};

std::vector<TimedTotal> totals(const SimReport& report) {
  std::vector<TimedTotal> list;
  for (const CurvePoint& point : report.curve) list.push_back({point.time, point.total()});
  return list;
}

TEST(FoundingDemoTest, LayerByLayerPeaksAtTheEmbedding) {
  const SimReport report = run(demo(StrategyKind::kLayerwise)).report;
  EXPECT_EQ(report.peak, 864_MB);
  EXPECT_EQ(report.peak_at, "prefill 0, embedding");
  EXPECT_EQ(report.peak_step, 0);
  EXPECT_EQ(report.peak_time, Duration::ms(800));  // when its weights are read and it computes
  EXPECT_EQ(report.bytes_read, 3400_MB);
  EXPECT_EQ(report.outcome, SimOutcome::kCompleted);
}

// 1 MB is read in 1 ms and moved through memory in 0.1 ms: the embedding moves 864 MB, a layer 600
// + its input + 128.
TEST(FoundingDemoTest, LayerByLayerCurveByHand) {
  const auto us = [](int64_t count) { return Duration::us(count); };
  EXPECT_EQ(totals(run(demo(StrategyKind::kLayerwise)).report),
            (std::vector<TimedTotal>{{us(0), 800_MB},
                                     {us(800'000), 864_MB},    // compute the embedding, 86.4 ms
                                     {us(886'400), 664_MB},    // keep its output, read layer1
                                     {us(1'486'400), 792_MB},  // 600 + 64 + 128, 79.2 ms
                                     {us(1'565'600), 728_MB},  // keep 128, read layer2
                                     {us(2'165'600), 856_MB},  // 600 + 128 + 128, 85.6 ms
                                     {us(2'251'200), 728_MB},
                                     {us(2'851'200), 856_MB},
                                     {us(2'936'800), 728_MB},
                                     {us(3'536'800), 856_MB},
                                     {us(3'622'400), 328_MB},  // keep 128, read the output layer
                                     {us(3'822'400), 360_MB},  // 200 + 128 + 32, 36 ms
                                     {us(3'858'400), 0_MB}}));
}

TEST(FoundingDemoTest, TwoSlotsPeakAtTheEmbeddingAndTheLayerAfterIt) {
  const SimReport report = run(demo(StrategyKind::kDoubleBuffer)).report;
  EXPECT_EQ(report.peak, 1464_MB);
  EXPECT_EQ(report.peak_at, "prefill 0, embedding");
  EXPECT_EQ(report.bytes_read, 3400_MB);
}

TEST(FoundingDemoTest, ResidentHoldsAllWeightsAndTheTwoLargestActivations) {
  const SimReport report = run(demo(StrategyKind::kResident)).report;
  EXPECT_EQ(report.peak, 3400_MB + 256_MB);
  EXPECT_EQ(report.peak_at, "prefill 0, layer2");
  EXPECT_EQ(report.peak_step, 2);
}

TEST(FoundingDemoTest, TheThreeBudgetsAreKeptAndOneMegabyteLessThanThePeakIsNot) {
  Scenario scenario = demo(StrategyKind::kLayerwise);
  for (const Bytes budget : {2000_MB, 1500_MB, 1200_MB, 864_MB}) {
    scenario.budget = budget;
    const SimReport report = run(scenario).report;
    EXPECT_EQ(report.outcome, SimOutcome::kCompleted);
    EXPECT_EQ(report.peak, 864_MB);
    EXPECT_EQ(report.reason, "");
  }
  scenario.budget = 863_MB;
  const SimReport over = run(scenario).report;
  EXPECT_EQ(over.outcome, SimOutcome::kOverLimit);
  EXPECT_EQ(over.peak, 864_MB);
  EXPECT_EQ(over.reason,
            "peak 824 MiB is 977 KiB over the limit of 823 MiB at prefill 0, embedding; most of it "
            "is weights");
  EXPECT_EQ(over.end, Duration::us(3'858'400)) << "the run goes on to its end";
}

Scenario cache_demo(CachePolicy policy) {
  Scenario scenario = layer_scenario({{"embed", 512_MB, {}},
                                      {"layer1", 768_MB, {}},
                                      {"layer2", 768_MB, {}},
                                      {"layer3", 768_MB, {}},
                                      {"lm_head", 256_MB, {}}},
                                     StrategyKind::kBlockCache);
  scenario.cache = {.capacity = 1536_MB, .policy = policy};
  scenario.trace = {"embed",  "layer1", "layer2", "layer3", "embed", "layer1",
                    "layer2", "layer3", "embed",  "layer1", "layer2"};
  return scenario;
}

struct CacheRow {
  int64_t misses = 0, hits = 0, evictions = 0;
  Bytes read{};
  bool operator==(const CacheRow&) const = default;
};

CacheRow row(const SimReport& report) {
  return {report.cache_misses, report.cache_hits, report.cache_evictions, report.bytes_read};
}

TEST(FoundingDemoTest, LruMissesElevenTimesOutOfEleven) {
  const SimReport report = run(cache_demo(CachePolicy::kLru)).report;
  EXPECT_EQ(row(report), (CacheRow{11, 0, 9, 7680_MB}));
  EXPECT_EQ(report.hit_rate, 0.0);
  EXPECT_EQ(report.cache_policy, "lru");
  EXPECT_EQ(report.peak, 1536_MB);
  EXPECT_EQ(report.peak_at, "access 2, layer2");
  EXPECT_EQ(report.peak_step, 2);
  EXPECT_EQ(report.end, Duration::ms(7680)) << "nothing but reading";
  EXPECT_EQ(report.stall, report.end);
  EXPECT_EQ(report.ttft, Duration{});
  EXPECT_EQ(report.tpot, std::nullopt);
}

TEST(FoundingDemoTest, TheOtherPoliciesOfTheTable) {
  EXPECT_EQ(row(run(cache_demo(CachePolicy::kMru)).report), (CacheRow{8, 3, 6, 5632_MB}));
  EXPECT_EQ(row(run(cache_demo(CachePolicy::kNextUse)).report), (CacheRow{8, 3, 6, 5632_MB}));
  Scenario pinned = cache_demo(CachePolicy::kPinned);
  pinned.cache.pinned = {"embed"};
  EXPECT_EQ(row(run(pinned).report), (CacheRow{9, 2, 7, 6656_MB}));
}

}  // namespace
}  // namespace tidemark

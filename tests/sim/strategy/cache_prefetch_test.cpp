// The block cache that reads ahead: by hand, beside double-buffer, and its laws.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "scenarios.h"

namespace tidemark {
namespace {

using testing::layer_scenario;
using testing::run;

// `layers` layers of 100 B, 100 ns a read; a layer computes for 10 ns, or for 250 when slow.
Scenario equal_layers(int layers, Bytes cache, int64_t generate, bool is_slow) {
  std::vector<PlainLayer> list;
  for (int i = 0; i < layers; ++i) list.push_back({"l" + std::to_string(i), Bytes::of(100), {}});
  Scenario scenario = layer_scenario(std::move(list), StrategyKind::kBlockCache);
  scenario.cache.capacity = cache;
  scenario.generate = Tokens(generate);
  if (is_slow) scenario.device.memory_bandwidth = BytesPerSecond::of(400'000'000);
  return scenario;
}

// Twelve visits: 350 ns each, or one read and then 250 ns each. As much is read.
TEST(CachePrefetchTest, TheCliffIsHidden) {
  Scenario scenario = equal_layers(4, Bytes::of(300), 3, true);
  const SimReport alone = run(scenario).report;
  EXPECT_EQ(alone.end, Duration::ns(12 * 350));
  EXPECT_EQ(alone.cache_misses, 12);
  EXPECT_EQ(alone.bytes_read, Bytes::of(1200));
  EXPECT_FALSE(alone.prefetch.has_value());

  scenario.load.prefetch = 1;
  const SimReport ahead = run(scenario).report;
  EXPECT_EQ(ahead.end, Duration::ns(100 + 12 * 250));
  EXPECT_EQ(ahead.bytes_read, Bytes::of(1200));
  EXPECT_EQ(ahead.cache_misses, 1);
  EXPECT_EQ(ahead.cache_hits, 11);
  EXPECT_EQ(ahead.prefetch->begun, 11);
  EXPECT_EQ(ahead.prefetch->late, 0);
  EXPECT_EQ(ahead.prefetch->lost, 0);
  EXPECT_EQ(ahead.stall, Duration::ns(100));
  EXPECT_EQ(ahead.peak, Bytes::of(300));
}

// Storage is what limits: twelve reads and the last compute. Every unit is asked for too early.
TEST(CachePrefetchTest, WhatIsReadForLongerThanItComputesIsLate) {
  Scenario scenario = equal_layers(4, Bytes::of(300), 3, false);
  EXPECT_EQ(run(scenario).report.end, Duration::ns(12 * 110));
  for (const int64_t depth : {1, 2, 50}) {
    scenario.load.prefetch = depth;
    const SimReport ahead = run(scenario).report;
    EXPECT_EQ(ahead.end, Duration::ns(12 * 100 + 10)) << depth;
    EXPECT_EQ(ahead.prefetch->late, 11) << depth;
  }
}

// mru evicts the youngest unit that is not spared. Room for three of four layers:
//   visit      0    1    2    3    4    5    6 (as 2)
//   fetched    1    2    3    -    1    -    3
//   for it     -    -    1    -    3    -    1
//   there    01  012  023  023  012  012  023
// so from visit 2 on every other one fetches: two of four layers a pass, where lru reads all four,
// and mru by itself 4/3, as it may evict the unit that has just computed when nothing is ahead.
TEST(CachePrefetchTest, MruReadsHalfOfThemAgain) {
  Scenario scenario = equal_layers(4, Bytes::of(300), 10, true);
  scenario.cache.policy = CachePolicy::kMru;
  scenario.load.prefetch = 1;
  const SimReport report = run(scenario).report;
  EXPECT_EQ(report.end, Duration::ns(100 + 40 * 250));
  EXPECT_EQ(report.cache_misses, 1);
  EXPECT_EQ(report.prefetch->begun, 2 + 19) << "at 0 and 1, then at 2, 4, ... 38";
  EXPECT_EQ(report.prefetch->lost, 0);
}

// b does not fit beside a, so c, which would, is not fetched in its place: a, b, c, 500 B of room.
TEST(CachePrefetchTest, ALaterUnitNeverTakesTheRoomOfASoonerOne) {
  Scenario scenario = layer_scenario(
      {{"a", Bytes::of(100), {}}, {"b", Bytes::of(450), {}}, {"c", Bytes::of(50), {}}},
      StrategyKind::kBlockCache);
  scenario.cache.capacity = Bytes::of(500);
  scenario.load.prefetch = 2;
  const SimReport report = run(scenario).report;
  // r a 100, a 10, r b 450, c beside it while b computes for 45: 50 - 45 = 5 late, c 5.
  EXPECT_EQ(report.end, Duration::ns(100 + 10 + 450 + 50 + 5));
  EXPECT_EQ(report.prefetch->begun, 1);
  EXPECT_EQ(report.prefetch->late, 1);
}

// Two passes of four layers, two fetched ahead, lfu, room for 300 B until 250 B is the limit:
//   visit      0    1    2    3   | shrink |  4     5    6    7
//   fetched    12   3    0    1   |        |  1     2    3    -
//   for it     -    0    1    2   |   0    |  1, 3  0    1
// What was fetched and has not been used counts least: 0 goes for the lower capacity, and 1 when 0
// is asked for again. Both are fetched for nothing.
TEST(CachePrefetchTest, AShrinkingCacheLosesWhatWasFetched) {
  Scenario scenario = equal_layers(4, Bytes::of(300), 2, true);
  scenario.cache.policy = CachePolicy::kLfu;
  scenario.load.prefetch = 2;
  scenario.budget = Bytes::of(250);
  scenario.margin_ratio = 0.0;
  scenario.adapt = {AdaptAction::kShrinkCache};
  const SimReport report = run(scenario).report;
  EXPECT_EQ(report.cache_misses, 2) << "0 and 4";
  EXPECT_EQ(report.prefetch->begun, 8);
  EXPECT_EQ(report.prefetch->lost, 2);
  EXPECT_EQ(report.bytes_read, Bytes::of(1000));
}

Scenario random_cached() {
  const auto count = *rc::gen::inRange<size_t>(1, 7);
  std::vector<PlainLayer> layers;
  for (size_t i = 0; i < count; ++i) {
    layers.push_back({"l" + std::to_string(i), Bytes::of(*rc::gen::inRange(1, 500)), {}});
  }
  Scenario scenario = layer_scenario(std::move(layers), StrategyKind::kBlockCache);
  scenario.generate = Tokens(*rc::gen::inRange(1, 6));
  scenario.device.flash_latency = Duration::ns(*rc::gen::inRange(0, 50));
  scenario.device.memory_bandwidth =
      BytesPerSecond::of(*rc::gen::inRange<int64_t>(500'000'000, 20'000'000'000));
  scenario.cache.capacity = Bytes::of(*rc::gen::inRange(500, 2500));
  scenario.cache.policy = *rc::gen::element(
      CachePolicy::kLru, CachePolicy::kMru, CachePolicy::kNextUse, CachePolicy::kFifo,
      CachePolicy::kClock, CachePolicy::kLfu, CachePolicy::kRandom);
  scenario.load.prefetch = *rc::gen::inRange(0, 8);
  return scenario;
}

TEST(CachePrefetchLaws, ACacheOfTwoEqualUnitsThatReadsOneAheadIsADoubleBuffer) {
  EXPECT_TRUE(rc::check("end, ttft, bytes read", [] {
    Scenario scenario = equal_layers(*rc::gen::inRange(1, 7), Bytes::of(200),
                                     *rc::gen::inRange(1, 5), *rc::gen::arbitrary<bool>());
    scenario.device.flash_latency = Duration::ns(*rc::gen::inRange(0, 300));
    scenario.load.prefetch = 1;
    const SimReport cache = run(scenario).report;
    scenario.strategy = StrategyKind::kDoubleBuffer;
    const SimReport buffer = run(scenario).report;
    RC_ASSERT(cache.end == buffer.end);
    RC_ASSERT(cache.ttft == buffer.ttft);
    RC_ASSERT(cache.bytes_read == buffer.bytes_read);
  }));
}

TEST(CachePrefetchLaws, EqualUnitsUnderLruAreNeverReadLaterForAPrefetch) {
  EXPECT_TRUE(rc::check("no longer, and no more bytes, than without", [] {
    const int layers = *rc::gen::inRange(1, 7);
    Scenario scenario = equal_layers(layers, Bytes::of(100 * *rc::gen::inRange(1, layers + 2)),
                                     *rc::gen::inRange(1, 5), *rc::gen::arbitrary<bool>());
    const SimReport alone = run(scenario).report;
    scenario.load.prefetch = *rc::gen::inRange(1, 9);
    const SimReport ahead = run(scenario).report;
    RC_ASSERT(ahead.end <= alone.end);
    RC_ASSERT(ahead.bytes_read <= alone.bytes_read);
  }));
}

TEST(CachePrefetchLaws, WhateverThePolicy) {
  EXPECT_TRUE(rc::check("room, counts and time", [] {
    const Scenario scenario = random_cached();
    const MemoryPlan plan = testing::plan_of(scenario);
    const SimReport report = run(scenario).report;
    Bytes all;
    for (const WeightUnit& unit : plan.units) all += unit.bytes;
    const auto visits = static_cast<int64_t>(plan.units.size()) * scenario.generate.count();
    RC_ASSERT(report.peak <= std::min(scenario.cache.capacity, all));
    RC_ASSERT(report.cache_hits + report.cache_misses == visits);
    RC_ASSERT(report.bytes_read >= all);
    RC_ASSERT(report.stages.compute + report.stall == report.end);
    if (scenario.load.prefetch == 0) return;
    RC_ASSERT(report.prefetch->lost == 0);
    RC_ASSERT(report.prefetch->late <= report.prefetch->begun);
    RC_ASSERT(report.cache_misses + report.prefetch->begun >=
              static_cast<int64_t>(plan.units.size()));
  }));
}

// Memory that is given up between two passes, while something is being read: what was fetched may
// be lost, what is being read stays.
TEST(CachePrefetchLaws, AdaptingRunsEnd) {
  EXPECT_TRUE(rc::check("shrink the cache, drop the prefetch", [] {
    Scenario scenario = random_cached();
    scenario.budget = Bytes::of(*rc::gen::inRange(1, 2500));
    scenario.adapt = {AdaptAction::kShrinkCache, AdaptAction::kDropPrefetch};
    const SimReport report = run(scenario).report;
    RC_ASSERT(report.stages.compute + report.stall == report.end);
    if (report.prefetch) {
      RC_ASSERT(report.prefetch->lost <= report.prefetch->begun);
    }
  }));
}

}  // namespace
}  // namespace tidemark

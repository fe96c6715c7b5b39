// Strategies that hold part of the weights, against what the simulator says of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/mman.h>

#include "sim/replay/mapping.h"
#include "sim/replay/resident.h"
#include "sim/strategy/run_input.h"
#include "tiny.h"

namespace tidemark {
namespace {

using testing::plan_of;
using testing::replay_all;
using testing::tiny_scenario;

// Six layers of 818,304 B each: weights far larger than what rounding to pages can hide.
Scenario wide_scenario(StrategyKind strategy) {
  testing::Dimensions wide = testing::kTiny;
  wide.n_layer = 6;
  wide.n_embd = 256;
  wide.n_ff = 1024;
  return tiny_scenario(strategy, wide);
}

// Arena, scratch, KV cache, output, and both ends of every unit.
Bytes most_rounding(const MemoryPlan& plan) {
  return page_size() * (4 + 2 * std::ssize(plan.units)) + kLeastGuard;
}

ReplayReport replayed(const Scenario& scenario) {
  const ReplayReport report = replay_all({scenario}).front();
  EXPECT_TRUE(passed(report)) << to_text(std::span(&report, 1));
  const Bytes rounding = most_rounding(plan_of(scenario));
  for (const ReplayStep& step : report.steps) {
    EXPECT_GE(step.measured, step.predicted) << step.step << " " << step.op;
    EXPECT_LE(step.measured, step.predicted + rounding) << step.step << " " << step.op;
  }
  return report;
}

TEST(ReplayStrategies, ChunksOfLayersAndPartsOfThem) {
  Scenario scenario = wide_scenario(StrategyKind::kChunked);
  const ReplayReport single = replayed(scenario);
  scenario.load.chunk_layers = 2;
  const ReplayReport pairs = replayed(scenario);
  scenario.load.chunk_layers = 1;
  scenario.load.chunk_parts = 3;
  const ReplayReport parts = replayed(scenario);
  EXPECT_GT(pairs.measured_peak, single.measured_peak);
  EXPECT_LT(parts.measured_peak, single.measured_peak);
  EXPECT_EQ(pairs.tokens, single.tokens);
  EXPECT_EQ(parts.tokens, single.tokens);
}

// Blocks of 4 cells: 8 for the second ubatch of a prompt of 5, also for the two tokens after it,
// of 4,096 cells there may be.
TEST(ReplayStrategies, TheCacheGrowsByBlocks) {
  Scenario scenario = wide_scenario(StrategyKind::kResident);
  scenario.n_ctx = Tokens(4096);
  const ReplayReport whole = replay_all({scenario}).front();
  scenario.kv_in_blocks = true;
  scenario.kv_block = 4;
  const ReplayReport blocks = replay_all({scenario}).front();
  EXPECT_TRUE(passed(blocks)) << to_text(std::span(&blocks, 1));
  // Each tensor of the cache begins and ends within a page.
  const Bytes rounding = most_rounding(plan_of(scenario)) + page_size() * (2 * 2 * 6);
  for (const ReplayStep& step : blocks.steps) {
    EXPECT_GE(step.measured, step.predicted) << step.step << " " << step.op;
    EXPECT_LE(step.measured, step.predicted + rounding) << step.step << " " << step.op;
  }
  EXPECT_LT(blocks.measured_peak + rounding, whole.measured_peak);
  EXPECT_EQ(blocks.tokens, whole.tokens);
}

TEST(ReplayStrategies, AMappedFileStaysOnceItWasTouched) {
  const Scenario scenario = wide_scenario(StrategyKind::kMmap);
  const ReplayReport report = replayed(scenario);
  const MemoryPlan plan = plan_of(scenario);
  // The first step has read token_embd and no more than a window of 128 KiB behind it.
  const Bytes reserved = plan.breakdown.total() - plan.breakdown.runtime - plan.breakdown.weights;
  const Bytes ahead = Bytes::of(128 * 1024);
  EXPECT_LE(report.steps.front().measured,
            reserved + plan.units.front().bytes + ahead + most_rounding(plan));
  EXPECT_GE(report.bytes_read, plan.weights.bytes) << "every page once";
  EXPECT_LT(report.bytes_read, plan.weights.bytes + scenario.device.page_size);
  for (size_t i = 1; i < report.steps.size(); ++i) {
    EXPECT_GE(report.steps[i].measured, report.steps[i - 1].measured);
  }
}

TEST(ReplayStrategies, SoWithPrefetchWithRandomReadsAndFromTheCache) {
  Scenario scenario = wide_scenario(StrategyKind::kMmap);
  const Bytes plain = replayed(scenario).steps.front().measured;
  scenario.load.prefetch = 2;
  EXPECT_GT(replayed(scenario).steps.front().measured, plain + plan_of(scenario).units[1].bytes)
      << "two layers are on their way";
  scenario.load.prefetch = 0;
  scenario.load.read_order = ReadOrder::kRandom;
  EXPECT_LE(replayed(scenario).steps.front().measured, plain);
  scenario.load.read_order = ReadOrder::kSequential;
  scenario.load.is_cached = true;
  const ReplayReport cached = replayed(scenario);
  EXPECT_EQ(cached.bytes_read, Bytes{});
  EXPECT_EQ(cached.steps.front().measured, cached.measured_peak) << "all of it from the start";
}

// Pages of the file in the page cache, by a mapping that touches none.
Bytes cached_pages(const ScratchFile& file) {
  const auto size = static_cast<size_t>(file.size());
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  EXPECT_NE(start, MAP_FAILED);
  const auto first = reinterpret_cast<uintptr_t>(start);
  const AddressRange range{.lower = first, .upper = first + size};
  std::vector<unsigned char> answer;
  const std::optional<Bytes> there = resident_by_mincore(std::span(&range, 1), answer);
  ::munmap(start, size);
  return there.value();
}

TEST(ReplayStrategies, OthersReadPastThePageCacheOrOutOfIt) {
  for (const StrategyKind strategy : strategies()) {
    if (strategy == StrategyKind::kMmap) continue;
    SCOPED_TRACE(name_of(strategy));
    Scenario scenario = wide_scenario(strategy);
    const ReplayReport cold = replayed(scenario);
    scenario.load.is_cached = true;
    const ReplayReport warm = replayed(scenario);
    EXPECT_EQ(warm.bytes_read, cold.bytes_read);
    EXPECT_EQ(warm.tokens, cold.tokens);

    testing::Bench bench(scenario);
    const ScratchFile& file = bench.weights.file();
    const auto run = [&] {
      bench.run(planned_layout(bench.plan),
                [](const TensorMemory&) { return std::make_unique<RunObserver>(); });
    };
    run();
    EXPECT_EQ(cached_pages(file), Bytes::of(file.size()));
    bench.scenario.load.is_cached = false;
    run();
    EXPECT_EQ(cached_pages(file), Bytes{}) << "not even what a run before has left there";
  }
}

// Less room than the file takes: pages go in the order in which the page cache lets them go.
TEST(ReplayStrategies, AMappedFileLargerThanItsRoom) {
  Scenario scenario = wide_scenario(StrategyKind::kMmap);
  const MemoryPlan whole = plan_of(scenario);
  const Bytes beside = whole.breakdown.total() - whole.breakdown.weights;
  scenario.budget = beside + whole.breakdown.weights / 2;
  const Result<RunInput> input = run_input(scenario, plan_of(scenario), {});
  ASSERT_TRUE(input.ok());
  ASSERT_LT(input->cache_capacity, whole.breakdown.weights * 3 / 4);
  const ReplayReport report = replayed(scenario);
  EXPECT_GT(report.bytes_read, whole.breakdown.weights) << "what was dropped is read again";
  EXPECT_LT(report.measured_peak, beside + whole.breakdown.weights * 3 / 4);
  scenario.load.prefetch = 2;
  EXPECT_TRUE(passed(replay_all({scenario}).front()));
}

// A pass visits the embedding (77,400 B), six layers, a norm of 1,024 B, and the embedding again as
// the head, four times over. Three layers fit beside the embedding: under lru the fourth drives it
// out, so of the embedding only the look-up right behind the head of the pass before is a hit.
TEST(ReplayStrategies, ABlockCacheHitsAndMissesAsPredicted) {
  for (const CachePolicy policy : {CachePolicy::kLru, CachePolicy::kMru, CachePolicy::kNextUse,
                                   CachePolicy::kRandom, CachePolicy::kPinned}) {
    SCOPED_TRACE(name_of(policy));
    Scenario scenario = wide_scenario(StrategyKind::kBlockCache);
    const MemoryPlan plan = plan_of(scenario);
    scenario.cache.policy = policy;
    scenario.cache.capacity = plan.units[0].bytes + plan.units[1].bytes * 3 + Bytes::of(4096);
    if (policy == CachePolicy::kPinned) scenario.cache.pinned = {"blk.0", "token_embd"};
    const ReplayReport report = replayed(scenario);
    ASSERT_TRUE(report.measured_cache.has_value());
    EXPECT_EQ(*report.measured_cache, report.predicted_cache.value());
    EXPECT_GT(report.measured_cache->evictions, 0);
    if (policy == CachePolicy::kLru) {
      EXPECT_EQ(report.measured_cache->hits, 3);
    } else {
      EXPECT_GT(report.measured_cache->hits, 3);
    }
  }
}

TEST(ReplayStrategies, ABreachIsFoundUnderEachOfThem) {
  for (const StrategyKind strategy : strategies()) {
    SCOPED_TRACE(name_of(strategy));
    const Scenario scenario = tiny_scenario(strategy);
    const ReplayReport report =
        replay_all({scenario}, {.shift = OffsetShift{.tensor = "blk.0.q", .bytes = 64}}).front();
    ASSERT_TRUE(report.corruption.has_value());
    EXPECT_FALSE(report.outputs_match);
    EXPECT_FALSE(passed(report));
  }
}

}  // namespace
}  // namespace tidemark

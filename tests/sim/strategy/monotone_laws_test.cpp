// What nobody should have to check before buying a better device: faster parts never make a run
// slower, and a larger cache that drops what was used longest ago never reads more.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>

#include "scenarios.h"

namespace tidemark {
namespace {

using testing::decoder_scenario;
using testing::layer_scenario;
using testing::run;

constexpr std::array kStrategies{StrategyKind::kResident,     StrategyKind::kLayerwise,
                                 StrategyKind::kDoubleBuffer, StrategyKind::kChunked,
                                 StrategyKind::kMmap,         StrategyKind::kBlockCache};

// Three to seven layers of up to 40 kB over pages of 4 KiB, one or two prefill passes, up to three
// decode passes, with whatever a strategy has to choose.
Scenario any_scenario(StrategyKind strategy) {
  std::vector<PlainLayer> layers;
  Bytes all;
  for (int i = 0, count = *rc::gen::inRange(3, 8); i < count; ++i) {
    layers.push_back({"layer" + std::to_string(i), Bytes::of(*rc::gen::inRange(1, 40'000)),
                      Bytes::of(*rc::gen::inRange(0, 3000))});
    all += layers.back().weights;
  }
  Scenario scenario = layer_scenario(std::move(layers), strategy);
  scenario.n_ubatch = Tokens(8);
  scenario.prompt = Tokens(*rc::gen::inRange(1, 17));
  scenario.generate = Tokens(*rc::gen::inRange(0, 5));
  scenario.device.page_size = Bytes::of(4096);
  scenario.device.page_fault = Duration::ns(*rc::gen::inRange(0, 50));
  scenario.device.flash_latency = Duration::ns(*rc::gen::inRange(0, 5000));
  scenario.device.memory_bandwidth =
      BytesPerSecond::of(*rc::gen::inRange<int64_t>(500'000'000, 20'000'000'000));
  scenario.load.is_cached = *rc::gen::arbitrary<bool>();
  scenario.load.read_order = *rc::gen::element(ReadOrder::kSequential, ReadOrder::kRandom);
  if (*rc::gen::arbitrary<bool>()) scenario.load.read_size = Bytes::of(4096);
  if (strategy == StrategyKind::kMmap) {
    scenario.load.prefetch = *rc::gen::inRange(0, 4);
    scenario.cache.capacity = all * *rc::gen::inRange(1, 6) / 4 + Bytes::of(4096);
  }
  if (strategy == StrategyKind::kBlockCache) scenario.cache.capacity = all;
  return scenario;
}

int64_t faster(int64_t rate) { return rate * *rc::gen::inRange(10, 50) / 10; }

// A block cache that reads ahead is left out: what it drops goes by what has come.
TEST(MonotoneLawsTest, FasterPartsNeverMakeARunSlower) {
  for (const StrategyKind strategy : kStrategies) {
    EXPECT_TRUE(rc::check(std::string(name_of(strategy)), [strategy] {
      const Scenario scenario = any_scenario(strategy);
      const SimReport before = run(scenario).report;
      Scenario better = scenario;
      DeviceSpec& device = better.device;
      device.flash_read = BytesPerSecond::of(faster(device.flash_read.count()));
      device.memory_bandwidth = BytesPerSecond::of(faster(device.memory_bandwidth.count()));
      device.compute = OpsPerSecond::of(faster(device.compute.count()));
      device.flash_latency = device.flash_latency / *rc::gen::inRange(1, 4);
      const SimReport after = run(better).report;
      RC_ASSERT(after.ttft <= before.ttft);
      RC_ASSERT(after.end <= before.end);
      RC_ASSERT(after.bytes_read == before.bytes_read);
      RC_ASSERT(after.peak == before.peak);
    }));
  }
}

// While all of the file fits, what is asked for ahead is there no later than by itself. Page by
// page: readahead joins small units in one request, where asking for each takes a latency of each.
TEST(MonotoneLawsTest, AskingAheadNeverTakesLongerWhileAllFits) {
  EXPECT_TRUE(rc::check("mmap, with a prefetch and without", [] {
    Scenario scenario = any_scenario(StrategyKind::kMmap);
    scenario.cache.capacity = Bytes::of(1'000'000);
    scenario.load.read_order = ReadOrder::kRandom;
    scenario.load.prefetch = 0;
    const SimReport alone = run(scenario).report;
    scenario.load.prefetch = *rc::gen::inRange(1, 9);
    const SimReport ahead = run(scenario).report;
    RC_ASSERT(ahead.ttft <= alone.ttft);
    RC_ASSERT(ahead.end <= alone.end);
    RC_ASSERT(ahead.bytes_read == alone.bytes_read);
  }));
}

// Mattson's inclusion: what the smaller cache holds, the larger one holds, too; of blocks of any
// size, as the oldest goes until there is room.
TEST(MonotoneLawsTest, ALargerLruCacheNeverReadsMore) {
  EXPECT_TRUE(rc::check("bytes read fall with the capacity", [] {
    Scenario scenario = any_scenario(StrategyKind::kBlockCache);
    const Bytes all = scenario.cache.capacity;
    const Bytes least = Bytes::of(std::min<int64_t>(40'000, all.count()));
    scenario.cache.capacity = Bytes::of(*rc::gen::inRange<int64_t>(least.count(), all.count() + 1));
    const SimReport small = run(scenario).report;
    scenario.cache.capacity =
        Bytes::of(*rc::gen::inRange<int64_t>(scenario.cache.capacity.count(), all.count() + 1));
    const SimReport large = run(scenario).report;
    RC_ASSERT(large.bytes_read <= small.bytes_read);
    RC_ASSERT(large.end <= small.end);
  }));
}

// The same of experts: which ones the tokens are sent to does not hang on what is kept.
TEST(MonotoneLawsTest, MoreExpertsKeptNeverReadMore) {
  const LayerSpec layer{.mixer = AttentionSpec{.n_head = 2, .n_head_kv = 2, .head_dim = 16},
                        .moe = {.n_expert = 8, .n_expert_used = 2, .n_ff_exp = 16}};
  EXPECT_TRUE(rc::check("by slots, and by bytes", [layer] {
    Scenario scenario = decoder_scenario(1, StrategyKind::kResident);
    std::get<TransformerSpec>(scenario.model.dims).layers = {layer, layer};
    scenario.prompt = Tokens(*rc::gen::inRange(1, 80));
    scenario.seed = *rc::gen::inRange<uint64_t>(0, 1000);
    Scenario more = scenario;
    if (*rc::gen::arbitrary<bool>()) {
      scenario.residency.expert_slots = *rc::gen::inRange(2, 9);
      more.residency.expert_slots = *rc::gen::inRange<int64_t>(scenario.residency.expert_slots, 9);
    } else {
      scenario.residency.expert_bytes = Bytes::of(*rc::gen::inRange(2 * 3072, 16 * 3072));
      more.residency.expert_bytes =
          scenario.residency.expert_bytes + Bytes::of(*rc::gen::inRange(0, 3 * 3072));
    }
    RC_ASSERT(run(more).report.bytes_read <= run(scenario).report.bytes_read);
  }));
}

}  // namespace
}  // namespace tidemark

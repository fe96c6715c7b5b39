#include <gtest/gtest.h>

#include "scenarios.h"

namespace tidemark {
namespace {

using testing::decoder_scenario;
using testing::run;

// Two layers, 2 heads of 16 in f16: 2 x 2 x 16 x 2 B = 128 B a token and layer, 256 B in all.
constexpr int64_t kBytesPerToken = 256;

int64_t kv_at_end(const SimReport& report) { return report.curve.back().kv_cache.count(); }

TEST(KvCellsTest, BlocksComeAsTheyAreFilled) {
  Scenario scenario = decoder_scenario(2, StrategyKind::kResident);
  scenario.prompt = Tokens(20);
  scenario.kv_in_blocks = true;
  scenario.kv_block = 16;
  // Prompt 20: two blocks. One token: cell 21. 13 tokens: cells 20 + 12 = 32. 14: cell 33.
  const auto cells = [&](int64_t generate) {
    scenario.generate = Tokens(generate);
    return kv_at_end(run(scenario).report) / kBytesPerToken;
  };
  EXPECT_EQ(cells(1), 32);
  EXPECT_EQ(cells(13), 32);
  EXPECT_EQ(cells(14), 48);
  scenario.kv_in_blocks = false;
  EXPECT_EQ(cells(1), 256);
}

// Every layer computes for the same time c and reads back its half of what was spilled. The first
// one's read begins only when its visit does, in each pass: nothing runs before it but the
// embedding, whose compute the read of blk.0 hides behind.
TEST(KvCellsTest, SpilledCellsAreReadBehindTheCompute) {
  Scenario scenario = decoder_scenario(2, StrategyKind::kResident);
  scenario.prompt = Tokens(100);
  scenario.generate = Tokens(2);
  const SimReport whole = run(scenario).report;
  EXPECT_EQ(whole.stalls.kv_cache, Duration{});

  // 101 cells in the decode pass; 51 of them stay, 50 x 256 B are spilled: 6,400 B a layer.
  scenario.engine.kv_spill = KvSpill::kReadAhead;
  scenario.kv_resident = Bytes::of(51 * kBytesPerToken);
  const SimReport spilled = run(scenario).report;
  // Prefill passes attend 64 and 100 cells: 13 and 49 of them spilled. Both layers' parts are read
  // in each pass, 128 B a cell and layer.
  EXPECT_EQ((spilled.bytes_read - whole.bytes_read).count(), 2 * 128 * (13 + 49 + 50));
  EXPECT_GT(spilled.stalls.kv_cache, Duration{});
  EXPECT_EQ(spilled.stalls.loading + spilled.stalls.weights + spilled.stalls.kv_cache,
            spilled.stall);
  // 51 cells and two parts of a layer: 13,056 + 2 x 6,400.
  EXPECT_EQ(kv_at_end(spilled), 51 * kBytesPerToken + 2 * 50 * 128);

  // Storage so fast that every read is over before the visit before it has computed.
  scenario.device.flash_read = BytesPerSecond::of(1'000'000'000'000);
  const SimReport fast = run(scenario).report;
  scenario.kv_resident.reset();
  const SimReport fast_whole = run(scenario).report;
  EXPECT_EQ(fast.stalls.kv_cache, Duration{});
  EXPECT_EQ(fast.tpot, fast_whole.tpot);
}

}  // namespace
}  // namespace tidemark

// The founding documents' cache demo, entirely: five blocks, eleven accesses, every capacity and
// policy.
//   blocks (MB): embed 512, layer1 768, layer2 768, layer3 768, lm_head 256 (never accessed)
//   accesses:    embed layer1 layer2 layer3 | embed layer1 layer2 layer3 | embed layer1 layer2
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sim/memory/block_cache.h"

namespace tidemark {
namespace {

using literals::operator""_MB;

constexpr std::array<std::string_view, 5> kNames{"embed", "layer1", "layer2", "layer3", "lm_head"};

std::vector<Bytes> sizes() { return {512_MB, 768_MB, 768_MB, 768_MB, 256_MB}; }

std::vector<UnitId> accesses() {
  std::vector<UnitId> sequence;
  for (const int block : {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2}) sequence.push_back(UnitId::of(block));
  return sequence;
}

enum class Row { kLru, kPinnedEmbed, kMru, kNextUse };

BlockCache make_cache(Row row, int64_t capacity_mb) {
  const Bytes capacity = 1_MB * capacity_mb;
  switch (row) {
    case Row::kMru:
      return BlockCache(sizes(), capacity, make_mru(5));
    case Row::kNextUse:
      return BlockCache(sizes(), capacity, make_next_use(accesses(), sizes()));
    case Row::kPinnedEmbed:
      return BlockCache(sizes(), capacity, make_lru(5), {true, false, false, false, false});
    default:
      return BlockCache(sizes(), capacity, make_lru(5));
  }
}

// "misses/hits/evictions/MB read", or "refused" when some access cannot be served.
std::string outcome(Row row, int64_t capacity_mb) {
  BlockCache cache = make_cache(row, capacity_mb);
  for (const UnitId block : accesses()) {
    if (cache.access(block).outcome == AccessOutcome::kTooLarge) return "refused";
  }
  const CacheStats& stats = cache.stats();
  return fmt::format("{}/{}/{}/{}", stats.misses, stats.hits, stats.evictions,
                     stats.bytes_read / 1_MB);
}

TEST(FoundingTableTest, AccessByAccess) {
  struct Expected {
    std::string_view access, evicted, resident;
    int64_t used_mb = 0;
  };
  const std::array<Expected, 11> table{{{"embed", "", "embed", 512},
                                        {"layer1", "", "embed layer1", 1280},
                                        {"layer2", "embed", "layer1 layer2", 1536},
                                        {"layer3", "layer1", "layer2 layer3", 1536},
                                        {"embed", "layer2", "layer3 embed", 1280},
                                        {"layer1", "layer3", "embed layer1", 1280},
                                        {"layer2", "embed", "layer1 layer2", 1536},
                                        {"layer3", "layer1", "layer2 layer3", 1536},
                                        {"embed", "layer2", "layer3 embed", 1280},
                                        {"layer1", "layer3", "embed layer1", 1280},
                                        {"layer2", "embed", "layer1 layer2", 1536}}};
  const auto names = [](const std::vector<UnitId>& blocks) {
    std::vector<std::string_view> list;
    for (const UnitId block : blocks) list.push_back(kNames.at(block.index()));
    return fmt::format("{}", fmt::join(list, " "));
  };
  BlockCache cache = make_cache(Row::kLru, 1536);
  const std::vector<UnitId> sequence = accesses();
  for (size_t i = 0; i < table.size(); ++i) {
    const Access access = cache.access(sequence[i]);
    EXPECT_EQ(kNames.at(sequence[i].index()), table[i].access);
    EXPECT_EQ(access.outcome, AccessOutcome::kMiss) << "access " << i + 1;
    EXPECT_EQ(names(access.evicted), table[i].evicted) << "access " << i + 1;
    EXPECT_EQ(names(cache.resident_blocks()), table[i].resident) << "access " << i + 1;
    EXPECT_EQ(cache.stats().resident / 1_MB, table[i].used_mb) << "access " << i + 1;
  }
  EXPECT_EQ(cache.stats(), (CacheStats{.hits = 0,
                                       .misses = 11,
                                       .evictions = 9,
                                       .bytes_read = 7680_MB,
                                       .resident = 1536_MB,
                                       .peak = 1536_MB}));
}

struct Capacity {
  int64_t mb = 0;
  std::string_view lru{}, pinned_embed{}, mru{}, next_use{};
};

class FoundingCapacityTest : public ::testing::TestWithParam<Capacity> {};

TEST_P(FoundingCapacityTest, EveryPolicyCountsAsTheTableSays) {
  const Capacity& row = GetParam();
  EXPECT_EQ(outcome(Row::kLru, row.mb), row.lru);
  EXPECT_EQ(outcome(Row::kPinnedEmbed, row.mb), row.pinned_embed);
  EXPECT_EQ(outcome(Row::kMru, row.mb), row.mru);
  EXPECT_EQ(outcome(Row::kNextUse, row.mb), row.next_use);
}

constexpr std::string_view kNoReuse = "11/0/10/7680";
INSTANTIATE_TEST_SUITE_P(
    Table, FoundingCapacityTest,
    ::testing::Values(Capacity{767, "refused", "refused", "refused", "refused"},
                      Capacity{768, kNoReuse, "refused", kNoReuse, kNoReuse},
                      Capacity{1024, kNoReuse, "refused", kNoReuse, kNoReuse},
                      Capacity{1280, kNoReuse, "9/2/7/6656", "10/1/9/7168", "10/1/8/7168"},
                      Capacity{1536, "11/0/9/7680", "9/2/7/6656", "8/3/6/5632", "8/3/6/5632"},
                      Capacity{1792, "11/0/9/7680", "9/2/7/6656", "8/3/6/5632", "8/3/6/5632"},
                      Capacity{2048, "11/0/8/7680", "9/2/6/6656", "6/5/4/4352", "6/5/3/4352"},
                      Capacity{2304, "11/0/8/7680", "9/2/6/6656", "6/5/3/4352", "6/5/3/4352"},
                      Capacity{2560, "11/0/8/7680", "9/2/6/6656", "6/5/3/4352", "6/5/3/4352"},
                      Capacity{2816, "4/7/0/2816", "4/7/0/2816", "4/7/0/2816", "4/7/0/2816"},
                      Capacity{3072, "4/7/0/2816", "4/7/0/2816", "4/7/0/2816", "4/7/0/2816"}),
    [](const auto& row) { return fmt::format("Capacity{}MB", row.param.mb); });

}  // namespace
}  // namespace tidemark

#include "sim/memory/block_cache.h"

#include <gtest/gtest.h>

#include "planner/base/check.h"

namespace tidemark {
namespace {

constexpr UnitId kA{0};
constexpr UnitId kB{1};
constexpr UnitId kC{2};

std::vector<Bytes> equal(size_t blocks, int64_t size) {
  return std::vector<Bytes>(blocks, Bytes::of(size));
}

TEST(BlockCacheTest, ABlockLargerThanTheCapacityIsRefusedAndEvictsNothing) {
  BlockCache cache({Bytes::of(4), Bytes::of(11)}, Bytes::of(10), make_lru(2));
  cache.access(kA);
  const Access refused = cache.access(kB);
  EXPECT_EQ(refused.outcome, AccessOutcome::kTooLarge);
  EXPECT_TRUE(refused.evicted.empty());
  EXPECT_TRUE(cache.resident(kA));
  EXPECT_EQ(cache.stats(), (CacheStats{.misses = 1,
                                       .bytes_read = Bytes::of(4),
                                       .resident = Bytes::of(4),
                                       .peak = Bytes::of(4)}));
}

TEST(BlockCacheTest, ABlockOfExactlyTheCapacityFits) {
  BlockCache cache({Bytes::of(4), Bytes::of(10)}, Bytes::of(10), make_lru(2));
  cache.access(kA);
  EXPECT_EQ(cache.access(kB).evicted, std::vector<UnitId>{kA});
  EXPECT_EQ(cache.stats().resident, Bytes::of(10));
}

TEST(BlockCacheTest, APinnedBlockStaysWhateverComes) {
  BlockCache cache(equal(3, 5), Bytes::of(10), make_mru(3), {true, false, false});
  cache.access(kA);
  cache.access(kB);
  EXPECT_EQ(cache.access(kC).evicted, std::vector<UnitId>{kB});
  EXPECT_TRUE(cache.resident(kA));
  EXPECT_EQ(cache.access(kA).outcome, AccessOutcome::kHit);
}

TEST(BlockCacheTest, WhatIsPinnedMayLeaveTooLittleRoom) {
  BlockCache cache({Bytes::of(6), Bytes::of(3), Bytes::of(5)}, Bytes::of(10), make_lru(3),
                   {true, false, false});
  EXPECT_EQ(cache.access(kC).outcome, AccessOutcome::kMiss);  // nothing is pinned yet
  EXPECT_EQ(cache.access(kA).evicted, std::vector<UnitId>{kC});
  EXPECT_EQ(cache.access(kC).outcome, AccessOutcome::kTooLarge);
  EXPECT_EQ(cache.access(kB).outcome, AccessOutcome::kMiss);
}

TEST(BlockCacheTest, LruForgetsTheOldestAccessNotTheOldestLoad) {
  BlockCache cache(equal(3, 5), Bytes::of(10), make_lru(3));
  cache.access(kA);
  cache.access(kB);
  cache.access(kA);
  EXPECT_EQ(cache.access(kC).evicted, std::vector<UnitId>{kB});
  EXPECT_EQ(cache.resident_blocks(), (std::vector<UnitId>{kA, kC}));
}

TEST(BlockCacheTest, MruForgetsTheLatestAccess) {
  BlockCache cache(equal(3, 5), Bytes::of(10), make_mru(3));
  cache.access(kA);
  cache.access(kB);
  cache.access(kA);
  EXPECT_EQ(cache.access(kC).evicted, std::vector<UnitId>{kA});
}

TEST(BlockCacheTest, NextUseForgetsWhatComesLastOrNever) {
  const std::vector<UnitId> sequence{kA, kB, kC, kA, kB};
  BlockCache cache(equal(3, 5), Bytes::of(10), make_next_use(sequence, equal(3, 5)));
  cache.access(kA);
  cache.access(kB);
  EXPECT_EQ(cache.access(kC).evicted, std::vector<UnitId>{kB});  // a comes again sooner
  EXPECT_EQ(cache.access(kA).outcome, AccessOutcome::kHit);
  EXPECT_EQ(cache.access(kB).evicted, std::vector<UnitId>{kA});  // neither comes again: lowest id
}

TEST(BlockCacheTest, NextUseBreaksTiesByTheLargestBlock) {
  const std::vector<UnitId> sequence{kA, kB, kC};
  const std::vector<Bytes> sizes{Bytes::of(3), Bytes::of(5), Bytes::of(4)};
  BlockCache cache(sizes, Bytes::of(8), make_next_use(sequence, sizes));
  cache.access(kA);
  cache.access(kB);
  EXPECT_EQ(cache.access(kC).evicted, std::vector<UnitId>{kB});
}

TEST(BlockCacheTest, NextUseGoesOnPastARefusedAccess) {
  const std::vector<UnitId> sequence{kA, kB, kA};
  const std::vector<Bytes> sizes{Bytes::of(3), Bytes::of(9)};
  BlockCache cache(sizes, Bytes::of(8), make_next_use(sequence, sizes));
  cache.access(kA);
  EXPECT_EQ(cache.access(kB).outcome, AccessOutcome::kTooLarge);
  EXPECT_EQ(cache.access(kA).outcome, AccessOutcome::kHit);
}

TEST(BlockCacheTest, NextUseOffItsSequenceIsABug) {
  const std::vector<UnitId> sequence{kA, kB};
  BlockCache cache(equal(3, 5), Bytes::of(20), make_next_use(sequence, equal(3, 5)));
  cache.access(kA);
  EXPECT_THROW(cache.access(kA), InternalError);
  EXPECT_THROW(cache.access(kC), InternalError);
}

TEST(BlockCacheTest, NegativeSizesAndMissingFlagsAreBugs) {
  EXPECT_THROW(BlockCache({Bytes::of(-1)}, Bytes::of(1), make_lru(1)), InternalError);
  EXPECT_THROW(BlockCache({Bytes::of(1)}, Bytes::of(-1), make_lru(1)), InternalError);
  EXPECT_THROW(BlockCache(equal(2, 1), Bytes::of(1), make_lru(2), {true}), InternalError);
}

// A policy that names a block which is not there must not corrupt the count.
TEST(BlockCacheTest, AWrongVictimIsCaught) {
  class Liar : public EvictionPolicy {
    void on_load(UnitId) override {}
    void on_access(UnitId) override {}
    void on_evict(UnitId) override {}
    UnitId victim() override { return kC; }
    std::optional<UnitId> victim_but(const std::vector<bool>&) override { return kC; }
  };
  BlockCache cache(equal(3, 5), Bytes::of(5), std::make_unique<Liar>());
  cache.access(kA);
  EXPECT_THROW(cache.access(kB), InternalError);
}

// Least recently used first, until the rest fits.
TEST(BlockCacheTest, ALowerCapacityEvictsAtOnce) {
  BlockCache cache({Bytes::of(1), Bytes::of(2), Bytes::of(3)}, Bytes::of(6), make_lru(3));
  for (const UnitId block : {kA, kB, kC, kA}) cache.access(block);
  EXPECT_EQ(cache.set_capacity(Bytes::of(6)), std::vector<UnitId>{});
  EXPECT_EQ(cache.set_capacity(Bytes::of(3)), (std::vector<UnitId>{kB, kC}));
  EXPECT_EQ(cache.capacity(), Bytes::of(3));
  EXPECT_EQ(cache.access(kC).evicted, std::vector<UnitId>{kA});
  EXPECT_EQ(cache.stats().evictions, 3);
}

}  // namespace
}  // namespace tidemark

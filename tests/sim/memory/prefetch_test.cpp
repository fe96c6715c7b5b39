// Blocks loaded before they are asked for: what goes for them, what may not, what was for nothing.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "naive_cache.h"
#include "planner/base/check.h"

namespace tidemark {
namespace {

constexpr UnitId kA{0};
constexpr UnitId kB{1};
constexpr UnitId kC{2};
constexpr UnitId kD{3};

// "a b c" of ids, in order.
std::string names(const std::vector<UnitId>& blocks) {
  std::string text;
  for (const UnitId block : blocks) text += static_cast<char>('a' + block.value());
  return text;
}

BlockCache lru_of_four(int64_t capacity) {
  return BlockCache(std::vector<Bytes>(4, Bytes::of(1)), Bytes::of(capacity), make_lru(4));
}

TEST(BlockCachePrefetchTest, WorkedInTheHeader) {
  BlockCache cache = lru_of_four(3);
  for (const UnitId block : {kA, kB, kC}) cache.access(block);

  const Access d = cache.prefetch(kD, std::vector{kC});
  EXPECT_EQ(d.outcome, AccessOutcome::kMiss);
  EXPECT_EQ(names(d.evicted), "a");
  EXPECT_EQ(names(cache.resident_blocks()), "bcd");
  EXPECT_EQ(cache.prefetch(kB, std::vector{kC, kD}).outcome, AccessOutcome::kHit);

  const Access a = cache.prefetch(kA, std::vector{kC, kD, kB});
  EXPECT_EQ(a.outcome, AccessOutcome::kTooLarge);
  EXPECT_TRUE(a.evicted.empty());
  EXPECT_EQ(names(cache.resident_blocks()), "bcd");

  EXPECT_EQ(names(cache.access(kA).evicted), "b");
  EXPECT_EQ(names(cache.resident_blocks()), "cda");
  // Four loads that were waited for, and d.
  EXPECT_EQ(cache.stats().misses, 4);
  EXPECT_EQ(cache.stats().hits, 0);
  EXPECT_EQ(cache.stats().prefetches, 1);
  EXPECT_EQ(cache.stats().lost, 0);
  EXPECT_EQ(cache.stats().bytes_read, Bytes::of(5));
}

TEST(BlockCachePrefetchTest, WhatGoesBeforeItWasAskedForIsLostOnceAndWhatWasAskedForIsNot) {
  BlockCache cache = lru_of_four(1);
  cache.prefetch(kA, {});
  EXPECT_EQ(names(cache.access(kB).evicted), "a");
  EXPECT_EQ(cache.stats().lost, 1);
  cache.prefetch(kC, {});
  EXPECT_EQ(cache.access(kC).outcome, AccessOutcome::kHit);
  EXPECT_EQ(names(cache.access(kD).evicted), "c");
  EXPECT_EQ(cache.stats().lost, 1);
  EXPECT_EQ(cache.stats().prefetches, 2);
}

TEST(BlockCachePrefetchTest, WhatIsHeldStays) {
  BlockCache cache = lru_of_four(2);
  cache.prefetch(kA, {});
  cache.hold(kA);
  cache.access(kB);
  EXPECT_EQ(names(cache.access(kC).evicted), "b") << "a is older, and held";
  EXPECT_EQ(names(cache.set_capacity(Bytes{})), "c");
  EXPECT_EQ(cache.capacity(), Bytes::of(1)) << "room for a";
  EXPECT_EQ(cache.access(kB).outcome, AccessOutcome::kTooLarge);
  cache.let_go(kA);
  EXPECT_EQ(names(cache.access(kB).evicted), "a");
  EXPECT_THROW(cache.hold(kA), InternalError);
}

TEST(BlockCachePrefetchTest, PinnedBlocksAreNeverInTheWay) {
  BlockCache cache(std::vector<Bytes>(3, Bytes::of(1)), Bytes::of(2), make_lru(3),
                   {true, false, false});
  cache.prefetch(kA, {});
  cache.access(kB);
  EXPECT_EQ(names(cache.prefetch(kC, std::vector{kA}).evicted), "b");
  EXPECT_EQ(cache.prefetch(kB, std::vector{kC}).outcome, AccessOutcome::kTooLarge);
}

// b counts once for its prefetch's access alone; were the prefetch counted too, a would go.
TEST(BlockCachePrefetchTest, ForLfuAPrefetchIsNoUse) {
  BlockCache cache(std::vector<Bytes>(3, Bytes::of(1)), Bytes::of(2), make_lfu(3));
  cache.access(kA);
  cache.access(kA);
  cache.prefetch(kB, {});
  cache.access(kB);
  EXPECT_EQ(names(cache.access(kC).evicted), "b");
}

// The sequence a b c a: at a, b is fetched for the access to come, and c takes the place of none
// but a, which comes again later than b.
TEST(BlockCachePrefetchTest, NextUseKeepsItsPlaceInTheSequence) {
  const Sequence sequence{kA, kB, kC, kA};
  const std::vector<Bytes> sizes(3, Bytes::of(1));
  BlockCache cache(sizes, Bytes::of(2), make_next_use(sequence, sizes));
  cache.access(kA);
  EXPECT_TRUE(cache.prefetch(kB, std::vector{kA}).evicted.empty());
  EXPECT_EQ(cache.access(kB).outcome, AccessOutcome::kHit);
  EXPECT_EQ(names(cache.prefetch(kC, std::vector{kB}).evicted), "a");
  EXPECT_EQ(cache.access(kC).outcome, AccessOutcome::kHit);
  EXPECT_EQ(names(cache.access(kA).evicted), "b");
}

// A policy that spares some names the same victim as one in which they are not there.
TEST(VictimLaws, SparedIsAsIfItWereNotThere) {
  EXPECT_TRUE(rc::check("victim_but == victim of the others", [] {
    const Instance instance = random_instance(1);
    const std::string_view name =
        *rc::gen::element<std::string_view>("lru", "mru", "fifo", "clock", "lfu", "next-use");
    const size_t blocks = instance.sizes.size();
    const auto make = [&] {
      return make_policy(name, {.sizes = instance.sizes, .sequence = instance.sequence, .seed = 1});
    };
    const auto whole = make();
    const auto part = make();
    std::vector<bool> there(blocks, false);
    for (const UnitId block : instance.sequence) {
      for (EvictionPolicy* policy : {whole.get(), part.get()}) {
        there[block.index()] ? policy->on_access(block) : policy->on_load(block);
      }
      there[block.index()] = true;
    }
    const auto spared = *rc::gen::container<std::vector<bool>>(blocks, rc::gen::arbitrary<bool>());
    bool any_left = false;
    for (size_t i = 0; i < blocks; ++i) {
      if (!there[i]) continue;
      if (spared[i]) part->on_evict(UnitId::of(i));
      any_left = any_left || !spared[i];
    }
    const std::optional<UnitId> victim = whole->victim_but(spared);
    RC_ASSERT(victim.has_value() == any_left);
    if (any_left) {
      RC_ASSERT(*victim == part->victim());
    }
  }));
}

// Whatever is fetched ahead: nothing spared goes, and every access is a hit or a miss.
TEST(BlockCacheLaws, PrefetchesSpareWhatTheyMust) {
  EXPECT_TRUE(rc::check("spared stays; lost <= prefetched; read = misses + prefetches", [] {
    const Instance instance = random_instance(10);
    const std::string_view name = *rc::gen::elementOf(
        std::vector<std::string_view>(policy_names().begin(), policy_names().end()));
    BlockCache cache = cache_of(name, instance);
    const auto depth = *rc::gen::inRange<size_t>(0, 4);
    const Sequence& sequence = instance.sequence;
    for (size_t i = 0; i < sequence.size(); ++i) {
      cache.access(sequence[i]);
      std::vector<UnitId> spared{sequence[i]};
      for (size_t ahead = i + 1; ahead < sequence.size() && ahead <= i + depth; ++ahead) {
        const auto before = cache.resident_blocks();
        const Access access = cache.prefetch(sequence[ahead], spared);
        for (const UnitId block : spared) RC_ASSERT(cache.resident(block));
        if (access.outcome == AccessOutcome::kTooLarge) {
          RC_ASSERT(cache.resident_blocks() == before);
          break;
        }
        spared.push_back(sequence[ahead]);
      }
    }
    const CacheStats& stats = cache.stats();
    RC_ASSERT(stats.hits + stats.misses == static_cast<int64_t>(sequence.size()));
    RC_ASSERT(stats.lost <= stats.prefetches);
    RC_ASSERT(stats.peak <= instance.capacity);
  }));
}

}  // namespace
}  // namespace tidemark

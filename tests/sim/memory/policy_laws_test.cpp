// Laws of the cache under random accesses, each policy beside a judge that searches for its victim
// from the definition.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "sim/memory/block_cache.h"

namespace tidemark {
namespace {

using Sequence = std::vector<UnitId>;

Sequence cyclic(int64_t blocks, int64_t rounds) {
  Sequence sequence;
  for (int64_t i = 0; i < blocks * rounds; ++i) sequence.push_back(UnitId(i % blocks));
  return sequence;
}

CacheStats run(BlockCache& cache, const Sequence& sequence) {
  for (const UnitId block : sequence) cache.access(block);
  return cache.stats();
}

// A cache from the definition: residents in a plain list with their last access, searched for each
// victim.
class NaiveCache {
 public:
  struct Resident {
    UnitId block{};
    size_t last_access = 0;
  };
  // Is `a` a better victim than `b`?
  using Better = std::function<bool(const Resident& a, const Resident& b)>;

  NaiveCache(std::vector<Bytes> sizes, Bytes capacity, Better better)
      : sizes_(std::move(sizes)), capacity_(capacity), better_(std::move(better)) {}

  int64_t misses(const Sequence& sequence) {
    int64_t count = 0;
    for (size_t i = 0; i < sequence.size(); ++i) count += access(sequence[i], i) ? 0 : 1;
    return count;
  }

 private:
  Bytes used() const {
    Bytes sum;
    for (const Resident& resident : residents_) sum += sizes_[resident.block.index()];
    return sum;
  }

  bool access(UnitId block, size_t position) {
    for (Resident& resident : residents_) {
      if (resident.block == block) {
        resident.last_access = position;
        return true;
      }
    }
    while (used() + sizes_[block.index()] > capacity_) {
      auto victim = residents_.begin();
      for (auto other = residents_.begin(); other != residents_.end(); ++other) {
        if (better_(*other, *victim)) victim = other;
      }
      residents_.erase(victim);
    }
    residents_.push_back({.block = block, .last_access = position});
    return false;
  }

  std::vector<Bytes> sizes_;
  Bytes capacity_;
  Better better_;
  std::vector<Resident> residents_{};
};

struct Instance {
  std::vector<Bytes> sizes{};
  Bytes capacity{};
  Sequence sequence{};
};

// Up to eight blocks, a capacity that holds each of them, up to a hundred accesses.
Instance random_instance(int largest_size) {
  Instance instance;
  const auto blocks = *rc::gen::inRange<size_t>(1, 9);
  Bytes largest;
  Bytes sum;
  for (size_t i = 0; i < blocks; ++i) {
    const Bytes size = Bytes::of(*rc::gen::inRange(1, largest_size + 1));
    instance.sizes.push_back(size);
    largest = std::max(largest, size);
    sum += size;
  }
  instance.capacity = Bytes::of(*rc::gen::inRange(largest.count(), sum.count() + 1));
  const auto length = *rc::gen::inRange<size_t>(0, 100);
  for (size_t i = 0; i < length; ++i) {
    instance.sequence.push_back(UnitId::of(*rc::gen::inRange<size_t>(0, blocks)));
  }
  return instance;
}

BlockCache lru_cache(const Instance& instance) {
  return BlockCache(instance.sizes, instance.capacity,
                    make_lru(static_cast<int64_t>(instance.sizes.size())));
}

BlockCache mru_cache(const Instance& instance) {
  return BlockCache(instance.sizes, instance.capacity,
                    make_mru(static_cast<int64_t>(instance.sizes.size())));
}

BlockCache next_use_cache(const Instance& instance) {
  return BlockCache(instance.sizes, instance.capacity,
                    make_next_use(instance.sequence, instance.sizes));
}

// The fewest misses any choice of victims can reach: tries them all. Blocks of one size; `room` of
// them fit.
class FewestMisses {
 public:
  FewestMisses(const Sequence& sequence, size_t room) : sequence_(sequence), room_(room) {}

  int64_t from(size_t position, std::vector<UnitId> residents) const {
    while (position < sequence_.size() && holds(residents, sequence_[position])) ++position;
    if (position == sequence_.size()) return 0;
    const UnitId block = sequence_[position];
    if (residents.size() < room_) {
      residents.push_back(block);
      return 1 + from(position + 1, residents);
    }
    int64_t best = std::numeric_limits<int64_t>::max() - 1;
    for (size_t victim = 0; victim < residents.size(); ++victim) {
      std::vector<UnitId> after = residents;
      after[victim] = block;
      best = std::min(best, from(position + 1, after));
    }
    return 1 + best;
  }

 private:
  static bool holds(const std::vector<UnitId>& residents, UnitId block) {
    return std::find(residents.begin(), residents.end(), block) != residents.end();
  }
  const Sequence& sequence_;
  size_t room_;
};

TEST(PolicyLawsTest, LruMissesAsItsNaiveJudgeDoes) {
  EXPECT_TRUE(rc::check("oldest last access goes", [] {
    const Instance instance = random_instance(10);
    NaiveCache judge(instance.sizes, instance.capacity,
                     [](const auto& a, const auto& b) { return a.last_access < b.last_access; });
    BlockCache cache = lru_cache(instance);
    RC_ASSERT(run(cache, instance.sequence).misses == judge.misses(instance.sequence));
  }));
}

TEST(PolicyLawsTest, MruMissesAsItsNaiveJudgeDoes) {
  EXPECT_TRUE(rc::check("youngest last access goes", [] {
    const Instance instance = random_instance(10);
    NaiveCache judge(instance.sizes, instance.capacity,
                     [](const auto& a, const auto& b) { return a.last_access > b.last_access; });
    BlockCache cache = mru_cache(instance);
    RC_ASSERT(run(cache, instance.sequence).misses == judge.misses(instance.sequence));
  }));
}

TEST(PolicyLawsTest, NextUseMissesAsItsNaiveJudgeDoes) {
  EXPECT_TRUE(rc::check("farthest next access goes, then the largest, then the lowest id", [] {
    const Instance instance = random_instance(10);
    const auto next_use = [&instance](const NaiveCache::Resident& resident) {
      const auto after =
          instance.sequence.begin() + static_cast<std::ptrdiff_t>(resident.last_access) + 1;
      return std::find(after, instance.sequence.end(), resident.block) - instance.sequence.begin();
    };
    NaiveCache judge(instance.sizes, instance.capacity, [&](const auto& a, const auto& b) {
      if (next_use(a) != next_use(b)) return next_use(a) > next_use(b);
      const Bytes size_a = instance.sizes[a.block.index()];
      const Bytes size_b = instance.sizes[b.block.index()];
      return size_a != size_b ? size_a > size_b : a.block < b.block;
    });
    BlockCache cache = next_use_cache(instance);
    RC_ASSERT(run(cache, instance.sequence).misses == judge.misses(instance.sequence));
  }));
}

TEST(PolicyLawsTest, NoPolicyMissesLessThanNextUseWhenBlocksAreEqual) {
  EXPECT_TRUE(rc::check("Belady's rule", [] {
    const Instance instance = random_instance(1);
    BlockCache oracle = next_use_cache(instance);
    const int64_t fewest = run(oracle, instance.sequence).misses;
    BlockCache lru = lru_cache(instance);
    BlockCache mru = mru_cache(instance);
    RC_ASSERT(fewest <= run(lru, instance.sequence).misses);
    RC_ASSERT(fewest <= run(mru, instance.sequence).misses);
  }));
}

TEST(PolicyLawsTest, NextUseReachesTheFewestMissesOfAnyChoiceOfVictims) {
  EXPECT_TRUE(rc::check("equal to exhaustive search", [] {
    Instance instance = random_instance(1);
    if (instance.sequence.size() > 14) instance.sequence.resize(14);
    BlockCache oracle = next_use_cache(instance);
    const FewestMisses judge(instance.sequence, static_cast<size_t>(instance.capacity.count()));
    RC_ASSERT(run(oracle, instance.sequence).misses == judge.from(0, {}));
  }));
}

TEST(PolicyLawsTest, BytesReadAreAtLeastTheWorkingSetAndResidentBytesAtMostTheCapacity) {
  EXPECT_TRUE(rc::check("cold start", [] {
    const Instance instance = random_instance(10);
    std::vector<BlockCache> caches;
    caches.push_back(lru_cache(instance));
    caches.push_back(mru_cache(instance));
    caches.push_back(next_use_cache(instance));
    Sequence distinct = instance.sequence;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    Bytes working_set;
    for (const UnitId block : distinct) working_set += instance.sizes[block.index()];
    for (BlockCache& cache : caches) {
      for (const UnitId block : instance.sequence) {
        cache.access(block);
        Bytes resident;
        for (const UnitId held : cache.resident_blocks()) resident += instance.sizes[held.index()];
        RC_ASSERT(cache.resident(block));
        RC_ASSERT(resident == cache.stats().resident);
        RC_ASSERT(resident <= instance.capacity);
      }
      RC_ASSERT(cache.stats().bytes_read >= working_set);
      RC_ASSERT(cache.stats().hits + cache.stats().misses ==
                static_cast<int64_t>(instance.sequence.size()));
    }
  }));
}

TEST(PolicyLawsTest, ACacheThatHoldsEverythingMissesEachBlockOnce) {
  EXPECT_TRUE(rc::check("no miss after warm-up", [] {
    Instance instance = random_instance(10);
    instance.capacity = {};
    for (const Bytes size : instance.sizes) instance.capacity += size;
    Sequence distinct = instance.sequence;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    BlockCache cache = lru_cache(instance);
    const CacheStats stats = run(cache, instance.sequence);
    RC_ASSERT(stats.misses == static_cast<int64_t>(distinct.size()));
    RC_ASSERT(stats.evictions == 0);
  }));
}

// Hits of the later rounds of N equal blocks read in a circle with room for C of them.
int64_t steady_hits(BlockCache& cache, int64_t blocks, int64_t warm_rounds, int64_t rounds) {
  const int64_t before = run(cache, cyclic(blocks, warm_rounds)).hits;
  return run(cache, cyclic(blocks, rounds)).hits - before;
}

struct Circle {
  int64_t blocks = 0;
  int64_t room = 0;
};

class CyclicAccessTest : public ::testing::TestWithParam<Circle> {};

TEST_P(CyclicAccessTest, LruNeverHits) {
  const auto [blocks, room] = GetParam();
  BlockCache cache(std::vector<Bytes>(static_cast<size_t>(blocks), Bytes::of(1)), Bytes::of(room),
                   make_lru(blocks));
  EXPECT_EQ(run(cache, cyclic(blocks, 10)).hits, 0);
}

// Of every N - 1 rounds all accesses but N (N - C) hit: that many rounds bring the cache back to
// where it was.
TEST_P(CyclicAccessTest, MruHitsRoomLessOneOverBlocksLessOne) {
  const auto [blocks, room] = GetParam();
  BlockCache cache(std::vector<Bytes>(static_cast<size_t>(blocks), Bytes::of(1)), Bytes::of(room),
                   make_mru(blocks));
  const int64_t rounds = blocks - 1;
  const int64_t hits = steady_hits(cache, blocks, 1, rounds);
  EXPECT_EQ(hits * (blocks - 1), (room - 1) * blocks * rounds);
}

TEST_P(CyclicAccessTest, PinningAllButOneSlotHitsRoomLessOneOverBlocks) {
  const auto [blocks, room] = GetParam();
  std::vector<bool> pinned(static_cast<size_t>(blocks), false);
  std::fill_n(pinned.begin(), room - 1, true);
  BlockCache cache(std::vector<Bytes>(pinned.size(), Bytes::of(1)), Bytes::of(room),
                   make_lru(blocks), pinned);
  EXPECT_EQ(steady_hits(cache, blocks, 1, 10), 10 * (room - 1));
}

TEST_P(CyclicAccessTest, RoomForAllMissesInTheFirstRoundOnly) {
  const int64_t blocks = GetParam().blocks;
  BlockCache cache(std::vector<Bytes>(static_cast<size_t>(blocks), Bytes::of(1)), Bytes::of(blocks),
                   make_lru(blocks));
  EXPECT_EQ(run(cache, cyclic(blocks, 10)).hits, 9 * blocks);
}

INSTANTIATE_TEST_SUITE_P(ThirtyTwoLayers, CyclicAccessTest,
                         ::testing::Values(Circle{32, 16}, Circle{32, 24}, Circle{32, 31},
                                           Circle{5, 2}, Circle{7, 6}));

}  // namespace
}  // namespace tidemark

// Laws of the cache under random accesses, each policy beside a judge that searches for its victim
// from the definition.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "naive_cache.h"
#include "sim/memory/block_cache.h"

namespace tidemark {
namespace {

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

}  // namespace
}  // namespace tidemark

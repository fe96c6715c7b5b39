// The policies beside lru, mru and next-use: by hand, and each beside a judge from its definition.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "naive_cache.h"
#include "planner/base/check.h"
#include "sim/memory/draw.h"

namespace tidemark {
namespace {

// Blocks a, b, ... of one byte. What each access evicts: '-' nothing, '.' it was a hit.
std::string evictions(std::unique_ptr<EvictionPolicy> policy, int64_t room,
                      std::string_view accesses) {
  BlockCache cache(std::vector<Bytes>(8, Bytes::of(1)), Bytes::of(room), std::move(policy));
  std::string log;
  for (const char name : accesses) {
    const Access access = cache.access(UnitId(name - 'a'));
    if (access.outcome == AccessOutcome::kHit) {
      log += '.';
    } else if (access.evicted.empty()) {
      log += '-';
    } else {
      log += static_cast<char>('a' + access.evicted.front().value());
    }
  }
  return log;
}

TEST(PolicyByHandTest, FifoDoesNotCareAboutHits) {
  EXPECT_EQ(evictions(make_fifo(8), 3, "abcaadbe"), "---..a.b");
}

// d: all were accessed, so the hand passes a, b, c and takes a. b is accessed; e: b is passed, c
// goes. f: the hand stands at d, which was loaded since; b's mark is gone as the hand passed it,
// but d and e carry theirs: d, b... in order of the circle d, b, e: d is passed, b goes.
TEST(PolicyByHandTest, ClockPassesOverWhatWasAccessed) {
  EXPECT_EQ(evictions(make_clock(8), 3, "abcdbef"), "---a.cb");
}

// a 3 times, b 2, c once: c goes for d. d and c then have 1 and 1: c's return evicts d, and counts
// 2. b (2, older) goes before c (2, younger).
TEST(PolicyByHandTest, LfuCountsAlsoWhatIsNotThere) {
  EXPECT_EQ(evictions(make_lfu(8), 3, "aaabbcdce"), "-..-.-cdb");
}

// 8 accesses, then all counts are halved: a 5 -> 2, b 3 -> 1. c counts 1 and is younger than b.
TEST(PolicyByHandTest, AgeingForgetsOldFame) {
  EXPECT_EQ(evictions(make_lfu(8, 8), 2, "aaaaabbbcdd"), "-....-..bc.");
  EXPECT_EQ(evictions(make_lfu(8), 2, "aaaaabbbcdd"), "-....-..bc.");
  // From d's second access on it has 2, as a has: a is older and goes. Without ageing a has 5.
  EXPECT_EQ(evictions(make_lfu(8, 8), 2, "aaaaabbbcdde"), "-....-..bc.a");
  EXPECT_EQ(evictions(make_lfu(8), 2, "aaaaabbbcdde"), "-....-..bc.d");
  EXPECT_THROW(make_lfu(8, 7), InternalError);
}

// The standard fixes the 10,000th number of mt19937_64 with its default seed: 9981545732273789042.
// Its remainder modulo 1000 is what is drawn, as it lies above 2^64 mod 1000.
TEST(DrawTest, TheSameOnEveryMachine) {
  std::mt19937_64 bits;
  bits.discard(9999);
  EXPECT_EQ(draw_below(bits, 1000), 42U);
}

// 60,000 draws of six: 10,000 each, deviation sqrt(60000 x 1/6 x 5/6) = 91; five of them are 456.
TEST(DrawTest, EachAsLikely) {
  std::mt19937_64 bits(3);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60000; ++i) ++counts[draw_below(bits, 6)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 456);
}

// Four residents, one to go: each in a quarter of 40,000, deviation sqrt(40000 x 1/4 x 3/4) = 87.
TEST(RandomPolicyTest, EachResidentAsLikelyAndTheSameWithTheSameSeed) {
  std::array<int, 8> counts{};
  const auto policy = make_random(8, 5);
  const auto again = make_random(8, 5);
  for (const int64_t block : {1, 2, 4, 7}) policy->on_load(UnitId(block));
  for (const int64_t block : {1, 2, 4, 7}) again->on_load(UnitId(block));
  for (int i = 0; i < 40000; ++i) {
    const UnitId victim = policy->victim();
    ASSERT_EQ(victim, again->victim());
    ++counts[victim.index()];
  }
  EXPECT_EQ(counts[0] + counts[3] + counts[5] + counts[6], 0);
  for (const size_t block : {1U, 2U, 4U, 7U}) EXPECT_NEAR(counts[block], 10000, 435);
}

TEST(PolicyJudgeTest, FifoAndLfuMissAsTheirJudges) {
  EXPECT_TRUE(rc::check("oldest load goes; least used, then oldest access goes", [] {
    const Instance instance = random_instance(10);
    NaiveCache fifo(instance.sizes, instance.capacity,
                    [](const auto& a, const auto& b) { return a.loaded < b.loaded; });
    NaiveCache lfu(instance.sizes, instance.capacity, [](const auto& a, const auto& b) {
      return a.uses != b.uses ? a.uses < b.uses : a.last_access < b.last_access;
    });
    BlockCache by_load = cache_of("fifo", instance);
    BlockCache by_use = cache_of("lfu", instance);
    RC_ASSERT(run(by_load, instance.sequence).misses == fifo.misses(instance.sequence));
    RC_ASSERT(run(by_use, instance.sequence).misses == lfu.misses(instance.sequence));
  }));
}

// A clock as its name says: frames in a circle and a hand. Blocks of one size.
int64_t clock_misses(const Sequence& sequence, size_t room) {
  std::vector<UnitId> frames;
  std::vector<bool> marked;
  size_t hand = 0;
  int64_t misses = 0;
  for (const UnitId block : sequence) {
    const auto found = std::find(frames.begin(), frames.end(), block);
    if (found != frames.end()) {
      marked[static_cast<size_t>(found - frames.begin())] = true;
      continue;
    }
    ++misses;
    if (frames.size() < room) {
      frames.push_back(block);
      marked.push_back(true);
      continue;
    }
    for (; marked[hand]; hand = (hand + 1) % room) marked[hand] = false;
    frames[hand] = block;
    marked[hand] = true;
    hand = (hand + 1) % room;
  }
  return misses;
}

TEST(PolicyJudgeTest, ClockMissesAsItsJudge) {
  EXPECT_TRUE(rc::check("frames and a hand", [] {
    const Instance instance = random_instance(1);
    BlockCache cache = cache_of("clock", instance);
    const auto room = static_cast<size_t>(instance.capacity.count());
    RC_ASSERT(run(cache, instance.sequence).misses == clock_misses(instance.sequence, room));
  }));
}

// Traces of 2 to 12 blocks, room for 1 up to all of them, 20 to 120 accesses; half of them skewed
// towards low numbers, as the smaller of two draws is.
TEST(PolicyJudgeTest, NoPolicyBeatsNextUseOnTenThousandTraces) {
  std::mt19937_64 bits(11);
  for (int trace = 0; trace < 10000; ++trace) {
    const uint64_t blocks = 2 + draw_below(bits, 11);
    Instance instance{.sizes = std::vector<Bytes>(blocks, Bytes::of(1)),
                      .capacity = Bytes::of(static_cast<int64_t>(1 + draw_below(bits, blocks)))};
    const uint64_t length = 20 + draw_below(bits, 101);
    for (uint64_t i = 0; i < length; ++i) {
      uint64_t block = draw_below(bits, blocks);
      if (trace % 2 == 1) block = std::min(block, draw_below(bits, blocks));
      instance.sequence.push_back(UnitId::of(block));
    }
    BlockCache oracle = cache_of("next-use", instance);
    const int64_t fewest = run(oracle, instance.sequence).misses;
    for (const std::string_view policy : policy_names()) {
      BlockCache cache = cache_of(policy, instance);
      ASSERT_LE(fewest, run(cache, instance.sequence).misses) << policy << ", trace " << trace;
    }
  }
}

TEST(MakePolicyTest, KnowsTheNamesOfScenariosAndNoOther) {
  EXPECT_EQ(std::vector<std::string_view>(policy_names().begin(), policy_names().end()),
            (std::vector<std::string_view>{"lru", "mru", "pinned", "next-use", "fifo", "clock",
                                           "lfu", "random"}));
  EXPECT_THROW(make_policy("LRU", {}), InternalError);
}

}  // namespace
}  // namespace tidemark

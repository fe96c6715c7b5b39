// Cyclic access, the pattern of a decoder's layers: the closed forms of eviction_policy.h.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <ostream>
#include <string_view>
#include <vector>

#include "naive_cache.h"

namespace tidemark {
namespace {

struct Circle {
  int64_t blocks = 0;
  int64_t room = 0;
};
void PrintTo(const Circle& circle, std::ostream* out) {
  *out << circle.blocks << " blocks, room for " << circle.room;
}

std::vector<Bytes> ones(int64_t blocks) {
  return std::vector<Bytes>(static_cast<size_t>(blocks), Bytes::of(1));
}

// Hits of `rounds` rounds after one that is not counted. The announced sequence goes on for two
// more, so that next-use does not see the end.
int64_t steady_hits(std::string_view policy, Circle circle, int64_t rounds,
                    std::vector<bool> pinned = {}) {
  const std::vector<Bytes> sizes = ones(circle.blocks);
  const Sequence announced = cyclic(circle.blocks, rounds + 3);
  BlockCache cache(sizes, Bytes::of(circle.room),
                   make_policy(policy, {.sizes = sizes, .sequence = announced, .seed = 7}),
                   std::move(pinned));
  const int64_t before = run(cache, cyclic(circle.blocks, 1)).hits;
  return run(cache, cyclic(circle.blocks, rounds)).hits - before;
}

class CyclicAccessTest : public ::testing::TestWithParam<Circle> {};

TEST_P(CyclicAccessTest, WhatEvictsTheOldestNeverHits) {
  for (const std::string_view policy : {"lru", "fifo", "clock", "lfu"}) {
    EXPECT_EQ(steady_hits(policy, GetParam(), 10), 0) << policy;
  }
}

// Of every N - 1 rounds all accesses but N (N - C) hit: that many rounds bring the cache back to
// where it was. Hits / accesses = (N (N-1) - N (N-C)) / (N (N-1)) = (C-1) / (N-1).
TEST_P(CyclicAccessTest, MruAndNextUseHitRoomLessOneOverBlocksLessOne) {
  const auto [blocks, room] = GetParam();
  for (const std::string_view policy : {"mru", "next-use"}) {
    EXPECT_EQ(steady_hits(policy, GetParam(), blocks - 1), (room - 1) * blocks) << policy;
  }
}

TEST_P(CyclicAccessTest, PinningAllButOneSlotHitsRoomLessOneOverBlocks) {
  const auto [blocks, room] = GetParam();
  std::vector<bool> pinned(static_cast<size_t>(blocks), false);
  std::fill_n(pinned.begin(), room - 1, true);
  EXPECT_EQ(steady_hits("pinned", GetParam(), 10, pinned), 10 * (room - 1));
}

// The last round's misses are one a block, over T rounds: 1 - 1/T.
TEST_P(CyclicAccessTest, RoomForAllMissesInTheFirstRoundOnly) {
  const int64_t blocks = GetParam().blocks;
  for (const std::string_view policy : policy_names()) {
    EXPECT_EQ(steady_hits(policy, {blocks, blocks}, 9), 9 * blocks) << policy;
  }
}

INSTANTIATE_TEST_SUITE_P(Circles, CyclicAccessTest,
                         ::testing::Values(Circle{32, 16}, Circle{32, 24}, Circle{32, 31},
                                           Circle{5, 2}, Circle{7, 6}));

// h = exp(-(1-h) N/C), its solution below 1: from 0 upwards the iteration cannot pass it.
double mean_field(Circle circle) {
  const double rounds = static_cast<double>(circle.blocks) / static_cast<double>(circle.room);
  double hits = 0.0;
  for (int i = 0; i < 10000; ++i) hits = std::exp(-(1.0 - hits) * rounds);
  return hits;
}

struct RandomRow {
  Circle circle{};
  double share = 0.0;  // as others state it: "about"
};

// 20,000 rounds are 640,000 accesses: the share's own deviation is about 0.001. The rest of the
// tolerance is the equation's, which takes the misses of a round for their mean.
TEST(CyclicAccessTable, RandomHitsAsItsMeanFieldSays) {
  constexpr std::array kRows{RandomRow{{32, 16}, 0.20}, RandomRow{{32, 24}, 0.54},
                             RandomRow{{32, 31}, 0.93}};
  for (const auto& [circle, share] : kRows) {
    const int64_t rounds = 20000;
    const double measured = static_cast<double>(steady_hits("random", circle, rounds)) /
                            static_cast<double>(rounds * circle.blocks);
    EXPECT_NEAR(measured, share, 0.01) << circle.room;
    EXPECT_NEAR(measured, mean_field(circle), 0.007) << circle.room;
    if (circle.room == circle.blocks - 1) {
      EXPECT_NEAR(measured, 1.0 - 2.0 / static_cast<double>(circle.blocks), 0.001);
    }
  }
}

// One block too many turns all hits into none, and costs the others a slot's worth.
TEST(CyclicAccessTable, TheCliff) {
  struct Row {
    std::string_view policy{};
    std::array<int64_t, 3> hits{};  // of 31 rounds, room for 30, 31 and 32 of 32
  };
  constexpr std::array kRows{Row{"lru", {0, 0, 31 * 32}}, Row{"mru", {29 * 32, 30 * 32, 31 * 32}},
                             Row{"next-use", {29 * 32, 30 * 32, 31 * 32}}};
  for (const Row& row : kRows) {
    for (const int64_t room : {30, 31, 32}) {
      EXPECT_EQ(steady_hits(row.policy, {32, room}, 31), row.hits[static_cast<size_t>(room - 30)])
          << row.policy << ' ' << room;
    }
  }
}

}  // namespace
}  // namespace tidemark

// The pieces of the exact search by themselves, by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cut_box.h"
#include "planner/alloc/exact.h"
#include "planner/alloc/exact_bound.h"
#include "planner/alloc/exact_build.h"
#include "planner/alloc/exact_climb.h"
#include "planner/alloc/exact_table.h"
#include "planner/alloc/validate.h"

namespace tidemark {
namespace {

using exact::Entrant;
using exact::FailedStates;
using exact::Instance;
using exact::Key;
using exact::Order;
using exact::Outcome;
using exact::Part;
using exact::Span;
using testing::ElementsAre;

// The picture at the head of exact_instance.h.
TEST(ExactInstanceTest, FiveBuffers) {
  const Instance instance = exact::make_instance(five_buffers());
  EXPECT_EQ(instance.unit, 4);
  EXPECT_EQ(instance.cliques, 3);
  EXPECT_EQ(instance.load, 3);
  std::vector<int64_t> sizes;
  std::vector<Span> spans;
  for (const exact::Item& item : instance.items) {
    sizes.push_back(item.size);
    spans.push_back(item.span);
  }
  EXPECT_THAT(sizes, ElementsAre(1, 1, 1, 1, 1));
  EXPECT_THAT(spans, ElementsAre(Span{0, 0}, Span{1, 1}, Span{0, 1}, Span{2, 2}, Span{0, 2}));
  // Size 1 times 1, 1, 2, 1 and 3 cliques.
  EXPECT_THAT(exact::areas_of(instance), ElementsAre(1, 1, 2, 1, 3));
}

std::vector<int32_t> ranked(const Instance& instance, const Order& order) {
  std::vector<exact::Ranked> items;
  for (size_t i = 0; i < instance.items.size(); ++i) {
    items.push_back({.item = static_cast<int32_t>(i), .span = instance.items[i].span});
  }
  exact::sort_by(order, instance, instance.cliques, items);
  std::vector<int32_t> numbers;
  for (const exact::Ranked& item : items) numbers.push_back(item.item);
  return numbers;
}

// The table at the head of exact_rank.h: b5 b3 b2 b1 b4.
TEST(ExactRankTest, FiveBuffers) {
  const Instance instance = exact::make_instance(five_buffers());
  EXPECT_THAT(ranked(instance, {{Key::kTotal, Key::kWidth, Key::kArea}}),
              ElementsAre(4, 2, 1, 0, 3));
}

// Halving what b5's first key counts puts it behind the others whose total is 3 > 1.5, and behind
// b4, whose total is 2.
TEST(ExactRankTest, AFactorCountsAKeyLess) {
  const Instance instance = exact::make_instance(five_buffers());
  std::vector<uint32_t> factors(5 * 3, exact::kOnce);
  factors[static_cast<size_t>(instance.items[4].shape) * 3] = exact::kOnce / 2;
  Order order{{Key::kTotal, Key::kWidth, Key::kArea}};
  order.factors = factors;
  EXPECT_THAT(ranked(instance, order), ElementsAre(2, 1, 0, 3, 4));
}

TEST(ExactRankTest, FactorsOfAnOrderRankAsItsNoise) {
  const Instance instance = exact::make_instance(five_buffers());
  for (uint64_t number = 0; number < 100; ++number) {
    const Order order = exact::random_order(1, number);
    Order spelled_out = order;
    const std::vector<uint32_t> factors = exact::factors_of(order, 5);
    spelled_out.factors = factors;
    spelled_out.noise = 0;
    EXPECT_EQ(ranked(instance, spelled_out), ranked(instance, order));
  }
}

// The clique at the head of exact_bound.h: 9, from the floor 0.
TEST(ExactSearchTest, TheBoundCountsFromEveryFloor) {
  const Problem problem{{buffer("a", 0, 1, 3), buffer("b", 0, 1, 4), buffer("c", 0, 1, 2)}};
  const Instance instance = exact::make_instance(problem);
  const std::vector<int32_t> by_floor{0, 1, 2};
  const auto holds = [&](int32_t floor_of_c, int32_t capacity) {
    exact::PartBuilder<int32_t> builder(instance, std::vector<int32_t>(3, 100), capacity);
    const std::vector<Entrant<int32_t>> entrants{
        {.item = 0, .rank = 0},
        {.item = 1, .rank = 1},
        {.item = 2, .rank = 2, .floor = floor_of_c, .effective = floor_of_c}};
    exact::Stack stack;
    Part<int32_t> part = builder.build(stack, entrants.data(), 3, nullptr);
    return release_bound_holds(part, by_floor.data(), 3, Span{0, 0}, capacity);
  };
  EXPECT_TRUE(holds(5, 9));
  EXPECT_FALSE(holds(5, 8));
  // From 8 on the upper floor decides: 8 + 2 = 10.
  EXPECT_TRUE(holds(8, 10));
  EXPECT_FALSE(holds(8, 9));
}

TEST(ExactTableTest, TheKeyDecidesNotTheHash) {
  FailedStates failed(1 << 16);
  const std::vector<uint64_t> a{1, 2};
  const std::vector<uint64_t> b{1, 3};
  failed.insert(7, a);
  EXPECT_TRUE(failed.may_contain(7));
  EXPECT_TRUE(failed.contains(7, a));
  EXPECT_FALSE(failed.contains(7, b));
  EXPECT_FALSE(failed.may_contain(8));
}

TEST(ExactTableTest, WhatIsBelowCountsAndIsTakenInOnce) {
  const std::vector<uint64_t> a{1};
  const std::vector<uint64_t> b{2};
  FailedStates common(1 << 16);
  common.insert(1, a);
  FailedStates mine(1 << 16, &common);
  mine.insert(2, b);
  EXPECT_TRUE(mine.contains(1, a));
  EXPECT_FALSE(common.contains(2, b));
  FailedStates other(1 << 16, &common);
  other.insert(2, b);
  common.absorb(mine);
  common.absorb(other);
  EXPECT_EQ(common.size(), 2U);
  EXPECT_EQ(mine.size(), 0U);
  EXPECT_TRUE(mine.contains(2, b));
}

// At its limit the table forgets what comes, and what it holds stays.
TEST(ExactTableTest, ALimitIsKept) {
  FailedStates failed(1000);
  for (uint64_t i = 0; i < 1000; ++i) failed.insert(i, std::vector{i});
  EXPECT_GT(failed.size(), 5U);
  EXPECT_LT(failed.size(), 40U);  // of at least 32 bytes each
  EXPECT_TRUE(failed.contains(0, std::vector<uint64_t>{0}));
  EXPECT_FALSE(failed.contains(999, std::vector<uint64_t>{999}));
}

TEST(ExactClimbTest, ReachesTheLoadInShortRuns) {
  int boxes = 0;
  int solved = 0;
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    const Problem problem = cut_box(seed, 160);
    ASSERT_EQ(peak_load(problem).count(), 64);
    const Instance instance = exact::make_instance(problem);
    const auto parts = exact::independent_parts(instance);
    if (parts.size() > 1) continue;
    ++boxes;
    const std::function<bool()> stop;
    const Executor run_all;
    exact::Lanes lanes(instance, {}, size_t{1} << 20, stop, run_all);
    lanes.set_capacity(Bytes::of(64));
    exact::Climb climb(instance, parts.front(), seed);
    Outcome outcome = Outcome::kLimit;
    while (outcome == Outcome::kLimit && lanes.nodes() < 200'000) {
      outcome = climb.step(lanes, 200'000 - lanes.nodes());
    }
    EXPECT_NE(outcome, Outcome::kFailed);
    EXPECT_LE(lanes.nodes(), 200'000);
    if (outcome != Outcome::kSolved) continue;
    ++solved;
    Plan made{.offsets = std::vector<Bytes>(problem.buffers.size())};
    for (size_t i = 0; i < instance.items.size(); ++i) {
      made.offsets[instance.items[i].buffer.index()] =
          Bytes::of(lanes.offsets()[i] * instance.unit);
    }
    made.peak = peak_of(problem, made.offsets);
    made.lower_bound = peak_load(problem);
    EXPECT_EQ(made.peak.count(), 64);
    EXPECT_TRUE(validate(problem, made).empty());
  }
  EXPECT_GE(boxes, 3);
  EXPECT_EQ(solved, boxes);
}

// Two parts in time: each is brought down by itself, the higher first, to the greater load.
TEST(ExactMinimiseTest, PartsAreLoweredOneByOne) {
  Problem problem = cut_box(1, 30);
  for (const Buffer& piece : cut_box(2, 30).buffers) {
    problem.buffers.push_back(piece);
    problem.buffers.back().lifetime.lower += 100;
    problem.buffers.back().lifetime.upper += 100;
  }
  const Plan made = minimise(problem, plan(problem, PlannerKind::kNoReuse));
  EXPECT_EQ(made.peak.count(), 64);
  EXPECT_EQ(made.status, PlanStatus::kProvedOptimal);
  EXPECT_TRUE(validate(problem, made).empty());
}

}  // namespace
}  // namespace tidemark

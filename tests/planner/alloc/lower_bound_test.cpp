// Bounds worked by hand, and every certificate checked from its meaning.
#include "planner/alloc/lower_bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>

#include "hard_problems.h"
#include "oracles.h"
#include "planner/alloc/exact.h"
#include "problems.h"

namespace tidemark {
namespace {

using testing::ElementsAre;

std::vector<int64_t> ids_of(const LowerBound& bound) {
  std::vector<int64_t> plain;
  for (const BufferId id : bound.buffers) plain.push_back(id.value());
  return plain;
}

Problem only(const Problem& problem, const std::vector<BufferId>& ids) {
  Problem few;
  for (const BufferId id : ids) few.buffers.push_back(problem.buffers[id.index()]);
  return few;
}

// All need memory at the instant, and stacked up, each but the topmost padded, they are that high:
// written from the meaning of kLoad and kPadding.
bool stack_holds(const Problem& certificate, const LowerBound& bound) {
  int64_t alignment = INT64_MAX;
  for (const Buffer& b : certificate.buffers) {
    if (!needs_memory_at(b, bound.instant)) return false;
    alignment = std::min(alignment, b.alignment.count());
  }
  if (bound.kind == BoundKind::kLoad) alignment = 1;
  int64_t sum = 0;
  int64_t most_padding = 0;
  for (const Buffer& b : certificate.buffers) {
    const int64_t padding = (alignment - b.size.count() % alignment) % alignment;
    sum += b.size.count() + padding;
    most_padding = std::max(most_padding, padding);
  }
  return sum - most_padding == bound.bytes.count();
}

// The judge of a certificate. A search is judged by painting, so of few buffers only.
bool holds(const Problem& problem, const LowerBound& bound) {
  const Problem certificate = only(problem, bound.buffers);
  switch (bound.kind) {
    case BoundKind::kLoad:
    case BoundKind::kPadding:
      return stack_holds(certificate, bound);
    case BoundKind::kFixed:
      return certificate.buffers.size() == 1 &&
             certificate.buffers[0].offset.value() + certificate.buffers[0].size == bound.bytes;
    case BoundKind::kSearch: {
      const std::optional<int64_t> optimum = optimum_by_painting(certificate);
      return optimum && bound.bytes.count() <= *optimum;
    }
  }
  return false;
}

TEST(LowerBoundTest, FiveBuffers) {
  const LowerBound bound = lower_bound(five_buffers());
  EXPECT_EQ(bound.kind, BoundKind::kLoad);
  EXPECT_EQ(bound.bytes.count(), 12);
  EXPECT_EQ(bound.instant, 0);
  EXPECT_THAT(ids_of(bound), ElementsAre(0, 2, 4));
  EXPECT_TRUE(bound.tight);
}

TEST(LowerBoundTest, SevenBuffers) {
  const LowerBound bound = lower_bound(seven_buffers().problem);
  EXPECT_EQ(bound.kind, BoundKind::kSearch);
  EXPECT_EQ(bound.bytes.count(), 5);
  EXPECT_THAT(ids_of(bound), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_TRUE(bound.irreducible);
  EXPECT_TRUE(bound.tight);
  EXPECT_GT(bound.nodes, 0);
}

// Without nodes only what needs no search: the load.
TEST(LowerBoundTest, NoNodesNoSearch) {
  const LowerBound bound = lower_bound(seven_buffers().problem, {.node_limit = 0});
  EXPECT_EQ(bound.kind, BoundKind::kLoad);
  EXPECT_EQ(bound.bytes.count(), 4);
  EXPECT_FALSE(bound.tight);
  EXPECT_EQ(bound.nodes, 0);
}

// Three of 5, 6 and 9 at multiples of 8, and one of 1 anywhere. The load is 21. The three stand
// 8 + 8 + 16 apart, less the 7 above the topmost, at best that of 9: 25. Were the fourth counted
// too, the smallest alignment would be 1.
TEST(LowerBoundTest, PaddingOfThoseAlignedAlike) {
  const Problem problem{{buffer("a", 0, 2, 5, 8), buffer("b", 1, 3, 6, 8), buffer("c", 1, 2, 9, 8),
                         buffer("d", 1, 4, 1)}};
  const LowerBound bound = lower_bound(problem, {.node_limit = 0});
  EXPECT_EQ(bound.kind, BoundKind::kPadding);
  EXPECT_EQ(bound.bytes.count(), 25);
  EXPECT_EQ(bound.instant, 1);
  EXPECT_THAT(ids_of(bound), ElementsAre(0, 1, 2));
  EXPECT_TRUE(holds(problem, bound));
  EXPECT_TRUE(lower_bound(problem).tight);
}

// a is fixed at 6 and ends at 10, though the load is 7.
TEST(LowerBoundTest, TheEndOfAFixedOne) {
  Problem problem{{buffer("a", 0, 2, 4), buffer("b", 1, 3, 3)}};
  problem.buffers[0].offset = Bytes::of(6);
  const LowerBound bound = lower_bound(problem);
  EXPECT_EQ(bound.kind, BoundKind::kFixed);
  EXPECT_EQ(bound.bytes.count(), 10);
  EXPECT_THAT(ids_of(bound), ElementsAre(0));
  EXPECT_TRUE(bound.tight);
}

TEST(LowerBoundTest, AnEmptyProblemNeedsNothing) {
  EXPECT_EQ(lower_bound({}).bytes, Bytes{});
  EXPECT_TRUE(lower_bound({}).buffers.empty());
  EXPECT_EQ(lower_bound({{buffer("never", 3, 3, 5)}}).bytes, Bytes{});
}

TEST(LowerBoundTest, FixedOffsetsThatClashAreNotSearched) {
  Problem problem = five_buffers();
  problem.buffers[0].offset = problem.buffers[2].offset = Bytes{};
  EXPECT_EQ(lower_bound(problem).bytes.count(), 12);
  EXPECT_FALSE(lower_bound(problem).tight);
}

class HardBoundTest : public testing::TestWithParam<HardProblem> {};

TEST_P(HardBoundTest, IsTheOptimum) {
  const LowerBound bound = lower_bound(GetParam().problem);
  EXPECT_EQ(bound.bytes.count(), GetParam().optimum);
  EXPECT_TRUE(bound.tight);
  EXPECT_TRUE(holds(GetParam().problem, bound));
}

INSTANTIATE_TEST_SUITE_P(All, HardBoundTest, testing::ValuesIn(hard_problems()),
                         [](const auto& row) { return row.param.name; });

// Seven buffers that hardly fit, at [200,208), among 300 others: the search of the whole ends
// without an answer, that of the right part names the seven.
TEST(LowerBoundTest, AHardSpotInALongProblem) {
  std::mt19937 random(1);
  Problem problem;
  const auto below = [&](int64_t limit) { return static_cast<int64_t>(random()) % limit; };
  std::vector<int64_t> left(400, 4096);
  while (std::ssize(problem.buffers) < 300) {
    const int64_t lower = below(380) < 190 ? below(190) : 210 + below(170);
    const int64_t upper =
        std::min(lower < 200 ? int64_t{200} : int64_t{400}, lower + 1 + below(12));
    const auto room = *std::min_element(left.begin() + lower, left.begin() + upper);
    if (room == 0) continue;
    const int64_t size = 1 + below(std::min<int64_t>(room, 1200));
    problem.buffers.push_back(buffer("", lower, upper, size));
    for (int64_t t = lower; t < upper; ++t) left[static_cast<size_t>(t)] -= size;
  }
  for (Buffer b : seven_buffers().problem.buffers) {
    b.lifetime = {200 + b.lifetime.lower, 200 + b.lifetime.upper};
    b.size = b.size * 1024;
    problem.buffers.push_back(b);
  }
  const LowerBound bound = lower_bound(problem);
  EXPECT_EQ(bound.kind, BoundKind::kSearch);
  EXPECT_EQ(bound.bytes.count(), 5 * 1024);
  EXPECT_THAT(ids_of(bound), ElementsAre(300, 301, 302, 303, 304, 305, 306));
  EXPECT_TRUE(bound.irreducible);
}

// Two views in one group of 8, [0,4) and [4,8), and one of 4 beside them: 12. All are named.
TEST(LowerBoundTest, MembersOfAGroupAreNamed) {
  Problem problem{{buffer("low", 0, 4, 4), buffer("high", 0, 4, 4), buffer("c", 2, 6, 4)}};
  problem.groups = {{"g"}};
  problem.buffers[0].group = problem.buffers[1].group = GroupId(0);
  problem.buffers[1].group_offset = Bytes::of(4);
  const LowerBound bound = lower_bound(problem);
  EXPECT_EQ(bound.bytes.count(), 12);
  EXPECT_EQ(bound.instant, 2);
  EXPECT_THAT(ids_of(bound), ElementsAre(0, 1, 2));
}

// a keeps 2 of its 8 bytes at [2,4), when b of 5 lives: 8, not 13.
TEST(LowerBoundTest, APartialGapLowersTheLoad) {
  Problem problem{{buffer("a", 0, 6, 8), buffer("b", 2, 4, 5)}};
  problem.buffers[0].partial_gaps = {{{2, 4}, {Bytes{}, Bytes::of(2)}}};
  const LowerBound bound = lower_bound(problem);
  EXPECT_EQ(bound.kind, BoundKind::kLoad);
  EXPECT_EQ(bound.bytes.count(), 8);
  EXPECT_THAT(ids_of(bound), ElementsAre(0));
}

// Moved to where the painted grid begins.
Problem few_buffers(size_t largest) {
  const auto count = *rc::gen::inRange<size_t>(0, largest + 1);
  Problem problem{*rc::gen::container<std::vector<Buffer>>(count, rc::gen::arbitrary<Buffer>())};
  for (Buffer& b : problem.buffers) {
    b.lifetime = {b.lifetime.lower + 3, b.lifetime.upper + 3};
    if (*rc::gen::inRange(0, 3) == 0) b.gaps.push_back({5, 7});
    const auto fixed = *rc::gen::inRange<int64_t>(0, 40);
    if (fixed < 10) b.offset = align_up(Bytes::of(fixed), b.alignment);
  }
  return problem;
}

RC_GTEST_PROP(LowerBoundLaws, TheCertificateHoldsAndTheBoundIsBetweenLoadAndOptimum, ()) {
  const Problem problem = few_buffers(6);
  const std::optional<int64_t> optimum = optimum_by_painting(problem);
  for (const int64_t nodes : {0, 50'000}) {
    const LowerBound bound = lower_bound(problem, {.node_limit = nodes});
    RC_ASSERT(load_instant_by_instant(problem) <= bound.bytes.count());
    RC_ASSERT(bound.bytes == Bytes{} || holds(problem, bound));
    if (optimum) RC_ASSERT(bound.bytes.count() <= *optimum);
    RC_ASSERT(!bound.tight || bound.bytes.count() == optimum);
    if (nodes > 0 && optimum) RC_ASSERT(bound.tight || *optimum == 0);
  }
}

// Whatever decide() calls a bound without a search is one here.
RC_GTEST_PROP(LowerBoundLaws, NoLowerThanThatOfTheExactSearch, (const Problem& problem)) {
  const LowerBound bound = lower_bound(problem, {.node_limit = 0});
  RC_ASSERT(decide(problem, Bytes{}).lower_bound <= bound.bytes);
}

RC_GTEST_PROP(LowerBoundLaws, TheSameProblemGivesTheSameBound, (const Problem& problem)) {
  const LowerBound first = lower_bound(problem, {.node_limit = 2000});
  const LowerBound second = lower_bound(problem, {.node_limit = 2000});
  RC_ASSERT(first.bytes == second.bytes && first.buffers == second.buffers);
  RC_ASSERT(first.nodes == second.nodes);
}

}  // namespace
}  // namespace tidemark

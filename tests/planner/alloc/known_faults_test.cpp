// Faults that other planners are known to have had, each as a law on all planners here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "features.h"
#include "planner/alloc/csv.h"

namespace tidemark {
namespace {

using testing::ElementsAre;

bool reuses(PlannerKind kind) { return kind != PlannerKind::kNoReuse; }

// XNNPACK, until 2026: the gap below the first live block was never used.
//
//   a [0,4) 10, b [2,8) 8, c [6,10) 9, by start: a at 0, b above it at 10; then [0,10) below b is
//   free for c, and the peak is 18, not 27.
TEST(KnownFaults, TheGapBelowTheFirstLiveBlockIsUsed) {
  const Problem problem{{buffer("a", 0, 4, 10), buffer("b", 2, 8, 8), buffer("c", 6, 10, 9)}};
  for (const PlannerInfo& info : planners()) {
    EXPECT_EQ(plan(problem, info.kind).peak.count(), reuses(info.kind) ? 18 : 27) << info.name;
  }
  EXPECT_THAT(counts(plan(problem, PlannerKind::kLinearScan).offsets), ElementsAre(0, 10, 0));
}

// Nor does it matter why the block stands where it does.
RC_GTEST_PROP(KnownFaults, TheGapBelowAFixedBlockIsUsed, (PlannerKind kind)) {
  const auto gap = *rc::gen::inRange<int64_t>(1, 50);
  const auto size = *rc::gen::inRange<int64_t>(1, gap + 1);
  Problem problem{{buffer("block", 0, 9, 7), buffer("low", 3, 5, size)}};
  problem.buffers[0].offset = Bytes::of(gap);
  const Plan made = plan(problem, kind);
  RC_ASSERT(first_violation(problem, made).empty());
  if (reuses(kind)) RC_ASSERT(made.peak.count() == gap + 7);
}

// ExecuTorch, 2026: a tensor's memory was given away when it died, though views of it lived on.
//
//   base [0,3) 8, views [2,9) of all and [5,12) of its upper half; other [4,10) 8 may share nothing
//   with the views while they live: no plan is below 16, and one that reuses the base's is.
TEST(KnownFaults, ABaseThatDiesBeforeItsViewsIsNotGivenAway) {
  const Problem problem{
      .buffers = {member(buffer("base", 0, 3, 8), 0, 0), member(buffer("view", 2, 9, 8), 0, 0),
                  member(buffer("half", 5, 12, 4), 0, 4), buffer("other", 4, 10, 8)},
      .groups = {{.name = "base"}}};
  for (const PlannerInfo& info : planners()) {
    const Plan made = plan(problem, info.kind);
    EXPECT_EQ(first_violation(problem, made), "") << info.name;
    EXPECT_EQ(made.peak.count(), 16) << info.name;
    EXPECT_EQ(made.offsets[0], made.offsets[1]) << info.name;
    EXPECT_EQ((made.offsets[2] - made.offsets[0]).count(), 4) << info.name;
  }
}

RC_GTEST_PROP(KnownFaults, NothingElseStandsInAGroupWhileAnyMemberLives, (PlannerKind kind)) {
  Problem problem{.groups = {{.name = "base"}}};
  const auto members = *rc::gen::inRange<int64_t>(1, 5);
  for (int64_t i = 0; i < members; ++i) {
    const auto size = *rc::gen::inRange<int64_t>(1, 9);
    const auto start = *rc::gen::inRange<int64_t>(0, 9);
    problem.buffers.push_back(
        member(buffer("view", start, start + *rc::gen::inRange<int64_t>(1, 5), size), 0,
               *rc::gen::inRange<int64_t>(0, 9 - size)));
  }
  const auto others = *rc::gen::inRange<size_t>(1, 6);
  for (size_t i = 0; i < others; ++i) {
    problem.buffers.push_back(*rc::gen::arbitrary<Buffer>());
  }
  const Plan made = plan(problem, kind);
  for (size_t i = 0; i < static_cast<size_t>(members); ++i) {
    for (size_t j = static_cast<size_t>(members); j < problem.buffers.size(); ++j) {
      const Buffer& view = problem.buffers[i];
      const Buffer& other = problem.buffers[j];
      if (!overlaps(view.lifetime, other.lifetime)) continue;
      RC_ASSERT(other.size == Bytes{} || made.offsets[j] + other.size <= made.offsets[i] ||
                made.offsets[i] + view.size <= made.offsets[j]);
    }
  }
}

// TVM and others: closed intervals taken for half-open ones, or the other way round. What ends
// where another begins shares its addresses; one instant more, and it does not.
TEST(KnownFaults, TouchingLifetimesShareAndOverlappingOnesDoNot) {
  const Problem touching{{buffer("a", 0, 3, 4), buffer("b", 3, 9, 4)}};
  const Problem overlapping{{buffer("a", 0, 4, 4), buffer("b", 3, 9, 4)}};
  for (const PlannerInfo& info : planners()) {
    EXPECT_EQ(plan(touching, info.kind).peak.count(), reuses(info.kind) ? 4 : 8) << info.name;
    EXPECT_EQ(plan(overlapping, info.kind).peak.count(), 8) << info.name;
  }
  // As a file with closed ends [0,3] and [3,9] overlap at 3.
  const auto closed = read_csv("id,start,end,size\na,0,3,4\nb,3,9,4\n", "x.csv");
  ASSERT_TRUE(closed.ok());
  EXPECT_EQ(plan(closed->problem, PlannerKind::kPortfolio).peak.count(), 8);
}

// ExecuTorch, 2026: planners wrote into the problem, so that the second one tried saw what the
// first had done.
RC_GTEST_PROP(KnownFaults, WhatOnePlannerDoesTheNextDoesNotSee, ()) {
  Problem problem = random_bodies(*rc::gen::inRange<size_t>(0, 7), 5);
  add_pairs(problem, 2);
  const std::string before = write_csv(problem);
  std::vector<Plan> first;
  for (const PlannerInfo& info : planners()) first.push_back(plan(problem, info.kind));
  for (size_t k = planners().size(); k-- > 0;) {
    const Plan again = plan(problem, planners()[k].kind);
    RC_ASSERT(again.offsets == first[k].offsets);
    RC_ASSERT(again.planner == first[k].planner);
    RC_ASSERT(again.nodes == first[k].nodes);
  }
  RC_ASSERT(write_csv(problem) == before);
}

// Inputs that are written where the joined output will hold them: whatever is computed between the
// first input and the output, it does not write there.
TEST(KnownFaults, InputsOfAJoinLiveOnWhileOtherWorkIsDone) {
  // in1 is written at 1, in2 at 6, the output exists from 7 to 9; t1 and t2 are the work on in2.
  const Problem problem{
      .buffers = {member(buffer("out", 7, 9, 8), 0, 0), member(buffer("in1", 1, 8, 4), 0, 0),
                  member(buffer("in2", 6, 8, 4), 0, 4), buffer("t1", 2, 5, 4),
                  buffer("t2", 4, 7, 4)},
      .groups = {{.name = "join"}}};
  // At 4: in1, t1 and t2 live, 12 in all. t1 may stand where in2 will, from 6 on; t2 lives at 6.
  EXPECT_EQ(peak_load(problem).count(), 12);
  for (const PlannerInfo& info : planners()) {
    const Plan made = plan(problem, info.kind);
    EXPECT_EQ(first_violation(problem, made), "") << info.name;
    EXPECT_EQ(made.peak.count(), reuses(info.kind) ? 12 : 16) << info.name;
  }
}

}  // namespace
}  // namespace tidemark

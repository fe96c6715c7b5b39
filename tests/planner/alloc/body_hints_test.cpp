#include "planner/alloc/body_hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "features.h"

namespace tidemark {
namespace {

using testing::ElementsAre;

Plan planned(const Problem& problem) {
  const Plan made = plan(problem, PlannerKind::kFirstFitBySize);
  EXPECT_EQ(first_violation(problem, made), "");
  return made;
}

// Two of 4 live together: 8. By size a goes to 0 and b to 4; the hints ask for the reverse.
TEST(BodyHintsTest, BuffersMoveToTheirHints) {
  Problem problem{{buffer("a", 0, 4, 4), buffer("b", 0, 4, 4)}};
  problem.buffers[0].hint = Bytes::of(4);
  problem.buffers[1].hint = Bytes{};
  const Plan made = planned(problem);
  EXPECT_THAT(counts(made.offsets), ElementsAre(4, 0));
  EXPECT_EQ(count_hints(problem, made).met, 2);
}

// One hint is enough: whoever stands there makes way.
TEST(BodyHintsTest, WhatIsInTheWayMoves) {
  Problem problem{{buffer("a", 0, 4, 4), buffer("b", 0, 4, 4), buffer("c", 2, 4, 2)}};
  problem.buffers[2].hint = Bytes{};
  const Plan made = planned(problem);
  EXPECT_EQ(made.offsets[2], Bytes{});
  EXPECT_EQ(made.peak.count(), 10);
}

// At 5 the peak would be 9: the hint is not met, and the plan stays at 8.
TEST(BodyHintsTest, AHintThatWouldCostIsGivenUp) {
  Problem problem{{buffer("a", 0, 4, 4), buffer("b", 0, 4, 4)}};
  problem.buffers[0].hint = Bytes::of(5);
  const Plan made = planned(problem);
  EXPECT_EQ(made.peak.count(), 8);
  EXPECT_EQ(count_hints(problem, made).hints, 1);
  EXPECT_EQ(count_hints(problem, made).met, 0);
}

// Of two that want one place the first has it, and the other hint of another buffer is still met.
TEST(BodyHintsTest, OneThatCanNotBeMetDoesNotSpoilTheRest) {
  Problem problem{{buffer("a", 0, 4, 4), buffer("b", 0, 4, 4), buffer("c", 6, 9, 4)}};
  problem.buffers[0].hint = Bytes::of(4);
  problem.buffers[1].hint = Bytes::of(4);
  problem.buffers[2].hint = Bytes::of(2);
  const Plan made = planned(problem);
  EXPECT_THAT(counts(made.offsets), ElementsAre(4, 0, 2));
  EXPECT_EQ(count_hints(problem, made).met, 2);
}

// The group goes by its first member's hint: the base stands at 8.
TEST(BodyHintsTest, AGroupMovesAsOne) {
  Problem problem = inputs_in_an_output();
  problem.buffers.push_back(buffer("other", 0, 9, 8));
  problem.buffers[2].hint = Bytes::of(12);
  const Plan made = planned(problem);
  EXPECT_THAT(counts(made.offsets), ElementsAre(8, 8, 12, 0));
  EXPECT_EQ(made.peak.count(), 16);
}

// Off its alignment, or below what is fixed: no plan can meet it.
TEST(BodyHintsTest, HintsThatNoPlanCanMeetAreLeft) {
  Problem problem{{buffer("a", 0, 4, 4, 4), buffer("b", 0, 4, 4)}};
  problem.buffers[0].hint = Bytes::of(2);
  problem.buffers[1].offset = Bytes::of(4);
  problem.buffers[1].hint = Bytes{};
  const Plan made = planned(problem);
  EXPECT_THAT(counts(made.offsets), ElementsAre(0, 4));
  EXPECT_EQ(count_hints(problem, made).met, 0);
}

}  // namespace
}  // namespace tidemark

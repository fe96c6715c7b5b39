#include "planner/alloc/body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "features.h"
#include "planner/alloc/body_floor.h"
#include "planner/alloc/body_search.h"

namespace tidemark {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Piece piece(int64_t lower, int64_t upper, int64_t low, int64_t high) {
  return {{lower, upper}, {Bytes::of(low), Bytes::of(high)}};
}

TEST(BodyTest, InputsInAnOutput) {
  const std::vector<Body> bodies = bodies_of(inputs_in_an_output());
  ASSERT_EQ(bodies.size(), 1U);
  EXPECT_THAT(bodies[0].pieces,
              ElementsAre(piece(0, 4, 0, 4), piece(3, 9, 0, 8), piece(1, 4, 4, 8)));
  EXPECT_EQ(bodies[0].hull, (Interval<Bytes>{Bytes{}, Bytes::of(8)}));
  // 4 on [0,1), 8 on [1,9): at 3 and 4 nothing changes, since out is where the inputs are.
  EXPECT_THAT(use_changes(bodies[0]),
              ElementsAre(UseChange{0, Bytes::of(4)}, UseChange{1, Bytes::of(4)},
                          UseChange{9, Bytes::of(-8)}));
  EXPECT_FALSE(reduce(inputs_in_an_output()).exact);
}

// What lives on [0,1) fits beside the first input: 8 bytes for all.
TEST(BodyTest, WhatABodyLeavesFreeHoldsAnother) {
  Problem problem = inputs_in_an_output();
  problem.buffers.push_back(buffer("early", 0, 1, 4));
  EXPECT_EQ(peak_load(problem).count(), 8);
  const Plan made = plan(problem, PlannerKind::kPortfolio);
  EXPECT_EQ(first_violation(problem, made), "");
  EXPECT_EQ(made.peak.count(), 8);
  EXPECT_EQ(made.status, PlanStatus::kProvedOptimal);
  // As rectangles they need 12.
  EXPECT_EQ(plan(reduce(problem).problem, PlannerKind::kPortfolio).peak.count(), 12);
}

TEST(BodyTest, PartialGapsCutABufferIntoPieces) {
  const Buffer b = with_partial_gap(buffer("b", 0, 9, 8), 2, 5, 0, 4);
  EXPECT_THAT(pieces_of(b), ElementsAre(piece(0, 2, 0, 8), piece(2, 5, 0, 4), piece(5, 9, 0, 8)));
  // Two at once keep what both keep: [2,4); a whole gap keeps nothing.
  Buffer c = with_partial_gap(with_partial_gap(buffer("c", 0, 9, 8), 2, 5, 0, 4), 3, 6, 2, 8);
  c.gaps = {{4, 5}};
  EXPECT_THAT(pieces_of(c), ElementsAre(piece(0, 2, 0, 8), piece(2, 3, 0, 4), piece(3, 4, 2, 4),
                                        piece(5, 6, 2, 8), piece(6, 9, 0, 8)));
}

// A view into the second half at 24 of 16-byte alignment: the base is 8 above a multiple of 16.
TEST(BodyTest, EveryMemberIsAligned) {
  const Problem problem{.buffers = {member(buffer("whole", 0, 4, 40, 8), 0, 0),
                                    member(buffer("view", 2, 6, 16, 16), 0, 24)},
                        .groups = {{.name = "g"}}};
  const Body body = bodies_of(problem).at(0);
  EXPECT_EQ(body.alignment.count(), 16);
  EXPECT_EQ(body.phase.count(), 8);
  EXPECT_EQ(lowest_base(body).count(), 8);
  const Plan made = plan(problem, PlannerKind::kPortfolio);
  EXPECT_EQ(first_violation(problem, made), "");
  EXPECT_THAT(counts(made.offsets), ElementsAre(8, 32));
}

// 8 above a multiple of 16 and a multiple of 16 at once: there is no such base.
TEST(BodyTest, AlignmentsThatContradictEachOtherAreInfeasible) {
  const Problem problem{.buffers = {member(buffer("whole", 0, 4, 40, 16), 0, 0),
                                    member(buffer("view", 2, 6, 16, 16), 0, 24)},
                        .groups = {{.name = "g"}}};
  EXPECT_FALSE(bodies_of(problem).at(0).possible);
  EXPECT_EQ(plan(problem, PlannerKind::kPortfolio).status, PlanStatus::kInfeasible);
}

TEST(BodyTest, FixedMembersMustAgree) {
  Problem problem = inputs_in_an_output();
  problem.buffers[2].offset = Bytes::of(20);  // the base is 16
  const Plan made = plan(problem, PlannerKind::kFirstFitBySize);
  EXPECT_EQ(first_violation(problem, made), "");
  EXPECT_THAT(counts(made.offsets), ElementsAre(16, 16, 20));
  problem.buffers[0].offset = Bytes::of(8);
  EXPECT_EQ(plan(problem, PlannerKind::kFirstFitBySize).status, PlanStatus::kInfeasible);
}

// Views of one size that are alive one after the other: a rectangle with a gap, so that the plan of
// the rectangle is the plan.
TEST(BodyTest, MembersOfOneSizeReduceExactly) {
  const Problem problem{
      .buffers = {member(buffer("x", 0, 3, 4), 0, 0), member(buffer("y", 2, 5, 4), 0, 0),
                  member(buffer("z", 7, 9, 4), 0, 0), buffer("other", 5, 7, 4)},
      .groups = {{.name = "in place"}}};
  const Reduction reduction = reduce(problem);
  EXPECT_TRUE(reduction.exact);
  ASSERT_EQ(reduction.problem.buffers.size(), 2U);
  EXPECT_EQ(reduction.problem.buffers[0].lifetime, (Interval<int64_t>{0, 9}));
  EXPECT_THAT(reduction.problem.buffers[0].gaps, ElementsAre(Interval<int64_t>{5, 7}));
  EXPECT_EQ(plan(problem, PlannerKind::kPortfolio).peak.count(), 4);
}

TEST(BodyTest, AMemberThatIsNeverLiveStandsWithItsGroup) {
  Problem problem = inputs_in_an_output();
  problem.buffers.push_back(member(buffer("empty view", 4, 9, 0), 0, 6));
  EXPECT_THAT(counts(plan(problem, PlannerKind::kPortfolio).offsets), ElementsAre(0, 0, 4, 6));
}

// Placed at [8,15); a piece [2,6) of the new body meets it for bases 3 to 12.
TEST(BodyFitTest, ForbiddenBases) {
  const Problem problem{
      .buffers = {buffer("placed", 0, 4, 7), member(buffer("new", 1, 3, 4), 0, 2)},
      .groups = {{.name = "g"}}};
  const BodyProblem bodies = body_problem(problem);
  BodyFloor floor(bodies);
  floor.place(0, Bytes::of(8));
  for (int64_t base = -2; base < 20; ++base) {
    EXPECT_EQ(floor.is_clear(1, Bytes::of(base)), base < 3 || base > 12) << base;
  }
  EXPECT_EQ(floor.lowest(1).count(), -2);
}

// Banks of 8: a at [0,5) takes bank 0, so that b begins at 8, though they never meet in time.
TEST(BodyFitTest, WhatIsKeptApartSharesNoBank) {
  Problem problem{.buffers = {buffer("a", 0, 2, 5), buffer("b", 4, 6, 5)},
                  .apart = {{BufferId(0), BufferId(1)}},
                  .bank = Alignment::of(8)};
  for (const PlannerInfo& info : planners()) {
    const Plan made = plan(problem, info.kind);
    EXPECT_EQ(first_violation(problem, made), "") << info.name;
    EXPECT_EQ(made.peak.count(), 13) << info.name;
  }
  problem.bank = {};
  EXPECT_EQ(plan(problem, PlannerKind::kPortfolio).peak.count(), 10);
  problem.apart.clear();
  EXPECT_EQ(plan(problem, PlannerKind::kPortfolio).peak.count(), 5);
}

// The differences at the head of body_search.h.
TEST(BodySearchTest, TwoBodies) {
  const Problem problem{.buffers = {member(buffer("a", 0, 4, 2), 0, 0),
                                    member(buffer("a2", 0, 2, 4), 0, 2), buffer("b", 1, 4, 2)},
                        .groups = {{.name = "a"}}};
  const BodyProblem bodies = body_problem(problem);
  const auto clear = [&](int64_t a, int64_t b) {
    return are_clear(bodies, {Bytes::of(a), Bytes::of(b)});
  };
  for (int64_t difference = -8; difference <= 8; ++difference) {
    EXPECT_EQ(clear(8, 8 + difference), difference <= -2 || difference >= 6) << difference;
  }
  const BodySearchResult found = search_bodies(bodies, {.limit = Bytes::of(20)});
  EXPECT_TRUE(found.complete);
  EXPECT_EQ(peak_of(bodies.bodies, found.bases).count(), 8);
  EXPECT_THAT(search_bodies(bodies, {.limit = Bytes::of(7)}).bases, IsEmpty());
}

TEST(FaultsTest, EachIsNamed) {
  Problem problem{.buffers = {buffer("a", 0, 2, 4), buffer("b", 0, 2, 4)},
                  .groups = {{.name = "g"}},
                  .pools = {{.name = "sram"}}};
  EXPECT_THAT(faults_of(problem), IsEmpty());
  problem.buffers[0].group = GroupId(1);
  EXPECT_THAT(faults_of(problem), ElementsAre("buffer 'a' is of a group that is none"));
  problem.buffers[0].group.reset();
  problem.buffers[0].group_offset = Bytes::of(1);
  EXPECT_THAT(faults_of(problem), ElementsAre("buffer 'a' has no group to be offset in"));
  problem.buffers[0] = with_partial_gap(buffer("a", 0, 2, 4), 0, 1, 2, 5);
  EXPECT_THAT(faults_of(problem),
              ElementsAre("buffer 'a' has a partial gap that keeps no part of it"));
  problem.buffers[0] = buffer("a", 0, 2, 4);
  problem.buffers[0].not_in = {PoolId(0)};
  EXPECT_THAT(faults_of(problem), ElementsAre("buffer 'a' may stand in no pool"));
  problem.buffers[0].not_in = {PoolId(1)};
  EXPECT_THAT(faults_of(problem), ElementsAre("buffer 'a' names a pool that is none"));
  problem.buffers[0] = member(buffer("a", 0, 2, 4), 0, 0);
  problem.buffers[1] = member(buffer("b", 0, 2, 4), 0, 0);
  problem.apart = {{BufferId(0), BufferId(1)}};
  EXPECT_THAT(faults_of(problem),
              ElementsAre("buffer 'a' can not be kept apart from 'b' of its own group"));
}

}  // namespace
}  // namespace tidemark

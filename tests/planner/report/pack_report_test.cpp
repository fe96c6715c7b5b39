#include "planner/report/pack_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/alloc/planners.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace literals;

// The five buffers of problem.h.
Problem five() {
  return {.buffers = {{.name = "b1", .size = 4_B, .lifetime = {0, 3}},
                      {.name = "b2", .size = 4_B, .lifetime = {3, 9}},
                      {.name = "b3", .size = 4_B, .lifetime = {0, 9}},
                      {.name = "b4", .size = 4_B, .lifetime = {9, 21}},
                      {.name = "b5", .size = 4_B, .lifetime = {0, 21}}}};
}

TEST(PackReportTest, ExplainsThePeak) {
  const PackReport report = make_pack_report("five", five(), plan(five(), PlannerKind::kPortfolio));
  EXPECT_EQ(report.load, 12_B);
  EXPECT_EQ(report.plan.peak, 12_B);
  EXPECT_EQ(report.peak_instant, 0);
  EXPECT_EQ(report.peak_buffers, 3);  // b1, b3, b5
  ASSERT_EQ(report.largest.size(), 3U);
  // Without b1 the load is still 12 on [3,9); without b3 or b5 it is 8.
  EXPECT_EQ(report.largest[0].name, "b1");
  EXPECT_EQ(report.largest[0].saves, 0_B);
  EXPECT_EQ(report.largest[1].saves, 4_B);
  EXPECT_EQ(report.largest[2].saves, 4_B);
  EXPECT_FALSE(report.hole.has_value());
}

// b1 on [0,4), b3 at 8 and b5 at 12: [4,8) is free below b3.
TEST(PackReportTest, NamesTheLargestHoleAndWhoStandsAboveIt) {
  const Plan loose{.planner = "by hand",
                   .offsets = {0_B, 0_B, 8_B, 0_B, 12_B},
                   .peak = 16_B,
                   .lower_bound = 12_B};
  const PackReport report = make_pack_report("five", five(), loose);
  ASSERT_TRUE(report.hole.has_value());
  EXPECT_EQ(report.hole->offset, 4_B);
  EXPECT_EQ(report.hole->size, 4_B);
  EXPECT_EQ(report.hole->above, "b3");
  EXPECT_EQ(report.hole->above_lifetime, 9);
  EXPECT_THAT(to_text(report), HasSubstr("below b3"));
}

TEST(PackReportTest, WithoutAPlanThereAreNoOffsets) {
  const PackReport report =
      make_pack_report("five", five(), {.status = PlanStatus::kInfeasible, .lower_bound = 12_B});
  EXPECT_FALSE(report.hole.has_value());
  EXPECT_THAT(to_json(report), HasSubstr("\"peak_bytes\": null"));
  EXPECT_THAT(to_text(report), HasSubstr("no plan; at least 12 B"));
  EXPECT_THAT(map_of(five(), report.plan).rows, IsEmpty());
}

// Instants 0, 3, 9 and 21 are the borders of three steps.
TEST(PackReportTest, AStepOfTheMapIsWhatLiesBetweenTwoChanges) {
  const ArenaFacts map = map_of(five(), plan(five(), PlannerKind::kPortfolio));
  EXPECT_EQ(map.steps, 3);
  EXPECT_EQ(map.rows.at(1).lifetime, (Interval<StepIndex>{StepIndex::of(1), StepIndex::of(2)}));
}

// The report speaks of instants, and so does its map: b2 lives from 3 to 9, whatever lies between.
TEST(PackReportTest, TheMapNamesTheProblemsInstants) {
  const Plan made = plan(five(), PlannerKind::kPortfolio);
  EXPECT_THAT(instants_of(five(), made), ::testing::ElementsAre(0, 3, 9, 21));
  const std::string map = pack_map(five(), made);
  EXPECT_THAT(map, HasSubstr("12 B in 5 buffers between instants 0 and 21, lower bound 12 B\n"));
  EXPECT_THAT(map, HasSubstr("fullest at instant 0\n"));
  EXPECT_THAT(map, HasSubstr("[3, 9)"));
  EXPECT_THAT(map, ::testing::Not(HasSubstr("step")));
}

TEST(PackReportTest, ThePictureHoldsEveryBuffer) {
  const Problem problem = five();
  const PackReport report =
      make_pack_report("<five>", problem, plan(problem, PlannerKind::kPortfolio));
  const std::string picture = pack_to_svg(problem, report);
  EXPECT_THAT(picture, HasSubstr("&lt;five&gt;"));
  for (const char* name : {"b2", "b3", "b4", "b5"}) EXPECT_THAT(picture, HasSubstr(name));
}

//   12 +-------------+
//      |      x      |     a [0,9) 4 at 0 and y [9,12) 4 at 4 are fixed. x [0,12) 4 has to stand on
//    8 +-------+-----+     both, though 4 bytes are always free below. The load is 8.
//      |       |  y  |
//    4 +-------+-----+     Without x: y ends at 8. With x cut at 9: [0,9) at 4, [9,12) at 0, so 8.
//      |   a   |     |
//    0 +-------+-----+
TEST(PackReportTest, SaysWhatMovingOrSplittingTheSplitterSaves) {
  const Problem problem{
      .buffers = {{.name = "a", .size = 4_B, .lifetime = {0, 9}, .offset = 0_B},
                  {.name = "x", .size = 4_B, .lifetime = {0, 12}},
                  {.name = "y", .size = 4_B, .lifetime = {9, 12}, .offset = 4_B}}};
  const PackReport report =
      make_pack_report("split", problem, plan(problem, PlannerKind::kPortfolio));
  EXPECT_EQ(report.plan.peak, 12_B);
  ASSERT_TRUE(report.hole.has_value());
  EXPECT_EQ(report.hole->instant, 0);
  EXPECT_EQ(report.hole->offset, 4_B);
  EXPECT_EQ(report.hole->size, 4_B);
  EXPECT_EQ(report.hole->above, "x");
  EXPECT_EQ(report.hole->saves_moved, 4_B);
  EXPECT_EQ(report.hole->saves_split, 4_B);
  EXPECT_EQ(report.hole->split_at, 9);
  EXPECT_THAT(to_text(report), HasSubstr("falls by 4 B at least"));
}

// The inputs of a join in their output, beside a buffer that is spilled from a pool of 8 bytes.
Problem pooled() {
  Problem problem{.buffers = {{.name = "out", .size = 8_B, .lifetime = {3, 9}},
                              {.name = "in1", .size = 4_B, .lifetime = {0, 4}},
                              {.name = "in2", .size = 4_B, .lifetime = {1, 4}},
                              {.name = "other", .size = 6_B, .lifetime = {2, 5}}},
                  .groups = {{.name = "join"}},
                  .pools = {{.name = "sram", .capacity = 8_B}, {.name = "dram"}}};
  for (size_t i = 0; i < 3; ++i) problem.buffers[i].group = GroupId(0);
  problem.buffers[2].group_offset = 4_B;
  problem.buffers[3].hint = Bytes{};
  return problem;
}

TEST(PackReportTest, PoolsGroupsAndHints) {
  const Problem problem = pooled();
  const PackReport report =
      make_pack_report("pooled", problem, plan(problem, PlannerKind::kPortfolio));
  ASSERT_EQ(report.pools.size(), 2U);
  EXPECT_EQ(report.pools[0].buffers, 3);
  EXPECT_EQ(report.pools[0].plan.peak, 8_B);
  EXPECT_EQ(report.pools[1].plan.peak, 6_B);
  EXPECT_EQ(report.explained, "sram");
  EXPECT_EQ(report.largest.at(0).name, "join (3 buffers)");
  EXPECT_EQ(report.largest.at(0).size, 8_B);
  EXPECT_EQ(report.spilled, 1);
  EXPECT_EQ(report.spilled_bytes, 6_B);
  EXPECT_EQ(report.hints_met, 1);
  EXPECT_THAT(to_text(report), HasSubstr("Peaks      14 B in all"));
  EXPECT_THAT(to_text(report), HasSubstr("sram       8 B   8 B          8 B        3  proved"));
  EXPECT_THAT(to_json(report), HasSubstr("\"spilled_bytes\": 6"));
  EXPECT_THAT(pack_to_svg(problem, report), HasSubstr("dram: 1 buffers, peak 6 B"));
}

// Members share addresses by design: no '!' in the map; one row for each buffer in the legend.
TEST(PackReportTest, TheMapOfAGroupShowsNoOverlap) {
  const Problem problem = pooled();
  const Plan made = plan(problem, PlannerKind::kPortfolio);
  const std::string map = arena_map(map_of(problem, made, PoolId(0)));
  EXPECT_THAT(map, HasSubstr("pool sram: 8 B in 3 buffers"));
  EXPECT_THAT(map, ::testing::Not(HasSubstr("!")));
}

// What another buffer may use in a gap is not shown as an overlap either.
TEST(PackReportTest, GapsAreEmptyInTheMap) {
  Problem problem{.buffers = {{.name = "a", .size = 4_B, .lifetime = {0, 9}},
                              {.name = "b", .size = 4_B, .lifetime = {3, 6}}}};
  problem.buffers[0].gaps = {{3, 6}};
  const Plan made = plan(problem, PlannerKind::kPortfolio);
  EXPECT_EQ(made.peak, 4_B);
  const ArenaFacts map = map_of(problem, made);
  EXPECT_EQ(map.buffers, 2);
  EXPECT_EQ(map.rows.size(), 3U);
  EXPECT_THAT(arena_map(map), HasSubstr("|aaaabbbbaaaa\n"));
}

TEST(PackReportTest, WhatFoundNoRoomIsNamed) {
  Problem problem = pooled();
  problem.pools[1].capacity = 5_B;
  const PackReport report =
      make_pack_report("pooled", problem, plan(problem, PlannerKind::kPortfolio));
  EXPECT_EQ(report.plan.status, PlanStatus::kInfeasible);
  EXPECT_THAT(to_text(report), HasSubstr("No room    "));
  EXPECT_THAT(to_json(report), HasSubstr("\"peak_bytes\": null"));
}

TEST(PackReportTest, AGroupThatContradictsItselfIsNoted) {
  Problem problem = pooled();
  problem.pools.clear();
  problem.buffers[0].alignment = Alignment::of(8);
  problem.buffers[2].alignment = Alignment::of(8);
  const PackReport report =
      make_pack_report("pooled", problem, plan(problem, PlannerKind::kPortfolio));
  EXPECT_EQ(report.plan.status, PlanStatus::kInfeasible);
  EXPECT_THAT(to_text(report), HasSubstr("in group join contradict each other"));
}

}  // namespace
}  // namespace tidemark

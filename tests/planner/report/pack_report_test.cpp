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

TEST(PackReportTest, ThePictureHoldsEveryBuffer) {
  const Problem problem = five();
  const PackReport report =
      make_pack_report("<five>", problem, plan(problem, PlannerKind::kPortfolio));
  const std::string picture = pack_to_svg(problem, report);
  EXPECT_THAT(picture, HasSubstr("&lt;five&gt;"));
  for (const char* name : {"b2", "b3", "b4", "b5"}) EXPECT_THAT(picture, HasSubstr(name));
}

}  // namespace
}  // namespace tidemark

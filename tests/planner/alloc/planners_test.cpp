#include "planner/alloc/planners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/alloc/validate.h"
#include "planner/base/check.h"
#include "problems.h"

namespace tidemark {
namespace {

using testing::ElementsAre;

TEST(PlannersTest, EachIsListedOnceUnderItsOwnName) {
  std::vector<std::string_view> names;
  for (const PlannerInfo& info : planners()) {
    names.push_back(info.name);
    EXPECT_EQ(name_of(info.kind), info.name);
    EXPECT_EQ(parse_planner(info.name), info.kind);
    EXPECT_FALSE(info.summary.empty());
  }
  EXPECT_THAT(names, ElementsAre("no-reuse", "first-fit-by-size", "best-fit-by-start", "best-of",
                                 "linear-scan", "first-fit-by-width", "first-fit-by-area",
                                 "first-fit-by-conflicts", "best-fit-by-size", "lowest-floor",
                                 "hill-climb", "exact", "portfolio"));
  EXPECT_EQ(name_of(PlannerKind::kFirstFitBySize), "first-fit-by-size");
  EXPECT_EQ(name_of(PlannerKind::kBestFitByStart), "best-fit-by-start");
}

TEST(PlannersTest, UnknownNamesAreNoPlanner) {
  EXPECT_EQ(parse_planner("worst-fit"), std::nullopt);
  EXPECT_EQ(parse_planner(""), std::nullopt);
}

TEST(PlannersTest, TheExampleIsPlannedOptimallyByEveryPlannerButNoReuse) {
  for (const PlannerKind kind : {PlannerKind::kFirstFitBySize, PlannerKind::kBestFitByStart}) {
    const Plan made = plan(five_buffers(), kind);
    EXPECT_EQ(made.planner, name_of(kind));
    EXPECT_EQ(made.status, PlanStatus::kProvedOptimal);
    EXPECT_THAT(counts(made.offsets), ElementsAre(0, 0, 4, 0, 8));
    EXPECT_EQ(made.peak.count(), 12);
    EXPECT_EQ(made.lower_bound.count(), 12);
    EXPECT_EQ(made.nodes, 0);
  }
  const Plan apart = plan(five_buffers(), PlannerKind::kNoReuse);
  EXPECT_EQ(apart.planner, "no-reuse");
  EXPECT_EQ(apart.status, PlanStatus::kFeasible);
  EXPECT_THAT(counts(apart.offsets), ElementsAre(0, 4, 8, 12, 16));
  EXPECT_EQ(apart.peak.count(), 20);
  EXPECT_EQ(apart.lower_bound.count(), 12);
}

TEST(PlannersTest, AnEmptyProblemIsProvedOptimalAtZero) {
  for (const PlannerInfo& info : planners()) {
    const Plan made = plan(Problem{}, info.kind);
    EXPECT_EQ(made.status, PlanStatus::kProvedOptimal);
    EXPECT_EQ(made.peak, Bytes{});
    EXPECT_TRUE(made.offsets.empty());
  }
}

TEST(PlannersTest, NeverLiveBuffersCountInNoPeak) {
  const Problem problem{{buffer("a", 0, 9, 3), buffer("empty", 4, 4, 100)}};
  for (const PlannerInfo& info : planners()) {
    EXPECT_EQ(plan(problem, info.kind).peak.count(), 3) << info.name;
  }
}

// By start: a [0,2) 2 at 0, b [1,9) 2 at 2, c [2,9) 4 fits not below b, so at 4: 8.
// By size:  c at 0, a beside it at 0, b above both at 4: 6, which is the load.
TEST(BestOf, TakesFirstFitBySizeWhereThatIsLower) {
  const Problem problem{{buffer("a", 0, 2, 2), buffer("b", 1, 9, 2), buffer("c", 2, 9, 4)}};
  EXPECT_EQ(plan(problem, PlannerKind::kBestFitByStart).peak.count(), 8);
  EXPECT_EQ(plan(problem, PlannerKind::kBestFitByStart).status, PlanStatus::kFeasible);
  const Plan best = plan(problem, PlannerKind::kBestOf);
  EXPECT_EQ(best.planner, "first-fit-by-size");
  EXPECT_EQ(best.peak.count(), 6);
  EXPECT_EQ(best.status, PlanStatus::kProvedOptimal);
}

// a [0,2) 5   b [0,3) 1   c [2,5) 2   d [3,4) 4
// By size:  a and d at 0, c above d at 4, b above a and c at 6: 7.
// By start: a at 0, b at 5, c below b at 0, d above c at 2: 6, which is the load.
TEST(BestOf, TakesBestFitByStartWhereThatIsLower) {
  const Problem problem{
      {buffer("a", 0, 2, 5), buffer("b", 0, 3, 1), buffer("c", 2, 5, 2), buffer("d", 3, 4, 4)}};
  EXPECT_EQ(plan(problem, PlannerKind::kFirstFitBySize).peak.count(), 7);
  const Plan best = plan(problem, PlannerKind::kBestOf);
  EXPECT_EQ(best.planner, "best-fit-by-start");
  EXPECT_EQ(best.peak.count(), 6);
  EXPECT_EQ(best.status, PlanStatus::kProvedOptimal);
  EXPECT_THAT(counts(best.offsets), ElementsAre(0, 5, 0, 2));
}

// Both need 26; they differ in where "new" stands. The tie goes to first-fit-by-size.
TEST(BestOf, BreaksATieForFirstFitBySize) {
  const Problem problem{{buffer("lead", 0, 3, 8), buffer("first", 1, 9, 7), buffer("mid", 1, 3, 6),
                         buffer("second", 2, 9, 5), buffer("new", 3, 9, 2)}};
  ASSERT_EQ(plan(problem, PlannerKind::kBestFitByStart).peak.count(), 26);
  const Plan best = plan(problem, PlannerKind::kBestOf);
  EXPECT_EQ(best.planner, "first-fit-by-size");
  EXPECT_EQ(best.offsets.back().count(), 0);
}

TEST(PlannersTest, ANegativeSizeIsABug) {
  const Problem problem{{buffer("a", 0, 2, -1)}};
  for (const PlannerInfo& info : planners()) {
    EXPECT_THROW(plan(problem, info.kind), InternalError);
  }
}

TEST(PlannersTest, APeakBeyond63BitsThrows) {
  const int64_t half = int64_t{1} << 62;
  const Problem problem{{buffer("a", 0, 2, half), buffer("b", 1, 3, half)}};
  for (const PlannerInfo& info : planners()) {
    EXPECT_THROW(plan(problem, info.kind), std::overflow_error);
  }
}

// A chain in which each buffer meets the one before and the one after: two slots that alternate.
TEST(PlannersTest, AChainOfThousandsNeedsTwoSlots) {
  Problem problem;
  for (int64_t i = 0; i < 3000; ++i) problem.buffers.push_back(buffer("", i, i + 2, 64));
  const Plan best = plan(problem, PlannerKind::kBestOf);
  EXPECT_EQ(best.peak.count(), 128);
  EXPECT_EQ(best.status, PlanStatus::kProvedOptimal);
  EXPECT_TRUE(validate(problem, best).empty());
}

}  // namespace
}  // namespace tidemark

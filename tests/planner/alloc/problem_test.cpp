#include "planner/alloc/problem.h"

#include <gtest/gtest.h>

#include "planner/alloc/validate.h"
#include "problems.h"

namespace tidemark {
namespace {

// The worked example and its picture in problem.h.
TEST(ProblemTest, FiveBuffers) {
  const Problem problem = five_buffers();
  EXPECT_EQ(peak_load(problem).count(), 12);
  EXPECT_EQ(no_reuse_bytes(problem).count(), 20);

  const Plan pictured{.status = PlanStatus::kProvedOptimal,
                      .offsets = bytes({8, 8, 4, 4, 0}),
                      .peak = Bytes::of(12),
                      .lower_bound = Bytes::of(12)};
  EXPECT_TRUE(validate(problem, pictured).empty());
}

struct TotalsCase {
  std::string name{};
  std::vector<Buffer> buffers{};
  int64_t peak_load = 0;
  int64_t no_reuse = 0;
};

class ProblemTotalsTest : public testing::TestWithParam<TotalsCase> {};

TEST_P(ProblemTotalsTest, AreAsWorkedByHand) {
  const Problem problem{GetParam().buffers};
  EXPECT_EQ(peak_load(problem).count(), GetParam().peak_load);
  EXPECT_EQ(no_reuse_bytes(problem).count(), GetParam().no_reuse);
}

INSTANTIATE_TEST_SUITE_P(
    Problems, ProblemTotalsTest,
    testing::Values(
        TotalsCase{.name = "NoBuffers", .buffers = {}, .peak_load = 0, .no_reuse = 0},
        TotalsCase{
            .name = "OneBuffer", .buffers = {buffer("a", 2, 3, 7)}, .peak_load = 7, .no_reuse = 7},
        // [0,3) and [3,5) share no instant.
        TotalsCase{.name = "TouchingLifetimes",
                   .buffers = {buffer("a", 0, 3, 7), buffer("b", 3, 5, 6)},
                   .peak_load = 7,
                   .no_reuse = 13},
        TotalsCase{.name = "OneSharedInstant",
                   .buffers = {buffer("a", 0, 4, 7), buffer("b", 3, 5, 6)},
                   .peak_load = 13,
                   .no_reuse = 13},
        // The order of the buffers does not matter: at 3 one of 6 follows one of 7.
        TotalsCase{.name = "TouchingLifetimesLaterFirst",
                   .buffers = {buffer("b", 3, 5, 6), buffer("a", 0, 3, 7)},
                   .peak_load = 7,
                   .no_reuse = 13},
        // Load 1, then 1+2+4 at [4,5), then 4.
        TotalsCase{.name = "PeakInTheMiddle",
                   .buffers = {buffer("a", 0, 5, 1), buffer("b", 3, 6, 2), buffer("c", 4, 9, 4)},
                   .peak_load = 7,
                   .no_reuse = 7},
        TotalsCase{.name = "NegativeInstants",
                   .buffers = {buffer("a", -5, -2, 3), buffer("b", -3, 1, 4)},
                   .peak_load = 7,
                   .no_reuse = 7},
        // Load counts sizes as given; apart, each is rounded up to its own alignment: 8 + 8 + 1.
        TotalsCase{
            .name = "Alignment",
            .buffers = {buffer("a", 0, 2, 5, 8), buffer("b", 0, 2, 8, 8), buffer("c", 0, 2, 1)},
            .peak_load = 14,
            .no_reuse = 17},
        TotalsCase{.name = "NeverLive",
                   .buffers = {buffer("a", 0, 9, 3), buffer("empty", 4, 4, 100),
                               buffer("backwards", 5, 2, 100), buffer("nothing", 0, 9, 0)},
                   .peak_load = 3,
                   .no_reuse = 3}),
    [](const auto& row) { return row.param.name; });

TEST(ProblemTest, ABufferIsEverLiveWhenItHasASizeAndAnInstant) {
  EXPECT_TRUE(is_ever_live(buffer("", 0, 1, 1)));
  EXPECT_FALSE(is_ever_live(buffer("", 0, 1, 0)));
  EXPECT_FALSE(is_ever_live(buffer("", 1, 1, 1)));
}

TEST(ProblemTest, TotalsBeyond63BitsThrow) {
  const int64_t half = int64_t{1} << 62;
  const Problem together{{buffer("a", 0, 2, half), buffer("b", 1, 3, half)}};
  EXPECT_THROW(peak_load(together), std::overflow_error);
  EXPECT_THROW(no_reuse_bytes(together), std::overflow_error);
  const Problem apart{{buffer("a", 0, 1, half), buffer("b", 1, 3, half)}};
  EXPECT_EQ(peak_load(apart).count(), half);
}

TEST(ProblemTest, StatusesAreNamedAsInTheJson) {
  EXPECT_EQ(name_of(PlanStatus::kProvedOptimal), "proved_optimal");
  EXPECT_EQ(name_of(PlanStatus::kFeasible), "feasible");
  EXPECT_EQ(name_of(PlanStatus::kInfeasible), "infeasible");
  EXPECT_EQ(name_of(PlanStatus::kLimitReached), "limit_reached");
}

}  // namespace
}  // namespace tidemark

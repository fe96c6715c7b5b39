#include "planner/lifetime/load_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/base/check.h"

namespace tidemark {
namespace {

ArenaBuffer live(int64_t lower, int64_t upper, int64_t size) {
  return {Bytes::of(size), {StepIndex(lower), StepIndex(upper)}, {TensorId(0)}};
}

struct LoadCase {
  std::string name{};
  std::vector<ArenaBuffer> buffers{};
  int64_t step_count = 0;
  std::vector<int64_t> load{};
  int64_t peak = 0;
  int64_t peak_step = 0;
};

class LoadProfileTest : public testing::TestWithParam<LoadCase> {};

TEST_P(LoadProfileTest, IsTheSumOfWhatIsLiveAtEachStep) {
  const LoadCase& row = GetParam();
  const LoadProfile profile = load_profile(row.buffers, row.step_count);
  std::vector<int64_t> load;
  for (const Bytes at_step : profile.load) load.push_back(at_step.count());
  EXPECT_EQ(load, row.load);
  EXPECT_EQ(profile.peak.count(), row.peak);
  EXPECT_EQ(profile.peak_step, StepIndex(row.peak_step));
}

INSTANTIATE_TEST_SUITE_P(
    Profiles, LoadProfileTest,
    testing::Values(
        LoadCase{"NoSteps", {}, 0, {}, 0, 0}, LoadCase{"NothingLive", {}, 3, {0, 0, 0}, 0, 0},
        LoadCase{"AllSteps", {live(0, 3, 5)}, 3, {5, 5, 5}, 5, 0},
        LoadCase{"OneStep", {live(1, 2, 5)}, 3, {0, 5, 0}, 5, 1},
        // b begins where a ends: never both.
        LoadCase{"TouchingLifetimes", {live(0, 2, 5), live(2, 4, 6)}, 4, {5, 5, 6, 6}, 6, 2},
        LoadCase{"OneSharedStep", {live(0, 3, 5), live(2, 4, 6)}, 4, {5, 5, 11, 6}, 11, 2},
        LoadCase{
            "TheFirstStepOfEqualPeaks", {live(1, 2, 5), live(3, 4, 5)}, 5, {0, 5, 0, 5, 0}, 5, 1},
        LoadCase{"EmptyLifetime", {live(1, 1, 9), live(0, 2, 3)}, 2, {3, 3}, 3, 0},
        LoadCase{"EmptyLifetimeAtTheEnd", {live(2, 2, 9)}, 2, {0, 0}, 0, 0},
        // The five buffers of planner/alloc/problem.h on a coarser clock: 12, then 8.
        LoadCase{"FiveBuffers",
                 {live(0, 1, 4), live(1, 3, 4), live(0, 3, 4), live(3, 7, 4), live(0, 7, 4)},
                 7,
                 {12, 12, 12, 8, 8, 8, 8},
                 12,
                 0}),
    [](const auto& row) { return row.param.name; });

TEST(LoadProfileChecks, ALifetimeOutsideTheScheduleIsABug) {
  EXPECT_NO_THROW(load_profile({live(0, 4, 1)}, 4));
  EXPECT_THROW(load_profile({live(0, 5, 1)}, 4), InternalError);
  EXPECT_THROW(load_profile({live(-1, 2, 1)}, 4), InternalError);
  EXPECT_THROW(load_profile({live(3, 2, 1)}, 4), InternalError);
  EXPECT_THROW(load_profile({}, -1), InternalError);
}

TEST(LoadProfileChecks, ALoadBeyond63BitsThrows) {
  const int64_t half = int64_t{1} << 62;
  EXPECT_THROW(load_profile({live(0, 2, half), live(1, 3, half)}, 3), std::overflow_error);
  EXPECT_THROW(load_profile({live(1, 3, half), live(1, 3, half)}, 3), std::overflow_error);
  EXPECT_EQ(load_profile({live(0, 2, half), live(2, 3, half)}, 3).peak.count(), half);
}

}  // namespace
}  // namespace tidemark

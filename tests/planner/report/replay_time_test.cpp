#include "planner/report/replay_time.h"

#include <gtest/gtest.h>

#include "planner/report/replay_report.h"

namespace tidemark {
namespace {

ReplayReport timed() {
  return {.strategy = "layerwise",
          .time = TimeComparison{
              .predicted = Duration::ms(2500),
              .measured = Duration::ms(2600),
              .runs = {Duration::ms(2500), Duration::ms(2600), Duration::ms(3000)},
              .parts = {{"weights, decode", 120, Duration::ms(2000), Duration::ms(2200)},
                        {"matmul, decode", 800, Duration::ms(400), Duration::ms(300)}}}};
}

TEST(ReplayTimeTest, ErrorsAreOfThePrediction) {
  EXPECT_DOUBLE_EQ(time_error(Duration::ms(2000), Duration::ms(2200)), 0.1);
  EXPECT_DOUBLE_EQ(time_error(Duration::ms(400), Duration::ms(300)), -0.25);
  EXPECT_DOUBLE_EQ(time_error(Duration{}, Duration::ms(1)), 0.0);
}

TEST(ReplayTimeTest, TwoTables) {
  EXPECT_EQ(time_section(std::vector<ReplayReport>{timed()}),
            "  strategy   predicted time  measured time   error                   runs\n"
            "  layerwise          2.50 s         2.60 s  +4.0 %  3 of 2.50 s to 3.00 s\n"
            "\n"
            "  strategy   part             steps  predicted  measured    error\n"
            "  layerwise  weights, decode    120     2.00 s    2.20 s  +10.0 %\n"
            "             matmul, decode     800     400 ms    300 ms  -25.0 %\n"
            "\n");
}

TEST(ReplayTimeTest, OneRunHasNoRange) {
  ReplayReport report = timed();
  report.time->runs = {Duration::ms(2600)};
  EXPECT_NE(time_section(std::vector<ReplayReport>{report}).find("  1 of 2.60 s\n"),
            std::string::npos);
}

TEST(ReplayTimeTest, WithoutTimesThereIsNothingToSay) {
  EXPECT_EQ(time_section(std::vector<ReplayReport>{ReplayReport{}}), "");
}

}  // namespace
}  // namespace tidemark

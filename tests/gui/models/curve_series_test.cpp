#include "gui/models/curve_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace tidemark {
namespace {

using literals::operator""_MiB;
using ::testing::ElementsAre;

// 0 s: 100 of weights and 50 of KV cache; 1 s: 300 and 50; 2 s: 100 and 60; ends at 4 s.
SimReport small_run() {
  SimReport report;
  report.model.name = "small";
  report.device.name = "phone";
  report.device.limit.limit = 400_MiB;
  report.strategy = "layerwise";
  report.curve = {{.time = Duration::s(0), .weights = 100_MiB, .kv_cache = 50_MiB},
                  {.time = Duration::s(1), .weights = 300_MiB, .kv_cache = 50_MiB},
                  {.time = Duration::s(2), .weights = 100_MiB, .kv_cache = 60_MiB}};
  report.peak = 350_MiB;
  report.peak_time = Duration::s(1);
  report.end = Duration::s(4);
  return report;
}

double bytes(Bytes count) { return static_cast<double>(count.count()); }

TEST(CurveSeries, KeepsTheLowestAndHighestOfEachColumn) {
  const std::vector<int64_t> x{0, 1, 2, 3, 4, 6, 8};
  const std::vector<int64_t> y{5, 6, 1, 9, 4, 2, 7};
  EXPECT_THAT(points_to_keep(x, y, 2), ElementsAre(0, 2, 3, 5, 6));
}

TEST(CurveSeries, KeepsAllOfAShortCurve) {
  const std::vector<int64_t> x{0, 1, 5};
  const std::vector<int64_t> y{2, 2, 2};
  EXPECT_THAT(points_to_keep(x, y, 10), ElementsAre(0, 1, 2));
  EXPECT_TRUE(points_to_keep({}, {}, 10).empty());
}

// Against the definition, column by column.
RC_GTEST_PROP(CurveSeriesLaws, WhatIsKeptHasTheSameExtremesInEveryColumn, ()) {
  const auto steps =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<std::pair<int64_t, int64_t>>>(
          rc::gen::pair(rc::gen::inRange<int64_t>(0, 50), rc::gen::inRange<int64_t>(0, 1000))));
  std::vector<int64_t> x;
  std::vector<int64_t> y;
  for (const auto& [gap, value] : steps) {
    x.push_back((x.empty() ? 0 : x.back()) + gap);
    y.push_back(value);
  }
  const int columns = *rc::gen::inRange(1, 20);
  const std::vector<size_t> kept = points_to_keep(x, y, columns);
  RC_ASSERT(kept.size() <= static_cast<size_t>(2 * columns + 2));
  RC_ASSERT(std::is_sorted(kept.begin(), kept.end(), std::less_equal<>()));
  RC_ASSERT(kept.front() == 0U);
  RC_ASSERT(kept.back() == x.size() - 1);
  const double width = static_cast<double>(x.back() - x.front());
  for (int column = 0; column < columns; ++column) {
    std::vector<int64_t> all;
    std::vector<int64_t> seen;
    for (size_t i = 0; i < x.size(); ++i) {
      const double share = width > 0 ? static_cast<double>(x[i] - x.front()) / width : 0.0;
      if (std::min(static_cast<int>(share * columns), columns - 1) != column) continue;
      all.push_back(y[i]);
      if (std::find(kept.begin(), kept.end(), i) != kept.end()) seen.push_back(y[i]);
    }
    if (all.empty()) continue;
    RC_ASSERT(*std::max_element(all.begin(), all.end()) ==
              *std::max_element(seen.begin(), seen.end()));
    RC_ASSERT(*std::min_element(all.begin(), all.end()) ==
              *std::min_element(seen.begin(), seen.end()));
  }
}

TEST(CurveSeries, StacksThePartsThatAreThereWithTheJaggedOnTop) {
  const ChartShapes shapes = simulation_shapes(small_run());
  ASSERT_EQ(shapes.bands.size(), 2U);
  EXPECT_EQ(shapes.bands[0].label, "KV cache");
  EXPECT_EQ(shapes.bands[1].label, "weights");
  EXPECT_EQ(shapes.bands[0].upper, shapes.bands[1].lower);
  const QList<QPointF>& top = shapes.bands[1].upper;
  // Each level holds until the next: two corners a point, the last at the end of the run.
  ASSERT_EQ(top.size(), 6);
  EXPECT_EQ(top[2], QPointF(1e9, bytes(350_MiB)));
  EXPECT_EQ(top[3], QPointF(2e9, bytes(350_MiB)));
  EXPECT_EQ(top[5], QPointF(4e9, bytes(160_MiB)));
}

TEST(CurveSeries, MarksPeakAndLimitExactly) {
  const ChartShapes shapes = simulation_shapes(small_run());
  ASSERT_TRUE(shapes.peak && shapes.limit);
  EXPECT_EQ(shapes.peak->at, QPointF(1e9, bytes(350_MiB)));
  EXPECT_EQ(shapes.peak->label, "peak 350 MiB");
  EXPECT_EQ(shapes.limit->at.y(), bytes(400_MiB));
  EXPECT_EQ(shapes.limit->label, "limit 400 MiB");
  EXPECT_GT(shapes.top, bytes(400_MiB));
}

TEST(CurveSeries, ALimitFarAboveIsNamedButDoesNotFlattenTheCurve) {
  SimReport report = small_run();
  report.device.limit.limit = 8000_MiB;
  const ChartShapes shapes = simulation_shapes(report);
  EXPECT_LT(shapes.top, bytes(500_MiB));
  EXPECT_GT(shapes.limit->at.y(), shapes.top);
  EXPECT_EQ(shapes.limit->label, "limit 7.81 GiB, above this scale");
}

TEST(CurveSeries, AHiddenPartTakesNoRoom) {
  const ChartShapes shapes = simulation_shapes(small_run(), {"kv_cache"});
  ASSERT_EQ(shapes.bands.size(), 2U);
  EXPECT_TRUE(shapes.bands[0].hidden);
  EXPECT_EQ(shapes.bands[1].upper[2].y(), bytes(300_MiB));
  EXPECT_EQ(shapes.bands[1].lower[2].y(), 0);
}

TEST(CurveSeries, ALongCurveKeepsItsPeakWithinTheBound) {
  SimReport report = small_run();
  report.curve.clear();
  for (int64_t i = 0; i < 100000; ++i) {
    const bool is_peak = i == 70001;
    report.curve.push_back(
        {.time = Duration::us(i), .weights = is_peak ? 350_MiB : (i % 300) * 1_MiB});
  }
  report.peak_time = Duration::us(70001);
  report.end = Duration::us(100000);
  const ChartShapes shapes = simulation_shapes(report);
  for (const CurveBand& band : shapes.bands) {
    EXPECT_LE(static_cast<size_t>(band.upper.size()), kMostCorners);
  }
  EXPECT_TRUE(shapes.bands.back().upper.contains(QPointF(70001e3, bytes(350_MiB))));
}

TEST(CurveSeries, DescribesWhatIsResidentAtATime) {
  const SimReport report = small_run();
  EXPECT_EQ(describe_point(report, 1.5e9),
            "at 1.50 s\n"
            "weights  300 MiB (314,572,800 B), 85.7 %\n"
            "KV cache  50.0 MiB (52,428,800 B), 14.3 %\n"
            "total  350 MiB (367,001,600 B)");
  EXPECT_EQ(describe_point(report, -1), "");
  EXPECT_EQ(describe_point(report, 4.1e9), "");
}

// Killed at 2 s, at its peak: what was resident then would have no width.
TEST(CurveSeries, TheInstantOfAKillIsSeen) {
  SimReport report = small_run();
  report.curve[2] = {.time = Duration::s(2), .weights = 500_MiB};
  report.end = Duration::s(2);
  report.outcome = SimOutcome::kKilled;
  const ChartShapes shapes = simulation_shapes(report);
  EXPECT_EQ(shapes.x_label, "time since start; killed at 2.00 s");
  EXPECT_EQ(shapes.y_label, "resident memory");
  EXPECT_EQ(shapes.right, 2.02e9);
  EXPECT_EQ(shapes.bands.back().upper.back(), QPointF(2.02e9, bytes(500_MiB)));
  EXPECT_TRUE(describe_point(report, 2.01e9).startsWith("at 2.00 s\nweights  500 MiB"));
  EXPECT_EQ(describe_point(report, 2.03e9), "");
  report.outcome = SimOutcome::kCompleted;
  EXPECT_EQ(simulation_shapes(report).right, 2e9);
}

TEST(CurveSeries, AnEmptyCurveHasAxesAndNoShapes) {
  const ChartShapes shapes = simulation_shapes(SimReport{});
  EXPECT_TRUE(shapes.bands.empty());
  EXPECT_FALSE(shapes.peak.has_value());
  EXPECT_GT(shapes.right, 0);
  EXPECT_GT(shapes.top, 0);
}

}  // namespace
}  // namespace tidemark

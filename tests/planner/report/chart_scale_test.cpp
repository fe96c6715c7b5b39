#include "planner/report/chart_scale.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace tidemark {
namespace {

using namespace tidemark::literals;

std::vector<std::string> labels_of(const std::vector<Tick>& ticks) {
  std::vector<std::string> labels;
  for (const Tick& tick : ticks) labels.push_back(tick.label);
  return labels;
}

using Labels = std::vector<std::string>;

TEST(ChartScaleTest, ByteTicks) {
  EXPECT_EQ(labels_of(byte_ticks(3_GiB, 6)),
            (Labels{"0", "512 MiB", "1 GiB", "1.5 GiB", "2 GiB", "2.5 GiB", "3 GiB"}));
  EXPECT_EQ(labels_of(byte_ticks(12_B, 6)),
            (Labels{"0", "2 B", "4 B", "6 B", "8 B", "10 B", "12 B"}));
  EXPECT_EQ(labels_of(byte_ticks(700_KiB, 4)), (Labels{"0", "256 KiB", "512 KiB"}));
  EXPECT_EQ(labels_of(byte_ticks(0_B, 4)), (Labels{"0"}));
}

TEST(ChartScaleTest, TimeTicks) {
  EXPECT_EQ(labels_of(time_ticks(Duration::s(9), 6)), (Labels{"0 s", "2 s", "4 s", "6 s", "8 s"}));
  EXPECT_EQ(labels_of(time_ticks(Duration::ms(120), 3)), (Labels{"0 ms", "50 ms", "100 ms"}));
  EXPECT_EQ(labels_of(time_ticks(Duration::ms(1500), 4)), (Labels{"0 s", "0.5 s", "1 s", "1.5 s"}));
}

TEST(ChartScaleTest, TicksStayWithinTheAxisAndTheirNumber) {
  EXPECT_TRUE(rc::check([] {
    const auto top = *rc::gen::inRange<int64_t>(1, INT64_MAX);
    const int at_most = *rc::gen::inRange(2, 12);
    for (const std::vector<Tick>& ticks :
         {byte_ticks(Bytes::of(top), at_most), time_ticks(Duration::ns(top), at_most)}) {
      RC_ASSERT(ticks.size() <= static_cast<size_t>(at_most) + 1);
      RC_ASSERT(ticks.back().value <= top);
      for (size_t i = 1; i < ticks.size(); ++i) RC_ASSERT(ticks[i].value > ticks[i - 1].value);
    }
  }));
}

CurvePoint at_ms(int64_t time, int64_t weights) {
  return {.time = Duration::ms(time), .weights = Bytes::of(weights)};
}

TEST(ChartScaleTest, EnvelopeByHand) {
  const std::vector<CurvePoint> curve{at_ms(0, 2), at_ms(1200, 8), at_ms(1400, 2)};
  const Envelope both = envelope(curve, Duration::s(4), 4);
  // Equal neighbours are one point.
  EXPECT_EQ(both.highest, (std::vector<CurvePoint>{at_ms(0, 2), at_ms(1000, 8), at_ms(2000, 2)}));
  EXPECT_EQ(both.lowest, (std::vector<CurvePoint>{at_ms(0, 2)}));
}

// The total a step curve holds at `time`, by definition: that of the last point not after it.
Bytes total_at(const std::vector<CurvePoint>& curve, Duration time) {
  Bytes total;
  for (const CurvePoint& point : curve) {
    if (point.time <= time) total = point.total();
  }
  return total;
}

TEST(ChartScaleTest, TheCurveLiesWithinItsEnvelopeAndThePeakIsKept) {
  EXPECT_TRUE(rc::check([] {
    std::vector<CurvePoint> curve;
    int64_t time = 0;
    for (int i = *rc::gen::inRange(1, 60); i > 0; --i) {
      curve.push_back(at_ms(time, *rc::gen::inRange(0, 100)));
      time += *rc::gen::inRange(0, 50);
    }
    const Duration end = Duration::ms(std::max<int64_t>(time, 1));
    const int columns = *rc::gen::inRange(1, 20);
    const Envelope both = envelope(curve, end, columns);
    RC_ASSERT(both.highest.size() <= static_cast<size_t>(columns));
    Bytes peak;
    for (const CurvePoint& point : curve) {
      // A point in an instant that the next one shares may belong to a later slice by rounding;
      // compare at its time.
      RC_ASSERT(total_at(both.lowest, point.time) <= point.total());
      RC_ASSERT(total_at(both.highest, point.time) >= point.total());
      peak = std::max(peak, point.total());
    }
    Bytes kept;
    for (const CurvePoint& point : both.highest) kept = std::max(kept, point.total());
    RC_ASSERT(kept == peak);
  }));
}

}  // namespace
}  // namespace tidemark

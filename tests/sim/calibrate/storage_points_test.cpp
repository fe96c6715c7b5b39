#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "sim/calibrate/storage.h"

namespace tidemark {
namespace {

MeasuredPoint point(ReadOrder order, int64_t kib, int64_t depth, int64_t rate) {
  return {.point = {.order = order,
                    .request = Bytes::of(kib * 1024),
                    .depth = depth,
                    .rate = BytesPerSecond::of(rate)}};
}

TEST(StoragePointsTest, ALargerRequestGetsTheTimeOfTheSmaller) {
  std::vector<MeasuredPoint> points{point(ReadOrder::kRandom, 8, 1, 100'000'000),
                                    point(ReadOrder::kRandom, 4, 1, 40'000'000)};
  make_monotonic(points);
  EXPECT_EQ(points[0].point.request, Bytes::of(4096));
  EXPECT_EQ(points[0].point.rate, BytesPerSecond::of(40'000'000));
  // 8,192 B in 102,400 ns.
  EXPECT_EQ(points[1].point.rate, BytesPerSecond::of(80'000'000));
}

TEST(StoragePointsTest, OtherDepthsAndOrdersAreLeftAlone) {
  std::vector<MeasuredPoint> points{point(ReadOrder::kRandom, 4, 1, 40'000'000),
                                    point(ReadOrder::kRandom, 8, 8, 900'000'000),
                                    point(ReadOrder::kSequential, 8, 1, 900'000'000)};
  make_monotonic(points);
  EXPECT_EQ(std::ranges::count_if(points,
                                  [](const MeasuredPoint& measured) {
                                    return measured.point.rate == BytesPerSecond::of(900'000'000);
                                  }),
            2);
}

TEST(StoragePointsTest, NoLargerRequestIsEverQuicker) {
  EXPECT_TRUE(rc::check("what the loader refuses is never made", [] {
    std::vector<MeasuredPoint> points;
    for (int64_t kib = 4; kib <= 65536; kib *= 4) {
      points.push_back(
          point(ReadOrder::kSequential, kib, 1, *rc::gen::inRange<int64_t>(1, 20'000'000'000)));
    }
    make_monotonic(points);
    for (size_t i = 1; i < points.size(); ++i) {
      const StoragePoint& small = points[i - 1].point;
      const StoragePoint& large = points[i].point;
      RC_ASSERT(transfer_time(small.request, small.rate) <=
                transfer_time(large.request, large.rate));
    }
  }));
}

TEST(StoragePointsTest, WantedPointsAreDistinctAndFitTheFile) {
  for (const bool quick : {false, true}) {
    const Bytes file = Bytes::of(int64_t{16} << 20);
    std::set<std::tuple<ReadOrder, Bytes, int64_t>> seen;
    for (const PointWanted& wanted : points_wanted(quick, file)) {
      EXPECT_LE(wanted.request, file);
      EXPECT_TRUE(seen.emplace(wanted.order, wanted.request, wanted.depth).second);
    }
    EXPECT_GE(seen.size(), 4U);
  }
}

}  // namespace
}  // namespace tidemark

#include "sim/calibrate/spread.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace tidemark {
namespace {

TEST(SpreadTest, ByHand) {
  // Sorted: 9 10 10 11 30. The middle is the third; quartiles are the middles of 9 10 10 and of
  // 10 11 30.
  const Spread spread = spread_of({30.0, 9.0, 11.0, 10.0, 10.0});
  EXPECT_EQ(spread.mean, 14.0);  // 70 / 5
  EXPECT_EQ(spread.median, 10.0);
  EXPECT_EQ(spread.lower_quartile, 10.0);
  EXPECT_EQ(spread.upper_quartile, 11.0);
  EXPECT_EQ(spread.least, 9.0);
  EXPECT_EQ(spread.most, 30.0);
  EXPECT_EQ(spread.count, 5);
  EXPECT_DOUBLE_EQ(width(spread), 0.1);
}

TEST(SpreadTest, OfTenTheMeanLeavesOutTheLeastAndTheMost) {
  // 1 and 1,000 are left out of 1 2 2 2 2 2 2 2 10 1000: 24 / 8.
  EXPECT_EQ(spread_of({1000, 2, 2, 2, 1, 2, 2, 10, 2, 2}).mean, 3.0);
}

TEST(SpreadTest, AnEvenNumberHasTheMeanOfTheMiddleTwo) {
  const Spread spread = spread_of({4.0, 1.0, 3.0, 2.0});
  EXPECT_EQ(spread.median, 2.5);
  EXPECT_EQ(spread.lower_quartile, 1.5);
  EXPECT_EQ(spread.upper_quartile, 3.5);
}

TEST(SpreadTest, OneValueIsAllOfThem) {
  const Spread spread = spread_of({7.0});
  EXPECT_EQ(spread.median, 7.0);
  EXPECT_EQ(spread.least, 7.0);
  EXPECT_EQ(spread.most, 7.0);
  EXPECT_EQ(width(spread), 0.0);
}

// 100 B in 4, 5 and 10 s: 25, 20 and 10 B/s; the longest time is the lowest rate.
TEST(SpreadTest, TimesBecomeRates) {
  const Spread rates = inverse(spread_of({4.0, 5.0, 10.0}), 100.0);
  EXPECT_DOUBLE_EQ(rates.mean, 300.0 / 19.0);  // 300 B in 19 s
  EXPECT_EQ(rates.median, 20.0);
  EXPECT_EQ(rates.least, 10.0);
  EXPECT_EQ(rates.most, 25.0);
  EXPECT_EQ(rates.count, 3);
  // Times' quartiles: the middles of 4 5 and of 5 10.
  EXPECT_DOUBLE_EQ(rates.lower_quartile, 100.0 / 7.5);
  EXPECT_DOUBLE_EQ(rates.upper_quartile, 100.0 / 4.5);
}

TEST(SpreadTest, ScaledByAPage) {
  // 4 pages in 400 ns: a quarter each.
  const Spread each = scaled(spread_of({400.0, 800.0, 1200.0}), 0.25);
  EXPECT_EQ(each.mean, 200.0);
  EXPECT_EQ(each.median, 200.0);
  EXPECT_EQ(each.least, 100.0);
  EXPECT_EQ(each.most, 300.0);
}

TEST(SpreadTest, PartsLieInOrder) {
  EXPECT_TRUE(rc::check("least <= lower quartile <= median <= upper quartile <= most", [] {
    const auto values =
        *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 1'000'000)));
    const Spread spread = spread_of(std::vector<double>(values.begin(), values.end()));
    RC_ASSERT(spread.least <= spread.lower_quartile);
    RC_ASSERT(spread.lower_quartile <= spread.median);
    RC_ASSERT(spread.median <= spread.upper_quartile);
    RC_ASSERT(spread.upper_quartile <= spread.most);
    // At least half of the values lie at or below the median, and at or above.
    const auto below = std::ranges::count_if(values, [&](int v) { return v <= spread.median; });
    const auto above = std::ranges::count_if(values, [&](int v) { return v >= spread.median; });
    RC_ASSERT(2 * below >= std::ssize(values));
    RC_ASSERT(2 * above >= std::ssize(values));
  }));
}

}  // namespace
}  // namespace tidemark

#include "sim/calibrate/fit.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

namespace tidemark {
namespace {

TEST(FitTest, ALineByHand) {
  // 800 ns for 8,000 more values: 0.1 ns each, so 100 of the 300 ns are the first 1,000.
  const OpRate rate =
      fit_line({.operations = 1000.0, .ns = 300.0}, {.operations = 9000.0, .ns = 1100.0});
  EXPECT_EQ(rate.rate, OpsPerSecond::of(10'000'000'000));
  EXPECT_EQ(rate.overhead, Duration::ns(200));
  EXPECT_EQ(rate.output_rate, OpsPerSecond{});
}

// 9 times the work in 10 times the time: no time is left for an overhead.
TEST(FitTest, ALineThatWouldBeginBelowZeroHasNoOverhead) {
  const OpRate rate =
      fit_line({.operations = 1000.0, .ns = 100.0}, {.operations = 9000.0, .ns = 1000.0});
  EXPECT_EQ(rate.overhead, Duration{});
  EXPECT_EQ(rate.rate, OpsPerSecond::of(9'000'000'000));  // the large size keeps its time
}

// More work in less time: all of it is taken for overhead, and nothing is negative.
TEST(FitTest, ALineOfNoiseHasPositiveParts) {
  const OpRate rate =
      fit_line({.operations = 1000.0, .ns = 500.0}, {.operations = 9000.0, .ns = 400.0});
  EXPECT_EQ(rate.overhead, Duration::ns(500));
  EXPECT_GT(rate.rate, OpsPerSecond{});
}

TEST(FitTest, AProductByHand) {
  // 8,000 ns for 80,000 operations: 0.1 ns each. What is left is 600 ns at 100 outputs, 510 ns at
  // 10: 1 ns an output, 500 ns for the op.
  const OpRate rate = fit_product({.operations = 100'000.0, .outputs = 100.0, .ns = 10'600.0},
                                  {.operations = 20'000.0, .outputs = 100.0, .ns = 2'600.0},
                                  {.operations = 10'000.0, .outputs = 10.0, .ns = 1'510.0});
  EXPECT_EQ(rate.rate, OpsPerSecond::of(10'000'000'000));
  EXPECT_EQ(rate.output_rate, OpsPerSecond::of(1'000'000'000));
  EXPECT_EQ(rate.overhead, Duration::ns(500));
}

// 123,457 ns for 2,000,000 operations, and none left for fewer: the rest is 0, rounding or not.
TEST(FitTest, AllOfTheTimeMayBeOperations) {
  for (int ns = 100; ns < 200'000; ns += 7) {
    const OpRate rate = fit_product({.operations = 2e6, .outputs = 2000.0, .ns = 1.0 * ns},
                                    {.operations = 5e5, .outputs = 2000.0, .ns = 1.0},
                                    {.operations = 2e5, .outputs = 200.0, .ns = 0.1 * ns});
    EXPECT_EQ(rate.overhead, Duration{});
    EXPECT_EQ(rate.output_rate, OpsPerSecond{});
  }
}

TEST(FitTest, FourDigitsAreKept) {
  EXPECT_EQ(rounded(12'344.9), 12'340);
  EXPECT_EQ(rounded(12'345.1), 12'350);
  EXPECT_EQ(rounded(9'999.6), 10'000);
  EXPECT_EQ(rounded(1234.0), 1234);
  EXPECT_EQ(rounded(0.2), 1);
}

double time_of(const OpRate& rate, const TimedSize& size) {
  double ns = static_cast<double>(rate.overhead.count()) +
              size.operations * 1e9 / static_cast<double>(rate.rate.count());
  if (rate.output_rate > OpsPerSecond{}) {
    ns += size.outputs * 1e9 / static_cast<double>(rate.output_rate.count());
  }
  return ns;
}

TEST(FitTest, WhateverTheNoiseTheLargeSizeKeepsItsTime) {
  EXPECT_TRUE(rc::check("a fit gives back the time of the size it was made from", [] {
    const auto ns = [] { return static_cast<double>(*rc::gen::inRange(100, 10'000'000)); };
    const TimedSize large{.operations = 2e6, .outputs = 2000.0, .ns = ns()};
    const OpRate product = fit_product(large, {.operations = 5e5, .outputs = 2000.0, .ns = ns()},
                                       {.operations = 2e5, .outputs = 200.0, .ns = ns()});
    // Three numbers of four digits, and an overhead of whole nanoseconds.
    RC_ASSERT(std::abs(time_of(product, large) - large.ns) <= large.ns * 2e-3 + 2.0);
  }));
}

}  // namespace
}  // namespace tidemark

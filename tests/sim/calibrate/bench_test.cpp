#include "sim/calibrate/bench.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

// A clock that only work moves.
class BenchTest : public ::testing::Test {
 protected:
  BenchOptions options() {
    return {.repeats = 5, .least = Duration::ns(1000), .most = Duration::ms(1), .clock = [this] {
              return now_;
            }};
  }
  void pass(int64_t ns) { now_ += Duration::ns(ns); }

  Duration now_{};
};

TEST_F(BenchTest, ShortWorkIsDoneOftenEnoughForTheClock) {
  int64_t calls = 0;
  const Spread spread = Bench(options()).time([&] {
    ++calls;
    pass(100);
  });
  EXPECT_EQ(spread.median, 100.0);
  EXPECT_EQ(spread.count, 5);
  // Once to warm up, once to see how long it takes, then five times 1,000 / 100 calls.
  EXPECT_EQ(calls, 2 + 5 * 10);
}

TEST_F(BenchTest, TheFirstCallIsNotCounted) {
  int64_t calls = 0;
  const Spread spread = Bench(options()).time([&] { pass(++calls == 1 ? 900'000 : 2000); });
  EXPECT_EQ(spread.most, 2000.0);
}

TEST_F(BenchTest, AMeasurementThatTakesLongIsRepeatedLess) {
  // 600,000 ns a call, 1,000,000 at most: two calls before the first repeat have taken that
  // already.
  const Spread spread = Bench(options()).time([&] { pass(600'000); });
  EXPECT_EQ(spread.count, 1);
  EXPECT_EQ(spread.median, 600'000.0);
}

TEST_F(BenchTest, WhatPreparesIsNotTimed) {
  const Spread spread = Bench(options()).time_each([&] { pass(50'000); }, [&] { pass(300); });
  EXPECT_EQ(spread.median, 300.0);
  EXPECT_EQ(spread.count, 5);
}

TEST_F(BenchTest, OnceStoppedNothingMoreIsDone) {
  std::atomic<bool> stop{true};
  BenchOptions stopped = options();
  stopped.stop = &stop;
  int64_t calls = 0;
  const Spread spread = Bench(stopped).time([&] {
    ++calls;
    pass(100);
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(spread.count, 1);
}

TEST_F(BenchTest, InAHurryThereAreFewerAndShorterRepeats) {
  Bench bench(options());
  bench.hurry();
  EXPECT_EQ(bench.options().repeats, 3);
  EXPECT_EQ(bench.options().least, Duration::ns(250));
  EXPECT_EQ(bench.time([&] { pass(100); }).count, 3);
}

TEST_F(BenchTest, AClockThatStandsStillGivesNoZero) {
  EXPECT_EQ(Bench(options()).time_each([] {}, [] {}).median, 1.0);
}

}  // namespace
}  // namespace tidemark

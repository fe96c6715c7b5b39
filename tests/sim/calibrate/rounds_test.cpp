#include "sim/calibrate/rounds.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

// A clock that only work moves.
class RoundsTest : public ::testing::Test {
 protected:
  RoundsOptions options() {
    return {.count = 5, .patience = Duration::ms(1), .least = Duration::ns(1000), .clock = [this] {
              return now_;
            }};
  }
  void pass(int64_t ns) { now_ += Duration::ns(ns); }

  Duration now_{};
};

TEST_F(RoundsTest, EachRoundMeasuresEveryProbeInOrder) {
  RoundsOptions wanted = options();
  wanted.count = 2;
  std::string stages;
  wanted.on_measure = [&](std::string_view stage, int round) {
    stages += std::string(stage) + std::to_string(round) + " ";
  };
  Rounds rounds(wanted);
  double next = 0.0;
  const Probe& a = rounds.add("a", [&] { return ++next; });
  const Probe& b = rounds.add("b", [&] { return ++next; });
  rounds.run();
  EXPECT_EQ(stages, "a0 b0 a1 b1 ");
  EXPECT_EQ(a.values, (std::vector<double>{1.0, 3.0}));
  EXPECT_EQ(b.values, (std::vector<double>{2.0, 4.0}));
  EXPECT_EQ(rounds.made(), 2);
}

TEST_F(RoundsTest, WhatTakesLongIsMeasuredEveryFewRounds) {
  RoundsOptions wanted = options();
  std::string stages;
  wanted.on_measure = [&](std::string_view stage, int round) {
    stages += std::string(stage) + std::to_string(round) + " ";
  };
  Rounds rounds(wanted);
  const Probe& each = rounds.add("each", [] { return 1.0; });
  const Probe& third = rounds.add(
      "third", [] { return 1.0; }, 3);
  rounds.run();
  EXPECT_EQ(stages, "each0 third0 each1 each2 each3 third3 each4 ");
  EXPECT_EQ(each.values.size(), 5U);
  EXPECT_EQ(third.values.size(), 2U);
}

TEST_F(RoundsTest, ShortWorkIsDoneOftenEnoughForTheClock) {
  Rounds rounds(options());
  int64_t calls = 0;
  const Probe& probe = rounds.add("short", rounds.timed([&] {
    ++calls;
    pass(100);
  }));
  rounds.run();
  EXPECT_EQ(probe.spread().median, 100.0);
  EXPECT_EQ(probe.spread().count, 5);
  // Once to warm up, once to see how long it takes, then five times 1,000 / 100 calls.
  EXPECT_EQ(calls, 2 + 5 * 10);
}

TEST_F(RoundsTest, TheFirstCallIsNotCounted) {
  Rounds rounds(options());
  int64_t calls = 0;
  const Probe& probe =
      rounds.add("slow to begin", rounds.timed([&] { pass(++calls == 1 ? 900'000 : 2000); }));
  rounds.run();
  EXPECT_EQ(probe.spread().most, 2000.0);
}

TEST_F(RoundsTest, PastItsPatienceNoFurtherRoundBegins) {
  // A round takes 300,000 ns: one may begin at 900,000, none at 1,200,000.
  Rounds four(options());
  four.add("long", [&] {
    pass(300'000);
    return 1.0;
  });
  four.run();
  EXPECT_EQ(four.made(), 4);
  // 5,000,000 ns: the fewest.
  Rounds two(options());
  two.add("very long", [&] {
    pass(5'000'000);
    return 1.0;
  });
  two.run();
  EXPECT_EQ(two.made(), 2);
}

TEST_F(RoundsTest, OnceStoppedNothingMoreIsMeasured) {
  std::atomic<bool> stop{false};
  RoundsOptions stoppable = options();
  stoppable.stop = &stop;
  Rounds rounds(stoppable);
  const Probe& first = rounds.add("stops", [&] {
    stop = true;
    return 1.0;
  });
  const Probe& second = rounds.add("not any more", [] { return 1.0; });
  rounds.run();
  EXPECT_EQ(first.values.size(), 1U);
  EXPECT_TRUE(second.values.empty());
  EXPECT_EQ(rounds.made(), 0);
}

TEST_F(RoundsTest, AClockThatStandsStillGivesNoZero) {
  EXPECT_EQ(Rounds(options()).ns_of([] {}), 1.0);
}

}  // namespace
}  // namespace tidemark

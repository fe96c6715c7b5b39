#include "sim/core/simulation.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

#include "planner/base/check.h"

namespace tidemark {
namespace {

TEST(SimulationTest, StartsAtTimeZeroWithNothingPending) {
  Simulation simulation;
  EXPECT_EQ(simulation.now(), SimTime{});
  EXPECT_EQ(simulation.pending(), 0);
  EXPECT_FALSE(simulation.step());
}

TEST(SimulationTest, EventsRunInOrderOfTime) {
  Simulation simulation;
  std::string story;
  simulation.at(Duration::ns(30), [&] { story += 'c'; });
  simulation.at(Duration::ns(10), [&] { story += 'a'; });
  simulation.at(Duration::ns(20), [&] { story += 'b'; });
  simulation.run();
  EXPECT_EQ(story, "abc");
  EXPECT_EQ(simulation.now(), Duration::ns(30));
}

TEST(SimulationTest, EventsAtTheSameTimeRunInTheOrderTheyWereScheduled) {
  Simulation simulation;
  std::string story;
  simulation.after(Duration::ns(5), [&] {
    story += 'a';
    simulation.after(Duration{}, [&] { story += 'd'; });
  });
  simulation.at(Duration::ns(5), [&] { story += 'b'; });
  simulation.after(Duration::ns(5), [&] { story += 'c'; });
  simulation.run();
  EXPECT_EQ(story, "abcd");
}

TEST(SimulationTest, TheClockMovesOnlyWhenAnEventRuns) {
  Simulation simulation;
  simulation.after(Duration::ns(7), [] {});
  EXPECT_EQ(simulation.now(), SimTime{});
  EXPECT_TRUE(simulation.step());
  EXPECT_EQ(simulation.now(), Duration::ns(7));
}

TEST(SimulationTest, ACancelledEventDoesNotRun) {
  Simulation simulation;
  std::string story;
  simulation.after(Duration::ns(1), [&] { story += 'a'; });
  const EventId second = simulation.after(Duration::ns(2), [&] { story += 'b'; });
  simulation.after(Duration::ns(3), [&] { story += 'c'; });
  EXPECT_TRUE(simulation.cancel(second));
  EXPECT_EQ(simulation.pending(), 2);
  simulation.run();
  EXPECT_EQ(story, "ac");
}

TEST(SimulationTest, CancellingTwiceOrAfterTheFactSaysFalse) {
  Simulation simulation;
  const EventId ran = simulation.after(Duration::ns(1), [] {});
  simulation.run();
  const EventId waiting = simulation.after(Duration::ns(1), [] {});
  EXPECT_FALSE(simulation.cancel(ran));
  EXPECT_TRUE(simulation.cancel(waiting));
  EXPECT_FALSE(simulation.cancel(waiting));
  simulation.run();
  EXPECT_EQ(simulation.now(), Duration::ns(1));
}

TEST(SimulationTest, RunUntilRunsWhatIsDueAndStopsTheClockThere) {
  Simulation simulation;
  std::string story;
  simulation.after(Duration::ns(10), [&] { story += 'a'; });
  simulation.after(Duration::ns(20), [&] { story += 'b'; });
  simulation.after(Duration::ns(21), [&] { story += 'c'; });
  simulation.run_until(Duration::ns(20));
  EXPECT_EQ(story, "ab");
  EXPECT_EQ(simulation.now(), Duration::ns(20));
  EXPECT_EQ(simulation.pending(), 1);
  simulation.run_until(Duration::ns(20));
  EXPECT_EQ(story, "ab");
}

TEST(SimulationTest, SchedulingInThePastIsABug) {
  Simulation simulation;
  simulation.after(Duration::ns(10), [] {});
  simulation.run();
  EXPECT_THROW(simulation.at(Duration::ns(9), [] {}), InternalError);
  EXPECT_THROW(simulation.after(Duration::ns(-1), [] {}), InternalError);
  EXPECT_THROW(simulation.run_until(Duration::ns(9)), InternalError);
}

TEST(SimulationTest, AnEventWithoutAnActionOnlyMovesTheClock) {
  Simulation simulation;
  simulation.after(Duration::ns(4), nullptr);
  simulation.run();
  EXPECT_EQ(simulation.now(), Duration::ns(4));
}

// The judge: events sorted by time, those of one time left in the order they were scheduled.
TEST(SimulationTest, RandomEventsRunAsAStableSortByTimeWouldOrderThem) {
  EXPECT_TRUE(rc::check("order of a stable sort, less what is cancelled", [] {
    const auto times = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 20));
    const auto dropped =
        *rc::gen::container<std::vector<bool>>(times.size(), rc::gen::arbitrary<bool>());
    Simulation simulation;
    std::vector<size_t> ran;
    std::vector<EventId> ids;
    for (size_t i = 0; i < times.size(); ++i) {
      ids.push_back(simulation.at(Duration::ns(times[i]), [&ran, i] { ran.push_back(i); }));
    }
    std::vector<size_t> expected;
    for (size_t i = 0; i < times.size(); ++i) {
      if (dropped[i]) {
        RC_ASSERT(simulation.cancel(ids[i]));
      } else {
        expected.push_back(i);
      }
    }
    std::stable_sort(expected.begin(), expected.end(),
                     [&times](size_t a, size_t b) { return times[a] < times[b]; });
    simulation.run();
    RC_ASSERT(ran == expected);
    RC_ASSERT(simulation.pending() == 0);
  }));
}

}  // namespace
}  // namespace tidemark

#include "sim/core/simulation.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>

#include "planner/base/check.h"

namespace tidemark {
namespace {

// Every test of this file, with either queue.
class SimulationTest : public ::testing::TestWithParam<QueueKind> {
 protected:
  Simulation simulation{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Queues, SimulationTest,
                         ::testing::Values(QueueKind::kHeap, QueueKind::kCalendar),
                         [](const auto& queue) {
                           return queue.param == QueueKind::kHeap ? "Heap" : "Calendar";
                         });

TEST_P(SimulationTest, StartsAtTimeZeroWithNothingPending) {
  EXPECT_EQ(simulation.now(), SimTime{});
  EXPECT_EQ(simulation.pending(), 0);
  EXPECT_FALSE(simulation.step());
}

TEST_P(SimulationTest, EventsRunInOrderOfTime) {
  std::string story;
  simulation.at(Duration::ns(30), [&] { story += 'c'; });
  simulation.at(Duration::ns(10), [&] { story += 'a'; });
  simulation.at(Duration::ns(20), [&] { story += 'b'; });
  simulation.run();
  EXPECT_EQ(story, "abc");
  EXPECT_EQ(simulation.now(), Duration::ns(30));
}

TEST_P(SimulationTest, EventsAtTheSameTimeRunInTheOrderTheyWereScheduled) {
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

TEST_P(SimulationTest, TheClockMovesOnlyWhenAnEventRuns) {
  simulation.after(Duration::ns(7), [] {});
  EXPECT_EQ(simulation.now(), SimTime{});
  EXPECT_TRUE(simulation.step());
  EXPECT_EQ(simulation.now(), Duration::ns(7));
}

TEST_P(SimulationTest, ACancelledEventDoesNotRun) {
  std::string story;
  simulation.after(Duration::ns(1), [&] { story += 'a'; });
  const EventId second = simulation.after(Duration::ns(2), [&] { story += 'b'; });
  simulation.after(Duration::ns(3), [&] { story += 'c'; });
  EXPECT_TRUE(simulation.cancel(second));
  EXPECT_EQ(simulation.pending(), 2);
  simulation.run();
  EXPECT_EQ(story, "ac");
}

TEST_P(SimulationTest, CancellingAgainOrAfterTheFactSaysFalse) {
  const EventId ran = simulation.after(Duration::ns(1), [] {});
  simulation.run();
  const EventId waiting = simulation.after(Duration::ns(1), [] {});
  EXPECT_FALSE(simulation.cancel(ran));
  EXPECT_TRUE(simulation.cancel(waiting));
  EXPECT_FALSE(simulation.cancel(waiting));
  simulation.run();
  EXPECT_EQ(simulation.now(), Duration::ns(1));
}

TEST_P(SimulationTest, RunUntilRunsWhatIsDueAndStopsTheClockThere) {
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

TEST_P(SimulationTest, SchedulingInThePastIsABug) {
  simulation.after(Duration::ns(10), [] {});
  simulation.run();
  EXPECT_THROW(simulation.at(Duration::ns(9), [] {}), InternalError);
  EXPECT_THROW(simulation.after(Duration::ns(-1), [] {}), InternalError);
  EXPECT_THROW(simulation.run_until(Duration::ns(9)), InternalError);
}

TEST_P(SimulationTest, AnEventWithoutAnActionOnlyMovesTheClock) {
  simulation.after(Duration::ns(4), nullptr);
  simulation.run();
  EXPECT_EQ(simulation.now(), Duration::ns(4));
}

// A place in memory is used again, a name is not.
TEST_P(SimulationTest, TheNameOfAnEventThatRanDoesNotCancelOneInItsPlace) {
  int ran = 0;
  const EventId first = simulation.after(Duration::ns(1), [&] { ++ran; });
  simulation.run();
  const EventId second = simulation.after(Duration::ns(1), [&] { ++ran; });
  EXPECT_NE(first, second);
  EXPECT_FALSE(simulation.cancel(first));
  EXPECT_FALSE(simulation.cancel(EventId{}));
  simulation.run();
  EXPECT_EQ(ran, 2);
}

TEST_P(SimulationTest, AnEventThatRunsCanNoLongerBeCancelled) {
  EventId itself;
  bool cancelled = true;
  itself = simulation.after(Duration::ns(1), [&] { cancelled = simulation.cancel(itself); });
  simulation.run();
  EXPECT_FALSE(cancelled);
}

TEST_P(SimulationTest, ACancelledHandlerIsDestroyedAtOnce) {
  const auto kept = std::make_shared<int>(1);
  const EventId event = simulation.after(Duration::ns(1), [kept] {});
  EXPECT_EQ(kept.use_count(), 2);
  simulation.cancel(event);
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_P(SimulationTest, AnEventBeforeThoseLookedAtIsStillTheNext) {
  std::string story;
  simulation.after(Duration::s(100), [&] { story += 'b'; });
  simulation.run_until(Duration::ns(1));  // has found that the next one is far away
  simulation.after(Duration::ns(1), [&] { story += 'a'; });
  simulation.run();
  EXPECT_EQ(story, "ab");
}

TEST_P(SimulationTest, TheLastTimeThereIsCanBeScheduled) {
  const SimTime last = SimTime::ns(std::numeric_limits<int64_t>::max());
  std::string story;
  simulation.at(last, [&] { story += 'b'; });
  simulation.after(Duration::ns(5), [&] { story += 'a'; });
  simulation.run();
  EXPECT_EQ(story, "ab");
  EXPECT_EQ(simulation.now(), last);
  EXPECT_THROW(simulation.after(Duration::ns(1), [] {}), std::overflow_error);
}

}  // namespace
}  // namespace tidemark

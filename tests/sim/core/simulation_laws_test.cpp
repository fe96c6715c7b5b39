// Laws of the order of events, with either queue, against naive judges.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "sim/core/simulation.h"

namespace tidemark {
namespace {

class SimulationLawsTest : public ::testing::TestWithParam<QueueKind> {};

INSTANTIATE_TEST_SUITE_P(Queues, SimulationLawsTest,
                         ::testing::Values(QueueKind::kHeap, QueueKind::kCalendar),
                         [](const auto& queue) {
                           return queue.param == QueueKind::kHeap ? "Heap" : "Calendar";
                         });

// The judge: events sorted by time, those of one time left in the order they were scheduled.
TEST_P(SimulationLawsTest, RandomEventsRunAsAStableSortByTimeWouldOrderThem) {
  const QueueKind kind = GetParam();
  EXPECT_TRUE(rc::check("order of a stable sort, less what is cancelled", [kind] {
    const auto times = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 20));
    const auto dropped =
        *rc::gen::container<std::vector<bool>>(times.size(), rc::gen::arbitrary<bool>());
    Simulation simulation(kind);
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

// What is pending, as a sorted set: the judge of schedules, cancellations and runs in any order.
class Judge {
 public:
  void add(int64_t time, int64_t number) { pending_.insert({time, number}); }
  bool remove(int64_t time, int64_t number) { return pending_.erase({time, number}) == 1; }
  int64_t size() const { return static_cast<int64_t>(pending_.size()); }
  // -1: none.
  int64_t run() {
    if (pending_.empty()) return -1;
    const auto [time, number] = *pending_.begin();
    pending_.erase(pending_.begin());
    return number;
  }

 private:
  std::set<std::pair<int64_t, int64_t>> pending_{};
};

// Crowded or thin by turns (delays below 2^0 ... 2^30 ns), and filling or emptying by turns, so
// that a queue that adapts itself has to.
TEST_P(SimulationLawsTest, AnyMixOfSchedulingRunningAndCancellingIsThatOfASortedSet) {
  const QueueKind kind = GetParam();
  EXPECT_TRUE(rc::check("as a sorted set of (time, number) has it", [kind] {
    const auto seed = *rc::gen::arbitrary<uint32_t>();
    const auto count = *rc::gen::inRange(1, 3000);
    std::mt19937 random(seed);
    const auto below = [&random](int64_t limit) { return static_cast<int64_t>(random()) % limit; };
    Simulation simulation(kind);
    Judge judge;
    std::vector<std::pair<EventId, int64_t>> all;  // with their times
    int64_t ran = -1;
    for (int step = 0; step < count; ++step) {
      // Long stretches that fill and long ones that empty.
      const int64_t scheduling = (step / 400) % 2 == 0 ? 70 : 30;
      const int64_t choice = below(100);
      if (choice < scheduling) {
        const int64_t number = static_cast<int64_t>(all.size());
        const int64_t delay = below(int64_t{1} << below(31));
        const int64_t time = simulation.now().count() + delay;
        all.emplace_back(simulation.after(Duration::ns(delay), [&ran, number] { ran = number; }),
                         time);
        judge.add(time, number);
      } else if (choice < 90 || all.empty()) {
        ran = -1;
        simulation.step();
        RC_ASSERT(ran == judge.run());
      } else {
        const int64_t number = below(static_cast<int64_t>(all.size()));
        const auto& [id, time] = all[static_cast<size_t>(number)];
        RC_ASSERT(simulation.cancel(id) == judge.remove(time, number));
      }
      RC_ASSERT(simulation.pending() == judge.size());
    }
    do {
      ran = -1;
      simulation.step();
      RC_ASSERT(ran == judge.run());
    } while (ran >= 0);
  }));
}

}  // namespace
}  // namespace tidemark

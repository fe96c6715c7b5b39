// Counts what this program allocates. In steady state, that is once there were as many events and
// requests at once as there will be, the core allocates nothing.
#include <gtest/gtest.h>

#include <cstdint>
#include <new>
#include <random>

#include "allocation_count.h"
#include "sim/core/server.h"
#include "sim/core/shared_server.h"
#include "sim/core/simulation.h"

namespace tidemark {
namespace {

int64_t allocated_by(const auto& work) {
  const int64_t before = allocations_so_far();
  work();
  return allocations_so_far() - before;
}

TEST(AllocationCounterTest, Counts) {
  EXPECT_EQ(allocated_by([] { ::operator delete(::operator new(1)); }), 1);
}

// Each event schedules the next of its chain and cancels one of a second chain.
struct Hold {
  Simulation& simulation;
  std::minstd_rand random{1};
  EventId other{};

  void next() {
    simulation.cancel(other);
    other = simulation.after(Duration::ns(static_cast<int64_t>(random() % 1000)), [] {});
    simulation.after(Duration::ns(static_cast<int64_t>(random() % 1000)), [this] { next(); });
  }
};

class AllocationTest : public ::testing::TestWithParam<QueueKind> {};

TEST_P(AllocationTest, EventsAllocateNothingInSteadyState) {
  Simulation simulation(GetParam());
  Hold hold{.simulation = simulation};
  for (int i = 0; i < 100; ++i) hold.next();
  for (int i = 0; i < 100'000; ++i) simulation.step();
  EXPECT_EQ(allocated_by([&] {
              for (int i = 0; i < 100'000; ++i) simulation.step();
            }),
            0);
  EXPECT_GE(simulation.pending(), 100);
}

INSTANTIATE_TEST_SUITE_P(Queues, AllocationTest,
                         ::testing::Values(QueueKind::kHeap, QueueKind::kCalendar));

// Jobs that read from storage, go over a shared bus and are computed, eight at a time.
struct Pipeline {
  Simulation& simulation;
  Server storage{simulation, 1};
  SharedServer bus{simulation, {.rate = BytesPerSecond::of(3'000'000'000)}};
  Server compute{simulation, 2};

  void start() {
    storage.request(Duration::ns(70), nullptr, [this] { on_read(); });
  }
  void on_read() {
    bus.request(Bytes::of(1000), nullptr, [this] { on_moved(); });
  }
  void on_moved() {
    compute.request(Duration::ns(90), nullptr, [this] { start(); });
  }
};

TEST(ServerAllocationTest, ServersAllocateNothingInSteadyState) {
  Simulation simulation;
  Pipeline pipeline{.simulation = simulation};
  for (int job = 0; job < 8; ++job) pipeline.start();
  simulation.run_until(Duration::us(100));
  EXPECT_EQ(allocated_by([&] { simulation.run_until(Duration::ms(10)); }), 0);
  EXPECT_GT(pipeline.bus.served(), Bytes::of(10'000'000));
}

}  // namespace
}  // namespace tidemark

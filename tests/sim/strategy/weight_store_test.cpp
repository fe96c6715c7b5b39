#include "sim/strategy/weight_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenarios.h"

namespace tidemark {
namespace {

using testing::round_device;

// Storage reads 1 B/ns, what was read is initialised at 0.5 B/ns.
Scenario storing(LoadChoices load) { return {.device = round_device(), .load = load}; }

const std::vector<WeightUnit> kUnits = {
    {"a", Bytes::of(100), {}}, {"b", Bytes::of(100), {}}, {"c", Bytes::of(100), {}}};

// When each of the three units is ready, asked for at time 0.
std::string ready_times(const LoadChoices& load) {
  const Scenario scenario = storing(load);
  Simulation simulation;
  MemoryLedger ledger(simulation, {});
  WeightStore store(simulation, scenario, kUnits, ledger, nullptr);
  std::string text;
  for (size_t i = 0; i < kUnits.size(); ++i) {
    store.read(UnitId::of(i), [&text, &simulation, i] {
      text += fmt::format("{}@{} ", kUnits[i].name, simulation.now().count());
    });
  }
  simulation.run();
  EXPECT_EQ(store.reading(), Duration::ns(300));
  EXPECT_EQ(store.bytes_read(), Bytes::of(300));
  EXPECT_EQ(store.initialising(), store.initialise_time(Bytes::of(100)) * 3);
  return text;
}

TEST(WeightStoreTest, ThreeUnits) {
  const BytesPerSecond half = BytesPerSecond::of(500'000'000);
  EXPECT_EQ(ready_times({}), "a@100 b@200 c@300 ");
  // Reads end at 100, 200, 300; each unit then takes 200, one at a time.
  EXPECT_EQ(ready_times({.initialise = half}), "a@300 b@500 c@700 ");
  EXPECT_EQ(ready_times({.initialise = half, .overlaps = false}), "a@300 b@600 c@900 ");
}

TEST(WeightStoreTest, AReadTakesTheTimeOfItsRequests) {
  Scenario scenario = storing({.read_size = Bytes::of(40)});
  scenario.device.flash_latency = Duration::ns(7);
  Simulation simulation;
  MemoryLedger ledger(simulation, {});
  const auto time = [&](Bytes bytes) {
    return WeightStore(simulation, scenario, kUnits, ledger, nullptr).read_time(bytes).count();
  };
  EXPECT_EQ(time(Bytes::of(100)), 3 * 7 + 100);  // 40 + 40 + 20
  EXPECT_EQ(time(Bytes::of(30)), 7 + 30);
  scenario.load.read_size = {};
  EXPECT_EQ(time(Bytes::of(100)), 7 + 100);
  // Out of the page cache, at an eighth of 10 B/ns: 1.25 B/ns.
  scenario.load.is_cached = true;
  EXPECT_EQ(time(Bytes::of(100)), 80);
  scenario.device.cached_read = BytesPerSecond::of(5'000'000'000);
  EXPECT_EQ(time(Bytes::of(100)), 20);
}

// The worked example of weight_store.h, each read asked for when the unit before was released; the
// reads themselves take 1 ns a byte.
TEST(WeightStoreTest, PagesAreMadeOnceAndReused) {
  const std::vector<WeightUnit> units = {
      {"a", Bytes::of(4), {}}, {"b", Bytes::of(4), {}}, {"c", Bytes::of(8), {}}};
  Scenario scenario = storing({});
  const auto reading_all = [&] {
    Simulation simulation;
    MemoryLedger ledger(simulation, {});
    WeightStore store(simulation, scenario, units, ledger, nullptr);
    for (size_t i = 0; i < units.size(); ++i) {
      store.read(UnitId::of(i), nullptr);
      simulation.run();
      store.release(UnitId::of(i));
    }
    return store.reading().count();
  };
  EXPECT_EQ(reading_all(), 16);
  scenario.device.fresh_memory = BytesPerSecond::of(1'000'000'000);
  EXPECT_EQ(reading_all(), 16 + 16);  // without another rate, as if they were fresh
  scenario.device.reused_memory = BytesPerSecond::of(2'000'000'000);
  EXPECT_EQ(reading_all(), 16 + 4 + 2 + 6);
}

}  // namespace
}  // namespace tidemark

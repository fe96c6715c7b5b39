#include "planner/capacity/device_energy.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace tidemark {
namespace {

constexpr int64_t kTera = 1'000'000'000'000;

DeviceEnergy sample() {
  return {.operations = {{.type = ValueType::kInt8, .femtojoules = 500},
                         {.type = ValueType::kF16, .femtojoules = 1'500}},
          .memory_femtojoules = 20'000,
          .storage_femtojoules = 60'000,
          .computing_milliwatts = 2'000,
          .idle_milliwatts = 250};
}

TEST(DeviceEnergyTest, WorkedInTheHeader) {
  const EnergyFacts facts = energy_of(
      sample(), {.operations_picojoules = operations_picojoules(sample(), ValueType::kInt8, kTera),
                 .moved = Bytes::of(10'000'000'000),
                 .read = Bytes::of(1'000'000'000),
                 .computing = Duration::s(3),
                 .whole = Duration::s(4)});
  EXPECT_EQ(facts.compute_microjoules, 500'000 + 6'000'000);
  EXPECT_EQ(facts.memory_microjoules, 200'000);
  EXPECT_EQ(facts.storage_microjoules, 60'000);
  EXPECT_EQ(facts.idle_microjoules, 1'000'000);
  EXPECT_EQ(facts.total(), 7'760'000);
}

TEST(DeviceEnergyTest, OperationsByTypeRoundedUp) {
  EXPECT_EQ(operations_picojoules(sample(), ValueType::kInt8, 3), 2);  // 1.5 pJ
  EXPECT_EQ(operations_picojoules(sample(), ValueType::kF16, 3), 5);   // 4.5 pJ
  EXPECT_EQ(operations_picojoules(sample(), ValueType::kInt4, kTera), 0);
  EXPECT_EQ(operations_picojoules(sample(), std::nullopt, kTera), 0);
  EXPECT_EQ(operations_picojoules(sample(), ValueType::kInt8, 0), 0);
}

TEST(DeviceEnergyTest, PartsAreToTheNearestMicrojoule) {
  // 24,999 and 25,000 B at 20 pJ: 0.49998 and 0.5 uJ.
  EXPECT_EQ(energy_of(sample(), {.moved = Bytes::of(24'999)}).memory_microjoules, 0);
  EXPECT_EQ(energy_of(sample(), {.moved = Bytes::of(25'000)}).memory_microjoules, 1);
  EXPECT_EQ(energy_of(sample(), {}).total(), 0);
}

TEST(DeviceEnergyTest, TooMuchIsAnOverflow) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_THROW(operations_picojoules(sample(), ValueType::kF16, most), std::overflow_error);
  DeviceEnergy furnace = sample();
  furnace.idle_milliwatts = most;
  EXPECT_THROW(energy_of(furnace, {.whole = Duration::s(1'000)}), std::overflow_error);
}

}  // namespace
}  // namespace tidemark

#include "sim/strategy/system_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark {
namespace {

using literals::operator""_GB;
using literals::operator""_MB;
using ::testing::HasSubstr;

DeviceSpec device(SystemKind os) {
  return {.ram_total = 8_GB, .app_available = 3_GB, .os = os, .swap = 2_GB};
}

// The rule that ends an app with so much memory of its own and so much of a mapped file, "" when
// it lives on a minute later.
std::string end_of(const Scenario& scenario, Bytes own, Bytes mapped = {}) {
  Simulation simulation;
  SystemWatch watch(simulation, scenario);
  watch.on_change({.weights = mapped, .runtime = own, .file_backed = mapped});
  simulation.run_until(Duration::s(60));
  return watch.rule().substr(0, watch.rule().find(':'));
}

TEST(SystemWatchTest, TheTableInTheHeader) {
  Scenario phone{.device = device(SystemKind::kIos), .enforce = true};
  phone.device.app_hard_limit = 2_GB;
  EXPECT_EQ(end_of(phone, 2_GB), "");
  EXPECT_EQ(end_of(phone, 2_GB + 1_MB), "jetsam, per-process limit");
  EXPECT_EQ(end_of(phone, 300_MB, 5_GB), "");  // clean pages do not count
  phone.device.app_hard_limit.reset();
  EXPECT_EQ(end_of(phone, 3_GB), "");
  EXPECT_EQ(end_of(phone, 3_GB + 1_MB), "jetsam, memory pressure");

  Scenario android{.device = device(SystemKind::kAndroid), .enforce = true};
  // 3 GB and what compressing the others' 2 GB to half gives back.
  EXPECT_EQ(end_of(android, 4_GB), "");
  EXPECT_EQ(end_of(android, 4_GB + 1_MB), "lmkd, critical stall");
  android.device.app_hard_limit = 1_GB;
  EXPECT_EQ(end_of(android, 3_GB), "");  // 1 GB and 2 GB of swap
  EXPECT_EQ(end_of(android, 3_GB + 1_MB), "MemoryLimiter");

  Scenario linux_box{.device = device(SystemKind::kLinux), .enforce = true};
  EXPECT_EQ(end_of(linux_box, 5_GB), "");
  EXPECT_EQ(end_of(linux_box, 5_GB + 1_MB), "OOM killer");
  linux_box.budget = 1_GB;
  EXPECT_EQ(end_of(linux_box, 1_GB + 1_MB), "cgroup");

  linux_box.enforce = false;
  EXPECT_EQ(end_of(linux_box, 100_GB), "");
}

TEST(CompressedSwapTest, WorkedInTheHeader) {
  DeviceSpec phone = device(SystemKind::kAndroid);
  phone.swap = 6_GB;
  const std::optional<CompressedSwap> swap = compressed_swap(phone);
  ASSERT_TRUE(swap);
  EXPECT_EQ(swap->others, 5_GB);  // 8 GB less 3 GB: there is no more of other apps
  EXPECT_EQ(swap->freed_by_others(), 2'500_MB);
  EXPECT_EQ(swap->tensors, 1_GB);
  // 10^9 x 30 / 1030, and with 400 MB of weights: 400 x 30 / 1030 + 600 x 70 / 1070 MB.
  EXPECT_EQ(swap->freed_by_tensors(2_GB, 1_GB), Bytes::of(29'126'213));
  EXPECT_EQ(swap->freed_by_tensors(400_MB, 1_GB), Bytes::of(11'650'485 + 39'252'336));
  EXPECT_EQ(swap->freed_by_tensors(0_MB, 0_MB), 0_MB);
}

TEST(CompressedSwapTest, ASwapFileTakesInWhatItHolds) {
  DeviceSpec machine = device(SystemKind::kLinux);
  EXPECT_FALSE(compressed_swap(machine));
  machine.zram = ZramRatios{.other_apps = 4000};  // as stated: a quarter of them stays
  EXPECT_EQ(compressed_swap(machine)->freed_by_others(), 1'500_MB);
  machine.swap = {};
  EXPECT_FALSE(compressed_swap(machine));
}

// 8 GB, 3 GB for the app, 6 GB of swap: 5.5 GB with other apps compressed. Mapped weights do not
// count, and what is not weights or cache is not swapped.
TEST(SystemWatchTest, SwappingTensorsGainsLittle) {
  Scenario phone{.device = device(SystemKind::kAndroid), .enforce = true};
  phone.device.swap = 6_GB;
  EXPECT_EQ(end_of(phone, 5'500_MB), "");
  EXPECT_EQ(end_of(phone, 5'501_MB), "lmkd, critical stall");
  Simulation simulation;
  SystemWatch watch(simulation, phone);
  watch.on_change({.weights = 3_GB});
  EXPECT_TRUE(watch.events().size() == 1 && watch.events()[0].what == "memory state");
  watch.on_change({.weights = 5'520_MB});
  EXPECT_FALSE(watch.killed());  // 1 GB of them frees 29.1 MB
  watch.on_change({.weights = 5'529_MB});
  EXPECT_FALSE(watch.killed());
  watch.on_change({.weights = 5'530_MB});
  EXPECT_TRUE(watch.killed());
  std::vector<std::string> swaps;
  for (const SimEvent& event : watch.events()) {
    if (event.what == "swap") swaps.push_back(event.detail);
  }
  EXPECT_THAT(swaps,
              ::testing::ElementsAre("other apps, 2 : 1: 4.66 GiB of them free 2.33 GiB",
                                     "weights, 1.03 : 1, and KV cache, 1.07 : 1: 954 MiB and 0 B "
                                     "of them free 27.8 MiB"));
  EXPECT_THAT(watch.rule(), HasSubstr("5.15 GiB of its own over 5.15 GiB"));
}

TEST(SystemWatchTest, CompressedMemoryOfAComputerIsNoSwapFile) {
  Scenario board{.device = device(SystemKind::kLinux), .enforce = true};
  EXPECT_EQ(end_of(board, 5_GB), "");
  board.device.zram = ZramRatios{};
  EXPECT_EQ(end_of(board, 4_GB), "");
  EXPECT_EQ(end_of(board, 4_GB + 1_MB), "OOM killer");
}

TEST(SystemWatchTest, TheMemoryLimiterWaitsHalfAMinute) {
  Scenario android{.device = device(SystemKind::kAndroid), .enforce = true};
  android.device.app_hard_limit = 500_MB;
  android.device.swap = {};
  Simulation simulation;
  SystemWatch watch(simulation, android);
  watch.on_change({.runtime = 600_MB});
  simulation.run_until(Duration::s(29));
  EXPECT_FALSE(watch.killed());
  watch.on_change({.runtime = 400_MB});  // in time
  simulation.run_until(Duration::s(60));
  EXPECT_FALSE(watch.killed());
  watch.on_change({.runtime = 600_MB});
  simulation.run_until(Duration::s(90));
  EXPECT_TRUE(watch.killed());
  EXPECT_EQ(watch.events().back().time, Duration::s(90));
  EXPECT_THAT(watch.rule(), HasSubstr("572 MiB of its own over 477 MiB"));
}

TEST(SystemWatchTest, StatesOfMemoryAreNoted) {
  // 10 % of 3 GB are kept free: approaching from 2.7 GB on, critical from 3 GB on.
  const Scenario android{
      .device = device(SystemKind::kAndroid), .margin_ratio = 0.1, .enforce = true};
  Simulation simulation;
  SystemWatch watch(simulation, android);
  for (const Bytes own : {2700_MB, 2701_MB, 2900_MB, 3001_MB, 100_MB}) {
    watch.on_change({.runtime = own});
  }
  std::vector<std::string> states;
  for (const SimEvent& event : watch.events()) {
    if (event.what == "memory state") states.push_back(event.detail);
  }
  EXPECT_THAT(states, ::testing::ElementsAre("approaching limit", "critical", "ok"));
}

TEST(SystemWatchTest, WithoutEnforceAStateIsKnownAndNotTold) {
  const Scenario android{.device = device(SystemKind::kAndroid), .margin_ratio = 0.1};
  Simulation simulation;
  SystemWatch watch(simulation, android);
  EXPECT_EQ(watch.approaching(), 2700_MB);
  watch.on_change({.runtime = 2700_MB});
  EXPECT_FALSE(watch.is_short());
  watch.on_change({.runtime = 2701_MB});
  EXPECT_TRUE(watch.is_short());
  EXPECT_TRUE(watch.events().empty());
}

}  // namespace
}  // namespace tidemark

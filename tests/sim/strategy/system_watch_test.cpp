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
  for (const SimEvent& event : watch.events()) states.push_back(event.detail);
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

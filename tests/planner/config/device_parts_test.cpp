// The parts of a device file that most devices do not have, and the settings that use its cores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/config/load.h"
#include "planner/config/settings.h"

namespace tidemark {
namespace {

using literals::operator""_GB;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result<DeviceSpec> parsed_with(const std::string& keys) {
  return parse_device(
      "x.yaml",
      "schema: device/1\nname: x\ndescription: a phone\nsource: a sheet\nram_total: 8 GB\n"
      "app_available: 3 GB\nmemory_bandwidth: 40 GB/s\nflash_read: 3 GB/s\n"
      "flash_latency: 100 us\ncompute: 1000 GOPS\npage_size: 4 KiB\n" +
          keys);
}

DeviceSpec device_with(const std::string& keys) {
  const Result<DeviceSpec> device = parsed_with(keys);
  EXPECT_TRUE(device.ok()) << to_string(device.diagnostics());
  return device.ok() ? *device : DeviceSpec{};
}

constexpr OpsPerSecond gops(int64_t count) { return OpsPerSecond::of(count * 1'000'000'000); }

TEST(DeviceParts, NoneByDefault) {
  const DeviceSpec device = device_with("");
  EXPECT_THAT(device.compute_rates, IsEmpty());
  EXPECT_THAT(device.cores, IsEmpty());
  EXPECT_EQ(device.op_overhead, Duration{});
  EXPECT_FALSE(device.zram);
  EXPECT_FALSE(device.energy);
}

TEST(DeviceParts, RatesByKindAndType) {
  const DeviceSpec device = device_with(
      "op_overhead: 2 us\n"
      "compute_rates:\n"
      "  - {op: matmul, type: int8, rate: 2.1 TOPS}\n"
      "  - {op: gemv, type: int4, rate: 90 GOPS, estimate: true}\n"
      "estimates: [compute]\n");
  EXPECT_EQ(device.op_overhead, Duration::us(2));
  EXPECT_THAT(device.compute_rates,
              ElementsAre(ComputeRate{OpClass::kMatMul, ValueType::kInt8, gops(2100), false},
                          ComputeRate{OpClass::kGemv, ValueType::kInt4, gops(90), true}));
  EXPECT_THAT(device.estimates, ElementsAre("compute", "compute_rates.gemv.int4"));
}

TEST(DeviceParts, Cores) {
  const DeviceSpec device = device_with(
      "cores:\n"
      "  - {kind: big, count: 1, ghz: 3.36, rate: 430.08 GOPS, memory_bandwidth: 20 GB/s}\n"
      "  - {kind: little, count: 3, rate: 64 GOPS, storage_read: 355 MB/s, estimate: true}\n");
  EXPECT_THAT(device.cores,
              ElementsAre(CoreGroup{.kind = CoreKind::kBig,
                                    .count = 1,
                                    .rate = OpsPerSecond::of(430'080'000'000),
                                    .ghz = 3.36,
                                    .memory_bandwidth = BytesPerSecond::of(20'000'000'000)},
                          CoreGroup{.kind = CoreKind::kLittle,
                                    .count = 3,
                                    .rate = gops(64),
                                    .storage_read = BytesPerSecond::of(355'000'000),
                                    .is_estimate = true}));
  EXPECT_THAT(device.estimates, IsEmpty());  // until a run asks for some of them
}

TEST(DeviceParts, RatiosOfCompressedMemory) {
  const DeviceSpec device = device_with("swap: 4 GB\nzram: {other_apps: 2.5, weights: 1.2}\n");
  EXPECT_EQ(device.zram, (ZramRatios{.other_apps = 2'500, .weights = 1'200, .kv_cache = 1'070}));
}

TEST(DeviceParts, MemoryUsedAgainStandsBesideFreshMemory) {
  const DeviceSpec device = device_with("fresh_memory: 2 GB/s\nreused_memory: 7 GB/s\n");
  EXPECT_EQ(device.fresh_memory, BytesPerSecond::of(2'000'000'000));
  EXPECT_EQ(device.reused_memory, BytesPerSecond::of(7'000'000'000));
  EXPECT_THAT(to_string(parsed_with("reused_memory: 7 GB/s\n").diagnostics()),
              HasSubstr("reused_memory: stands without fresh_memory"));
}

TEST(DeviceParts, EnergyInThousandths) {
  const DeviceSpec device = device_with(
      "energy:\n"
      "  operations:\n"
      "    - {type: int8, each: 0.23 pJ}\n"
      "    - {type: f16, each: 1500 fJ}\n"
      "  computing: 2.5 W\n  memory: 20 pJ/B\n  storage: 60 pJ/B\n  idle: 350 mW\n");
  EXPECT_EQ(device.energy,
            (DeviceEnergy{.operations = {{ValueType::kInt8, 230}, {ValueType::kF16, 1'500}},
                          .memory_femtojoules = 20'000,
                          .storage_femtojoules = 60'000,
                          .computing_milliwatts = 2'500,
                          .idle_milliwatts = 350}));
}

Result<Scenario> on(const std::string& device, const SettingMap& more) {
  const SettingMap whole{{"model", {.text = "tinyllama-1.1b", .origin = "test"}},
                         {"device", {.text = device, .origin = "test"}}};
  return resolve_scenario(merge(whole, more));
}

SettingMap settings(std::initializer_list<std::pair<const char*, const char*>> pairs) {
  SettingMap map;
  for (const auto& [key, text] : pairs)
    map[key] = {.text = text, .origin = "flag --" + std::string(key)};
  return map;
}

// galaxy-s23: 1 core of 430.08, 4 of 179.2, 3 of 64 GOPS, 1338.88 in all; compute is 1339 GOPS.
TEST(CoreSettings, WhatIsInUseIsLeftOfTheDevice) {
  EXPECT_EQ(on("galaxy-s23", {})->device.compute, gops(1339));
  const Scenario two = on("galaxy-s23", settings({{"threads", "2"}})).value();
  // 1339e9 x 609.28 / 1338.88, rounded down.
  EXPECT_EQ(two.device.compute, OpsPerSecond::of(609'334'608'030));
  EXPECT_THAT(two.device.estimates, ::testing::Contains("cores"));
  const Scenario little = on("galaxy-s23", settings({{"cores", "little"}})).value();
  EXPECT_EQ(little.device.compute, OpsPerSecond::of(192'017'208'413));
  EXPECT_EQ(on("galaxy-s23", settings({{"cores", "all"}}))->device.compute, gops(1339));
  EXPECT_THAT(on("galaxy-s23", {})->device.estimates, ::testing::Not(::testing::Contains("cores")));
}

TEST(CoreSettings, MoreThreadsThanCoresTakeTurns) {
  const Scenario scenario =
      on("galaxy-s23", settings({{"threads", "12"}, {"cores", "little"}})).value();
  const auto setting = std::find_if(scenario.settings.begin(), scenario.settings.end(),
                                    [](const Setting& s) { return s.key == "threads"; });
  ASSERT_NE(setting, scenario.settings.end());
  EXPECT_EQ(setting->value, "3");
  EXPECT_EQ(setting->origin, "flag --threads, held to the device's cores");
}

TEST(CoreSettings, KindsThatAreNotThereAreRefused) {
  const Result<Scenario> none = on("galaxy-s25", settings({{"cores", "little"}}));
  EXPECT_THAT(to_string(none.diagnostics()), HasSubstr("galaxy-s25 has no little cores"));
  const Result<Scenario> unknown = on("galaxy-s25", settings({{"cores", "tiny"}}));
  EXPECT_THAT(to_string(unknown.diagnostics()), HasSubstr("big, little, all"));
  EXPECT_FALSE(on("galaxy-s25", settings({{"threads", "0"}})).ok());
}

// A command line of llama.cpp's may state threads for any machine.
TEST(CoreSettings, ADeviceWithoutCoresStaysAsItIs) {
  const Scenario scenario = on("demo-3gb", settings({{"threads", "4"}})).value();
  EXPECT_EQ(scenario.device.compute, gops(512));
}

}  // namespace
}  // namespace tidemark

#include <gtest/gtest.h>

#include "planner/base/diagnostic.h"
#include "planner/config/load.h"
#include "planner/config/settings.h"

namespace tidemark {
namespace {

SettingMap offload_of(const std::string& policy) {
  return {{"model", {.text = "opt-30b", .origin = "flag MODEL"}},
          {"device", {.text = "flexgen-t4", .origin = "flag --device"}},
          {"offload", {.text = policy, .origin = "flag --offload"}}};
}

std::string problems(const SettingMap& settings) {
  const Result<Scenario> scenario = resolve_scenario(settings);
  return scenario ? "none" : to_string(scenario.diagnostics());
}

constexpr const char* kSixNumbers =
    "  hint: six percentages: weights, KV cache and hidden states, each on the accelerator and in "
    "main memory; the rest of a pair lies in storage: 20,80,0,100,0,100\n";

TEST(OffloadSettings, SixPercentages) {
  SettingMap settings = offload_of("20,70,0,0,5,95");
  settings["batches"] = {.text = "3", .origin = "flag --batches"};
  const Scenario scenario = resolve_scenario(settings).value();
  ASSERT_TRUE(scenario.offload.has_value());
  EXPECT_EQ(scenario.offload->weights, (OffloadShare{.on_device = 20, .in_memory = 70}));
  EXPECT_EQ(scenario.offload->weights.in_storage(), 10);
  EXPECT_EQ(scenario.offload->kv_cache.in_storage(), 100);
  EXPECT_EQ(scenario.offload->hidden, (OffloadShare{.on_device = 5, .in_memory = 95}));
  EXPECT_EQ(scenario.offload->batches, 3);
}

TEST(OffloadSettings, WhatIsNoPolicy) {
  for (const char* policy : {"20,80", "20,80,0,100,0,101", "20,80,0,100,0,-1", "a,b,c,d,e,f",
                             "20,80,0,100,0,100,0", "20,80,,100,0,100"}) {
    EXPECT_EQ(problems(offload_of(policy)),
              std::string("error: --offload: \"") + policy + "\" is no policy\n" + kSixNumbers);
  }
  EXPECT_EQ(problems(offload_of("20,81,0,100,0,100")),
            std::string("error: --offload: two shares of a pair come to more than 100 %\n") +
                kSixNumbers);
}

TEST(OffloadSettings, NeedAnAccelerator) {
  SettingMap settings = offload_of("20,80,0,100,0,100");
  settings["device"].text = "galaxy-s23";
  EXPECT_EQ(problems(settings),
            "error: --offload: galaxy-s23 states no accelerator\n"
            "  hint: name a device whose file has the part accelerator, such as flexgen-t4\n");
  settings.erase("offload");
  settings["batches"] = {.text = "3", .origin = "flag --batches"};
  EXPECT_EQ(problems(settings),
            "error: --batches: only an offload run takes batches in turn\n"
            "  hint: add offload\n");
}

// 12.89 and 0.473 GiB/s are 13,840 and 508 MB/s.
TEST(OffloadSettings, AnAcceleratorIsReadFromItsDevice) {
  const DeviceSpec device = load_device("flexgen-t4").value();
  ASSERT_TRUE(device.accelerator.has_value());
  EXPECT_EQ(device.accelerator->memory, Bytes::of(16'000'000'000));
  EXPECT_EQ(device.accelerator->to_device, BytesPerSecond::of(13'840'000'000));
  EXPECT_EQ(device.accelerator->from_storage, BytesPerSecond::of(508'000'000));
  EXPECT_EQ(device.accelerator->decode_attention, OpsPerSecond::of(79'000'000'000));
  EXPECT_FALSE(load_device("galaxy-s23")->accelerator.has_value());
}

TEST(OffloadSettings, AnAcceleratorStatesAllItsRates) {
  const Result<DeviceSpec> device = parse_device(
      "d.yaml",
      "schema: device/1\nname: d\ndescription: d\nsource: s\nram_total: 1 GB\n"
      "app_available: 1 GB\nmemory_bandwidth: 1 GB/s\nflash_read: 1 GB/s\nflash_latency: 1 us\n"
      "compute: 1 GOPS\npage_size: 4 KiB\naccelerator:\n  memory: 1 GB\n  speed: 1 GB/s\n");
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.diagnostics().size(), 12U);  // eleven are missing, one is unknown
}

// A layer's operations are read, and 0 when they are not stated.
TEST(OffloadSettings, OperationsOfAListedLayer) {
  const ModelSpec model = load_model("published-flash-cpu").value();
  EXPECT_EQ(model.layer_list()->layers.front().operations, 1'791'240'000'000);  // 506 ms
  EXPECT_EQ(load_model("demo-layers")->layer_list()->layers.front().operations, 0);
}

}  // namespace
}  // namespace tidemark

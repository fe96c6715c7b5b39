#include "sim/calibrate/device_yaml.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "planner/base/units.h"
#include "planner/config/load.h"

namespace tidemark {
namespace {

Figure bandwidth(double median) {
  return {.spread = spread_of({median * 0.9, median, median * 1.1}), .unit = Unit::kBytesPerSecond};
}

// Every key that a calibration can state, with values of different length.
Calibration full() {
  Calibration calibration;
  DeviceSpec& device = calibration.device;
  device.name = "this-machine";
  device.description = "A \"quoted\" processor \\ 2 cores: Linux # not a comment";
  device.source = "measured by tidemark calibrate 1.2.3";
  device.ram_total = Bytes::of(25'276'510'208);
  device.app_available = Bytes::of(int64_t{3} << 30);
  device.memory_bandwidth = BytesPerSecond::of(12'340'000'000);
  device.flash_read = BytesPerSecond::of(1'987'000'000);
  device.flash_latency = Duration::ns(98'760);
  device.cached_read = BytesPerSecond::of(5'080'000'000);
  device.mapped_read = BytesPerSecond::of(900'100'000);
  device.fresh_memory = BytesPerSecond::of(1'444'000'000);
  device.reused_memory = BytesPerSecond::of(4'444'000'000);
  device.compute = OpsPerSecond::of(98'700'000'000);
  device.page_size = Bytes::of(4096);
  device.page_fault = Duration::ns(512);
  device.isa = DeviceIsa::kX86;
  device.os = SystemKind::kLinux;
  device.swap = Bytes::of(123'456);
  calibration.storage = {{.point = {.order = ReadOrder::kSequential,
                                    .request = Bytes::of(131'072),
                                    .depth = 4,
                                    .rate = BytesPerSecond::of(876'500'000)},
                          .spread = spread_of({8.0e8, 8.765e8, 9.0e8})}};
  device.storage = {calibration.storage[0].point};
  calibration.ops = {{.rate = {.kind = OpKind::kMatMul,
                               .tokens = 16,
                               .rate = OpsPerSecond::of(1'234'000'000'000),
                               .output_rate = OpsPerSecond::of(987'000),
                               .overhead = Duration::ns(1'234'000)},
                      .spread = spread_of({1.0e12, 1.2e12})},
                     {.rate = {.kind = OpKind::kRmsNorm, .rate = OpsPerSecond::of(777)},
                      .spread = spread_of({777.0})}};
  for (const MeasuredOp& op : calibration.ops) device.op_rates.push_back(op.rate);
  calibration.figures["memory_bandwidth"] = bandwidth(12.34e9);
  calibration.by_threads = {
      {"memory_bandwidth", 1, bandwidth(8e9)},
      {"compute", 2, {.spread = spread_of({5e9}), .unit = Unit::kOpsPerSecond}}};
  calibration.notes = {"a note"};
  return calibration;
}

DeviceSpec read_back(const Calibration& calibration) {
  const std::string yaml = to_yaml(calibration);
  const Result<DeviceSpec> read = parse_device("calibrated.yaml", yaml);
  EXPECT_TRUE(read) << to_string(read ? Diagnostics{} : read.diagnostics()) << yaml;
  return read ? *read : DeviceSpec{};
}

TEST(DeviceYamlTest, WhatIsWrittenIsReadBackEqual) {
  const Calibration written = full();
  const DeviceSpec& device = written.device;
  const DeviceSpec read = read_back(written);
  EXPECT_EQ(read.name, device.name);
  EXPECT_EQ(read.description, device.description);
  EXPECT_EQ(read.source, device.source);
  EXPECT_EQ(read.ram_total, device.ram_total);
  EXPECT_EQ(read.app_available, device.app_available);
  EXPECT_EQ(read.memory_bandwidth, device.memory_bandwidth);
  EXPECT_EQ(read.flash_read, device.flash_read);
  EXPECT_EQ(read.flash_latency, device.flash_latency);
  EXPECT_EQ(read.storage, device.storage);
  EXPECT_EQ(read.compute, device.compute);
  EXPECT_EQ(read.page_size, device.page_size);
  EXPECT_EQ(read.page_fault, device.page_fault);
  EXPECT_EQ(read.cached_read, device.cached_read);
  EXPECT_EQ(read.mapped_read, device.mapped_read);
  EXPECT_EQ(read.fresh_memory, device.fresh_memory);
  EXPECT_EQ(read.reused_memory, device.reused_memory);
  EXPECT_EQ(read.op_rates, device.op_rates);
  EXPECT_EQ(read.isa, device.isa);
  EXPECT_EQ(read.os, device.os);
  EXPECT_EQ(read.swap, device.swap);
  // And it is written as the same text again.
  Calibration again = written;
  again.device = read;
  EXPECT_EQ(to_yaml(again), to_yaml(written));
}

TEST(DeviceYamlTest, WhatWasNotMeasuredIsNotStated) {
  Calibration calibration = full();
  calibration.device.mapped_read.reset();
  calibration.device.swap = {};
  const DeviceSpec read = read_back(calibration);
  EXPECT_FALSE(read.mapped_read);
  EXPECT_EQ(to_yaml(calibration).find("mapped_read"), std::string::npos);
  EXPECT_EQ(to_yaml(calibration).find("swap"), std::string::npos);
}

TEST(DeviceYamlTest, SpreadsStandBehindTheValues) {
  const std::string yaml = to_yaml(full());
  EXPECT_NE(yaml.find("memory_bandwidth: 12.34 GB/s  # mean of 3, 11.1 GB/s to 13.6 GB/s"),
            std::string::npos)
      << yaml;
  EXPECT_NE(yaml.find("- {order: sequential, request: 128 KiB, depth: 4, rate: 876.5 MB/s}  # "
                      "mean of 3, 800 MB/s to 900 MB/s"),
            std::string::npos)
      << yaml;
  EXPECT_NE(yaml.find("#   1 thread: 8.00 GB/s"), std::string::npos) << yaml;
}

TEST(DeviceYamlTest, ExactTexts) {
  EXPECT_EQ(exact_text(Bytes::of(int64_t{3} << 30)), "3 GiB");
  EXPECT_EQ(exact_text(Bytes::of(1025)), "1025 B");
  EXPECT_EQ(exact_text(BytesPerSecond::of(12'340'000'000)), "12.34 GB/s");
  EXPECT_EQ(exact_text(BytesPerSecond::of(1'000'000'001)), "1.000000001 GB/s");
  EXPECT_EQ(exact_text(BytesPerSecond::of(999)), "999 B/s");
  EXPECT_EQ(exact_text(OpsPerSecond::of(98'700'000'000)), "98.7 GOPS");
  EXPECT_EQ(exact_text(OpsPerSecond::of(2'000)), "2 kOPS");
  EXPECT_EQ(exact_text(Duration::ns(1'250)), "1.25 us");
  EXPECT_EQ(exact_text(Duration::ns(0)), "0 ns");
}

TEST(DeviceYamlTest, EveryQuantityIsReadBackAsItself) {
  EXPECT_TRUE(rc::check("exact texts are exact", [] {
    const int64_t value = *rc::gen::inRange<int64_t>(1, int64_t{1} << 53);
    RC_ASSERT(std::get<Bytes>(parse_bytes(exact_text(Bytes::of(value)))) == Bytes::of(value));
    RC_ASSERT(std::get<BytesPerSecond>(parse_bandwidth(exact_text(BytesPerSecond::of(value)))) ==
              BytesPerSecond::of(value));
    RC_ASSERT(std::get<OpsPerSecond>(parse_compute_rate(exact_text(OpsPerSecond::of(value)))) ==
              OpsPerSecond::of(value));
    RC_ASSERT(std::get<Duration>(parse_duration(exact_text(Duration::ns(value)))) ==
              Duration::ns(value));
  }));
}

TEST(DeviceYamlTest, AListingHasARowForEachNumber) {
  const Listing listing = listing_of(full());
  // One figure, two by threads, one point, two ops.
  ASSERT_EQ(listing.rows.size(), 6U);
  for (const auto& row : listing.rows) EXPECT_EQ(row.size(), listing.columns.size());
  EXPECT_EQ(listing.rows[0][0], "memory_bandwidth");
  EXPECT_EQ(listing.rows[0][5], "10 %");  // quartiles 0.95 and 1.05 of the median
}

TEST(DeviceYamlTest, OnlyWideFiguresAreNamed) {
  Calibration calibration = full();
  EXPECT_TRUE(wide_figures(calibration).empty());
  // Sorted 1 1 2 4 4: quartiles 1 and 4, 150 % of the median.
  calibration.ops[1].spread = spread_of({4.0, 1.0, 2.0, 1.0, 4.0});
  ASSERT_EQ(wide_figures(calibration).size(), 1U);
  EXPECT_EQ(wide_figures(calibration)[0],
            "rms_norm, 1 token: the middle half of 5 repeats spans 150 % of the median");
}

}  // namespace
}  // namespace tidemark

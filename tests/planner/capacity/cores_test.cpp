#include "planner/capacity/cores.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "planner/capacity/device_spec.h"

namespace tidemark {
namespace {

constexpr OpsPerSecond gops(int64_t count) { return OpsPerSecond::of(count * 1'000'000'000); }
constexpr BytesPerSecond mb(int64_t count) { return BytesPerSecond::of(count * 1'000'000); }

// The little ones stand first: the order of the list does not matter.
DeviceSpec phone() {
  return {.memory_bandwidth = mb(42'000),
          .flash_read = mb(1602),
          .storage = {{.request = Bytes::of(4096), .rate = mb(22)},
                      {.request = Bytes::of(3'358'720), .rate = mb(901)}},
          .compute = gops(1318),
          .compute_rates = {{.rate = gops(2636)}},
          .cores = {{.kind = CoreKind::kLittle, .count = 3, .rate = gops(64)},
                    {.count = 1, .rate = gops(410), .ghz = 3.2},
                    {.count = 4, .rate = gops(179), .ghz = 2.8}}};
}

OpsPerSecond compute_of(const CoreUse& use) { return on_cores(phone(), use).compute; }

TEST(CoresTest, WorkedInTheHeader) {
  EXPECT_EQ(compute_of({}), gops(1318));
  EXPECT_EQ(compute_of({.threads = 2}), gops(410 + 179));
  EXPECT_EQ(compute_of({.kind = CoreKind::kBig}), gops(410 + 4 * 179));
  EXPECT_EQ(compute_of({.threads = 2, .kind = CoreKind::kLittle}), gops(128));
  EXPECT_EQ(compute_of({.threads = 6}), gops(410 + 4 * 179 + 64));
  EXPECT_EQ(compute_of({.threads = 100}), gops(1318));
  // Rows of kinds of ops go down alike: 2636 x 128 / 1318.
  EXPECT_EQ(on_cores(phone(), {.threads = 2, .kind = CoreKind::kLittle}).compute_rates[0].rate,
            gops(256));
}

TEST(CoresTest, MeasuredKernelsKeepTheirTimes) {
  DeviceSpec device = phone();
  device.op_rates = {{.kind = OpKind::kMatMul, .rate = gops(20), .overhead = Duration::ns(500)}};
  EXPECT_EQ(on_cores(device, {.threads = 1}).op_rates, device.op_rates);
}

// `compute` need not be the sum of the cores' peaks: 2 of 4 equal cores do half of it.
TEST(CoresTest, RatesGoDownInProportion) {
  const DeviceSpec board{.compute = gops(100), .cores = {{.count = 4, .rate = gops(999)}}};
  EXPECT_EQ(on_cores(board, {.threads = 2}).compute, gops(50));
}

TEST(CoresTest, OneCoreDoesNotDrawAllOfTheMemory) {
  DeviceSpec device = phone();
  EXPECT_EQ(on_cores(device, {.threads = 1}).memory_bandwidth, mb(42'000));  // not measured
  device.cores[0].memory_bandwidth = mb(5'000);
  device.cores[1].memory_bandwidth = mb(20'000);
  device.cores[2].memory_bandwidth = mb(15'000);
  EXPECT_EQ(on_cores(device, {.threads = 1}).memory_bandwidth, mb(20'000));
  EXPECT_EQ(on_cores(device, {.threads = 2}).memory_bandwidth, mb(35'000));
  EXPECT_EQ(on_cores(device, {.threads = 3}).memory_bandwidth, mb(42'000));  // of 50
  EXPECT_EQ(on_cores(device, {.kind = CoreKind::kLittle}).memory_bandwidth, mb(15'000));
}

// OnePlus 12R, buffered: 901 MB/s, and 355 MB/s from a little core.
TEST(CoresTest, TheFastestCoreInUseReads) {
  DeviceSpec device = phone();
  device.cores[0].storage_read = mb(355);
  const DeviceSpec little = on_cores(device, {.kind = CoreKind::kLittle});
  EXPECT_EQ(little.flash_read, mb(355));
  EXPECT_EQ(little.storage[0].rate, mb(22));
  EXPECT_EQ(little.storage[1].rate, mb(355));
  EXPECT_EQ(on_cores(device, {}).storage[1].rate, mb(901));
}

TEST(CoresTest, EstimatesAreNamedWhereTheyAreUsed) {
  DeviceSpec device = phone();
  EXPECT_TRUE(on_cores(device, {.threads = 1}).estimates.empty());
  device.cores[2].is_estimate = true;
  device = on_cores(device, {.threads = 1});
  EXPECT_EQ(device.estimates, std::vector<std::string>{"cores"});
  EXPECT_EQ(on_cores(device, {.threads = 1}).estimates.size(), 1);
}

TEST(CoresTest, WithoutCoresNothingChanges) {
  DeviceSpec device = phone();
  device.cores.clear();
  EXPECT_EQ(on_cores(device, {.threads = 1}).compute, gops(1318));
  device.cores = {{.rate = gops(1)}};
  EXPECT_EQ(on_cores(device, {.kind = CoreKind::kLittle}).compute, gops(1318));
}

TEST(CoresTest, MoreThreadsAreNeverSlower) {
  EXPECT_TRUE(rc::check("monotone, and all cores are the device", [] {
    DeviceSpec device{.memory_bandwidth = mb(10'000), .compute = gops(1 + *rc::gen::inRange(0, 9))};
    const int groups = *rc::gen::inRange(1, 5);
    for (int i = 0; i < groups; ++i) {
      device.cores.push_back({.kind = *rc::gen::element(CoreKind::kBig, CoreKind::kLittle),
                              .count = *rc::gen::inRange(1, 5),
                              .rate = gops(*rc::gen::inRange(1, 500)),
                              .memory_bandwidth = mb(*rc::gen::inRange(1, 9000))});
    }
    const int64_t all = count_cores(device.cores, std::nullopt);
    OpsPerSecond before{};
    for (int64_t threads = 1; threads <= all; ++threads) {
      const DeviceSpec used = on_cores(device, {.threads = threads});
      RC_ASSERT(used.compute >= before);
      RC_ASSERT(used.memory_bandwidth <= device.memory_bandwidth);
      before = used.compute;
    }
    RC_ASSERT(before == device.compute);
  }));
}

}  // namespace
}  // namespace tidemark

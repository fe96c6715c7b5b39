#include "sim/device/storage_model.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tidemark {
namespace {

using literals::operator""_KiB;
using literals::operator""_MiB;

BytesPerSecond mb_per_s(int64_t count) { return BytesPerSecond::of(count * 1'000'000); }

// Random reads of a phone with UFS 3.1: 4 KiB at depth 1 and 8 measured, 512 KiB from
// L = 0.17 ms and 1.13 GB/s. Sequential reads have no points.
DeviceSpec phone() {
  return {.flash_read = mb_per_s(1000),
          .flash_latency = Duration::us(170),
          .storage = {{ReadOrder::kRandom, 4_KiB, 8, mb_per_s(130)},
                      {ReadOrder::kRandom, 512_KiB, 1, mb_per_s(827)},
                      {ReadOrder::kRandom, 4_KiB, 1, mb_per_s(22)}}};
}

TEST(StorageModelTest, TheTableInTheHeader) {
  const StorageModel model(phone());
  const auto random = [&](Bytes bytes, int64_t depth) {
    return model.service(bytes, ReadOrder::kRandom, depth).count();
  };
  EXPECT_EQ(random(4_KiB, 1), 186'182);    // 4096 B / 22 MB/s = 186,181.8 ns
  EXPECT_EQ(random(512_KiB, 1), 633'964);  // 524,288 B / 827 MB/s = 633,963.7 ns
  // Half way from 4 to 512 KiB: 186,182 + 447,782 / 2 = 410,073.
  EXPECT_EQ(random(258_KiB, 1), 410'073);
  EXPECT_EQ(random(1_KiB, 1), 186'182);
  // 512 KiB more at 827 MB/s is 633,964; at the 1,000 MB/s of flash_read 524,288.
  EXPECT_EQ(random(1_MiB, 1), 633'964 + 524'288);
  EXPECT_EQ(random(4_KiB, 4), 186'182);
  EXPECT_EQ(random(4_KiB, 8), 31'508);  // 4096 B / 130 MB/s = 31,507.7 ns
  EXPECT_EQ(random(4_KiB, 100), 31'508);
}

TEST(StorageModelTest, AnOrderWithoutPointsIsLatencyAndBandwidth) {
  const StorageModel model(phone());
  EXPECT_EQ(model.service(1_MiB, ReadOrder::kSequential, 8).count(), 170'000 + 1'048'576);
}

TEST(StorageModelTest, ATransferIsItsRequests) {
  const StorageModel model(phone());
  // 1026 KiB: two requests of 512 KiB, one of 2 KiB that takes as long as one of 4.
  EXPECT_EQ(model.transfer(1026_KiB, 512_KiB, ReadOrder::kRandom, 1).count(),
            2 * 633'964 + 186'182);
  EXPECT_EQ(model.transfer(Bytes{}, 4_KiB, ReadOrder::kRandom, 1), Duration{});
}

// Whatever was measured: more bytes never take less time, deeper queues never more.
RC_GTEST_PROP(StorageModelLaws, TimeGrowsWithBytesAndNeverWithDepth, ()) {
  DeviceSpec device{.flash_read = mb_per_s(*rc::gen::inRange(1, 4000)),
                    .flash_latency = Duration::us(*rc::gen::inRange(0, 500))};
  for (int64_t depth = 1; depth <= 8; depth *= 2) {
    Duration time;
    const int64_t count = *rc::gen::inRange<int64_t>(0, 4);
    for (int64_t i = 0; i < count; ++i) {
      const Bytes request = Bytes::of(int64_t{4096} << (3 * i));
      time += Duration::us(*rc::gen::inRange(1, 1000));
      // Rounded down, so that the time is at least as long: times still grow with the size.
      const int64_t rate = request.count() * 1'000'000'000 / time.count();
      device.storage.push_back({ReadOrder::kRandom, request, depth, BytesPerSecond::of(rate)});
    }
  }
  const StorageModel model(device);
  const Bytes bytes = Bytes::of(*rc::gen::inRange<int64_t>(1, 20'000'000));
  const Bytes more = bytes + Bytes::of(*rc::gen::inRange<int64_t>(0, 1'000'000));
  const int64_t depth = *rc::gen::inRange<int64_t>(1, 16);
  const auto service = [&](Bytes size, int64_t queue) {
    return model.service(size, ReadOrder::kRandom, queue);
  };
  RC_ASSERT(service(bytes, depth) <= service(more, depth));
  const bool is_measured_at_one = !device.storage.empty() && device.storage.front().depth == 1;
  if (is_measured_at_one) RC_ASSERT(service(bytes, depth + 1) <= service(bytes, depth));
}

}  // namespace
}  // namespace tidemark

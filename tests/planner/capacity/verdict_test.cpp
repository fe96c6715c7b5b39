#include "planner/capacity/verdict.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace tidemark {
namespace {

using namespace literals;

DeviceSpec device(Bytes total, Bytes os) {
  return {.ram_total = total, .app_available = total - os};
}

TEST(VerdictTest, RedLine) {
  const DeviceLimit limit = device_limit(device(3_GB, 500_MB), 0.1, std::nullopt);
  EXPECT_EQ(limit.total, 3_GB);
  EXPECT_EQ(limit.os, 500_MB);
  EXPECT_EQ(limit.available, 2500_MB);
  EXPECT_EQ(limit.margin, 250_MB);
  EXPECT_EQ(limit.limit, 2250_MB);
  EXPECT_EQ(limit.rule, "available - margin");
}

// A camera with 512 MB holds a peak of 350 MB exactly as long as the system takes 123.1 MB or less.
TEST(VerdictTest, SystemShareAtWhichASmallDeviceOverflows) {
  const Breakdown peak{.weights = 350_MB};
  EXPECT_TRUE(verdict(peak, device_limit(device(512_MB, 123_MB), 0.1, std::nullopt)).fits);
  EXPECT_FALSE(verdict(peak, device_limit(device(512_MB, 124_MB), 0.1, std::nullopt)).fits);
}

TEST(VerdictTest, AHardLimitBindsOnlyWhenItIsTheLower) {
  DeviceSpec phone = device(3_GB, 500_MB);
  phone.app_hard_limit = 2_GB;
  EXPECT_EQ(device_limit(phone, 0.1, std::nullopt).limit, 2_GB);
  EXPECT_EQ(device_limit(phone, 0.1, std::nullopt).rule, "per-app limit");
  phone.app_hard_limit = 2250_MB;
  EXPECT_EQ(device_limit(phone, 0.1, std::nullopt).rule, "available - margin");
  phone.app_hard_limit = 9_GB;
  EXPECT_EQ(device_limit(phone, 0.1, std::nullopt).limit, 2250_MB);
}

TEST(VerdictTest, ABudgetReplacesTheLimit) {
  DeviceSpec phone = device(3_GB, 500_MB);
  phone.app_hard_limit = 1_GB;
  const DeviceLimit limit = device_limit(phone, 0.1, 9_GB);
  EXPECT_EQ(limit.limit, 9_GB);
  EXPECT_EQ(limit.rule, "--budget");
  EXPECT_EQ(limit.available, 2500_MB);
}

TEST(VerdictTest, WithoutMarginAllThatIsAvailableCounts) {
  EXPECT_EQ(device_limit(device(3_GB, 500_MB), 0.0, std::nullopt).limit, 2500_MB);
  EXPECT_EQ(device_limit(device(3_GB, 500_MB), 1.0, std::nullopt).limit, 0_B);
  EXPECT_EQ(device_limit(device(3_GB, 500_MB), 7.0, std::nullopt).limit, 0_B);
}

TEST(VerdictTest, SlackIsSignedAndZeroStillFits) {
  const DeviceLimit limit = device_limit(device(3_GB, 500_MB), 0.1, 100_B);
  EXPECT_TRUE(verdict({.weights = 100_B}, limit).fits);
  EXPECT_EQ(verdict({.weights = 100_B}, limit).slack, 0_B);
  EXPECT_FALSE(verdict({.weights = 100_B, .runtime = 1_B}, limit).fits);
  EXPECT_EQ(verdict({.weights = 100_B, .runtime = 1_B}, limit).slack, Bytes::of(-1));
  EXPECT_EQ(verdict({.weights = 30_B}, limit).slack, 70_B);
}

TEST(VerdictTest, TheBindingTermIsTheLargestAndTheFirstOfEquals) {
  const DeviceLimit limit{.limit = 1_GB};
  EXPECT_EQ(verdict({.weights = 5_B, .kv_cache = 4_B}, limit).binding_term, "weights");
  EXPECT_EQ(verdict({.weights = 5_B, .kv_cache = 6_B}, limit).binding_term, "kv_cache");
  EXPECT_EQ(verdict({.recurrent_state = 1_B}, limit).binding_term, "recurrent_state");
  EXPECT_EQ(verdict({.compute = 1_B}, limit).binding_term, "compute");
  EXPECT_EQ(verdict({.output = 1_B}, limit).binding_term, "output");
  EXPECT_EQ(verdict({.runtime = 1_B}, limit).binding_term, "runtime");
  EXPECT_EQ(verdict({.kv_cache = 6_B, .compute = 6_B}, limit).binding_term, "kv_cache");
}

TEST(ShareTest, IsRoundedToTheNearestByte) {
  EXPECT_EQ(share_of(4_B, 0.1), 0_B);
  EXPECT_EQ(share_of(5_B, 0.1), 1_B);
  EXPECT_EQ(share_of(14_B, 0.1), 1_B);
  EXPECT_EQ(share_of(16_B, 0.1), 2_B);
}

TEST(ShareTest, HoldsForTheLargestCountThereIs) {
  const Bytes largest = Bytes::of(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(share_of(largest, 1.0), largest);
  EXPECT_THROW(share_of(largest, 1.5), std::overflow_error);
  EXPECT_THROW(share_of(1_B, std::numeric_limits<double>::quiet_NaN()), std::overflow_error);
}

}  // namespace
}  // namespace tidemark

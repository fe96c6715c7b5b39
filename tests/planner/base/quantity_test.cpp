#include "planner/base/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

#include "planner/base/check.h"

namespace tidemark {
namespace {

using namespace literals;

// 1 GiB at 2 GB/s: 1,073,741,824 / 2e9 s.
TEST(QuantityTest, TransferTime) {
  EXPECT_EQ(transfer_time(1_GiB, BytesPerSecond::of(2000000000)), Duration::ns(536870912));
  EXPECT_EQ(transfer_time(0_B, BytesPerSecond::of(7)), Duration::ns(0));
  EXPECT_EQ(compute_time(1339, OpsPerSecond::of(1339000000000)), Duration::ns(1));
}

TEST(QuantityTest, TimeIsRoundedUp) {
  EXPECT_EQ(time_at_rate(1, 3), Duration::ns(333333334));
  EXPECT_EQ(time_at_rate(1, 2000000000), Duration::ns(1));
}

TEST(QuantityTest, TimeIsTheLeastThatMovesTheAmount) {
  __extension__ using Wide = __int128;
  EXPECT_TRUE(rc::check([] {
    const auto amount = *rc::gen::inRange<int64_t>(0, int64_t{1} << 40);
    const auto rate = *rc::gen::inRange<int64_t>(1000, int64_t{1} << 40);
    const Wide moved_per_ns = rate;
    const Wide needed = Wide{amount} * 1000000000;
    const int64_t time = time_at_rate(amount, rate).count();
    RC_ASSERT(time * moved_per_ns >= needed);
    RC_ASSERT(time == 0 || (time - 1) * moved_per_ns < needed);
  }));
}

TEST(QuantityTest, TimePast292YearsThrows) {
  EXPECT_THROW(time_at_rate(std::numeric_limits<int64_t>::max(), 1), std::overflow_error);
  EXPECT_THROW(Duration::s(std::numeric_limits<int64_t>::max()), std::overflow_error);
}

TEST(QuantityTest, AZeroRateOrANegativeAmountIsABug) {
  EXPECT_THROW(time_at_rate(1, 0), InternalError);
  EXPECT_THROW(time_at_rate(-1, 1), InternalError);
}

TEST(QuantityTest, DurationsAddUp) {
  EXPECT_EQ(Duration::s(1) - Duration::ms(1), Duration::us(999000));
  EXPECT_EQ(Duration::us(3) * 2 + Duration::ns(1), Duration::ns(6001));
  EXPECT_EQ(Duration::us(1) / 3, Duration::ns(333));
  Duration total = Duration::ms(1);
  total += Duration::us(1);
  EXPECT_EQ(total.count(), 1001000);
}

}  // namespace
}  // namespace tidemark

#include "planner/base/bytes.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>
#include <stdexcept>

#include "planner/base/checked.h"
#include "planner/base/ids.h"
#include "planner/base/interval.h"

namespace tidemark {
namespace {

using namespace literals;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

TEST(CheckedTest, SumsDifferencesAndProductsThrowInsteadOfWrapping) {
  EXPECT_EQ(checked_add(kMost - 1, 1), kMost);
  EXPECT_THROW(checked_add(kMost, 1), std::overflow_error);
  EXPECT_EQ(checked_sub(kLeast + 1, 1), kLeast);
  EXPECT_THROW(checked_sub(kLeast, 1), std::overflow_error);
  EXPECT_EQ(checked_mul(int64_t{1} << 31, int64_t{1} << 31), int64_t{1} << 62);
  EXPECT_THROW(checked_mul(int64_t{1} << 32, int64_t{1} << 31), std::overflow_error);
  EXPECT_THROW(checked_mul(kLeast, -1), std::overflow_error);
}

TEST(CheckedTest, AgreesWithWideArithmeticForAnyOperands) {
  __extension__ using Wide = __int128;
  const auto agrees = [](Wide wide, auto checked) {
    if (wide >= kLeast && wide <= kMost) {
      RC_ASSERT(checked() == static_cast<int64_t>(wide));
    } else {
      RC_ASSERT_THROWS_AS(checked(), std::overflow_error);
    }
  };
  EXPECT_TRUE(rc::check([&](int64_t a, int64_t b) {
    agrees(Wide{a} + b, [=] { return checked_add(a, b); });
    agrees(Wide{a} - b, [=] { return checked_sub(a, b); });
    agrees(Wide{a} * b, [=] { return checked_mul(a, b); });
  }));
}

TEST(CheckedTest, CeilDivRoundsUpOnlyWhatHasARest) {
  EXPECT_EQ(ceil_div(0, 4), 0);
  EXPECT_EQ(ceil_div(8, 4), 2);
  EXPECT_EQ(ceil_div(9, 4), 3);
  EXPECT_EQ(ceil_div(kMost, 2), kMost / 2 + 1);
}

// 32 layers x 8 KV heads x 128 x 2 (K and V) x 2 B.
TEST(BytesTest, KvPerTokenExample) {
  constexpr Bytes kPerToken = 32 * (8 * (128 * (2 * 2_B)));
  static_assert(kPerToken == 131072_B);
  static_assert(kPerToken == 128_KiB);
  static_assert(kPerToken * 8192 == 1_GiB);
}

TEST(BytesTest, LiteralsArePowersOf1024OrOf1000) {
  EXPECT_EQ((1_MiB).count(), 1048576);
  EXPECT_EQ((1_GiB).count(), 1073741824);
  EXPECT_EQ((1_MB).count(), 1000000);
  EXPECT_EQ((3_GB).count(), 3000000000);
}

TEST(BytesTest, ArithmeticIsCheckedAndDivisionRoundsDown) {
  EXPECT_EQ(5_KiB + 3_KiB, 8_KiB);
  EXPECT_EQ((3_KiB - 5_KiB).count(), -2048);
  EXPECT_EQ(10_B / 3_B, 3);
  EXPECT_EQ(10_B / 3, 3_B);
  EXPECT_THROW(Bytes::of(kMost) + 1_B, std::overflow_error);
  EXPECT_THROW(Bytes::of(kMost) * 2, std::overflow_error);
  Bytes total = 1_KiB;
  total += 1_KiB;
  total -= 512_B;
  EXPECT_EQ(total, 1536_B);
}

TEST(AlignmentTest, IsAPowerOfTwo) {
  for (const int64_t good : {1, 2, 64, 4096}) EXPECT_EQ(Alignment::of(good).count(), good);
  for (const int64_t bad : {0, -1, -64, 3, 63, 96}) {
    EXPECT_THROW(Alignment::of(bad), std::invalid_argument) << bad;
  }
  EXPECT_EQ(Alignment{}.count(), 1);
}

TEST(AlignmentTest, AlignUpGivesTheNextMultiple) {
  const Alignment line = Alignment::of(64);
  EXPECT_EQ(align_up(0_B, line), 0_B);
  EXPECT_EQ(align_up(1_B, line), 64_B);
  EXPECT_EQ(align_up(64_B, line), 64_B);
  EXPECT_EQ(align_up(65_B, line), 128_B);
  EXPECT_THROW(align_up(Bytes::of(kMost), line), std::overflow_error);
}

TEST(AlignmentTest, AlignUpIsTheLeastAlignedCountThatIsNotBelow) {
  EXPECT_TRUE(rc::check([] {
    const Alignment alignment = Alignment::of(int64_t{1} << *rc::gen::inRange(0, 21));
    const Bytes bytes = Bytes::of(*rc::gen::inRange<int64_t>(0, int64_t{1} << 40));
    const Bytes aligned = align_up(bytes, alignment);
    RC_ASSERT(aligned >= bytes);
    RC_ASSERT(aligned - bytes < Bytes::of(alignment.count()));
    RC_ASSERT(aligned.count() % alignment.count() == 0);
    RC_ASSERT(is_aligned(aligned, alignment));
    RC_ASSERT(is_aligned(bytes, alignment) == (aligned == bytes));
  }));
}

TEST(IntervalTest, IsHalfOpen) {
  constexpr Interval<int> kSteps{3, 9};
  static_assert(!kSteps.contains(2));
  static_assert(kSteps.contains(3));
  static_assert(kSteps.contains(8));
  static_assert(!kSteps.contains(9));
  static_assert(Interval<int>{4, 4}.empty());
  static_assert(Interval<int>{5, 4}.empty());
}

TEST(IntervalTest, NeighboursDoNotOverlap) {
  EXPECT_FALSE(overlaps(Interval<int>{0, 3}, Interval<int>{3, 9}));
  EXPECT_TRUE(overlaps(Interval<int>{0, 4}, Interval<int>{3, 9}));
  EXPECT_TRUE(overlaps(Interval<int>{0, 9}, Interval<int>{3, 4}));
  EXPECT_FALSE(overlaps(Interval<int>{5, 5}, Interval<int>{3, 9}));
  EXPECT_EQ(hull(Interval<int>{0, 3}, Interval<int>{5, 9}), (Interval<int>{0, 9}));
}

TEST(IntervalTest, OverlapMeansASharedPoint) {
  EXPECT_TRUE(rc::check([] {
    const auto bound = [] { return *rc::gen::inRange(0, 12); };
    const Interval<int> a{bound(), bound()};
    const Interval<int> b{bound(), bound()};
    bool shared = false;
    for (int point = 0; point < 12; ++point) shared |= a.contains(point) && b.contains(point);
    RC_ASSERT(overlaps(a, b) == shared);
  }));
}

TEST(IdTest, KnowsItsValueAndItsIndex) {
  const OpId third = OpId::of(size_t{2});
  EXPECT_EQ(third.value(), 2);
  EXPECT_EQ(third.index(), 2U);
  EXPECT_LT(OpId(1), third);
  static_assert(!std::is_convertible_v<OpId, TensorId>);
  static_assert(!std::is_convertible_v<int64_t, OpId>);
  EXPECT_EQ(Tokens(4096).count(), 4096);
}

}  // namespace
}  // namespace tidemark

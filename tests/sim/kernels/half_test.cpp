#include "sim/kernels/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "inputs.h"

namespace tidemark {
namespace {

TEST(HalfTest, HasTheTextbookValues) {
  EXPECT_EQ(half_to_float(0x3C00), 1.0F);
  EXPECT_EQ(half_to_float(0xC000), -2.0F);
  EXPECT_EQ(half_to_float(0x0001), 0x1p-24F);
  EXPECT_EQ(half_to_float(0x03FF), 1023 * 0x1p-24F);
  EXPECT_EQ(half_to_float(0x0400), 0x1p-14F);
  EXPECT_EQ(half_to_float(kHalfMax), 65'504.0F);
  EXPECT_EQ(half_to_float(0x7C00), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::signbit(half_to_float(0x8000)));
  EXPECT_EQ(float_to_half(1.0F + 0x1p-11F), 0x3C00);  // tie: the even neighbour
  EXPECT_EQ(float_to_half(1.0F + 0x1p-11F + 0x1p-20F), 0x3C01);
  EXPECT_EQ(float_to_half(1.0F + 3 * 0x1p-11F), 0x3C02);  // tie: the even neighbour is above
  EXPECT_EQ(float_to_half(65'519.996F), kHalfMax);
  EXPECT_EQ(float_to_half(65'520.0F), 0x7C00);
  EXPECT_EQ(float_to_half(0x1p-25F), 0x0000);  // tie between 0 and the smallest
  EXPECT_EQ(float_to_half(-0x1.000002p-25F), 0x8001);
  EXPECT_EQ(float_to_half(std::numeric_limits<float>::quiet_NaN()) & 0x7C00, 0x7C00);
  EXPECT_NE(float_to_half(std::numeric_limits<float>::quiet_NaN()) & 0x03FF, 0);
}

TEST(HalfTest, ANanWhoseUpperFractionIsZeroStaysANan) {
  EXPECT_EQ(float_to_half(std::bit_cast<float>(0x7F800001U)), 0x7E00);
}

TEST(HalfTest, EveryHalfIsTheNumberItsFieldsSay) {
  for (uint32_t bits = 0; bits < 65'536; ++bits) {
    if ((bits & 0x7C00U) == 0x7C00U) continue;
    const auto half = static_cast<uint16_t>(bits);
    ASSERT_EQ(static_cast<double>(half_to_float(half)), testing::half_by_definition(half)) << bits;
  }
}

TEST(HalfTest, EveryHalfSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 65'536; ++bits) {
    ASSERT_EQ(float_to_half(half_to_float(static_cast<uint16_t>(bits))), bits);
  }
}

TEST(HalfTest, BetweenAnyTwoNeighboursTheNearerWinsAndTheTieIsEven) {
  for (uint16_t low = 0; low < kHalfMax; ++low) {
    const auto high = static_cast<uint16_t>(low + 1);
    const float middle = (half_to_float(low) + half_to_float(high)) / 2;  // exact: one bit more
    const uint16_t even = low % 2 == 0 ? low : high;
    ASSERT_EQ(float_to_half(middle), even);
    ASSERT_EQ(float_to_half(std::nextafter(middle, 0.0F)), low);
    ASSERT_EQ(float_to_half(std::nextafter(middle, 1e6F)), high);
    ASSERT_EQ(float_to_half(-middle), 0x8000 | even);
  }
}

#ifdef __FLT16_MANT_DIG__
TEST(HalfTest, AgreesWithTheCompilersOwnHalf) {
  __extension__ using Native = _Float16;
  for (uint64_t step = 0; step < 200'000; ++step) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(step * 2'654'435'761U));
    if (std::isnan(value)) continue;
    ASSERT_EQ(float_to_half(value), std::bit_cast<uint16_t>(static_cast<Native>(value))) << value;
  }
}
#endif

}  // namespace
}  // namespace tidemark

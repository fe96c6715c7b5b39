#include "sim/kernels/matmul/block_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "inputs.h"
#include "planner/base/check.h"
#include "planner/model/dtype.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr std::array kFormats{RowFormat::kInt8, RowFormat::kInt4, RowFormat::kQ8_0,
                              RowFormat::kQ4_0};

std::vector<std::byte> quantized(RowFormat format, const std::vector<float>& values) {
  const auto bytes = static_cast<size_t>(row_format_bytes(format, std::ssize(values)));
  std::vector<std::byte> row(bytes, std::byte{0xEE});
  quantize_row(format, values, row);
  return row;
}

std::vector<float> dequantized(RowFormat format, std::span<const std::byte> row, size_t columns) {
  std::vector<float> values(columns, 77.0F);
  dequantize_row(format, row, values);
  return values;
}

std::vector<int> numbers(std::span<const std::byte> bytes) {
  std::vector<int> result;
  for (const std::byte byte : bytes) result.push_back(std::to_integer<int>(byte));
  return result;
}

std::vector<float> block(std::initializer_list<float> first) {
  std::vector<float> values(first);
  values.resize(32);
  return values;
}

TEST(BlockRowsTest, RowsHaveThePlannersSize) {
  for (const int64_t columns : {0, 1, 2, 31, 32, 33, 2304, 5761}) {
    EXPECT_EQ(row_format_bytes(RowFormat::kInt8, columns),
              row_bytes(DType::kInt8, columns).count());
    EXPECT_EQ(row_format_bytes(RowFormat::kInt4, columns),
              row_bytes(DType::kInt4, columns).count());
    EXPECT_EQ(row_format_bytes(RowFormat::kQ8_0, columns),
              row_bytes(DType::kQ8_0, columns).count());
    EXPECT_EQ(row_format_bytes(RowFormat::kQ4_0, columns),
              row_bytes(DType::kQ4_0, columns).count());
  }
  EXPECT_THROW(row_format_bytes(RowFormat::kQ4_0, -1), InternalError);
}

TEST(BlockRowsTest, Int4ByHand) {
  // 0.7 / 7 = 0.1 -> fp16 0x2E66 = 0.0999756: 7.0017 -> 7, -3.0007 -> -3 = 0xD, 0.5001 -> 1.
  EXPECT_THAT(numbers(quantized(RowFormat::kInt4, {0.7F, -0.3F, 0.05F})),
              ElementsAre(0xD7, 0x01, 0x66, 0x2E));
}

TEST(BlockRowsTest, Int4UsesSevenStepsEachWay) {
  // Scale 1: ties away from zero; -7 = 0x9.
  const auto row = quantized(RowFormat::kInt4, {-7.0F, 2.5F, -2.5F, 7.0F});
  EXPECT_THAT(numbers(row), ElementsAre(0x39, 0x7D, 0x00, 0x3C));
  EXPECT_THAT(dequantized(RowFormat::kInt4, row, 4), ElementsAre(-7.0F, 3.0F, -3.0F, 7.0F));
}

TEST(BlockRowsTest, Q8ByHand) {
  // Largest magnitude 254: d = 2 = 0x4000; 254 / 2 = 127, -3 / 2 = -1.5 -> -2, 1 / 2 = 0.5 -> 1.
  const auto row = quantized(RowFormat::kQ8_0, block({-254.0F, -3.0F, 1.0F, 0.9F}));
  ASSERT_EQ(row.size(), 34U);
  EXPECT_THAT(numbers(std::span(row).first(6)), ElementsAre(0x00, 0x40, 0x81, 0xFE, 0x01, 0x00));
  EXPECT_THAT(std::span(row).subspan(6), Each(std::byte{0}));
}

TEST(BlockRowsTest, Q8DividesBeforeTheScaleIsRounded) {
  // d = 1 / 127 = 0.00787402 is stored as 0x2008 = 0.00787354. 0.499985 is 63.498 steps of the
  // first and 63.502 of the second.
  const auto row = quantized(RowFormat::kQ8_0, block({1.0F, 0.499985F}));
  EXPECT_EQ(load_u16(row, 0), 0x2008);
  EXPECT_EQ(std::to_integer<int>(row[3]), 63);
}

TEST(BlockRowsTest, Q4ByHand) {
  // The value of largest magnitude, -4, becomes -8: d = 0.5 = 0x3800. 2 -> 4 -> q 12, 0 -> q 8;
  // 4 would be 8 -> q 16, cut to 15. Byte i: value i low, value i + 16 high.
  auto values = block({-4.0F, 2.0F, 4.0F});
  values[16] = 1.0F;   // 2 -> q 10
  values[31] = -3.3F;  // -6.6 + 8.5 = 1.9 -> q 1
  const auto row = quantized(RowFormat::kQ4_0, values);
  ASSERT_EQ(row.size(), 18U);
  EXPECT_THAT(numbers(row), ElementsAre(0x00, 0x38, 0xA0, 0x8C, 0x8F, 0x88, 0x88, 0x88, 0x88, 0x88,
                                        0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0x18));
  auto expected = block({-4.0F, 2.0F, 3.5F});
  expected[16] = 1.0F;
  expected[31] = -3.5F;
  EXPECT_THAT(dequantized(RowFormat::kQ4_0, row, 32), ElementsAreArray(expected));
}

TEST(BlockRowsTest, Q4TakesTheFirstOfEqualMagnitudesAndKeepsItsSign) {
  // 4 comes first: d = 4 / -8 = -0.5 = 0xB800, 4 -> -8 -> q 0, -4 -> 8 -> q 16, cut to 15: -3.5.
  const auto row = quantized(RowFormat::kQ4_0, block({4.0F, -4.0F}));
  EXPECT_EQ(load_u16(row, 0), 0xB800);
  EXPECT_THAT(dequantized(RowFormat::kQ4_0, row, 2 + 30), ElementsAreArray(block({4.0F, -3.5F})));
}

TEST(BlockRowsTest, ABlockOfZeros) {
  EXPECT_THAT(quantized(RowFormat::kQ8_0, block({})), Each(std::byte{0}));
  // ggml's 0 / -8 is a negative zero.
  const auto row = quantized(RowFormat::kQ4_0, block({}));
  EXPECT_EQ(load_u16(row, 0), 0x8000);
  EXPECT_THAT(std::span(row).subspan(2), Each(std::byte{0x88}));
}

TEST(BlockRowsTest, EveryValueIsAllowed) {
  for (const RowFormat format : kFormats) {
    const auto row =
        quantized(format, {INFINITY, -INFINITY, NAN, 1e-45F, 3e38F, -3e38F, 0.0F, -0.0F});
    for (const float value : dequantized(format, row, 8)) EXPECT_TRUE(std::isfinite(value));
    EXPECT_EQ(dequantized(format, row, 8)[2], 0.0F);
    EXPECT_GT(dequantized(format, row, 8)[0], 60'000.0F * 7);
    const auto tiny = quantized(format, {1e-45F, -1e-45F, 1e-39F});
    EXPECT_THAT(dequantized(format, tiny, 3), Each(0.0F));
  }
}

TEST(BlockRowsTest, ScalesNoQuantizerWritesReadAsZero) {
  for (const RowFormat format : {RowFormat::kQ8_0, RowFormat::kQ4_0}) {
    for (const uint16_t bits : std::to_array<uint16_t>({0x7E00, 0x7C00, 0xFC00})) {
      std::vector<std::byte> row(static_cast<size_t>(row_format_bytes(format, 32)), std::byte{1});
      store_u16(row, 0, bits);
      EXPECT_THAT(dequantized(format, row, 32), Each(0.0F));
    }
  }
}

TEST(BlockRowsTest, AStartedBlockIsAsIfFilledWithZeros) {
  for (const RowFormat format : {RowFormat::kQ8_0, RowFormat::kQ4_0}) {
    std::vector<float> values(37);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) - 11.5F;
    auto filled = values;
    filled.resize(64);
    EXPECT_EQ(quantized(format, values), quantized(format, filled));
  }
}

// The formats once more, from their definition, one value at a time and in double.
double value_by_definition(RowFormat format, std::span<const std::byte> row, size_t i) {
  const auto at = [&](size_t offset) { return std::to_integer<int>(row[offset]); };
  const size_t b = i / 32;
  switch (format) {
    case RowFormat::kInt8:
      return static_cast<int8_t>(at(i)) * testing::half_at(row, row.size() - 2);
    case RowFormat::kInt4: {
      const int nibble = at(i / 2) / (i % 2 == 0 ? 1 : 16) % 16;
      return (nibble > 7 ? nibble - 16 : nibble) * testing::half_at(row, row.size() - 2);
    }
    case RowFormat::kQ8_0:
      return static_cast<int8_t>(at(b * 34 + 2 + i % 32)) * testing::half_at(row, b * 34);
    case RowFormat::kQ4_0: {
      const int nibble = at(b * 18 + 2 + i % 16) / (i % 32 < 16 ? 1 : 16) % 16;
      return (nibble - 8) * testing::half_at(row, b * 18);
    }
  }
  return 0.0;
}

TEST(BlockRowsTest, LawDequantizesEveryByteByTheDefinition) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    for (const RowFormat format : kFormats) {
      const int64_t columns = inputs.between(1, 100);
      std::vector<std::byte> row;
      for (const int8_t value : inputs.values(row_format_bytes(format, columns))) {
        row.push_back(static_cast<std::byte>(value));
      }
      // Scales: positive, finite.
      const bool blocks = format == RowFormat::kQ8_0 || format == RowFormat::kQ4_0;
      const size_t stride = format == RowFormat::kQ8_0 ? 34 : 18;
      if (blocks) {
        for (size_t at = 1; at < row.size(); at += stride) row[at] &= std::byte{0xBB};
      } else {
        row.back() &= std::byte{0x3B};
      }
      const auto values = dequantized(format, row, static_cast<size_t>(columns));
      std::vector<int8_t> integers(values.size());
      unpack_row(format, row, integers);
      for (size_t i = 0; i < values.size(); ++i) {
        RC_ASSERT(values[i] == static_cast<float>(value_by_definition(format, row, i)));
        RC_ASSERT(values[i] == integers[i] * row_scale(format, row, static_cast<int64_t>(i)));
      }
    }
  }));
}

TEST(BlockRowsTest, LawValuesComeBackWithinAStep) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    for (const RowFormat format : kFormats) {
      std::vector<float> values;
      const float size = inputs.scale();
      for (const int8_t value : inputs.values(inputs.between(1, 80))) {
        values.push_back(static_cast<float>(value) * size / 77);
      }
      const auto row = quantized(format, values);
      const auto back = dequantized(format, row, values.size());
      // Half a step, and the scale's own rounding: 2^-11 of the value, or, of a scale below fp16's
      // normal numbers, 2^-25 for each of up to 128 steps. Q4_0 alone has no +8: the value opposite
      // to the largest may be a whole step off.
      const double steps = format == RowFormat::kQ4_0 ? 1.0 : 0.5;
      for (size_t i = 0; i < values.size(); ++i) {
        const double step = std::abs(row_scale(format, row, static_cast<int64_t>(i)));
        const double bound = steps * step * 1.002 + std::abs(values[i]) * 0x1p-10 + 0x1p-18;
        RC_ASSERT(std::abs(double{values[i]} - double{back[i]}) <= bound);
      }
    }
  }));
}

TEST(BlockRowsTest, AWrongSizeIsABug) {
  std::vector<std::byte> row(17);
  std::vector<float> values(32);
  EXPECT_THROW(quantize_row(RowFormat::kQ4_0, values, row), InternalError);
  EXPECT_THROW(dequantize_row(RowFormat::kQ4_0, row, values), InternalError);
}

// A row read as floats and stored again in its own format has the same bytes: a block's largest
// value tells its scale. Values between 2^-8 and 2^8, so that no scale is zero.
TEST(BlockRowsTest, LawARowOfBlocksComesBackBitForBit) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const auto format = inputs.between(0, 1) == 0 ? RowFormat::kQ8_0 : RowFormat::kQ4_0;
    std::vector<float> values(static_cast<size_t>(inputs.between(1, 100)));
    for (float& value : values) {
      const float magnitude = inputs.scale() * inputs.scale() * 256.0F;
      value = inputs.between(0, 1) == 0 ? magnitude : -magnitude;
    }
    std::vector<std::byte> row(static_cast<size_t>(row_format_bytes(format, std::ssize(values))));
    quantize_row(format, values, row);
    dequantize_row(format, row, values);
    std::vector<std::byte> again(row.size(), std::byte{0xEE});
    quantize_row(format, values, again);
    RC_ASSERT(again == row);
  }));
}

}  // namespace
}  // namespace tidemark

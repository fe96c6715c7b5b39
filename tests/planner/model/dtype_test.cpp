#include "planner/model/dtype.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>
#include <stdexcept>

#include "planner/base/check.h"

namespace tidemark {
namespace {

struct RowCase {
  DType dtype = DType::kF32;
  int64_t elements = 0;
  int64_t bytes = 0;
};

TEST(DTypeTest, RowBytesByHand) {
  const RowCase cases[] = {
      {DType::kF32, 2304, 2304 * 4},
      {DType::kF16, 2304, 2304 * 2},
      {DType::kBf16, 2304, 2304 * 2},
      {DType::kI32, 512, 512 * 4},
      {DType::kInt8, 2304, 2304 + 2},  // one fp16 scale a row
      {DType::kInt4, 2304, 1152 + 2},
      {DType::kQ8_0, 2304, 72 * 34},  // 32 int8 and an fp16 scale
      {DType::kQ4_0, 2304, 72 * 18},  // 16 bytes of nibbles and a scale
      {DType::kQ5_0, 2304, 72 * 22},  // and 32 fifth bits
      {DType::kQ5_1, 2304, 72 * 24},  // and a minimum
      {DType::kQ4K, 2304, 9 * 144},
      {DType::kQ5K, 2304, 9 * 176},
      {DType::kQ6K, 2304, 9 * 210},
      {DType::kQ5_0, 5760, 180 * 22},
      // Blocks that are not full are held whole.
      {DType::kInt4, 3, 2 + 2},
      {DType::kQ4_0, 33, 2 * 18},
      {DType::kQ8_0, 1, 34},
      {DType::kQ6K, 257, 2 * 210},
      {DType::kF16, 0, 0},
  };
  for (const RowCase& row : cases) {
    EXPECT_EQ(row_bytes(row.dtype, row.elements), Bytes::of(row.bytes))
        << name_of(row.dtype) << " x " << row.elements;
  }
}

TEST(DTypeTest, EveryFormatStandsAtItsOwnPlaceInTheTable) {
  for (const Format& format : formats()) {
    EXPECT_EQ(format_of(format.dtype), format);
    EXPECT_EQ(parse_dtype(format.name), format.dtype);
  }
  EXPECT_EQ(formats().size(), 13u);
}

TEST(DTypeTest, NamesAreReadWithoutRegardToCaseAndByAlias) {
  EXPECT_EQ(parse_dtype("fp32"), DType::kF32);
  EXPECT_EQ(parse_dtype("FP16"), DType::kF16);
  EXPECT_EQ(parse_dtype("float32"), DType::kF32);
  EXPECT_EQ(parse_dtype("float16"), DType::kF16);
  EXPECT_EQ(parse_dtype("BFloat16"), DType::kBf16);
  EXPECT_EQ(parse_dtype("q4_k"), DType::kQ4K);
  EXPECT_EQ(parse_dtype("INT4"), DType::kInt4);
  EXPECT_EQ(parse_dtype("fp4"), std::nullopt);
  EXPECT_EQ(parse_dtype("q4_"), std::nullopt);
  EXPECT_EQ(parse_dtype("q4_k "), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
}

TEST(DTypeTest, OnlyFallbacksAndIndicesAreNotOfferedAsAChoice) {
  for (const Format& format : formats()) {
    const bool is_hidden = format.dtype == DType::kQ5_0 || format.dtype == DType::kQ5_1 ||
                           format.dtype == DType::kQ5K || format.dtype == DType::kI32;
    EXPECT_EQ(format.selectable, !is_hidden) << format.name;
  }
}

TEST(DTypeTest, FloatsAndIndicesAreNotQuantized) {
  for (const Format& format : formats()) {
    const bool is_plain = format.dtype == DType::kF32 || format.dtype == DType::kF16 ||
                          format.dtype == DType::kBf16 || format.dtype == DType::kI32;
    EXPECT_EQ(format.quantized, !is_plain) << format.name;
  }
}

TEST(DTypeTest, ARowDividesWhenItFillsWholeBlocks) {
  EXPECT_TRUE(divides(DType::kQ4K, 2304));
  EXPECT_FALSE(divides(DType::kQ4K, 5760));
  EXPECT_TRUE(divides(DType::kQ5_0, 5760));
  EXPECT_FALSE(divides(DType::kQ8_0, 100));
  EXPECT_FALSE(divides(DType::kInt4, 3));
  EXPECT_TRUE(divides(DType::kInt8, 3));
}

TEST(DTypeTest, ARowPastSixtyThreeBitsThrows) {
  const int64_t largest = std::numeric_limits<int64_t>::max();
  EXPECT_THROW(row_bytes(DType::kF32, largest), std::overflow_error);
  EXPECT_THROW(row_bytes(DType::kInt8, largest), std::overflow_error);  // the scale is one too many
  EXPECT_THROW(row_bytes(DType::kF32, -1), InternalError);
}

// The definition, element by element: a block is paid for when its first element appears.
TEST(DTypeTest, RowBytesAgreeWithCountingBlockByBlock) {
  EXPECT_TRUE(rc::check("row_bytes counts started blocks", [] {
    const Format format =
        *rc::gen::elementOf(std::vector<Format>(formats().begin(), formats().end()));
    const int64_t elements = *rc::gen::inRange<int64_t>(0, 2000);
    int64_t expected = format.row_bytes;
    for (int64_t i = 0; i < elements; ++i) {
      if (i % format.block_elements == 0) expected += format.block_bytes;
    }
    RC_ASSERT(row_bytes(format.dtype, elements) == Bytes::of(expected));
  }));
}

}  // namespace
}  // namespace tidemark

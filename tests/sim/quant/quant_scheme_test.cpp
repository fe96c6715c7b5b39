#include "sim/quant/quant_scheme.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/base/bytes.h"
#include "planner/base/checked.h"
#include "sim/kernels/matmul/block_rows.h"

namespace tidemark {
namespace {

using ::testing::Contains;
using ::testing::Not;

std::string name_of(IntegerFormat format, Granularity granularity, int64_t group = 0) {
  const auto dtype = integer_dtype(format, granularity, group);
  return dtype ? std::string(tidemark::name_of(*dtype)) : "none";
}

TEST(QuantSchemeTest, TheNamesSayTheScales) {
  EXPECT_EQ(name_of({.bits = 8}, Granularity::kChannel), "int8");
  EXPECT_EQ(name_of({.bits = 4}, Granularity::kChannel), "int4");
  EXPECT_EQ(name_of({.bits = 4}, Granularity::kTensor), "int4_tensor");
  EXPECT_EQ(name_of({.bits = 8, .asymmetric = true}, Granularity::kChannel), "int8_channel_zp");
  EXPECT_EQ(name_of({.bits = 8, .asymmetric = true}, Granularity::kTensor), "int8_tensor_zp");
  for (const int64_t group : {32, 64, 128}) {
    const std::string tail = "_g" + std::to_string(group);
    EXPECT_EQ(name_of({.bits = 8}, Granularity::kGroup, group), "int8" + tail);
    EXPECT_EQ(name_of({.bits = 4, .asymmetric = true}, Granularity::kGroup, group),
              "int4" + tail + "_zp");
  }
  EXPECT_EQ(name_of({.bits = 8}, Granularity::kGroup, 48), "none");
  EXPECT_EQ(name_of({.bits = 5}, Granularity::kChannel), "none");
}

TEST(QuantSchemeTest, FormatsKnownByTheirSizeAloneHaveNone) {
  EXPECT_EQ(quant_scheme(DType::kQ4K), std::nullopt);
  EXPECT_EQ(quant_scheme(DType::kF32), std::nullopt);
  EXPECT_THAT(measurable_formats(), Contains("Q4_0"));
  EXPECT_THAT(measurable_formats(), Not(Contains("Q4_K")));
}

// Row by row: whole bytes of integers, two bytes a scale; zero points of one group packed over the
// rows, alone in a byte when there is one for all.
TEST(QuantSchemeTest, ThePlannerCountsTheBytesOfThatScheme) {
  constexpr int64_t kRows = 7;
  constexpr int64_t kColumns = 200;
  for (const std::string& name : measurable_formats()) {
    const QuantScheme scheme = *quant_scheme(*parse_dtype(name));
    if (scheme.method != QuantScheme::Method::kInteger) continue;
    const int64_t bits = scheme.integer.bits;
    const int64_t per_row =
        scheme.granularity == Granularity::kGroup ? ceil_div(kColumns, scheme.group) : 1;
    const bool whole = scheme.granularity == Granularity::kTensor;
    const int64_t scales = whole ? 1 : per_row * kRows;
    int64_t bytes = kRows * kColumns * bits / 8 + 2 * scales;
    if (scheme.integer.asymmetric) bytes += whole ? 1 : per_row * ceil_div(kRows * bits, 8);
    EXPECT_EQ(matrix_bytes(scheme.dtype, kColumns, kRows), Bytes::of(bytes)) << name;
  }
}

TEST(QuantSchemeTest, BlocksHaveTheKernelsSize) {
  EXPECT_EQ(row_bytes(DType::kQ8_0, 96).count(), row_format_bytes(RowFormat::kQ8_0, 96));
  EXPECT_EQ(row_bytes(DType::kQ4_0, 96).count(), row_format_bytes(RowFormat::kQ4_0, 96));
}

TEST(QuantSchemeTest, OnlyBlocksMustBeFilled) {
  EXPECT_TRUE(takes_rows_of(DType::kQ4_0, 64));
  EXPECT_FALSE(takes_rows_of(DType::kQ4_0, 100));
  EXPECT_FALSE(takes_rows_of(DType::kQ8_0, 31));
  EXPECT_TRUE(takes_rows_of(DType::kInt4, 33));
  EXPECT_TRUE(takes_rows_of(DType::kInt8G64Zp, 100));
  EXPECT_TRUE(takes_rows_of(DType::kF16, 1));
}

}  // namespace
}  // namespace tidemark

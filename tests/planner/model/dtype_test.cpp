#include "planner/model/dtype.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

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
  for (size_t i = 0; i < formats().size(); ++i) {
    const Format& format = formats()[i];
    EXPECT_EQ(static_cast<size_t>(format.dtype), i);
    EXPECT_EQ(format_of(format.dtype), format);
    EXPECT_EQ(parse_dtype(format.name), format.dtype) << "two formats share a name";
  }
  // The last of the enumeration, so a format that was forgotten in the table is noticed.
  EXPECT_EQ(formats().size(), static_cast<size_t>(DType::kMlx8G128) + 1);
}

struct MatrixCase {
  DType dtype = DType::kF32;
  int64_t columns = 0;
  int64_t rows = 0;
  int64_t bytes = 0;
};

TEST(DTypeTest, MatrixBytesByHand) {
  const int64_t square = int64_t{4096} * 4096;  // 16,777,216
  const MatrixCase cases[] = {
      {DType::kQ4_0, 4096, 4096, square / 32 * 18},
      {DType::kInt8, 4096, 11, 11 * (4096 + 2)},
      // fp8: one f32 a matrix; 128 x 128 tiles: 56 columns of tiles x 32 rows, one f32 each.
      {DType::kFp8E4m3, 4096, 4096, square + 4},
      {DType::kFp8E5m2, 4096, 4096, square + 4},
      {DType::kFp8E4m3B128, 7168, 4096, 7168 * 4096 + 56 * 32 * 4},
      {DType::kFp8E4m3B128, 129, 130, 129 * 130 + 2 * 2 * 4},  // started tiles count
      // int8 and int4 with their scales; zero points of int4 share bytes: (3 + 1) / 2 = 2 a group.
      {DType::kInt8Tensor, 100, 7, 700 + 2},
      {DType::kInt8TensorZp, 100, 7, 700 + 3},
      {DType::kInt8ChannelZp, 100, 7, 700 + 7 * 2 + 7},
      {DType::kInt8G64, 100, 7, 7 * (100 + 2 * 2)},  // two groups, the second of 36
      {DType::kInt8G64Zp, 100, 7, 7 * (100 + 2 * 2) + 2 * 7},
      {DType::kInt4Tensor, 3, 3, 5 + 2},  // nine nibbles, across rows
      {DType::kInt4TensorZp, 3, 3, 5 + 3},
      {DType::kInt4ChannelZp, 128, 3, 3 * (64 + 2) + 2},
      {DType::kInt4G128, 4096, 4096, square / 2 + 32 * 4096 * 2},
      {DType::kInt4G32Zp, 64, 3, 3 * (32 + 2 * 2) + 2 * 2},
      // GPTQ 4096 x 4096, group 128: 32 groups; qzeros 32 x 4096 / 8 words; g_idx 4096 words.
      {DType::kGptq4G128, 4096, 4096, square / 2 + 32 * 4096 * 2 + 32 * 512 * 4 + 4096 * 4},
      {DType::kGptq4G128, 4096, 4096, 8'732'672},
      {DType::kGptq4Row, 4096, 4096, square / 2 + 4096 * 2 + 512 * 4 + 4096 * 4},
      {DType::kGptq3G64, 128, 64, 128 * 3 / 32 * 64 * 4 + 2 * 64 * 2 + 2 * 6 * 4 + 128 * 4},
      {DType::kGptq2G32, 64, 32, 64 * 2 / 32 * 32 * 4 + 2 * 32 * 2 + 2 * 2 * 4 + 64 * 4},
      {DType::kGptq8G128, 128, 32, 128 * 32 + 32 * 2 + 8 * 4 + 128 * 4},
      // AWQ: the same without g_idx.
      {DType::kAwq4G128, 4096, 4096, 8'732'672 - 4096 * 4},
      {DType::kAwq4G64, 64, 8, 64 * 4 + 8 * 2 + 4},
      // bitsandbytes: blocks run over the flattened matrix. 100 x 100 = 10,000 = 156.25 blocks.
      {DType::kBnbInt8, 4096, 4096, square + 4096 * 4},
      {DType::kBnbNf4, 100, 100, 5000 + 157 * 4 + 64},
      {DType::kBnbFp4, 100, 100, 5000 + 157 * 4 + 64},
      {DType::kBnbNf4Dq, 100, 100, 5000 + 157 + 1 * 4 + 64 + 1024 + 4},
      {DType::kBnbFp4Dq, 4096, 4096, square / 2 + square / 64 + square / 16384 * 4 + 1092},
      // MLC: 4096 = 102.4 groups of 40.
      {DType::kMlcQ3f16, 4096, 10, 10 * 103 * 18},
      {DType::kMlcQ4f16_0, 4096, 10, 10 * 128 * 18},
      {DType::kMlcQ4f16_1, 4096, 10, 10 * 128 * 18},
      {DType::kMnnInt4, 4096, 10, 10 * (2048 + 8)},
      {DType::kMnnInt4B64, 4096, 10, 10 * (2048 + 64 * 8)},
      {DType::kMnnInt8B32, 4096, 10, 10 * (4096 + 128 * 8)},
      {DType::kTfliteInt8, 300, 10, 10 * (300 + 4 + 8)},
      {DType::kBitnetI2S, 2560, 2560, 2560 * 2560 / 4 + 32},
      {DType::kMlx4G64, 4096, 10, 10 * (2048 + 64 * 4)},
      {DType::kMlx3G32, 4096, 10, 10 * (1536 + 128 * 4)},
      {DType::kMlx8G128, 4096, 10, 10 * (4096 + 32 * 4)},
      {DType::kGptq4G128, 0, 0, 0},
  };
  for (const MatrixCase& matrix : cases) {
    EXPECT_EQ(matrix_bytes(matrix.dtype, matrix.columns, matrix.rows), Bytes::of(matrix.bytes))
        << name_of(matrix.dtype) << " " << matrix.columns << " x " << matrix.rows;
  }
}

struct GgmlCase {
  int64_t id = 0;
  DType dtype = DType::kF32;
  int64_t block_elements = 0;
  int64_t block_bytes = 0;
};

// ggml's type table; id, block and bytes.
TEST(DTypeTest, GgmlTypesByHand) {
  const GgmlCase cases[] = {
      {0, DType::kF32, 1, 4},        {1, DType::kF16, 1, 2},        {2, DType::kQ4_0, 32, 18},
      {3, DType::kQ4_1, 32, 20},     {6, DType::kQ5_0, 32, 22},     {7, DType::kQ5_1, 32, 24},
      {8, DType::kQ8_0, 32, 34},     {9, DType::kQ8_1, 32, 36},     {10, DType::kQ2K, 256, 84},
      {11, DType::kQ3K, 256, 110},   {12, DType::kQ4K, 256, 144},   {13, DType::kQ5K, 256, 176},
      {14, DType::kQ6K, 256, 210},   {15, DType::kQ8K, 256, 292},   {16, DType::kIq2Xxs, 256, 66},
      {17, DType::kIq2Xs, 256, 74},  {18, DType::kIq3Xxs, 256, 98}, {19, DType::kIq1S, 256, 50},
      {20, DType::kIq4Nl, 32, 18},   {21, DType::kIq3S, 256, 110},  {22, DType::kIq2S, 256, 82},
      {23, DType::kIq4Xs, 256, 136}, {24, DType::kI8, 1, 1},        {25, DType::kI16, 1, 2},
      {26, DType::kI32, 1, 4},       {27, DType::kI64, 1, 8},       {28, DType::kF64, 1, 8},
      {29, DType::kIq1M, 256, 56},   {30, DType::kBf16, 1, 2},      {34, DType::kTq1_0, 256, 54},
      {35, DType::kTq2_0, 256, 66},  {39, DType::kMxfp4, 32, 17},   {40, DType::kNvfp4, 64, 36},
      {41, DType::kQ1_0, 128, 18},   {42, DType::kQ2_0, 64, 18},
  };
  size_t named = 0;
  for (const GgmlCase& type : cases) {
    EXPECT_EQ(dtype_of_ggml_id(type.id), type.dtype) << type.id;
    EXPECT_EQ(ggml_id_of(type.dtype), type.id);
    EXPECT_EQ(format_of(type.dtype).block_elements, type.block_elements) << type.id;
    EXPECT_EQ(format_of(type.dtype).block_bytes, type.block_bytes) << type.id;
  }
  for (const Format& format : formats()) named += format.ggml_id >= 0 ? 1 : 0;
  EXPECT_EQ(named, std::size(cases));
  for (const int64_t retired : {-1, 4, 5, 31, 32, 33, 36, 37, 38, 43, 1 << 20}) {
    EXPECT_EQ(dtype_of_ggml_id(retired), std::nullopt) << retired;
  }
}

TEST(DTypeTest, BitsPerWeightByHand) {
  EXPECT_DOUBLE_EQ(bits_per_weight(DType::kF16), 16);
  EXPECT_DOUBLE_EQ(bits_per_weight(DType::kQ4K), 4.5);            // 144 x 8 / 256
  EXPECT_DOUBLE_EQ(bits_per_weight(DType::kQ6K), 6.5625);         // 210 x 8 / 256
  EXPECT_DOUBLE_EQ(bits_per_weight(DType::kIq1S), 1.5625);        // 50 x 8 / 256
  EXPECT_DOUBLE_EQ(bits_per_weight(DType::kGptq4G128), 4.15625);  // 4 + (16 + 4) / 128
  EXPECT_DOUBLE_EQ(bits_per_weight(DType::kInt8), 8);             // the scale is paid per row
  EXPECT_DOUBLE_EQ(bits_per_weight(DType::kBnbNf4), 4.5);         // 4 + 32 / 64
  EXPECT_DOUBLE_EQ(bits_per_weight(DType::kBnbNf4Dq), 4 + 8.0 / 64 + 32.0 / 16384);
  EXPECT_DOUBLE_EQ(bits_per_weight(DType::kMlcQ3f16), 3.6);  // 18 x 8 / 40
  EXPECT_DOUBLE_EQ(bits_per_weight(DType::kMnnInt4B64), 5);  // 4 + 64 / 64
  EXPECT_DOUBLE_EQ(bits_per_weight(DType::kMlx4G64), 4.5);   // 4 + 32 / 64
  EXPECT_DOUBLE_EQ(bits_per_weight(DType::kFp8E4m3B128), 8 + 32.0 / 16384);
}

// llama.cpp's --cache-type-k, the bare integers of this project, and the fp8 caches of vLLM, of
// TensorRT-LLM and of MNN's values.
TEST(DTypeTest, WhatAKvCacheMayTake) {
  std::vector<std::string_view> names;
  for (const Format& format : formats()) {
    if (format.cache) names.push_back(format.name);
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"f32", "f16", "bf16", "int8", "int4", "Q8_0",
                                                  "Q4_0", "Q5_0", "Q5_1", "Q4_1", "IQ4_NL",
                                                  "fp8_e4m3", "fp8_e5m2"}));
}

TEST(DTypeTest, ShapesThatAFormatsToolTakes) {
  EXPECT_TRUE(fits(DType::kGptq4G128, 96, 64));
  EXPECT_FALSE(fits(DType::kGptq4G128, 100, 64));
  EXPECT_FALSE(fits(DType::kGptq4G128, 96, 40));
  EXPECT_TRUE(fits(DType::kAwq4G128, 256, 40));
  EXPECT_FALSE(fits(DType::kAwq4G128, 192, 40));
  EXPECT_FALSE(fits(DType::kMlx4G64, 96, 1));
  EXPECT_TRUE(fits(DType::kMlx4G32, 96, 1));
  EXPECT_FALSE(fits(DType::kQ4K, 576, 1));
  EXPECT_TRUE(fits(DType::kBnbNf4, 3, 5));
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

TEST(DTypeTest, FormatsOfferedForAllMatrices) {
  std::vector<std::string_view> names;
  for (const Format& format : formats()) {
    if (format.selectable) names.push_back(format.name);
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"f32", "f16", "bf16", "int8", "int4", "Q8_0",
                                                  "Q4_0", "Q4_K", "Q6_K"}));
}

TEST(DTypeTest, FloatsAndIndicesAreNotQuantized) {
  std::vector<std::string_view> names;
  for (const Format& format : formats()) {
    if (!format.quantized) names.push_back(format.name);
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"f32", "f16", "bf16", "i32", "f64", "i8", "i16",
                                                  "i64"}));
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

Format any_format() {
  return *rc::gen::elementOf(std::vector<Format>(formats().begin(), formats().end()));
}

// The definition, element by element: a block, a group, a tile is paid for when its first element
// appears.
TEST(DTypeTest, MatrixBytesAgreeWithCountingElementByElement) {
  EXPECT_TRUE(rc::check("matrix_bytes counts what was started", [] {
    const Format format = any_format();
    const FormatExtras& extras = format.extras;
    const int64_t columns = *rc::gen::inRange<int64_t>(0, 300);
    const int64_t rows = *rc::gen::inRange<int64_t>(0, 20);
    const int64_t length = extras.flat ? columns * rows : columns;
    const int64_t lines = extras.flat ? 1 : rows;
    int64_t expected = extras.matrix_bytes + extras.column_bytes * columns;
    int64_t groups = extras.group == FormatExtras::kWholeRow ? 1 : 0;
    for (int64_t i = 0; i < length; ++i) groups += extras.group > 0 && i % extras.group == 0;
    for (int64_t line = 0; line < lines; ++line) {
      expected += format.row_bytes + groups * extras.group_bytes;
      for (int64_t i = 0; i < length; ++i) {
        if (i % format.block_elements == 0) expected += format.block_bytes;
        if (extras.outer_group > 0 && i % extras.outer_group == 0) expected += extras.outer_bytes;
        const bool corner = extras.tile > 0 && i % extras.tile == 0 && line % extras.tile == 0;
        if (corner) expected += extras.tile_bytes;
      }
    }
    int64_t words = 0;
    for (int64_t bit = 0; bit < lines * extras.packed_bits; ++bit) {
      words += bit % (8 * extras.word_bytes) == 0;
    }
    expected += groups * words * extras.word_bytes;
    RC_ASSERT(matrix_bytes(format.dtype, columns, rows) == Bytes::of(expected));
  }));
}

TEST(DTypeTest, AMatrixOfARowWiseFormatIsItsRows) {
  EXPECT_TRUE(rc::check("matrix = rows x row", [] {
    const Format format = any_format();
    const int64_t columns = *rc::gen::inRange<int64_t>(0, 5000);
    const int64_t rows = *rc::gen::inRange<int64_t>(0, 300);
    if (!is_row_wise(format.dtype)) return;
    RC_ASSERT(matrix_bytes(format.dtype, columns, rows) == row_bytes(format.dtype, columns) * rows);
  }));
  EXPECT_TRUE(is_row_wise(DType::kMlx4G64));
  EXPECT_FALSE(is_row_wise(DType::kGptq4G128));
  EXPECT_FALSE(is_row_wise(DType::kBnbNf4));
  EXPECT_FALSE(is_row_wise(DType::kFp8E4m3B128));
}

TEST(DTypeTest, AMatrixPastSixtyThreeBitsThrows) {
  const int64_t large = int64_t{1} << 40;
  for (const Format& format : formats()) {
    EXPECT_THROW(matrix_bytes(format.dtype, large, large), std::overflow_error) << format.name;
  }
  EXPECT_THROW(matrix_bytes(DType::kF32, 1, -1), InternalError);
}

}  // namespace
}  // namespace tidemark

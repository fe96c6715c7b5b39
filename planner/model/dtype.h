// Storage formats. Most are rows of blocks: (elements per block, bytes per block, bytes per row).
// The rest add scales and zero points per group of columns, per tile or per matrix. Sizes are
// counted in whole blocks and whole words, never as bits per weight times a count.
//
//   Q4_0 row of 2304: 72 blocks x 18 B = 1,296 B.   int4 row of 2304: 1,152 B + 2 B (one fp16
//   scale) = 1,154 B. Checked by DTypeTest.RowBytesByHand.
//   gptq4_g128, 4096 columns x 4096 rows: 8,388,608 B of nibbles + 32 groups x (4096 fp16 scales +
//   512 words of zero points) + 4 B of group index a column = 8,732,672 B. Checked by
//   DTypeTest.MatrixBytesByHand.
// The source of every row stands in format_table.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "planner/base/bytes.h"

namespace tidemark {

// Names end in what the format's own tool calls it: G128 = group of 128 columns, Row = one group a
// row, Zp = with zero point.
enum class DType {
  kF32,
  kF16,
  kBf16,
  kInt8,
  kInt4,
  kQ8_0,
  kQ4_0,
  kQ5_0,
  kQ5_1,
  kQ4K,
  kQ5K,
  kQ6K,
  kI32,
  kF64,
  kI8,
  kI16,
  kI64,
  kQ4_1,
  kQ8_1,
  kQ2K,
  kQ3K,
  kQ8K,
  kIq1S,
  kIq1M,
  kIq2Xxs,
  kIq2Xs,
  kIq2S,
  kIq3Xxs,
  kIq3S,
  kIq4Nl,
  kIq4Xs,
  kTq1_0,
  kTq2_0,
  kMxfp4,
  kNvfp4,
  kQ1_0,
  kQ2_0,
  kFp8E4m3,
  kFp8E5m2,
  kFp8E4m3B128,
  kInt8Tensor,
  kInt8G32,
  kInt8G64,
  kInt8G128,
  kInt8TensorZp,
  kInt8ChannelZp,
  kInt8G32Zp,
  kInt8G64Zp,
  kInt8G128Zp,
  kInt4Tensor,
  kInt4G32,
  kInt4G64,
  kInt4G128,
  kInt4TensorZp,
  kInt4ChannelZp,
  kInt4G32Zp,
  kInt4G64Zp,
  kInt4G128Zp,
  kGptq2G32,
  kGptq2G64,
  kGptq2G128,
  kGptq2Row,
  kGptq3G32,
  kGptq3G64,
  kGptq3G128,
  kGptq3Row,
  kGptq4G32,
  kGptq4G64,
  kGptq4G128,
  kGptq4Row,
  kGptq8G32,
  kGptq8G64,
  kGptq8G128,
  kGptq8Row,
  kAwq4G32,
  kAwq4G64,
  kAwq4G128,
  kBnbInt8,
  kBnbNf4,
  kBnbNf4Dq,
  kBnbFp4,
  kBnbFp4Dq,
  kMlcQ3f16,
  kMlcQ4f16_0,
  kMlcQ4f16_1,
  kMnnInt4,
  kMnnInt4B32,
  kMnnInt4B64,
  kMnnInt4B128,
  kMnnInt8,
  kMnnInt8B32,
  kMnnInt8B64,
  kMnnInt8B128,
  kTfliteInt8,
  kBitnetI2S,
  kMlx2G32,
  kMlx2G64,
  kMlx2G128,
  kMlx3G32,
  kMlx3G64,
  kMlx3G128,
  kMlx4G32,
  kMlx4G64,
  kMlx4G128,
  kMlx5G32,
  kMlx5G64,
  kMlx5G128,
  kMlx6G32,
  kMlx6G64,
  kMlx6G128,
  kMlx8G32,
  kMlx8G64,
  kMlx8G128
};

// Metadata besides blocks and rows. A group is a run of columns of one row.
struct FormatExtras {
  static constexpr int64_t kWholeRow = -1;

  int64_t group = 0;         // columns a group; 0 = no groups
  int64_t group_bytes = 0;   // per group and row: scale, minimum, unpacked zero point
  int64_t packed_bits = 0;   // per group and row, the rows of one group packed into words
  int64_t word_bytes = 4;    // of those words
  int64_t outer_group = 0;   // columns a group of groups (double quantization)
  int64_t outer_bytes = 0;   // per group of groups and row
  int64_t column_bytes = 0;  // per column, whatever the rows: GPTQ's group index
  int64_t matrix_bytes = 0;  // per matrix
  int64_t tile = 0;          // side of the square tiles that share one scale; 0 = none
  int64_t tile_bytes = 0;
  bool flat = false;        // blocks and groups run on across rows, over the whole matrix
  int64_t fit_columns = 1;  // the format's tool takes multiples of these and nothing else
  int64_t fit_rows = 1;
  bool operator==(const FormatExtras&) const = default;
};

struct Format {
  DType dtype = DType::kF32;
  std::string_view name{};  // canonical: "f16", "int4", "Q4_K"
  int64_t block_elements = 1;
  int64_t block_bytes = 4;
  int64_t row_bytes = 0;  // per-row extra: scales of int8 and int4
  bool quantized = false;
  bool selectable = true;  // offered where one format for all matrices is asked for
  bool cache = false;      // a KV cache may take it
  int32_t ggml_id = -1;    // GGUF's tensor type; -1 = GGUF cannot hold it
  FormatExtras extras{};
  bool operator==(const Format&) const = default;
};

std::span<const Format> formats();  // in the order of DType
const Format& format_of(DType dtype);
inline std::string_view name_of(DType dtype) { return format_of(dtype).name; }

// By canonical name or alias (fp32, fp16, fp4 is none), ignoring case.
std::optional<DType> parse_dtype(std::string_view name);

// By GGUF's tensor type: 12 = Q4_K. Retired and unknown ids are none.
std::optional<DType> dtype_of_ggml_id(int64_t id);
inline int32_t ggml_id_of(DType dtype) { return format_of(dtype).ggml_id; }  // -1 = none

// Does every row take the same bytes, whatever the other rows? Then matrix_bytes is row_bytes x
// rows.
bool is_row_wise(DType dtype);

// Bytes of one row of `elements` values; the last block may be partly filled. A format that is not
// row-wise counts it as a matrix of one row. Throws std::overflow_error.
Bytes row_bytes(DType dtype, int64_t elements);

// Bytes of a matrix with `columns` inputs (GGUF's ne0) and `rows` outputs, all metadata included.
// Throws std::overflow_error.
Bytes matrix_bytes(DType dtype, int64_t columns, int64_t rows);

// Does a row of `elements` fill whole blocks?
bool divides(DType dtype, int64_t elements);

// Does the format's own tool take a matrix of this shape? GPTQ: both sides multiples of 32.
bool fits(DType dtype, int64_t columns, int64_t rows);

// For display only: blocks and groups of a large matrix, without what is paid per row or matrix.
// Q4_K 4.5, gptq4_g128 4.15625.
double bits_per_weight(DType dtype);

}  // namespace tidemark

// Number formats as (elements per block, bytes per block, bytes per row). The size of a quantized
// tensor is counted in whole blocks row by row, never as bits per weight times a count.
//
//   Q4_0 row of 2304: 72 blocks x 18 B = 1,296 B.   int4 row of 2304: 1,152 B + 2 B (one fp16
//   scale) = 1,154 B. Checked by DTypeTest.RowBytesByHand.
// Sources: ggml type table (Q formats: GGUF specification); bare int8 and int4 are symmetric per
// output row with one fp16 scale each (this project's definition).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "planner/base/bytes.h"

namespace tidemark {

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
  kI32
};

struct Format {
  DType dtype = DType::kF32;
  std::string_view name{};  // canonical: "f16", "int4", "Q4_K"
  int64_t block_elements = 1;
  int64_t block_bytes = 4;
  int64_t row_bytes = 0;  // per-row extra: scales of int8 and int4
  bool quantized = false;
  bool selectable =
      true;  // offered as --quant; Q5_0, Q5_1, Q5_K and I32 only appear as fallbacks or indices
  bool operator==(const Format&) const = default;
};

std::span<const Format> formats();
const Format& format_of(DType dtype);
inline std::string_view name_of(DType dtype) { return format_of(dtype).name; }

// By canonical name or alias (fp32, fp16, fp4 is none), ignoring case.
std::optional<DType> parse_dtype(std::string_view name);

// Bytes of one row of `elements` values; the last block may be partly filled. Throws
// std::overflow_error.
Bytes row_bytes(DType dtype, int64_t elements);

// Does a row of `elements` fill whole blocks?
bool divides(DType dtype, int64_t elements);

}  // namespace tidemark

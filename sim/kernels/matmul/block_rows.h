// Rows of weights in the formats the kernels multiply: from floats and back. The bytes are the
// planner's row_bytes of int8, int4, Q8_0 and Q4_0; a started byte or block counts as a whole one.
//
//   int8   K int8 | fp16 scale                     rows.h
//   int4   ceil(K / 2) bytes | fp16 scale          value 2i in the low nibble of byte i, 2i + 1 in
//          its high one, two's complement; scale = fp16(max|x| / 7), values in [-7, 7]
//   Q8_0   for each 32 values: fp16 d | 32 int8    d = max|x| / 127, q = round(x / d)
//   Q4_0   for each 32 values: fp16 d | 16 bytes   d = (the value of largest magnitude) / -8,
//          q = min(15, floor(x / d + 8.5)), value = (q - 8) d; byte i holds value i in its low
//          nibble and value i + 16 in its high one
//
//   int4 of {0.7, -0.3, 0.05}: scale fp16(0.1) = 0x2E66, q = {7, -3, 1} (0.05 / 0.0999756 = 0.5001)
//   -> bytes D7 01 | 66 2E.   Q4_0 of {-4, 2, 0 ...}: d = 0.5, q = {0, 12, 8 ...}.
//   Checked by BlockRowsTest.
//
// The blocks are ggml's, bit for bit: its quantizer divides by the float d before that is rounded
// to fp16, and it multiplies by 1 / d rather than dividing. Where ggml would write an infinite d,
// the largest fp16 stands and values saturate; NaN counts as 0. int8 and int4 are this project's
// own and divide by the scale as stored, so that its rounding costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemark {

enum class RowFormat { kInt8, kInt4, kQ8_0, kQ4_0 };

inline constexpr int64_t kBlockValues = 32;

// Bytes of a row of `columns` values; CHECKs that columns is not negative.
int64_t row_format_bytes(RowFormat format, int64_t columns);

// CHECKs that `row` has row_format_bytes(format, values.size()) bytes. Every byte is written.
void quantize_row(RowFormat format, std::span<const float> values, std::span<std::byte> row);

// The real values of a row, exact: a stored integer times its scale always fits a float. A scale
// that is not finite reads as 0, as does a negative one of int8 and int4, whose scales have no
// sign.
void dequantize_row(RowFormat format, std::span<const std::byte> row, std::span<float> values);

// The stored integers of a row (of Q4_0: q - 8), without their scales.
void unpack_row(RowFormat format, std::span<const std::byte> row, std::span<int8_t> values);

// The scale that value `index` of the row is multiplied by.
float row_scale(RowFormat format, std::span<const std::byte> row, int64_t index);

}  // namespace tidemark

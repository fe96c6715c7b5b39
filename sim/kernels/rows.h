// Rows of numbers: how an int8 matrix is stored, how floats become one, and the ops that only move
// rows.
//
//   stored row of K values: K int8 | fp16 scale, little-endian     K + 2 bytes, the planner's int8
//   row_bytes real value = int8 x scale;  scale = fp16(max|x| / 127) {1.27, -0.5, 0}: scale 0.01 ->
//   fp16 0x211F = 0.0100021; -0.5 / 0.0100021 = -49.99 -> {127, -50, 0, 1F 21} Checked by
//   RowsTest.QuantizesARowByHand.
//
// Stored rows are read byte by byte, so they may begin at any address (an odd K makes every second
// scale odd). Spans of wider types ask for their natural alignment and no more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <source_location>
#include <span>
#include <string_view>

namespace tidemark {

// CHECKs that a flat buffer holds exactly the product of `dimensions`, each of which is not
// negative.
void check_shape(size_t elements, std::initializer_list<int64_t> dimensions, std::string_view what,
                 std::source_location where = std::source_location::current());

// Row `index` of a matrix with `width` elements a row.
template <typename T>
std::span<T> row_of(std::span<T> matrix, int64_t index, int64_t width) {
  return matrix.subspan(static_cast<size_t>(index * width), static_cast<size_t>(width));
}

constexpr int64_t stored_row_bytes(int64_t columns) { return columns + 2; }

// The index-th little-endian value of bytes at any address.
inline uint16_t load_u16(std::span<const std::byte> bytes, size_t index) {
  uint16_t value = 0;
  std::memcpy(&value, bytes.subspan(index * sizeof value, sizeof value).data(), sizeof value);
  return value;
}

inline float load_f32(std::span<const std::byte> bytes, size_t index) {
  float value = 0.0F;
  std::memcpy(&value, bytes.subspan(index * sizeof value, sizeof value).data(), sizeof value);
  return value;
}

inline void store_u16(std::span<std::byte> bytes, size_t index, uint16_t value) {
  std::memcpy(bytes.subspan(index * sizeof value, sizeof value).data(), &value, sizeof value);
}

// The int8 part of a stored row.
std::span<const int8_t> stored_values(std::span<const std::byte> row);
// Its scale. No quantizer writes a negative, infinite or NaN scale: such a row reads as zeros.
float stored_scale(std::span<const std::byte> row);

// Symmetric: values in [-127, 127] by the scale as stored, so its rounding to fp16 costs nothing. A
// row whose scale rounds to zero becomes zeros; one beyond fp16's range saturates; NaN becomes 0.
void quantize_row(std::span<const float> values, std::span<std::byte> row);

// out[i] = round(values[i] / scale), ties away from zero, clamped to [-128, 127].
void quantize_s8(std::span<const float> values, float scale, std::span<int8_t> out);

// out [T, K]: row ids[t] of table [V stored rows], brought to scale_out by multiplier and shift.
void embedding_lookup(int64_t columns, std::span<const int32_t> ids,
                      std::span<const std::byte> table, float scale_out, std::span<int8_t> out);

// The same of a table [V, K] of f32 as stored, at any address: round(value / scale_out), ties away
// from zero.
void float_lookup(int64_t columns, std::span<const int32_t> ids, std::span<const std::byte> table,
                  float scale_out, std::span<int8_t> out);

// Adds the bias [N] f32 as stored to each row of x [T, N]; an empty bias is zeros.
void add_to_rows(std::span<const std::byte> bias, std::span<float> x);

// out [O, K]: row rows[o] of x [T, K]. Out and x do not overlap.
void select_rows(int64_t columns, std::span<const int32_t> rows, std::span<const int8_t> x,
                 std::span<int8_t> out);

}  // namespace tidemark

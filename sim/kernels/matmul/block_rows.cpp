#include "sim/kernels/matmul/block_rows.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "planner/base/check.h"
#include "planner/base/checked.h"
#include "sim/kernels/half.h"
#include "sim/kernels/requantize.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

constexpr auto kBlock = static_cast<size_t>(kBlockValues);
constexpr size_t kScaleBytes = 2;
constexpr size_t kQ8BlockBytes = kScaleBytes + kBlock;
constexpr size_t kQ4BlockBytes = kScaleBytes + kBlock / 2;

size_t block_bytes(RowFormat format) {
  return format == RowFormat::kQ8_0 ? kQ8BlockBytes : kQ4BlockBytes;
}

int low_nibble(std::byte packed) { return std::to_integer<int>(packed) & 15; }
int high_nibble(std::byte packed) { return std::to_integer<int>(packed) >> 4; }
int signed_nibble(int nibble) { return (nibble ^ 8) - 8; }

std::byte pack(int low, int high) { return static_cast<std::byte>((low & 15) | (high & 15) * 16); }

float number(float value) { return std::isnan(value) ? 0.0F : value; }

// The value of largest magnitude, the first of equal ones; 0 of none.
float extreme(std::span<const float> values) {
  float result = 0.0F;
  for (const float value : values) {
    if (std::abs(value) > std::abs(result)) result = value;  // passes over NaN
  }
  return result;
}

// d as a float and as stored, kept within fp16's range.
struct BlockScale {
  float inverse = 0.0F;
  uint16_t bits = 0;
};

BlockScale block_scale(float d) {
  const float largest = half_to_float(kHalfMax);
  const uint16_t bits = float_to_half(d);
  if ((bits & 0x7FFFU) > kHalfMax) {  // beyond fp16
    const float kept = std::copysign(largest, d);
    return {.inverse = 1.0F / kept, .bits = float_to_half(kept)};
  }
  const float inverse = d == 0.0F ? 0.0F : 1.0F / d;
  return {.inverse = std::isfinite(inverse) ? inverse : 0.0F, .bits = bits};
}

void quantize_q8_0(std::span<const float> values, std::span<std::byte> block) {
  const BlockScale scale = block_scale(std::abs(extreme(values)) / 127.0F);
  store_u16(block, 0, scale.bits);
  for (size_t i = 0; i < kBlock; ++i) {
    const float x = i < values.size() ? number(values[i]) : 0.0F;
    const int8_t q = round_to_s8(x * scale.inverse);
    block[kScaleBytes + i] = static_cast<std::byte>(std::max(q, int8_t{-127}));
  }
}

void quantize_q4_0(std::span<const float> values, std::span<std::byte> block) {
  const BlockScale scale = block_scale(extreme(values) / -8.0F);
  store_u16(block, 0, scale.bits);
  const auto q = [&](size_t i) {
    const float x = i < values.size() ? number(values[i]) : 0.0F;
    return static_cast<int>(std::clamp(x * scale.inverse + 8.5F, 0.0F, 15.0F));
  };
  for (size_t i = 0; i < kBlock / 2; ++i) {
    block[kScaleBytes + i] = pack(q(i), q(i + kBlock / 2));
  }
}

void quantize_int4(std::span<const float> values, std::span<std::byte> row) {
  const uint16_t bits = std::min(float_to_half(std::abs(extreme(values)) / 7.0F), kHalfMax);
  const float scale = half_to_float(bits);
  const auto q = [&](size_t i) {
    if (i >= values.size() || !(scale > 0.0F)) return 0;
    return std::clamp(int{round_to_s8(values[i] / scale)}, -7, 7);
  };
  const size_t bytes = row.size() - kScaleBytes;
  for (size_t i = 0; i < bytes; ++i) row[i] = pack(q(2 * i), q(2 * i + 1));
  store_u16(row.last(kScaleBytes), 0, bits);
}

// Calls visit(values of a block, its bytes) for each block of a row.
template <typename Value, typename Byte, typename Visit>
void for_each_block(RowFormat format, std::span<Value> values, std::span<Byte> row, Visit visit) {
  const size_t bytes = block_bytes(format);
  for (size_t b = 0; b * kBlock < values.size(); ++b) {
    const size_t first = b * kBlock;
    visit(values.subspan(first, std::min(kBlock, values.size() - first)),
          row.subspan(b * bytes, bytes));
  }
}

void unpack_q4_0(std::span<const std::byte> block, std::span<int8_t> values) {
  const auto half = std::min(values.size(), kBlock / 2);
  const std::byte* packed = &block[kScaleBytes];
  int8_t* low = values.data();
  int8_t* high = low + half;
  for (size_t i = 0; i < half; ++i) low[i] = static_cast<int8_t>(low_nibble(packed[i]) - 8);
  for (size_t i = 0; i < values.size() - half; ++i) {
    high[i] = static_cast<int8_t>(high_nibble(packed[i]) - 8);
  }
}

void unpack_int4(std::span<const std::byte> row, std::span<int8_t> values) {
  const size_t pairs = values.size() / 2;
  const std::byte* packed = row.data();
  int8_t* out = values.data();
  for (size_t i = 0; i < pairs; ++i) {
    out[2 * i] = static_cast<int8_t>(signed_nibble(low_nibble(packed[i])));
    out[2 * i + 1] = static_cast<int8_t>(signed_nibble(high_nibble(packed[i])));
  }
  if (values.size() % 2 == 1) {
    values.back() = static_cast<int8_t>(signed_nibble(low_nibble(row[pairs])));
  }
}

void check_row(RowFormat format, size_t columns, size_t bytes) {
  check(bytes == static_cast<size_t>(row_format_bytes(format, static_cast<int64_t>(columns))),
        "a row has the bytes of its format");
}

}  // namespace

int64_t row_format_bytes(RowFormat format, int64_t columns) {
  check(columns >= 0, "a row's columns are not negative");
  if (format == RowFormat::kInt8) return checked_add(columns, int64_t{kScaleBytes});
  if (format == RowFormat::kInt4) return columns / 2 + columns % 2 + int64_t{kScaleBytes};
  const int64_t blocks = columns / kBlockValues + (columns % kBlockValues == 0 ? 0 : 1);
  return checked_mul(blocks, static_cast<int64_t>(block_bytes(format)));
}

void quantize_row(RowFormat format, std::span<const float> values, std::span<std::byte> row) {
  check_row(format, values.size(), row.size());
  switch (format) {
    case RowFormat::kInt8:
      return quantize_row(values, row);
    case RowFormat::kInt4:
      return quantize_int4(values, row);
    case RowFormat::kQ8_0:
      return for_each_block(format, values, row, quantize_q8_0);
    case RowFormat::kQ4_0:
      return for_each_block(format, values, row, quantize_q4_0);
  }
}

void unpack_row(RowFormat format, std::span<const std::byte> row, std::span<int8_t> values) {
  check_row(format, values.size(), row.size());
  switch (format) {
    case RowFormat::kInt8:
      std::ranges::copy(stored_values(row), values.begin());
      return;
    case RowFormat::kInt4:
      return unpack_int4(row, values);
    case RowFormat::kQ8_0:
      return for_each_block(format, values, row, [](auto block_values, auto block) {
        for (size_t i = 0; i < block_values.size(); ++i) {
          block_values[i] = static_cast<int8_t>(block[kScaleBytes + i]);
        }
      });
    case RowFormat::kQ4_0:
      return for_each_block(format, values, row, [](auto block_values, auto block) {
        unpack_q4_0(block, block_values);
      });
  }
}

float row_scale(RowFormat format, std::span<const std::byte> row, int64_t index) {
  if (format == RowFormat::kInt8 || format == RowFormat::kInt4) return stored_scale(row);
  check(index >= 0, "an index is not negative");
  const size_t bytes = block_bytes(format);
  const auto block = row.subspan(static_cast<size_t>(index / kBlockValues) * bytes, bytes);
  const float d = half_to_float(load_u16(block, 0));
  return std::isfinite(d) ? d : 0.0F;
}

void dequantize_row(RowFormat format, std::span<const std::byte> row, std::span<float> values) {
  check_row(format, values.size(), row.size());
  std::array<int8_t, kBlock> integers{};
  // By stretches of a block: all values of one stretch have one scale in every format, and an even
  // number of values of int4 is whole bytes.
  for (size_t first = 0; first < values.size(); first += kBlock) {
    const size_t count = std::min(kBlock, values.size() - first);
    const auto part = std::span(integers).first(count);
    const float scale = row_scale(format, row, static_cast<int64_t>(first));
    if (format == RowFormat::kInt8) {
      std::ranges::copy(stored_values(row).subspan(first, count), part.begin());
    } else if (format == RowFormat::kInt4) {
      unpack_int4(row.subspan(first / 2), part);
    } else {
      const size_t bytes = block_bytes(format);
      unpack_row(format, row.subspan(first / kBlock * bytes, bytes), part);
    }
    for (size_t i = 0; i < count; ++i) {
      values[first + i] = static_cast<float>(integers[i]) * scale;
    }
  }
}

}  // namespace tidemark

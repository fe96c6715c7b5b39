// The integer that a row stores at a column, by the definition of its format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/kernels/matmul/block_rows.h"

namespace tidemark::testing {

inline int integer_at(RowFormat format, std::span<const std::byte> row, size_t k) {
  const auto at = [&](size_t offset) { return std::to_integer<int>(row[offset]); };
  if (format == RowFormat::kInt8) return static_cast<int8_t>(at(k));
  if (format == RowFormat::kQ8_0) return static_cast<int8_t>(at(k / 32 * 34 + 2 + k % 32));
  if (format == RowFormat::kQ4_0) {
    return at(k / 32 * 18 + 2 + k % 16) / (k % 32 < 16 ? 1 : 16) % 16 - 8;
  }
  const int nibble = at(k / 2) / (k % 2 == 0 ? 1 : 16) % 16;
  return nibble > 7 ? nibble - 16 : nibble;
}

}  // namespace tidemark::testing

// Seeded inputs for laws: uniform int8 values, one in four at an extreme, so that saturation and
// tails are met often.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace tidemark::testing {

class Inputs {
 public:
  explicit Inputs(uint64_t seed) : random_(seed) {}

  int64_t between(int64_t low, int64_t high) {  // both included
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  float scale() {  // 2^-8 to 1
    return static_cast<float>(
        std::exp2(std::uniform_real_distribution<double>(-8.0, 0.0)(random_)));
  }

  std::vector<int8_t> values(int64_t count) {
    constexpr std::array<int8_t, 5> kExtremes{-128, -127, 127, 0, -1};
    std::vector<int8_t> result(static_cast<size_t>(count));
    for (int8_t& value : result) {
      const bool extreme = between(0, 3) == 0;
      value = extreme ? kExtremes.at(static_cast<size_t>(between(0, 4)))
                      : static_cast<int8_t>(between(-128, 127));
    }
    return result;
  }

  // Rows of `columns` int8 and an fp16 scale between 2^-8 and 1, written without the project's own
  // conversion: exponent bits 7 to 14, any fraction.
  std::vector<std::byte> stored_rows(int64_t rows, int64_t columns) {
    std::vector<std::byte> result;
    for (int64_t r = 0; r < rows; ++r) {
      for (const int8_t value : values(columns)) result.push_back(static_cast<std::byte>(value));
      const int64_t bits = between(7, 14) * 1024 + between(0, 1023);
      result.push_back(static_cast<std::byte>(bits & 0xFF));
      result.push_back(static_cast<std::byte>(bits >> 8));
    }
    return result;
  }

 private:
  std::mt19937_64 random_;
};

// The real number of an fp16 at `bytes`, by the definition of its fields; finite ones only.
inline double half_by_definition(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

inline double half_at(std::span<const std::byte> bytes, size_t offset) {
  const int low = std::to_integer<int>(bytes[offset]);
  const int high = std::to_integer<int>(bytes[offset + 1]);
  return half_by_definition(static_cast<uint16_t>(low + 256 * high));
}

// To nearest, ties away from zero, clamped to int8.
inline int round_and_clamp(double x) {
  return static_cast<int>(std::fmax(-128.0, std::fmin(127.0, std::round(x))));
}

// The requantization rule in plain words: nearest of x m / 2^31 (ties up), then of that / 2^-shift
// (ties away).
inline int64_t scale_by_definition(int64_t x, int64_t multiplier, int shift) {
  if (shift > 0) x = std::min<int64_t>(INT32_MAX, std::max<int64_t>(INT32_MIN, x << shift));
  const int64_t high = (x * multiplier + (int64_t{1} << 30)) >> 31;
  if (shift >= 0) return high;
  const int64_t divisor = int64_t{1} << -shift;
  const int64_t magnitude = (std::abs(high) + divisor / 2) / divisor;
  return high < 0 ? -magnitude : magnitude;
}

// The same by a real factor, its multiplier and shift worked out from their definition.
inline int64_t scale_by_real(int64_t x, double factor) {
  if (factor == 0.0) return 0;
  int shift = static_cast<int>(std::floor(std::log2(factor))) + 1;
  int64_t multiplier = std::llround(std::ldexp(factor, 31 - shift));
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    ++shift;
  }
  return scale_by_definition(x, multiplier, shift);
}

inline int requantize_by_definition(int64_t accumulator, double factor) {
  return round_and_clamp(static_cast<double>(scale_by_real(accumulator, factor)));
}

// The same bytes one address further: a buffer with no alignment at all.
class Shifted {
 public:
  explicit Shifted(std::span<const std::byte> bytes) : storage_(1) {
    storage_.insert(storage_.end(), bytes.begin(), bytes.end());
  }
  std::span<const std::byte> bytes() const { return std::span(storage_).subspan(1); }

 private:
  std::vector<std::byte> storage_;
};

}  // namespace tidemark::testing

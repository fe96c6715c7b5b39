// Integer arithmetic that throws std::overflow_error instead of wrapping. The loaders turn that
// into a diagnostic on the value that caused it; anywhere else it is a bug.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace tidemark {

constexpr int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw std::overflow_error("integer sum out of range");
  return sum;
}

constexpr int64_t checked_sub(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) {
    throw std::overflow_error("integer difference out of range");
  }
  return difference;
}

constexpr int64_t checked_mul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw std::overflow_error("integer product out of range");
  }
  return product;
}

// ceil(a / b) for a >= 0, b > 0.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace tidemark

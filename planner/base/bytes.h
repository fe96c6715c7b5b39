// Bytes: a checked count of bytes, and the alignment of an address. Never an implicit double, never
// Bytes x Bytes. The one formula example used all over the project:
//   32 layers x 8 KV heads x 128 x 2 (K and V) x 2 B (f16) = 131,072 B = 128 KiB per token.
// Checked by BytesTest.KvPerTokenExample.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>

#include "planner/base/checked.h"

namespace tidemark {

class Bytes {
 public:
  constexpr Bytes() = default;
  static constexpr Bytes of(int64_t count) { return Bytes(count); }

  constexpr int64_t count() const { return count_; }

  constexpr auto operator<=>(const Bytes&) const = default;

  friend constexpr Bytes operator+(Bytes a, Bytes b) { return of(checked_add(a.count_, b.count_)); }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return of(checked_sub(a.count_, b.count_)); }
  friend constexpr Bytes operator*(Bytes a, int64_t n) { return of(checked_mul(a.count_, n)); }
  friend constexpr Bytes operator*(int64_t n, Bytes a) { return a * n; }
  // How many whole b fit in a.
  friend constexpr int64_t operator/(Bytes a, Bytes b) { return a.count_ / b.count_; }
  // One of n equal parts, rounded down.
  friend constexpr Bytes operator/(Bytes a, int64_t n) { return of(a.count_ / n); }

  constexpr Bytes& operator+=(Bytes b) { return *this = *this + b; }
  constexpr Bytes& operator-=(Bytes b) { return *this = *this - b; }

 private:
  constexpr explicit Bytes(int64_t count) : count_(count) {}
  int64_t count_ = 0;
};

namespace literals {
constexpr Bytes operator""_B(unsigned long long n) { return Bytes::of(static_cast<int64_t>(n)); }
constexpr Bytes operator""_KiB(unsigned long long n) { return operator""_B(n)*1024; }
constexpr Bytes operator""_MiB(unsigned long long n) { return operator""_KiB(n)*1024; }
constexpr Bytes operator""_GiB(unsigned long long n) { return operator""_MiB(n)*1024; }
constexpr Bytes operator""_MB(unsigned long long n) { return operator""_B(n)*1000000; }
constexpr Bytes operator""_GB(unsigned long long n) { return operator""_MB(n)*1000; }
}  // namespace literals

// A power of two >= 1. Alignment::of throws std::invalid_argument on anything else.
class Alignment {
 public:
  constexpr Alignment() = default;
  static constexpr Alignment of(int64_t count) {
    if (count < 1 || !std::has_single_bit(static_cast<uint64_t>(count))) {
      throw std::invalid_argument("alignment must be a power of two");
    }
    return Alignment(count);
  }

  constexpr int64_t count() const { return count_; }
  constexpr auto operator<=>(const Alignment&) const = default;

 private:
  constexpr explicit Alignment(int64_t count) : count_(count) {}
  int64_t count_ = 1;
};

// The least multiple of `alignment` that is not below `bytes` (bytes >= 0).
constexpr Bytes align_up(Bytes bytes, Alignment alignment) {
  const int64_t mask = alignment.count() - 1;
  return Bytes::of(checked_add(bytes.count(), mask) & ~mask);
}

constexpr bool is_aligned(Bytes bytes, Alignment alignment) {
  return (bytes.count() & (alignment.count() - 1)) == 0;
}

}  // namespace tidemark

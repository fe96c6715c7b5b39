// Time and rates as integers: nanoseconds, bytes per second, operations per second.
// 1 GiB at 2 GB/s takes 1,073,741,824 / 2e9 s = 536,870,912 ns exactly. Checked by
// QuantityTest.TransferTime.
#pragma once

#include <compare>
#include <cstdint>

#include "planner/base/bytes.h"

namespace tidemark {

// A span of simulated or measured time, or a point of it since the start. Nanoseconds.
class Duration {
 public:
  constexpr Duration() = default;
  static constexpr Duration ns(int64_t count) { return Duration(count); }
  static constexpr Duration us(int64_t count) { return Duration(checked_mul(count, 1000)); }
  static constexpr Duration ms(int64_t count) { return Duration(checked_mul(count, 1000000)); }
  static constexpr Duration s(int64_t count) { return Duration(checked_mul(count, 1000000000)); }

  constexpr int64_t count() const { return count_; }
  constexpr auto operator<=>(const Duration&) const = default;

  friend constexpr Duration operator+(Duration a, Duration b) {
    return ns(checked_add(a.count_, b.count_));
  }
  friend constexpr Duration operator-(Duration a, Duration b) {
    return ns(checked_sub(a.count_, b.count_));
  }
  friend constexpr Duration operator*(Duration a, int64_t n) {
    return ns(checked_mul(a.count_, n));
  }
  friend constexpr Duration operator/(Duration a, int64_t n) { return ns(a.count_ / n); }
  constexpr Duration& operator+=(Duration b) { return *this = *this + b; }

 private:
  constexpr explicit Duration(int64_t count) : count_(count) {}
  int64_t count_ = 0;
};

// Simulated time since the start of a run.
using SimTime = Duration;

class BytesPerSecond {
 public:
  constexpr BytesPerSecond() = default;
  static constexpr BytesPerSecond of(int64_t count) { return BytesPerSecond(count); }
  constexpr int64_t count() const { return count_; }
  constexpr auto operator<=>(const BytesPerSecond&) const = default;

 private:
  constexpr explicit BytesPerSecond(int64_t count) : count_(count) {}
  int64_t count_ = 0;
};

// Arithmetic operations per second; one multiply-add counts as two.
class OpsPerSecond {
 public:
  constexpr OpsPerSecond() = default;
  static constexpr OpsPerSecond of(int64_t count) { return OpsPerSecond(count); }
  constexpr int64_t count() const { return count_; }
  constexpr auto operator<=>(const OpsPerSecond&) const = default;

 private:
  constexpr explicit OpsPerSecond(int64_t count) : count_(count) {}
  int64_t count_ = 0;
};

// amount / rate_per_second in nanoseconds, rounded up. Requires amount >= 0 and rate > 0.
// Throws std::overflow_error past 292 years.
Duration time_at_rate(int64_t amount, int64_t rate_per_second);

inline Duration transfer_time(Bytes bytes, BytesPerSecond rate) {
  return time_at_rate(bytes.count(), rate.count());
}
inline Duration compute_time(int64_t operations, OpsPerSecond rate) {
  return time_at_rate(operations, rate.count());
}

}  // namespace tidemark

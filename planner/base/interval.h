// Half-open intervals [lower, upper): the one convention inside the project. Files that mean a
// closed upper end are converted once, where they are read.
#pragma once

#include <algorithm>
#include <compare>

namespace tidemark {

template <typename T>
struct Interval {
  T lower{};
  T upper{};

  constexpr bool empty() const { return !(lower < upper); }
  constexpr bool contains(T point) const { return !(point < lower) && point < upper; }
  constexpr auto operator<=>(const Interval&) const = default;
};

// Do they share a point? [0,3) and [3,9) do not.
template <typename T>
constexpr bool overlaps(const Interval<T>& a, const Interval<T>& b) {
  return a.lower < b.upper && b.lower < a.upper && !a.empty() && !b.empty();
}

// The smallest interval that covers both.
template <typename T>
constexpr Interval<T> hull(const Interval<T>& a, const Interval<T>& b) {
  return {std::min(a.lower, b.lower), std::max(a.upper, b.upper)};
}

}  // namespace tidemark

#include "sim/calibrate/spread.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>

#include "planner/base/check.h"

namespace tidemark {
namespace {

double middle(std::span<const double> sorted) {
  const size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2.0;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  check(!values.empty(), "a spread is of something");
  std::ranges::sort(values);
  const std::span<const double> sorted(values);
  const size_t half = (sorted.size() + 1) / 2;  // with the median's place
  const std::span<const double> inner =
      sorted.subspan(sorted.size() / 10, sorted.size() - 2 * (sorted.size() / 10));
  return {
      .mean = std::accumulate(inner.begin(), inner.end(), 0.0) / static_cast<double>(inner.size()),
      .median = middle(sorted),
      .least = sorted.front(),
      .most = sorted.back(),
      .lower_quartile = middle(sorted.first(half)),
      .upper_quartile = middle(sorted.last(half)),
      .count = static_cast<int>(sorted.size())};
}

double width(const Spread& spread) {
  if (spread.median == 0.0) return 0.0;
  return (spread.upper_quartile - spread.lower_quartile) / spread.median;
}

Spread inverse(const Spread& spread, double amount) {
  check(spread.least > 0.0, "a rate is of a time that passed");
  return {.mean = amount / spread.mean,
          .median = amount / spread.median,
          .least = amount / spread.most,
          .most = amount / spread.least,
          .lower_quartile = amount / spread.upper_quartile,
          .upper_quartile = amount / spread.lower_quartile,
          .count = spread.count};
}

Spread scaled(const Spread& spread, double factor) {
  return {.mean = spread.mean * factor,
          .median = spread.median * factor,
          .least = spread.least * factor,
          .most = spread.most * factor,
          .lower_quartile = spread.lower_quartile * factor,
          .upper_quartile = spread.upper_quartile * factor,
          .count = spread.count};
}

}  // namespace tidemark

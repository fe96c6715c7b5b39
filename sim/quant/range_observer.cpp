#include "sim/quant/range_observer.h"

#include <algorithm>
#include <cmath>

namespace tidemark {
namespace {

constexpr int64_t kHalf = RangeObserver::kBins / 2;

// The least power of two that is above `magnitude`; 2^-149 of zero.
double limit_above(float magnitude) {
  if (magnitude == 0.0F) return 0x1p-149;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  return std::ldexp(1.0, exponent);
}

}  // namespace

void RangeObserver::add(std::span<const float> batch) {
  if (bins_.empty()) bins_.resize(kBins);
  float low = count_ > 0 ? range_.low : INFINITY;
  float high = count_ > 0 ? range_.high : -INFINITY;
  int64_t finite = 0;
  for (const float value : batch) {
    if (!std::isfinite(value)) continue;
    ++finite;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  not_finite_ += std::ssize(batch) - finite;
  count_ += finite;
  if (finite == 0) return;
  range_ = {.low = low, .high = high};
  make_room(std::max(std::abs(low), std::abs(high)));
  for (const float value : batch) {
    if (std::isfinite(value)) ++bins_[bin_of(value)];
  }
}

void RangeObserver::make_room(float magnitude) {
  const double needed = limit_above(magnitude);
  if (limit_ == 0) limit_ = needed;
  while (limit_ < needed) widen();
}

// Bin i of [-limit, limit) becomes a half of bin i / 2 + kBins / 4 of twice that.
void RangeObserver::widen() {
  std::vector<int64_t> wider(kBins);
  for (int64_t i = 0; i < kBins; ++i) {
    wider[static_cast<size_t>(i / 2 + kBins / 4)] += bins_[static_cast<size_t>(i)];
  }
  bins_ = std::move(wider);
  limit_ *= 2;
}

size_t RangeObserver::bin_of(float value) const {
  // Exact: the limit and the number of bins are powers of two.
  const double place = value * (static_cast<double>(kHalf) / limit_);
  const auto whole = static_cast<int64_t>(place);
  const int64_t bin = whole - (place < static_cast<double>(whole) ? 1 : 0) + kHalf;
  return static_cast<size_t>(std::clamp<int64_t>(bin, 0, kBins - 1));
}

double RangeObserver::lower_edge(int64_t bin) const {
  return static_cast<double>(bin - kHalf) / kHalf * limit_;
}

ValueRange RangeObserver::range(RangeRule rule, IntegerFormat format) const {
  if (count_ == 0) return {};
  if (rule.kind == RangeKind::kPercentile) {
    const int64_t outside = left_outside(count_, rule.percentile);
    if (format.asymmetric) return percentile_ends(outside / 2);
    const float magnitude = percentile_magnitude(outside);
    return {.low = -magnitude, .high = magnitude};
  }
  if (rule.kind == RangeKind::kMse) {
    const double factor = best_factor(
        range_, [&](ValueRange range) { return error_of(affine_scale(range, format), format); });
    return shrunk(range_, factor);
  }
  return range_;
}

// Bins are taken away from both outer ends, two at a time, as long as no more than `outside` values
// are in them.
float RangeObserver::percentile_magnitude(int64_t outside) const {
  int64_t taken = 0;
  int64_t last = kBins - 1;
  for (; last > kHalf; --last) {
    taken += bins_[static_cast<size_t>(last)] + bins_[static_cast<size_t>(kBins - 1 - last)];
    if (taken > outside) break;
  }
  const double largest = std::max(std::abs(range_.low), std::abs(range_.high));
  return static_cast<float>(std::min(lower_edge(last + 1), largest));
}

ValueRange RangeObserver::percentile_ends(int64_t outside_each) const {
  int64_t first = 0;
  for (int64_t taken = 0; first < kBins - 1; ++first) {
    taken += bins_[static_cast<size_t>(first)];
    if (taken > outside_each) break;
  }
  int64_t last = kBins - 1;
  for (int64_t taken = 0; last > first; --last) {
    taken += bins_[static_cast<size_t>(last)];
    if (taken > outside_each) break;
  }
  return {.low = static_cast<float>(std::max(lower_edge(first), double{range_.low})),
          .high = static_cast<float>(std::min(lower_edge(last + 1), double{range_.high}))};
}

double RangeObserver::error_of(AffineScale scale, IntegerFormat format) const {
  double sum = 0;
  const double half_bin = limit_ / static_cast<double>(kBins);
  for (int64_t i = 0; i < kBins; ++i) {
    const int64_t values = bins_[static_cast<size_t>(i)];
    if (values == 0) continue;
    const auto centre = static_cast<float>(lower_edge(i) + half_bin);
    const double error =
        double{centre} - double{dequantized(quantized(centre, scale, format), scale)};
    sum += static_cast<double>(values) * error * error;
  }
  return sum;
}

}  // namespace tidemark

// Finds a range from values that come in batches and are not kept: the activations of a
// calibration run, or a tensor that is larger than memory.
//
// The smallest and the largest value, and their number, are exact. Beside them stands a histogram
// of 8,192 equal bins over [-limit, limit), limit a power of two: 64 KiB whatever the number of
// values. When a value lies outside, the limit is doubled as often as needed and bins are merged
// two by two, so that the counts are the same in whichever order the values came. A bin is at most
// 1/2,048 of the largest magnitude wide, a sixteenth of a step of 8 bits.
//
//   {0.5, -0.25}, then {3}: limit 1, then 4. range(min-max) = {-0.25, 3}.
//   Checked by RangeObserverTest.
//
// A percentile is the outer edge of its bin, so it never leaves out more than it says. The error
// that kMse makes least is that of the bins' centres: it is close to that of the values, and may
// be worse than min-max by as little; who has the values can compare (measure.h does).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/quant/range_rule.h"

namespace tidemark {

class RangeObserver {
 public:
  static constexpr int64_t kBins = 8192;

  void add(std::span<const float> batch);

  int64_t count() const { return count_; }            // of finite values
  int64_t not_finite() const { return not_finite_; }  // NaN and infinite, which count for nothing
  // 0 before the first finite value.
  float lowest() const { return range_.low; }
  float highest() const { return range_.high; }

  ValueRange range(RangeRule rule, IntegerFormat format) const;

 private:
  void make_room(float magnitude);
  void widen();
  size_t bin_of(float value) const;
  double lower_edge(int64_t bin) const;
  float percentile_magnitude(int64_t outside) const;
  ValueRange percentile_ends(int64_t outside_each) const;
  double error_of(AffineScale scale, IntegerFormat format) const;

  int64_t count_ = 0;
  int64_t not_finite_ = 0;
  ValueRange range_{};
  double limit_ = 0;  // a power of two; above 2^127 it is no float
  std::vector<int64_t> bins_{};
};

}  // namespace tidemark

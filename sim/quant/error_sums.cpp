#include "sim/quant/error_sums.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "planner/base/check.h"

namespace tidemark {
namespace {

constexpr size_t kLanes = 4;

// Four partial sums each, so that vector units can take them.
struct Lanes {
  std::array<double, kLanes> signal{};
  std::array<double, kLanes> restored{};
  std::array<double, kLanes> product{};
  std::array<double, kLanes> noise{};
  std::array<double, kLanes> largest{};

  void add(size_t lane, float value, float restored_value) {
    const double x = value;
    const double y = restored_value;
    const double error = x - y;
    signal[lane] += x * x;
    restored[lane] += y * y;
    product[lane] += x * y;
    noise[lane] += error * error;
    largest[lane] = std::max(largest[lane], std::abs(error));
  }
};

double total(const std::array<double, kLanes>& lanes) {
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

}  // namespace

void ErrorSums::add(std::span<const float> values, std::span<const float> restored_values) {
  check(values.size() == restored_values.size(), "one restored value for each value");
  Lanes lanes;
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      lanes.add(lane, values[i + lane], restored_values[i + lane]);
    }
  }
  for (; i < values.size(); ++i) lanes.add(0, values[i], restored_values[i]);
  count += std::ssize(values);
  signal += total(lanes.signal);
  restored += total(lanes.restored);
  product += total(lanes.product);
  noise += total(lanes.noise);
  largest = std::max(largest, *std::ranges::max_element(lanes.largest));
}

double sqnr_db(const ErrorSums& sums) {
  if (sums.noise == 0) return std::numeric_limits<double>::infinity();
  return 10.0 * std::log10(sums.signal / sums.noise);
}

double rms_error(const ErrorSums& sums) {
  return sums.count == 0 ? 0.0 : std::sqrt(sums.noise / static_cast<double>(sums.count));
}

std::optional<double> cosine(const ErrorSums& sums) {
  if (sums.signal == 0 || sums.restored == 0) return std::nullopt;
  return std::clamp(sums.product / (std::sqrt(sums.signal) * std::sqrt(sums.restored)), -1.0, 1.0);
}

}  // namespace tidemark

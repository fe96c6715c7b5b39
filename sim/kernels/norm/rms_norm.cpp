#include "sim/kernels/norm/rms_norm.h"

#include <cmath>

#include "planner/base/check.h"
#include "sim/kernels/norm/norm_loops.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

// 1 / sqrt(mean(x^2) + epsilon), from stored value to stored value.
float row_factor(std::span<const int8_t> row, const RmsNormSettings& settings) {
  const int64_t squares = sum_of_squares(row);
  const double in = settings.scales.in;
  const double mean = in * in * static_cast<double>(squares) / static_cast<double>(row.size());
  const double root = std::sqrt(mean + double{settings.epsilon});
  // A row of zeros without epsilon has no direction; it stays zero.
  return root > 0.0 ? static_cast<float>(in / root / double{settings.scales.out}) : 0.0F;
}

}  // namespace

void rms_norm(std::span<const int8_t> x, std::span<const std::byte> gain,
              const RmsNormSettings& settings, std::span<int8_t> out) {
  const int64_t columns = std::ssize(gain) / int64_t{sizeof(float)};
  check(columns > 0 && std::ssize(gain) % int64_t{sizeof(float)} == 0, "the gain is whole floats");
  check(std::ssize(x) % columns == 0 && x.size() == out.size(), "x and out are [T, E]");
  for (int64_t t = 0; t < std::ssize(x) / columns; ++t) {
    const auto row = row_of(x, t, columns);
    const auto out_row = row_of(out, t, columns);
    norm_row({.a = row_factor(row, settings)},
             {.x = row.data(), .gain = gain.data(), .count = columns, .out = out_row.data()});
  }
}

}  // namespace tidemark

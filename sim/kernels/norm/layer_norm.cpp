#include "sim/kernels/norm/layer_norm.h"

#include <cmath>

#include "planner/base/check.h"
#include "sim/kernels/norm/norm_loops.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

NormStep normalising_step(std::span<const int8_t> row, const LayerNormSettings& settings) {
  NormStep step{.a = 0.0F,
                .c = static_cast<float>(1.0 / double{settings.out.scale}),
                .zero_point = settings.out.zero_point};
  const auto count = static_cast<int64_t>(row.size());
  const int64_t squares = sum_of_squares(row);
  int64_t sum = 0;
  for (const int8_t value : row) sum += value;
  const auto n = static_cast<double>(count);
  const double scale = settings.scale_in;
  const double variance = static_cast<double>(count * squares - sum * sum) / (n * n);
  const double root = std::sqrt(scale * scale * variance + double{settings.epsilon});
  if (!(root > 0.0)) return step;  // equal values without epsilon have no direction
  const double a = scale / root;
  step.a = static_cast<float>(a);
  step.b = static_cast<float>(-static_cast<double>(sum) / n * a);
  return step;
}

}  // namespace

void layer_norm(std::span<const int8_t> x, std::span<const std::byte> gain,
                std::span<const std::byte> bias, const LayerNormSettings& settings,
                std::span<int8_t> out) {
  constexpr int64_t kLongest = int64_t{1} << 24;  // count x sum of squares < 2^24 x 2^38
  const int64_t columns = std::ssize(gain) / int64_t{sizeof(float)};
  check(columns > 0 && columns <= kLongest && std::ssize(gain) % int64_t{sizeof(float)} == 0,
        "the gain is whole floats");
  check(bias.empty() || bias.size() == gain.size(), "a bias for each gain, or none");
  check(std::ssize(x) % columns == 0 && x.size() == out.size(), "x and out are [T, E]");
  check_affine(settings.out);
  for (int64_t t = 0; t < std::ssize(x) / columns; ++t) {
    const auto row = row_of(x, t, columns);
    norm_row(normalising_step(row, settings), {.x = row.data(),
                                               .gain = gain.data(),
                                               .bias = bias.empty() ? nullptr : bias.data(),
                                               .count = columns,
                                               .out = row_of(out, t, columns).data()});
  }
}

}  // namespace tidemark

#include "sim/kernels/layer_norm.h"

#include <cmath>

#include "planner/base/check.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

// From stored value to normalised: x a + b.
struct Line {
  float a = 0.0F;
  float b = 0.0F;
};

Line normalising_line(std::span<const int8_t> row, const LayerNormSettings& settings) {
  const auto count = static_cast<int64_t>(row.size());
  int64_t sum = 0;
  int64_t squares = 0;
  for (const int8_t value : row) {
    sum += value;
    squares += int64_t{value} * value;
  }
  const double n = static_cast<double>(count);
  const double scale = settings.scale_in;
  const double variance = static_cast<double>(count * squares - sum * sum) / (n * n);
  const double root = std::sqrt(scale * scale * variance + double{settings.epsilon});
  if (!(root > 0.0)) return {};  // equal values without epsilon have no direction
  const double a = scale / root;
  return {.a = static_cast<float>(a), .b = static_cast<float>(-static_cast<double>(sum) / n * a)};
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
  const float inverse = static_cast<float>(1.0 / double{settings.out.scale});
  for (int64_t t = 0; t < std::ssize(x) / columns; ++t) {
    const auto row = row_of(x, t, columns);
    const auto out_row = row_of(out, t, columns);
    const Line line = normalising_line(row, settings);
    for (size_t i = 0; i < row.size(); ++i) {
      const float normal = static_cast<float>(row[i]) * line.a + line.b;
      const float y = normal * load_f32(gain, i) + (bias.empty() ? 0.0F : load_f32(bias, i));
      out_row[i] = round_to_affine(y * inverse, settings.out.zero_point);
    }
  }
}

}  // namespace tidemark

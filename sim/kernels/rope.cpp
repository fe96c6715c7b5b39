#include "sim/kernels/rope.h"

#include <cmath>

#include "planner/base/check.h"
#include "sim/kernels/requantize.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

struct Turn {
  double cosine = 1.0;
  double sine = 0.0;
};

// Both components are read before either is written, so out may be x.
void rotate_pair(std::span<const int8_t> x, std::span<int8_t> out, size_t first, Turn turn) {
  const size_t second = first + x.size() / 2;
  const double a = x[first];
  const double b = x[second];
  out[first] = round_to_s8(static_cast<float>(a * turn.cosine - b * turn.sine));
  out[second] = round_to_s8(static_cast<float>(b * turn.cosine + a * turn.sine));
}

}  // namespace

void rope(const RopeShape& shape, std::span<const int32_t> positions, std::span<const int8_t> x,
          std::span<int8_t> out) {
  check(shape.head_dim > 0 && shape.head_dim % 2 == 0, "a head is whole pairs");
  check_shape(x.size(), {std::ssize(positions), shape.heads, shape.head_dim}, "x is [T, H, D]");
  check(x.size() == out.size(), "out is [T, H, D]");
  const int64_t pairs = shape.head_dim / 2;
  for (int64_t t = 0; t < std::ssize(positions); ++t) {
    const double position = positions[static_cast<size_t>(t)];
    for (int64_t i = 0; i < pairs; ++i) {
      const double exponent = -static_cast<double>(i) / static_cast<double>(pairs);
      const double angle = position * std::pow(shape.theta, exponent);
      const Turn turn{.cosine = std::cos(angle), .sine = std::sin(angle)};
      for (int64_t h = 0; h < shape.heads; ++h) {
        const int64_t head = t * shape.heads + h;
        rotate_pair(row_of(x, head, shape.head_dim), row_of(out, head, shape.head_dim),
                    static_cast<size_t>(i), turn);
      }
    }
  }
}

}  // namespace tidemark

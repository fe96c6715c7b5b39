#include "sim/kernels/rope.h"

#include <algorithm>
#include <array>
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

// So many are worked out at a time, and serve every head.
constexpr int64_t kTurns = 128;

// Pairs [first, first + turns.size()) of a head. Both components are read before either is written,
// so out may be x.
void rotate_head(std::span<const Turn> turns, int64_t first, std::span<const int8_t> x,
                 std::span<int8_t> out) {
  const auto begin = static_cast<size_t>(first);
  const size_t half = x.size() / 2;
  const auto x_a = x.subspan(begin, turns.size());
  const auto x_b = x.subspan(begin + half, turns.size());
  const auto out_a = out.subspan(begin, turns.size());
  const auto out_b = out.subspan(begin + half, turns.size());
  for (size_t i = 0; i < turns.size(); ++i) {
    const double a = x_a[i];
    const double b = x_b[i];
    out_a[i] = round_to_s8(static_cast<float>(a * turns[i].cosine - b * turns[i].sine));
    out_b[i] = round_to_s8(static_cast<float>(b * turns[i].cosine + a * turns[i].sine));
  }
}

// The turns of pairs [first, first + turns.size()) of `pairs` at a position.
void work_out(double theta, int64_t position, int64_t pairs, int64_t first, std::span<Turn> turns) {
  for (size_t i = 0; i < turns.size(); ++i) {
    const double exponent =
        -static_cast<double>(first + static_cast<int64_t>(i)) / static_cast<double>(pairs);
    const double angle = static_cast<double>(position) * std::pow(theta, exponent);
    turns[i] = {.cosine = std::cos(angle), .sine = std::sin(angle)};
  }
}

}  // namespace

void rope(const RopeShape& shape, std::span<const int32_t> positions, std::span<const int8_t> x,
          std::span<int8_t> out) {
  check(shape.head_dim > 0 && shape.head_dim % 2 == 0, "a head is whole pairs");
  check_shape(x.size(), {std::ssize(positions), shape.heads, shape.head_dim}, "x is [T, H, D]");
  check(x.size() == out.size(), "out is [T, H, D]");
  const int64_t pairs = shape.head_dim / 2;
  std::array<Turn, kTurns> storage{};
  for (int64_t t = 0; t < std::ssize(positions); ++t) {
    for (int64_t first = 0; first < pairs; first += kTurns) {
      const auto turns =
          std::span(storage).first(static_cast<size_t>(std::min(kTurns, pairs - first)));
      work_out(shape.theta, positions[static_cast<size_t>(t)], pairs, first, turns);
      for (int64_t h = 0; h < shape.heads; ++h) {
        const int64_t head = t * shape.heads + h;
        rotate_head(turns, first, row_of(x, head, shape.head_dim),
                    row_of(out, head, shape.head_dim));
      }
    }
  }
}

}  // namespace tidemark

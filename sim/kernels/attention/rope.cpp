#include "sim/kernels/attention/rope.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "planner/base/check.h"
#include "sim/kernels/norm/norm_loops.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

// So many are worked out at a time, and serve every head.
constexpr int64_t kTurns = 128;

// The turns of pairs [first, first + count).
struct Turns {
  std::array<double, kTurns> cosines{};
  std::array<double, kTurns> sines{};
  int64_t first = 0;
  size_t count = 0;
};

// At a position, of `pairs` in all.
void work_out(double theta, int64_t position, int64_t pairs, Turns& turns) {
  for (size_t i = 0; i < turns.count; ++i) {
    const auto pair = static_cast<double>(turns.first + static_cast<int64_t>(i));
    const double angle =
        static_cast<double>(position) * std::pow(theta, -pair / static_cast<double>(pairs));
    turns.cosines[i] = std::cos(angle);
    turns.sines[i] = std::sin(angle);
  }
}

// Both components of a pair are read before either is written, so out may be x.
void rotate_head(const Turns& turns, std::span<const int8_t> x, std::span<int8_t> out) {
  const auto a = static_cast<size_t>(turns.first);
  const size_t b = a + x.size() / 2;
  rotate({.x_a = x.subspan(a, turns.count).data(),
          .x_b = x.subspan(b, turns.count).data(),
          .out_a = out.subspan(a, turns.count).data(),
          .out_b = out.subspan(b, turns.count).data()},
         std::span(turns.cosines).first(turns.count), std::span(turns.sines).first(turns.count));
}

}  // namespace

void rope(const RopeShape& shape, std::span<const int32_t> positions, std::span<const int8_t> x,
          std::span<int8_t> out) {
  check(shape.head_dim > 0 && shape.head_dim % 2 == 0, "a head is whole pairs");
  check_shape(x.size(), {std::ssize(positions), shape.heads, shape.head_dim}, "x is [T, H, D]");
  check(x.size() == out.size(), "out is [T, H, D]");
  const int64_t pairs = shape.head_dim / 2;
  Turns turns;
  for (int64_t t = 0; t < std::ssize(positions); ++t) {
    for (turns.first = 0; turns.first < pairs; turns.first += kTurns) {
      turns.count = static_cast<size_t>(std::min(kTurns, pairs - turns.first));
      work_out(shape.theta, positions[static_cast<size_t>(t)], pairs, turns);
      for (int64_t h = 0; h < shape.heads; ++h) {
        const int64_t head = t * shape.heads + h;
        rotate_head(turns, row_of(x, head, shape.head_dim), row_of(out, head, shape.head_dim));
      }
    }
  }
}

}  // namespace tidemark

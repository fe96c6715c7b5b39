#include "sim/kernels/elementwise.h"

#include <algorithm>
#include <cmath>

#include "planner/base/check.h"
#include "sim/kernels/rows.h"
#include "sim/kernels/scale_loops.h"

namespace tidemark {
ByteTable silu_table(Scales scales) {
  ByteTable table{};
  for (int value = -128; value <= 127; ++value) {
    const double x = value * double{scales.in};
    const double y = x / (1.0 + std::exp(-x));
    table[static_cast<uint8_t>(value)] = round_to_s8(static_cast<float>(y / double{scales.out}));
  }
  return table;
}

void apply_table(const ByteTable& table, std::span<const int8_t> x, std::span<int8_t> out) {
  check(x.size() == out.size(), "one output for each input");
  for (size_t i = 0; i < x.size(); ++i) out[i] = table[static_cast<uint8_t>(x[i])];
}

void multiply_s8(std::span<const int8_t> a, std::span<const int8_t> b, BinaryScales scales,
                 std::span<int8_t> out) {
  check(a.size() == b.size() && a.size() == out.size(), "equal shapes");
  const double real = double{scales.a} * double{scales.b} / double{scales.out};
  const ProductStep step{.output = {.factor = quantize_multiplier(real)}};
  multiply_rows(step, a.data(), b.data(), std::ssize(a), out.data());
}

void add_s8(std::span<const int8_t> a, std::span<const int8_t> b, BinaryScales scales,
            std::span<int8_t> out) {
  check(a.size() == b.size() && a.size() == out.size(), "equal shapes");
  const double common = 2.0 * std::max(double{scales.a}, double{scales.b});
  const double real = common / (std::ldexp(1.0, kAddHeadroom) * double{scales.out});
  const SumStep step{.factor_a = quantize_multiplier(scales.a / common),
                     .factor_b = quantize_multiplier(scales.b / common),
                     .output = {.factor = quantize_multiplier(real)}};
  add_rows(step, a.data(), b.data(), std::ssize(a), out.data());
}

void add_bias_s8(std::span<const int8_t> x, std::span<const std::byte> bias, Scales scales,
                 std::span<int8_t> out) {
  const size_t width = bias.size() / sizeof(float);
  check(width > 0 && bias.size() % sizeof(float) == 0, "a bias is floats");
  check(x.size() == out.size() && x.size() % width == 0, "rows as long as the bias");
  for (size_t i = 0; i < x.size(); ++i) {
    const float real = static_cast<float>(x[i]) * scales.in + load_f32(bias, i % width);
    out[i] = round_to_s8(real / scales.out);
  }
}

}  // namespace tidemark

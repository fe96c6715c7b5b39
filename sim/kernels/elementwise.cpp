#include "sim/kernels/elementwise.h"

#include <algorithm>
#include <cmath>

#include "planner/base/check.h"

namespace tidemark {
namespace {

constexpr int kAddHeadroom = 20;  // bits; 128 x 2^20 = 2^27, and two halves of that cannot overflow

}  // namespace

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
  const auto factor = quantize_multiplier(double{scales.a} * double{scales.b} / double{scales.out});
  for (size_t i = 0; i < a.size(); ++i) out[i] = requantize(int32_t{a[i]} * int32_t{b[i]}, factor);
}

void add_s8(std::span<const int8_t> a, std::span<const int8_t> b, BinaryScales scales,
            std::span<int8_t> out) {
  check(a.size() == b.size() && a.size() == out.size(), "equal shapes");
  const double common = 2.0 * std::max(double{scales.a}, double{scales.b});
  const auto factor_a = quantize_multiplier(scales.a / common);
  const auto factor_b = quantize_multiplier(scales.b / common);
  const auto factor_out =
      quantize_multiplier(common / (std::ldexp(1.0, kAddHeadroom) * scales.out));
  for (size_t i = 0; i < a.size(); ++i) {
    const int32_t sum = scale_by(a[i] * (1 << kAddHeadroom), factor_a) +
                        scale_by(b[i] * (1 << kAddHeadroom), factor_b);
    out[i] = requantize(sum, factor_out);
  }
}

}  // namespace tidemark

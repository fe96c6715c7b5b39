#include "sim/kernels/affine_ops.h"

#include <array>

#include "planner/base/check.h"
#include "sim/kernels/elementwise.h"
#include "sim/kernels/requantize.h"

namespace tidemark {
namespace {

constexpr int kAddHeadroom = 20;  // bits; 255 x 2^20 < 2^28, and two halves of that cannot overflow

void check_binary(size_t a, size_t b, size_t out, const BinaryAffine& affine) {
  check(a == b && a == out, "equal shapes");
  check_affine(affine.a);
  check_affine(affine.b);
  check_affine(affine.out);
  check(affine.range.low <= affine.range.high, "a range is not empty");
}

// Each stored value brought to the sum's scale: one step of 256, not one for each element.
std::array<int32_t, 256> terms(const Affine& in, double common) {
  std::array<int32_t, 256> result{};
  const auto factor = quantize_multiplier(double{in.scale} / common);
  for (int32_t q = -128; q <= 127; ++q) {
    result[static_cast<uint8_t>(q)] = scale_by((q - in.zero_point) * (1 << kAddHeadroom), factor);
  }
  return result;
}

}  // namespace

void add_affine(std::span<const int8_t> a, std::span<const int8_t> b, const BinaryAffine& affine,
                std::span<int8_t> out) {
  check_binary(a.size(), b.size(), out.size(), affine);
  const double common = 2.0 * std::max(double{affine.a.scale}, double{affine.b.scale});
  const auto terms_a = terms(affine.a, common);
  const auto terms_b = terms(affine.b, common);
  const auto factor =
      quantize_multiplier(common / (std::ldexp(1.0, kAddHeadroom) * double{affine.out.scale}));
  for (size_t i = 0; i < out.size(); ++i) {
    const int32_t sum = terms_a[static_cast<uint8_t>(a[i])] + terms_b[static_cast<uint8_t>(b[i])];
    out[i] = add_zero_point(scale_by(sum, factor), affine.out.zero_point, affine.range);
  }
}

void multiply_affine(std::span<const int8_t> a, std::span<const int8_t> b,
                     const BinaryAffine& affine, std::span<int8_t> out) {
  check_binary(a.size(), b.size(), out.size(), affine);
  const auto factor = quantize_multiplier(double{affine.a.scale} * double{affine.b.scale} /
                                          double{affine.out.scale});
  for (size_t i = 0; i < out.size(); ++i) {
    const int32_t product = (a[i] - affine.a.zero_point) * (b[i] - affine.b.zero_point);
    out[i] = add_zero_point(scale_by(product, factor), affine.out.zero_point, affine.range);
  }
}

void rescale(std::span<const int8_t> x, const Affine& in, const Affine& to, std::span<int8_t> out) {
  check(x.size() == out.size(), "equal shapes");
  check_affine(in);
  check_affine(to);
  const auto factor = quantize_multiplier(double{in.scale} / double{to.scale});
  ByteTable table{};
  for (int32_t q = -128; q <= 127; ++q) {
    table[static_cast<uint8_t>(q)] =
        add_zero_point(scale_by(q - in.zero_point, factor), to.zero_point, {});
  }
  apply_table(table, x, out);
}

}  // namespace tidemark

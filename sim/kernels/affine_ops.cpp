#include "sim/kernels/affine_ops.h"

#include "planner/base/check.h"
#include "sim/kernels/elementwise.h"
#include "sim/kernels/requantize.h"
#include "sim/kernels/scale_loops.h"

namespace tidemark {
namespace {

void check_binary(size_t a, size_t b, size_t out, const BinaryAffine& affine) {
  check(a == b && a == out, "equal shapes");
  check_affine(affine.a);
  check_affine(affine.b);
  check_affine(affine.out);
  check(affine.range.low <= affine.range.high, "a range is not empty");
}

OutputStep output_step(double real, const BinaryAffine& affine) {
  return {.factor = quantize_multiplier(real),
          .zero_point = affine.out.zero_point,
          .range = affine.range};
}

}  // namespace

void add_affine(std::span<const int8_t> a, std::span<const int8_t> b, const BinaryAffine& affine,
                std::span<int8_t> out) {
  check_binary(a.size(), b.size(), out.size(), affine);
  const double common = 2.0 * std::max(double{affine.a.scale}, double{affine.b.scale});
  const double real = common / (std::ldexp(1.0, kAddHeadroom) * double{affine.out.scale});
  const SumStep step{.zero_a = affine.a.zero_point,
                     .zero_b = affine.b.zero_point,
                     .factor_a = quantize_multiplier(double{affine.a.scale} / common),
                     .factor_b = quantize_multiplier(double{affine.b.scale} / common),
                     .output = output_step(real, affine)};
  add_rows(step, a.data(), b.data(), std::ssize(a), out.data());
}

void multiply_affine(std::span<const int8_t> a, std::span<const int8_t> b,
                     const BinaryAffine& affine, std::span<int8_t> out) {
  check_binary(a.size(), b.size(), out.size(), affine);
  const double real = double{affine.a.scale} * double{affine.b.scale} / double{affine.out.scale};
  const ProductStep step{.zero_a = affine.a.zero_point,
                         .zero_b = affine.b.zero_point,
                         .output = output_step(real, affine)};
  multiply_rows(step, a.data(), b.data(), std::ssize(a), out.data());
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

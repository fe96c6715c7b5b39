#include "sim/kernels/activation_tables.h"

#include <cmath>
#include <numbers>

namespace tidemark {
namespace {

template <typename Function>
ByteTable table_of(const Affine& in, const Affine& out, Function function) {
  check_affine(in);
  check_affine(out);
  ByteTable table{};
  for (int32_t q = -128; q <= 127; ++q) {
    const double real = double{in.scale} * (q - in.zero_point);
    table[static_cast<uint8_t>(q)] =
        round_to_affine(function(real) / double{out.scale}, out.zero_point);
  }
  return table;
}

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

double gelu_erf(double x) { return x / 2.0 * std::erfc(-x / std::numbers::sqrt2); }

double gelu_tanh(double x) {
  const double inner = std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return x / 2.0 * (1.0 + std::tanh(inner));
}

}  // namespace

ByteTable logistic_table(const Affine& in) { return table_of(in, kLogisticOut, logistic); }

ByteTable tanh_table(const Affine& in) {
  return table_of(in, kTanhOut, [](double x) { return std::tanh(x); });
}

ByteTable gelu_table(const Affine& in, const Affine& out, GeluForm form) {
  return table_of(in, out, form == GeluForm::kErf ? gelu_erf : gelu_tanh);
}

ByteTable silu_table(const Affine& in, const Affine& out) {
  return table_of(in, out, [](double x) { return x * logistic(x); });
}

ByteTable relu_table(const Affine& in, const Affine& out) {
  return table_of(in, out, [](double x) { return x > 0.0 ? x : 0.0; });
}

}  // namespace tidemark

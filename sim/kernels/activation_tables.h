// Functions of one int8, as tables of their 256 answers; apply_table (elementwise.h) looks them up.
//
//   entry q = clamp(z_out + round(f(s_in (q - z_in)) / s_out)), f in double, ties away from zero
//
//   logistic at s_in 0.1, q = 0: 1/2 = 128/256 -> 128 - 128 = 0.  tanh, q = 10: 0.7616 x 128 =
//   97.5 -> 97.  gelu(1) = 0.8413 (erf), 0.8412 (tanh).  Checked by ActivationTablesTest.
//
// TFLite fixes the output parameters of logistic and tanh: no value is lost, and the next op knows
// them. Its own kernels may differ by one step where they approximate; these are nearest.
#pragma once

#include "sim/kernels/affine.h"
#include "sim/kernels/elementwise.h"

namespace tidemark {

inline constexpr Affine kLogisticOut{.scale = 1.0F / 256.0F, .zero_point = -128};
inline constexpr Affine kTanhOut{.scale = 1.0F / 128.0F, .zero_point = 0};

enum class GeluForm {
  kErf,   // x / 2 (1 + erf(x / sqrt 2)), the definition
  kTanh,  // x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
};

ByteTable logistic_table(const Affine& in);  // out: kLogisticOut
ByteTable tanh_table(const Affine& in);      // out: kTanhOut
ByteTable gelu_table(const Affine& in, const Affine& out, GeluForm form);
// x sigmoid(x), with zero points; with none silu_table's entries.
ByteTable silu_table(const Affine& in, const Affine& out);
// max(x, 0); with equal parameters it only cuts.
ByteTable relu_table(const Affine& in, const Affine& out);

}  // namespace tidemark

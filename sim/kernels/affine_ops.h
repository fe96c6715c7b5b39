// Sum, product and change of parameters with zero points. Output over an input is allowed.
//
//   add       both inputs less their zero points, times 2^20, each brought to the common scale 2 x
//             max(s_a, s_b), added exactly, the sum brought to s_out: elementwise.h's add_s8
//   multiply  (a - z_a) (b - z_b) x (s_a s_b / s_out) by multiplier and shift
//   rescale   (x - z_in) x (s_in / s_out) by multiplier and shift
//   and then  out = clamp(z_out + that, range)
//
//   a = 6 at (0.5, -4) is 5.0, b = -2 at (0.25, 2) is -1.0; out (0.5, 10): the sum 4.0 is 8 + 10 =
//   18, the product -5.0 is -10 + 10 = 0.  Checked by AffineOpsTest.ByHand.
#pragma once

#include <cstdint>
#include <span>

#include "sim/kernels/affine.h"

namespace tidemark {

struct BinaryAffine {
  Affine a{};
  Affine b{};
  Affine out{};
  ByteRange range{};  // of `out`
};

void add_affine(std::span<const int8_t> a, std::span<const int8_t> b, const BinaryAffine& affine,
                std::span<int8_t> out);

void multiply_affine(std::span<const int8_t> a, std::span<const int8_t> b,
                     const BinaryAffine& affine, std::span<int8_t> out);

void rescale(std::span<const int8_t> x, const Affine& in, const Affine& to, std::span<int8_t> out);

}  // namespace tidemark

// Average and largest value under a window, int8, NHWC; the parameters of input and output are the
// same (TFLite's rule), so zero points do not enter.
//
//   x [N, H, W, C] -> out [N, OH, OW, C]
//   average = sum / count, to nearest, ties away from zero; count is of the taps inside the image
//
//   {1, 2, 4, -4} under 2 x 2: sum 3, 3/4 -> 1; {-1, -2, -2, -1}: -6/4 = -1.5 -> -2; largest 4, -1.
//   Checked by PoolTest.ByHand.
//
// Every window has a tap inside: TFLite's padding sees to that, and there is no dilation (CHECKed).
#pragma once

#include <cstdint>
#include <span>

#include "sim/kernels/affine.h"
#include "sim/kernels/conv/window.h"

namespace tidemark {

void average_pool(const ImageShape& in, const Window& window, std::span<const int8_t> x,
                  ByteRange range, std::span<int8_t> out);

void max_pool(const ImageShape& in, const Window& window, std::span<const int8_t> x,
              ByteRange range, std::span<int8_t> out);

}  // namespace tidemark

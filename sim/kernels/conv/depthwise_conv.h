// Depthwise 2-D convolution, int8, NHWC: each channel by its own filters (filters.h, window.h).
//
//   x [N, H, W, C], filters [KH, KW, O], O = C m -> out [N, OH, OW, O]
//   acc[o] = bias[o] + sum over taps of (x[o / m] - z_in) w[o];  a tap outside the image adds 0
//
//   one pixel {3, 5}, z_in 1, m = 2, filter {1, 2, 10, 20}: {2, 4, 40, 80}.
//   Checked by DepthwiseConvTest.ByHand.
//
// Sums of kChannelTile channels at a time, on the stack; no scratch. Integers: the order of taps
// changes no bit. Same bits as conv_reference.h.
#pragma once

#include <cstdint>
#include <span>

#include "sim/kernels/conv/conv.h"

namespace tidemark {

void depthwise_conv2d(const ImageShape& in, std::span<const int8_t> x, const Filters& filters,
                      const ConvSettings& settings, std::span<int8_t> out);

}  // namespace tidemark

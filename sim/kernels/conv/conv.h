// 2-D convolution and fully connected layer, int8, NHWC, with zero points and a scale for each
// output channel (filters.h). The window's rules: window.h.
//
//   x [N, H, W, C], filters [O, KH, KW, C] -> out [N, OH, OW, O]
//   acc[o] = bias[o] + sum over taps and channels of (x - z_in) w;  a tap outside the image adds 0
//
//   image {1, 2, 3} (1 x 3, z_in 1), filter {10, 20, 30}, same: taps (pad, 0, 1) and so on: 0 x 20
//   + 1 x 30 = 30; 0 x 10 + 1 x 20 + 2 x 30 = 80; 1 x 10 + 2 x 20 = 50.  Checked by
//   ConvTest.ByHand.
//
// A tile of windows is laid out as rows (im2col; padding as z_in) and multiplied by gemm_s32;
// sum of x w - z_in sum of w is the sum meant, exactly. A window of one tap at stride 1 is not laid
// out. Same bits as conv_reference.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/kernels/conv/filters.h"
#include "sim/kernels/conv/window.h"

namespace tidemark {

inline constexpr int64_t kConvTile = 64;      // output pixels
inline constexpr int64_t kConvTableRows = 4;  // numbers kept for each output channel

struct ConvSettings {
  Window window{};
  AffineLayer layer{};
  int threads = 1;  // conv: output channels are divided among so many; depthwise: pixels
};

// Lent by the caller; sizes by conv_scratch_sizes.
struct ConvScratch {
  std::span<int8_t> rows{};   // a tile of laid out windows; empty for one tap at stride 1
  std::span<int32_t> sums{};  // what each channel needs, and a tile of sums
};

struct ConvScratchSizes {
  int64_t rows = 0;  // elements
  int64_t sums = 0;
};

// For `outputs` output channels. CHECKs that a window has at most kMaxTaps
// values.
ConvScratchSizes conv_scratch_sizes(const ImageShape& in, const Window& window, int64_t outputs);

void conv2d(const ImageShape& in, std::span<const int8_t> x, const Filters& filters,
            const ConvSettings& settings, const ConvScratch& scratch, std::span<int8_t> out);

// x [T, K], filters [O, K] -> out [T, O]: a convolution of one tap over T pixels. Scratch as for
// image {1, T, 1, K}; T and O come from the sizes, K is `columns`.
void fully_connected(int64_t columns, std::span<const int8_t> x, const Filters& filters,
                     const AffineLayer& layer, const ConvScratch& scratch, std::span<int8_t> out);

}  // namespace tidemark

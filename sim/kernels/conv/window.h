// Where a window of a convolution or a pooling looks: TFLite's rules for sizes and padding, NHWC.
//
//   reach of a window of w taps at dilation d: (w - 1) d + 1
//   valid  out = (in - reach) / stride + 1, or 0 where the window does not fit
//   same   out = ceil(in / stride), padding = max((out - 1) stride + reach - in, 0), the smaller
//          half of it before
//   output o's tap k reads input o stride - before + k d; outside the image it reads real zero
//
//   in 5, window 3, stride 2, same: out 3, padding 2 x 2 + 3 - 5 = 2, 1 before: taps -1 0 1, 1 2 3,
//   3 4 5.  in 6: out 3, padding 1, 0 before.  Checked by WindowTest.ByHand.
#pragma once

#include <cstdint>

namespace tidemark {

struct ImageShape {
  int64_t batch = 1;
  int64_t height = 1;
  int64_t width = 1;
  int64_t channels = 1;
  bool operator==(const ImageShape&) const = default;
};

enum class Padding { kValid, kSame };

struct Window {
  int64_t height = 1;
  int64_t width = 1;
  int64_t stride_y = 1;
  int64_t stride_x = 1;
  int64_t dilation_y = 1;
  int64_t dilation_x = 1;
  Padding padding = Padding::kValid;
};

// The same along one axis.
struct Taps {
  int64_t count = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t before = 0;  // padding
  int64_t out = 0;     // outputs

  int64_t place(int64_t output, int64_t tap) const {
    return output * stride - before + tap * dilation;
  }
};

// A window laid over an image.
struct WindowGrid {
  Taps y{};
  Taps x{};
};

// CHECKs that sizes, strides and dilations are positive and at most 2^31.
WindowGrid window_grid(const ImageShape& in, const Window& window);

// The output's shape with `channels` channels.
ImageShape window_output(const ImageShape& in, const Window& window, int64_t channels);

}  // namespace tidemark

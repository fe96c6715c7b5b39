#include "sim/kernels/conv/window.h"

#include <algorithm>

#include "planner/base/check.h"

namespace tidemark {
namespace {

constexpr int64_t kLargest = int64_t{1} << 31;  // products of two such stay within 64 bits

Taps taps_along(int64_t in, Taps taps, Padding padding) {
  for (const int64_t size : {in, taps.count, taps.stride, taps.dilation}) {
    check(size > 0 && size <= kLargest, "a window's sizes are positive");
  }
  const int64_t reach = (taps.count - 1) * taps.dilation + 1;
  if (padding == Padding::kValid) {
    taps.out = in < reach ? 0 : (in - reach) / taps.stride + 1;
    return taps;
  }
  taps.out = (in + taps.stride - 1) / taps.stride;
  taps.before = std::max<int64_t>((taps.out - 1) * taps.stride + reach - in, 0) / 2;
  return taps;
}

}  // namespace

WindowGrid window_grid(const ImageShape& in, const Window& window) {
  const Taps y{.count = window.height, .stride = window.stride_y, .dilation = window.dilation_y};
  const Taps x{.count = window.width, .stride = window.stride_x, .dilation = window.dilation_x};
  return {.y = taps_along(in.height, y, window.padding),
          .x = taps_along(in.width, x, window.padding)};
}

ImageShape window_output(const ImageShape& in, const Window& window, int64_t channels) {
  const WindowGrid grid = window_grid(in, window);
  return {.batch = in.batch, .height = grid.y.out, .width = grid.x.out, .channels = channels};
}

}  // namespace tidemark

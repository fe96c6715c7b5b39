#include "sim/kernels/conv/pool.h"

#include <algorithm>
#include <array>

#include "planner/base/check.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

constexpr int64_t kChannelTile = 64;

using Tile = std::array<int32_t, kChannelTile>;

// 2^23 values of a byte stay within int32.
constexpr int64_t kLargestArea = int64_t{1} << 23;

void check_pool(const ImageShape& in, const Window& window, size_t x, size_t out) {
  const ImageShape shape = window_output(in, window, in.channels);
  check(window.height <= kLargestArea && window.width <= kLargestArea / window.height,
        "a window's sum fits 32 bits");
  check(window.dilation_y == 1 && window.dilation_x == 1, "a pooling window is not dilated");
  check_shape(x, {in.batch, in.height, in.width, in.channels}, "x is [N, H, W, C]");
  check_shape(out, {shape.batch, shape.height, shape.width, in.channels}, "out is [N, OH, OW, C]");
}

// The taps of output `o` that are inside: [first, last) along one axis.
struct Run {
  int64_t first = 0;
  int64_t last = 0;
};

Run inside(const Taps& taps, int64_t output, int64_t in) {
  const int64_t begin = taps.place(output, 0);
  return {.first = std::max<int64_t>(begin, 0), .last = std::min(begin + taps.count, in)};
}

// For each pixel and tile of channels: take(values, tile) for each tap, then finish(tile value,
// count) -> int32.
template <typename Take, typename Finish>
void pool(const ImageShape& in, const Window& window, std::span<const int8_t> x,
          std::span<int8_t> out, int32_t start, Take take, Finish finish) {
  check_pool(in, window, x.size(), out.size());
  const WindowGrid grid = window_grid(in, window);
  const int64_t area = grid.y.out * grid.x.out;
  for (int64_t p = 0; p < in.batch * area; ++p) {
    const Run rows = inside(grid.y, p % area / grid.x.out, in.height);
    const Run columns = inside(grid.x, p % grid.x.out, in.width);
    const int64_t count = (rows.last - rows.first) * (columns.last - columns.first);
    for (int64_t first = 0; first < in.channels; first += kChannelTile) {
      const auto length = static_cast<size_t>(std::min(kChannelTile, in.channels - first));
      Tile tile{};
      tile.fill(start);
      for (int64_t y = rows.first; y < rows.last; ++y) {
        for (int64_t ix = columns.first; ix < columns.last; ++ix) {
          const int64_t pixel = (p / area * in.height + y) * in.width + ix;
          const auto values = row_of(x, pixel, in.channels).subspan(static_cast<size_t>(first));
          for (size_t c = 0; c < length; ++c) take(tile[c], int32_t{values[c]});
        }
      }
      const auto to = row_of(out, p, in.channels).subspan(static_cast<size_t>(first));
      for (size_t c = 0; c < length; ++c) to[c] = finish(tile[c], count);
    }
  }
}

}  // namespace

void average_pool(const ImageShape& in, const Window& window, std::span<const int8_t> x,
                  ByteRange range, std::span<int8_t> out) {
  pool(
      in, window, x, out, 0, [](int32_t& sum, int32_t value) { sum += value; },
      [range](int32_t sum, int64_t count) {
        const int64_t half = sum < 0 ? -(count / 2) : count / 2;
        return add_zero_point(static_cast<int32_t>((sum + half) / count), 0, range);
      });
}

void max_pool(const ImageShape& in, const Window& window, std::span<const int8_t> x,
              ByteRange range, std::span<int8_t> out) {
  pool(
      in, window, x, out, -128,
      [](int32_t& largest, int32_t value) { largest = std::max(largest, value); },
      [range](int32_t largest, int64_t /*count*/) { return add_zero_point(largest, 0, range); });
}

}  // namespace tidemark

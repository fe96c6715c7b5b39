#include "sim/kernels/conv.h"

#include <algorithm>

#include "planner/base/check.h"
#include "planner/base/checked.h"
#include "sim/kernels/gemm.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

int64_t window_values(const ImageShape& in, const Window& window) {
  const int64_t values = checked_mul(checked_mul(window.height, window.width), in.channels);
  check(values > 0 && values <= kMaxTaps, "a window's sum fits 32-bit accumulators");
  return values;
}

// The windows are the image itself, a pixel each.
bool is_pointwise(const Window& window) {
  return window.height == 1 && window.width == 1 && window.stride_y == 1 && window.stride_x == 1;
}

// One window's values as a row: [KH, KW, C], z_in where a tap is outside.
class WindowRows {
 public:
  WindowRows(const ImageShape& in, std::span<const int8_t> x, const ConvSettings& settings)
      : in_(in),
        x_(x),
        grid_(window_grid(in, settings.window)),
        zero_(static_cast<int8_t>(settings.layer.in.zero_point)) {}

  void lay_out(int64_t pixel, std::span<int8_t> row) const {
    const int64_t image = pixel / (grid_.y.out * grid_.x.out);
    const int64_t oy = pixel / grid_.x.out % grid_.y.out;
    const int64_t ox = pixel % grid_.x.out;
    const int64_t line = grid_.x.count * in_.channels;
    for (int64_t ky = 0; ky < grid_.y.count; ++ky) {
      const auto taps = row_of(row, ky, line);
      const int64_t iy = grid_.y.place(oy, ky);
      if (iy < 0 || iy >= in_.height) {
        std::ranges::fill(taps, zero_);
      } else {
        lay_out_line(image * in_.height + iy, ox, taps);
      }
    }
  }

 private:
  void lay_out_line(int64_t image_line, int64_t ox, std::span<int8_t> taps) const {
    const auto line = row_of(x_, image_line, in_.width * in_.channels);
    const int64_t first = grid_.x.place(ox, 0);
    if (grid_.x.dilation == 1 && first >= 0 && first + grid_.x.count <= in_.width) {
      std::ranges::copy(line.subspan(static_cast<size_t>(first * in_.channels), taps.size()),
                        taps.begin());
      return;
    }
    for (int64_t kx = 0; kx < grid_.x.count; ++kx) {
      const auto tap = row_of(taps, kx, in_.channels);
      const int64_t ix = grid_.x.place(ox, kx);
      if (ix < 0 || ix >= in_.width) {
        std::ranges::fill(tap, zero_);
      } else {
        std::ranges::copy(row_of(line, ix, in_.channels), tap.begin());
      }
    }
  }

  ImageShape in_;
  std::span<const int8_t> x_;
  WindowGrid grid_;
  int8_t zero_;
};

// The weights and what the sums need of them.
struct Matrix {
  WeightRows rows{};
  std::span<const int32_t> sums{};  // of each row
};

Matrix matrix_of(const Filters& filters, int64_t columns, std::span<int32_t> row_sums) {
  for (size_t o = 0; o < row_sums.size(); ++o) {
    int32_t sum = 0;
    for (const int8_t w : row_of(filters.values, static_cast<int64_t>(o), columns)) sum += w;
    row_sums[o] = sum;
  }
  return {.rows = {.bytes = std::as_bytes(filters.values),
                   .rows = std::ssize(row_sums),
                   .columns = columns,
                   .stride = columns},
          .sums = row_sums};
}

// out [pixels, O] from the sums of x w [pixels, O].
void finish_tile(const Filters& filters, const AffineLayer& layer,
                 std::span<const int32_t> row_sums, std::span<const int32_t> sums,
                 std::span<int8_t> out) {
  const size_t outputs = row_sums.size();
  for (size_t o = 0; o < outputs; ++o) {
    const ChannelOutput channel = channel_output(filters, layer, static_cast<int64_t>(o));
    const int64_t correction = int64_t{layer.in.zero_point} * row_sums[o];
    for (size_t i = o; i < out.size(); i += outputs) out[i] = channel(sums[i] - correction);
  }
}

}  // namespace

ConvScratchSizes conv_scratch_sizes(const ImageShape& in, const Window& window, int64_t outputs) {
  const int64_t values = window_values(in, window);
  return {.rows = is_pointwise(window) ? 0 : kConvTile * values,
          .sums = checked_mul(kConvTile + 1, outputs)};
}

void conv2d(const ImageShape& in, std::span<const int8_t> x, const Filters& filters,
            const ConvSettings& settings, const ConvScratch& scratch, std::span<int8_t> out) {
  const int64_t columns = window_values(in, settings.window);
  const int64_t outputs = std::ssize(filters.values) / columns;
  const ImageShape shape = window_output(in, settings.window, outputs);
  const ConvScratchSizes sizes = conv_scratch_sizes(in, settings.window, outputs);
  check(outputs > 0, "there are filters");
  check_shape(filters.values.size(), {outputs, columns}, "filters are [O, KH, KW, C]");
  check_shape(x.size(), {in.batch, in.height, in.width, in.channels}, "x is [N, H, W, C]");
  check_shape(out.size(), {shape.batch, shape.height, shape.width, outputs},
              "out is [N, OH, OW, O]");
  check(std::ssize(scratch.rows) >= sizes.rows && std::ssize(scratch.sums) >= sizes.sums,
        "scratch holds a tile");
  check_filters(filters, settings.layer, outputs);
  const auto row_sums = scratch.sums.first(static_cast<size_t>(outputs));
  const Matrix matrix = matrix_of(filters, columns, row_sums);
  const WindowRows windows(in, x, settings);
  const int64_t pixels = shape.batch * shape.height * shape.width;
  for (int64_t first = 0; first < pixels; first += kConvTile) {
    const int64_t count = std::min(kConvTile, pixels - first);
    const auto tile = [&](auto span, int64_t start, int64_t width) {
      return span.subspan(static_cast<size_t>(start * width), static_cast<size_t>(count * width));
    };
    std::span<const int8_t> rows;
    if (is_pointwise(settings.window)) {
      rows = tile(x, first, columns);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        windows.lay_out(first + i, row_of(scratch.rows, i, columns));
      }
      rows = tile(scratch.rows, 0, columns);
    }
    const auto sums = tile(scratch.sums, 1, outputs);
    gemm_s32(count, rows, matrix.rows, sums, {.threads = settings.threads});
    finish_tile(filters, settings.layer, matrix.sums, sums, tile(out, first, outputs));
  }
}

void fully_connected(int64_t columns, std::span<const int8_t> x, const Filters& filters,
                     const AffineLayer& layer, const ConvScratch& scratch, std::span<int8_t> out) {
  check(columns > 0 && std::ssize(x) % columns == 0, "x is [T, K]");
  const int64_t tokens = std::ssize(x) / columns;
  if (tokens == 0) return check(out.empty(), "out is [T, O]");
  conv2d({.height = tokens, .channels = columns}, x, filters, {.layer = layer}, scratch, out);
}

}  // namespace tidemark

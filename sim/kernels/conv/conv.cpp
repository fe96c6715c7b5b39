#include "sim/kernels/conv/conv.h"

#include <algorithm>

#include "planner/base/check.h"
#include "planner/base/checked.h"
#include "sim/kernels/matmul/gemm.h"
#include "sim/kernels/rows.h"
#include "sim/kernels/scale_loops.h"

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

int32_t sum_of(std::span<const int8_t> values) {
  int32_t sum = 0;
  for (const int8_t value : values) sum += value;
  return sum;
}

// Fills four rows of [O] and says where they are.
ChannelStep table_step(const Filters& filters, const AffineLayer& layer, int64_t columns,
                       std::span<int32_t> table) {
  const auto outputs = std::ssize(table) / kConvTableRows;
  const auto corrections = row_of(table, 0, outputs);
  for (int64_t o = 0; o < outputs; ++o) {
    corrections[static_cast<size_t>(o)] =
        layer.in.zero_point * sum_of(row_of(filters.values, o, columns));
  }
  return channel_step(filters, layer, 0,
                      {.corrections = corrections,
                       .biases = row_of(table, 1, outputs),
                       .multipliers = row_of(table, 2, outputs),
                       .shifts = row_of(table, 3, outputs)});
}

}  // namespace

ConvScratchSizes conv_scratch_sizes(const ImageShape& in, const Window& window, int64_t outputs) {
  const int64_t values = window_values(in, window);
  return {.rows = is_pointwise(window) ? 0 : kConvTile * values,
          .sums = checked_mul(kConvTile + kConvTableRows, outputs)};
}

namespace {

// All but the output.
void check_operands(const ImageShape& in, std::span<const int8_t> x, const Filters& filters,
                    const ConvSettings& settings, const ConvScratch& scratch) {
  const int64_t columns = window_values(in, settings.window);
  const int64_t outputs = std::ssize(filters.values) / columns;
  const ConvScratchSizes sizes = conv_scratch_sizes(in, settings.window, outputs);
  check(outputs > 0, "there are filters");
  check_shape(filters.values.size(), {outputs, columns}, "filters are [O, KH, KW, C]");
  check_shape(x.size(), {in.batch, in.height, in.width, in.channels}, "x is [N, H, W, C]");
  check(std::ssize(scratch.rows) >= sizes.rows && std::ssize(scratch.sums) >= sizes.sums,
        "scratch holds a tile");
  check_filters(filters, settings.layer, outputs);
}

}  // namespace

void conv2d(const ImageShape& in, std::span<const int8_t> x, const Filters& filters,
            const ConvSettings& settings, const ConvScratch& scratch, std::span<int8_t> out) {
  const int64_t columns = window_values(in, settings.window);
  const int64_t outputs = std::ssize(filters.values) / columns;
  const ImageShape shape = window_output(in, settings.window, outputs);
  check_operands(in, x, filters, settings, scratch);
  check_shape(out.size(), {shape.batch, shape.height, shape.width, outputs},
              "out is [N, OH, OW, O]");
  const auto table = scratch.sums.first(static_cast<size_t>(kConvTableRows * outputs));
  const ChannelStep step = table_step(filters, settings.layer, columns, table);
  const WeightRows weights{.bytes = std::as_bytes(filters.values),
                           .rows = outputs,
                           .columns = columns,
                           .stride = columns};
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
    const auto sums = tile(scratch.sums, kConvTableRows, outputs);
    gemm_s32(count, rows, weights, sums, {.threads = settings.threads});
    for (int64_t i = 0; i < count; ++i) {
      finish_channels(step, row_of(sums, i, outputs).data(), outputs,
                      row_of(out, first + i, outputs).data());
    }
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

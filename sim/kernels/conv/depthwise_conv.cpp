#include "sim/kernels/conv/depthwise_conv.h"

#include <algorithm>
#include <array>

#include "planner/base/check.h"
#include "planner/base/checked.h"
#include "sim/kernels/isa.h"
#include "sim/kernels/parallel.h"
#include "sim/kernels/rows.h"
#include "sim/kernels/scale_loops.h"

namespace tidemark {
namespace {

constexpr int64_t kChannelTile = 64;
constexpr int64_t kPixelsAtATime = 256;  // a thread's

using Sums = std::array<int32_t, kChannelTile>;

// One tap over consecutive channels; the compiler makes vector code of it, in one copy for the
// baseline and one for AVX2.
[[gnu::always_inline]] inline void add_tap_loop(const int8_t* x, const int8_t* w, int32_t zero,
                                                int64_t count, int32_t* sums) {
  for (int64_t c = 0; c < count; ++c) sums[c] += (int32_t{x[c]} - zero) * int32_t{w[c]};
}

using AddTap = void (*)(const int8_t*, const int8_t*, int32_t, int64_t, int32_t*);

void add_tap_baseline(const int8_t* x, const int8_t* w, int32_t zero, int64_t count,
                      int32_t* sums) {
  add_tap_loop(x, w, zero, count, sums);
}

#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target("avx2")]] void add_tap_avx2(const int8_t* x, const int8_t* w, int32_t zero,
                                          int64_t count, int32_t* sums) {
  add_tap_loop(x, w, zero, count, sums);
}
AddTap add_tap() { return isa_in_use() >= Isa::kAvx2 ? add_tap_avx2 : add_tap_baseline; }
#else
AddTap add_tap() { return add_tap_baseline; }
#endif

struct Layout {
  ImageShape in{};
  WindowGrid grid{};
  int64_t outputs = 0;
  int64_t multiplier = 1;  // m
};

// Output channels [first, first + count) of one pixel.
struct Tile {
  int64_t image = 0;
  int64_t oy = 0;
  int64_t ox = 0;
  int64_t first = 0;
  int64_t count = 0;
};

Sums sum_taps(const Layout& layout, std::span<const int8_t> x, const Filters& filters, int32_t zero,
              const Tile& tile) {
  const AddTap add = add_tap();
  Sums sums{};
  for (int64_t ky = 0; ky < layout.grid.y.count; ++ky) {
    const int64_t iy = layout.grid.y.place(tile.oy, ky);
    if (iy < 0 || iy >= layout.in.height) continue;
    for (int64_t kx = 0; kx < layout.grid.x.count; ++kx) {
      const int64_t ix = layout.grid.x.place(tile.ox, kx);
      if (ix < 0 || ix >= layout.in.width) continue;
      const int64_t pixel = (tile.image * layout.in.height + iy) * layout.in.width + ix;
      const auto values = row_of(x, pixel, layout.in.channels);
      const auto weights = row_of(filters.values, ky * layout.grid.x.count + kx, layout.outputs);
      const auto w = weights.subspan(static_cast<size_t>(tile.first));
      if (layout.multiplier == 1) {
        add(values.subspan(static_cast<size_t>(tile.first)).data(), w.data(), zero, tile.count,
            sums.data());
        continue;
      }
      for (int64_t c = 0; c < tile.count; ++c) {
        const int64_t channel = (tile.first + c) / layout.multiplier;
        const auto at = static_cast<size_t>(c);
        sums[at] += (values[static_cast<size_t>(channel)] - zero) * w[at];
      }
    }
  }
  return sums;
}

Layout layout_of(const ImageShape& in, std::span<const int8_t> x, const Filters& filters,
                 const Window& window, size_t out) {
  const int64_t taps = checked_mul(window.height, window.width);
  check(taps > 0 && taps <= kMaxTaps, "a window's sum fits 32-bit accumulators");
  const int64_t outputs = std::ssize(filters.values) / taps;
  check(in.channels > 0 && outputs > 0 && outputs % in.channels == 0, "O is a multiple of C");
  check_shape(filters.values.size(), {taps, outputs}, "filters are [KH, KW, O]");
  check_shape(x.size(), {in.batch, in.height, in.width, in.channels}, "x is [N, H, W, C]");
  const ImageShape shape = window_output(in, window, outputs);
  check_shape(out, {shape.batch, shape.height, shape.width, outputs}, "out is [N, OH, OW, O]");
  return {.in = in,
          .grid = window_grid(in, window),
          .outputs = outputs,
          .multiplier = outputs / in.channels};
}

}  // namespace

void depthwise_conv2d(const ImageShape& in, std::span<const int8_t> x, const Filters& filters,
                      const ConvSettings& settings, std::span<int8_t> out) {
  const Layout layout = layout_of(in, x, filters, settings.window, out.size());
  check_filters(filters, settings.layer, layout.outputs);
  std::array<Sums, 4> table{};  // corrections: the zero point is taken off before
  const int64_t area = layout.grid.y.out * layout.grid.x.out;
  for (int64_t first = 0; first < layout.outputs; first += kChannelTile) {
    const int64_t count = std::min(kChannelTile, layout.outputs - first);
    const auto width = static_cast<size_t>(count);
    const ChannelStep step = channel_step(filters, settings.layer, first,
                                          {.corrections = table[0],
                                           .biases = std::span(table[1]).first(width),
                                           .multipliers = std::span(table[2]).first(width),
                                           .shifts = std::span(table[3]).first(width)});
    for_each_part(in.batch * area, kPixelsAtATime, settings.threads, [&](int64_t from, int64_t n) {
      for (int64_t p = from; p < from + n; ++p) {
        const Tile tile{.image = p / area,
                        .oy = p % area / layout.grid.x.out,
                        .ox = p % layout.grid.x.out,
                        .first = first,
                        .count = count};
        const Sums sums = sum_taps(layout, x, filters, settings.layer.in.zero_point, tile);
        const auto to = row_of(out, p, layout.outputs).subspan(static_cast<size_t>(first));
        finish_channels(step, sums.data(), count, to.data());
      }
    });
  }
}

}  // namespace tidemark

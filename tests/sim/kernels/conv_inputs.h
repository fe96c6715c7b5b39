// Random convolutions, and the convolution once more in plain loops, 64 bits and doubles.
#pragma once

#include <vector>

#include "inputs.h"
#include "sim/kernels/conv/conv.h"

namespace tidemark::testing {

struct ConvCase {
  ImageShape in{};
  ConvSettings settings{};
  int64_t outputs = 1;
  int64_t multiplier = 0;  // of a depthwise one; 0: all channels meet
  std::vector<int8_t> x{};
  std::vector<int8_t> values{};
  std::vector<float> scales{};
  std::vector<int32_t> bias{};

  Filters filters() const { return {.values = values, .scales = scales, .bias = bias}; }
  ImageShape out_shape() const { return window_output(in, settings.window, outputs); }
  size_t out_size() const {
    const ImageShape out = out_shape();
    return static_cast<size_t>(out.batch * out.height * out.width * out.channels);
  }
};

inline Window random_window(Inputs& inputs) {
  return {.height = inputs.between(1, 4),
          .width = inputs.between(1, 4),
          .stride_y = inputs.between(1, 3),
          .stride_x = inputs.between(1, 3),
          .dilation_y = inputs.between(1, 2),
          .dilation_x = inputs.between(1, 2),
          .padding = inputs.between(0, 1) == 0 ? Padding::kSame : Padding::kValid};
}

// `multiplier` 0: an ordinary convolution with any number of outputs.
inline ConvCase random_conv(Inputs& inputs, int64_t multiplier, int64_t most_channels) {
  ConvCase c;
  c.in = {inputs.between(1, 2), inputs.between(1, 9), inputs.between(1, 9),
          inputs.between(1, most_channels)};
  c.settings.window = random_window(inputs);
  c.multiplier = multiplier;
  c.outputs = multiplier == 0 ? inputs.between(1, 40) : c.in.channels * multiplier;
  const int64_t taps = c.settings.window.height * c.settings.window.width;
  c.x = inputs.values(c.in.batch * c.in.height * c.in.width * c.in.channels);
  c.values = inputs.values(taps * c.outputs * (multiplier == 0 ? c.in.channels : 1));
  const bool per_channel = inputs.between(0, 3) != 0;
  for (int64_t o = 0; o < (per_channel ? c.outputs : 1); ++o) c.scales.push_back(inputs.scale());
  const bool biased = inputs.between(0, 3) != 0;
  for (int64_t o = 0; o < (biased ? c.outputs : 0); ++o) {
    const bool extreme = inputs.between(0, 9) == 0;
    c.bias.push_back(static_cast<int32_t>(extreme ? INT32_MAX : inputs.between(-99'999, 99'999)));
  }
  c.settings.layer = {
      .in = {inputs.scale(), static_cast<int32_t>(inputs.between(-128, 127))},
      .out = {inputs.scale() * 200, static_cast<int32_t>(inputs.between(-128, 127))}};
  c.settings.layer.range.low = static_cast<int32_t>(inputs.between(-128, 0));
  c.settings.layer.range.high = static_cast<int32_t>(inputs.between(1, 127));
  return c;
}

// Outputs and padding before, along one axis, by the words of TFLite's rule.
struct Axis {
  int64_t out = 0;
  int64_t before = 0;
};

inline Axis axis_by_definition(int64_t in, int64_t taps, int64_t stride, int64_t dilation,
                               Padding padding) {
  const int64_t reach = (taps - 1) * dilation + 1;
  Axis axis;
  if (padding == Padding::kValid) {
    while (axis.out * stride + reach <= in) ++axis.out;  // the window is inside
    return axis;
  }
  while (axis.out * stride < in) ++axis.out;  // one for each started stride
  const int64_t missing = (axis.out - 1) * stride + reach - in;
  axis.before = missing > 0 ? missing / 2 : 0;
  return axis;
}

inline std::vector<int8_t> conv_by_definition(const ConvCase& c) {
  const Window& w = c.settings.window;
  const AffineLayer& layer = c.settings.layer;
  const Axis ys = axis_by_definition(c.in.height, w.height, w.stride_y, w.dilation_y, w.padding);
  const Axis xs = axis_by_definition(c.in.width, w.width, w.stride_x, w.dilation_x, w.padding);
  const bool depthwise = c.multiplier > 0;
  const int64_t per_filter = depthwise ? 1 : c.in.channels;
  std::vector<int8_t> out;
  for (int64_t i = 0; i < c.in.batch * ys.out * xs.out * c.outputs; ++i) {
    const int64_t o = i % c.outputs;
    const int64_t ox = i / c.outputs % xs.out;
    const int64_t oy = i / c.outputs / xs.out % ys.out;
    const int64_t n = i / c.outputs / xs.out / ys.out;
    int64_t sum = c.bias.empty() ? 0 : c.bias[static_cast<size_t>(o)];
    for (int64_t tap = 0; tap < w.height * w.width * per_filter; ++tap) {
      const int64_t k = tap / per_filter;
      const int64_t y = oy * w.stride_y - ys.before + k / w.width * w.dilation_y;
      const int64_t x = ox * w.stride_x - xs.before + k % w.width * w.dilation_x;
      if (y < 0 || y >= c.in.height || x < 0 || x >= c.in.width) continue;
      const int64_t channel = depthwise ? o / c.multiplier : tap % per_filter;
      const int64_t at = ((n * c.in.height + y) * c.in.width + x) * c.in.channels + channel;
      const int64_t weight =
          depthwise ? k * c.outputs + o : o * w.height * w.width * per_filter + tap;
      sum += (c.x[static_cast<size_t>(at)] - layer.in.zero_point) *
             int64_t{c.values[static_cast<size_t>(weight)]};
    }
    sum = std::min<int64_t>(INT32_MAX, std::max<int64_t>(INT32_MIN, sum));
    const float scale = c.scales[c.scales.size() == 1 ? 0 : static_cast<size_t>(o)];
    const double factor = double{layer.in.scale} * double{scale} / double{layer.out.scale};
    const int64_t steps = scale_by_real(sum, factor) + layer.out.zero_point;
    out.push_back(static_cast<int8_t>(
        std::min<int64_t>(layer.range.high, std::max<int64_t>(layer.range.low, steps))));
  }
  return out;
}

}  // namespace tidemark::testing

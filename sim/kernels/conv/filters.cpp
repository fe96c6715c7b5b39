#include "sim/kernels/conv/filters.h"

#include <cmath>

#include "planner/base/check.h"

namespace tidemark {

ChannelOutput channel_output(const Filters& filters, const AffineLayer& layer, int64_t channel) {
  const auto o = static_cast<size_t>(channel);
  const float scale = filters.scales.size() == 1 ? filters.scales.front() : filters.scales[o];
  return {.factor =
              quantize_multiplier(double{layer.in.scale} * double{scale} / double{layer.out.scale}),
          .bias = filters.bias.empty() ? 0 : filters.bias[o],
          .zero_point = layer.out.zero_point,
          .range = layer.range};
}

ChannelStep channel_step(const Filters& filters, const AffineLayer& layer, int64_t first,
                         const ChannelRows& rows) {
  for (size_t at = 0; at < rows.biases.size(); ++at) {
    const ChannelOutput channel = channel_output(filters, layer, first + static_cast<int64_t>(at));
    rows.biases[at] = channel.bias;
    rows.multipliers[at] = channel.factor.multiplier;
    rows.shifts[at] = channel.factor.shift;
  }
  return {.corrections = rows.corrections.data(),
          .biases = rows.biases.data(),
          .multipliers = rows.multipliers.data(),
          .shifts = rows.shifts.data(),
          .zero_point = layer.out.zero_point,
          .range = layer.range};
}

void check_filters(const Filters& filters, const AffineLayer& layer, int64_t channels) {
  check_affine(layer.in);
  check_affine(layer.out);
  check(layer.range.low <= layer.range.high, "a range is not empty");
  check(filters.scales.size() == 1 || std::ssize(filters.scales) == channels,
        "a scale for each output channel, or one");
  check(filters.bias.empty() || std::ssize(filters.bias) == channels,
        "a bias for each output channel, or none");
}

}  // namespace tidemark

#include "sim/kernels/conv/short_conv.h"

#include <algorithm>

#include "planner/base/check.h"
#include "sim/kernels/rows.h"

namespace tidemark {

void short_conv(const ShortConvShape& shape, std::span<const int8_t> x,
                std::span<const std::byte> weights, std::span<const std::byte> bias, Scales scales,
                std::span<float> state, std::span<int8_t> out) {
  check(shape.channels > 0 && shape.taps > 0, "there are channels and taps");
  const auto channels = static_cast<size_t>(shape.channels);
  const auto taps = static_cast<size_t>(shape.taps);
  const size_t kept = taps - 1;
  check(x.size() % channels == 0 && out.size() == x.size(), "x and out are [T, E]");
  check(weights.size() == channels * taps * sizeof(float), "weights are [E, D]");
  check(bias.empty() || bias.size() == channels * sizeof(float), "the bias is [E]");
  check(state.size() == channels * kept, "the state is [E, D - 1]");
  for (size_t at = 0; at < x.size(); at += channels) {
    for (size_t e = 0; e < channels; ++e) {
      const std::span<float> before = state.subspan(e * kept, kept);
      const float now = static_cast<float>(x[at + e]) * scales.in;
      float sum = bias.empty() ? 0.0F : load_f32(bias, e);
      for (size_t j = 0; j < kept; ++j) sum += load_f32(weights, e * taps + j) * before[j];
      sum += load_f32(weights, e * taps + kept) * now;
      out[at + e] = round_to_s8(sum / scales.out);
      if (before.empty()) continue;
      std::ranges::copy(before.subspan(1), before.begin());
      before.back() = now;
    }
  }
}

}  // namespace tidemark

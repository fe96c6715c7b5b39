#include "sim/kernels/scale_loops.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "inputs.h"
#include "sim/kernels/isa.h"

namespace tidemark {
namespace {

// One in three at an end of its range.
int32_t any_int(testing::Inputs& inputs, int64_t low, int64_t high) {
  const int64_t pick = inputs.between(0, 5);
  if (pick == 0) return static_cast<int32_t>(low);
  if (pick == 1) return static_cast<int32_t>(high);
  return static_cast<int32_t>(inputs.between(low, high));
}

QuantizedMultiplier any_factor(testing::Inputs& inputs, int most_left) {
  return {.multiplier = any_int(inputs, int64_t{1} << 30, INT32_MAX),
          .shift = any_int(inputs, -31, most_left)};
}

OutputStep any_output(testing::Inputs& inputs) {
  const auto low = static_cast<int32_t>(inputs.between(-128, 0));
  return {.factor = any_factor(inputs, 30),
          .zero_point = any_int(inputs, -128, 127),
          .range = {.low = low, .high = static_cast<int32_t>(inputs.between(1, 127))}};
}

int64_t by_definition(int64_t value, const QuantizedMultiplier& factor) {
  return testing::scale_by_definition(value, factor.multiplier, factor.shift);
}

int clamped(int64_t value, const OutputStep& output) {
  const int64_t moved = by_definition(value, output.factor) + output.zero_point;
  return static_cast<int>(
      std::min<int64_t>(output.range.high, std::max<int64_t>(output.range.low, moved)));
}

TEST(ScaleLoopsTest, LawRowsEqualTheDefinitionAtEveryLevel) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t count = inputs.between(0, 40);
    const auto a = inputs.values(count);
    const auto b = inputs.values(count);
    const ProductStep product{.zero_a = any_int(inputs, -128, 127),
                              .zero_b = any_int(inputs, -128, 127),
                              .output = any_output(inputs)};
    const SumStep sum{.zero_a = any_int(inputs, -128, 127),
                      .zero_b = any_int(inputs, -128, 127),
                      .factor_a = any_factor(inputs, -1),
                      .factor_b = any_factor(inputs, -1),
                      .output = any_output(inputs)};
    for (const Isa isa : supported_isas()) {
      const IsaHold hold(isa);
      std::vector<int8_t> products(a.size());
      std::vector<int8_t> sums(a.size());
      multiply_rows(product, a.data(), b.data(), count, products.data());
      add_rows(sum, a.data(), b.data(), count, sums.data());
      for (size_t i = 0; i < a.size(); ++i) {
        const int64_t value = (a[i] - product.zero_a) * (b[i] - product.zero_b);
        RC_ASSERT(products[i] == clamped(value, product.output));
        const int64_t terms =
            by_definition((a[i] - sum.zero_a) * int64_t{1'048'576}, sum.factor_a) +
            by_definition((b[i] - sum.zero_b) * int64_t{1'048'576}, sum.factor_b);
        RC_ASSERT(sums[i] == clamped(terms, sum.output));
      }
    }
  }));
}

TEST(ScaleLoopsTest, LawChannelsEqualTheDefinitionAtEveryLevel) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t channels = inputs.between(0, 40);
    std::vector<int32_t> sums;
    std::vector<int32_t> corrections;
    std::vector<int32_t> biases;
    std::vector<int32_t> multipliers;
    std::vector<int32_t> shifts;
    for (int64_t c = 0; c < channels; ++c) {
      sums.push_back(any_int(inputs, INT32_MIN, INT32_MAX));
      // The difference does not leave int32.
      corrections.push_back(sums.back() < 0 ? any_int(inputs, sums.back(), 0)
                                            : any_int(inputs, 0, sums.back()));
      biases.push_back(any_int(inputs, INT32_MIN, INT32_MAX));
      const QuantizedMultiplier factor = any_factor(inputs, 30);
      multipliers.push_back(inputs.between(0, 9) == 0 ? 0 : factor.multiplier);
      shifts.push_back(factor.shift);
    }
    const OutputStep output = any_output(inputs);
    const ChannelStep step{.corrections = corrections.data(),
                           .biases = biases.data(),
                           .multipliers = multipliers.data(),
                           .shifts = shifts.data(),
                           .zero_point = output.zero_point,
                           .range = output.range};
    for (const Isa isa : supported_isas()) {
      const IsaHold hold(isa);
      std::vector<int8_t> out(sums.size());
      finish_channels(step, sums.data(), channels, out.data());
      for (size_t c = 0; c < sums.size(); ++c) {
        const int64_t biased = std::min<int64_t>(
            INT32_MAX, std::max<int64_t>(INT32_MIN, int64_t{sums[c]} - corrections[c] + biases[c]));
        OutputStep one = output;
        one.factor = {multipliers[c], shifts[c]};
        RC_ASSERT(out[c] == clamped(biased, one));
      }
    }
  }));
}

}  // namespace
}  // namespace tidemark

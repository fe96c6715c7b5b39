#include "sim/kernels/norm/norm_loops.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "inputs.h"
#include "sim/kernels/isa.h"

namespace tidemark {
namespace {

// To nearest, ties away from zero; NaN is 0.
int rounded(double x, int32_t zero_point) {
  if (std::isnan(x)) x = 0.0;
  return testing::round_and_clamp(std::round(std::fmax(-1e4, std::fmin(1e4, x))) + zero_point);
}

float any_float(testing::Inputs& inputs) {
  constexpr std::array kOdd{0.5F,
                            -0.5F,
                            0.0F,
                            -0.0F,
                            1e30F,
                            -1e30F,
                            std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()};
  if (inputs.between(0, 5) == 0) return kOdd.at(static_cast<size_t>(inputs.between(0, 7)));
  return static_cast<float>(inputs.between(-300, 300)) * inputs.scale() / 50.0F;
}

std::vector<float> floats(testing::Inputs& inputs, int64_t count) {
  std::vector<float> result;
  for (int64_t i = 0; i < count; ++i) result.push_back(any_float(inputs));
  return result;
}

TEST(NormLoopsTest, LawRowsEqualTheDefinitionAtEveryLevel) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t count = inputs.between(0, 40);
    const auto x = inputs.values(count);
    const auto gain = floats(inputs, count);
    const auto bias = floats(inputs, count);
    const NormStep step{.a = any_float(inputs),
                        .b = any_float(inputs),
                        .c = inputs.scale() * 40,
                        .zero_point = static_cast<int32_t>(inputs.between(-128, 127))};
    const bool biased = inputs.between(0, 1) == 1;
    for (const Isa isa : supported_isas()) {
      const IsaHold hold(isa);
      auto out = x;
      norm_row(step, {.x = out.data(),
                      .gain = std::as_bytes(std::span(gain)).data(),
                      .bias = biased ? std::as_bytes(std::span(bias)).data() : nullptr,
                      .count = count,
                      .out = out.data()});
      for (size_t i = 0; i < x.size(); ++i) {
        const volatile float scaled = static_cast<float>(x[i]) * step.a;
        const volatile float normal = scaled + step.b;
        const volatile float gained = normal * gain[i];
        const volatile float y = gained + (biased ? bias[i] : 0.0F);
        const volatile float last = y * step.c;
        RC_ASSERT(out[i] == rounded(last, step.zero_point));
      }
    }
  }));
}

TEST(NormLoopsTest, LawTurnsEqualTheDefinitionAtEveryLevel) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t count = inputs.between(0, 40);
    const auto a = inputs.values(count);
    const auto b = inputs.values(count);
    std::vector<double> cosines;
    std::vector<double> sines;
    for (int64_t i = 0; i < count; ++i) {
      const auto angle = static_cast<double>(inputs.between(-1000, 1000)) / 8.0;
      cosines.push_back(std::cos(angle));
      sines.push_back(inputs.between(0, 3) == 0 ? 0.5 : std::sin(angle));  // 0.5: ties
    }
    for (const Isa isa : supported_isas()) {
      const IsaHold hold(isa);
      auto out_a = a;
      auto out_b = b;
      rotate(
          {.x_a = out_a.data(), .x_b = out_b.data(), .out_a = out_a.data(), .out_b = out_b.data()},
          cosines, sines);
      for (size_t i = 0; i < a.size(); ++i) {
        const auto first = static_cast<float>(a[i] * cosines[i] - b[i] * sines[i]);
        const auto second = static_cast<float>(b[i] * cosines[i] + a[i] * sines[i]);
        RC_ASSERT(out_a[i] == rounded(first, 0));
        RC_ASSERT(out_b[i] == rounded(second, 0));
      }
    }
  }));
}

TEST(NormLoopsTest, SumsOfSquaresAreExactBeyond32Bits) {
  // 300,000 x 16,384 = 4,915,200,000.
  EXPECT_EQ(sum_of_squares(std::vector<int8_t>(300'000, int8_t{-128})), 4'915'200'000);
  EXPECT_EQ(sum_of_squares({}), 0);
}

}  // namespace
}  // namespace tidemark

#include "sim/kernels/conv/short_conv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "inputs.h"
#include "planner/base/check.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;

TEST(ShortConvTest, ByHand) {
  const std::vector<float> weights{1.0F, 2.0F, 4.0F};
  std::vector<float> state{0.5F, 1.0F};
  std::vector<int8_t> x{6, -2};
  short_conv({.channels = 1, .taps = 3}, x, std::as_bytes(std::span(weights)), {},
             {.in = 0.5F, .out = 0.5F}, state, x);
  EXPECT_THAT(x, ElementsAre(29, 6));
  EXPECT_THAT(state, ElementsAre(3.0F, -1.0F));
}

TEST(ShortConvTest, OneTapKeepsNoState) {
  const std::vector<float> weights{2.0F, -1.0F};
  const std::vector<float> bias{0.5F, 0.0F};
  std::vector<int8_t> x{1, 1, 3, 4};
  short_conv({.channels = 2, .taps = 1}, x, std::as_bytes(std::span(weights)),
             std::as_bytes(std::span(bias)), {.in = 1.0F, .out = 0.5F}, {}, x);
  EXPECT_THAT(x, ElementsAre(5, -2, 13, -8));
}

// Against the definition in double over the whole history; all numbers are sixteenths, so sums are
// exact. Two calls are one.
TEST(ShortConvTest, LawEqualsTheDefinitionHoweverTokensAreDivided) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const ShortConvShape shape{.channels = inputs.between(1, 9), .taps = inputs.between(1, 5)};
    const int64_t tokens = inputs.between(1, 12);
    const auto x = inputs.values(tokens * shape.channels);
    std::vector<float> weights;
    for (const int8_t value : inputs.values(shape.channels * shape.taps)) {
      weights.push_back(static_cast<float>(value) / 16.0F);
    }
    std::vector<float> state(static_cast<size_t>(shape.channels * (shape.taps - 1)), 0.0F);
    std::vector<int8_t> out(x.size());
    const auto cut = static_cast<size_t>(inputs.between(0, tokens) * shape.channels);
    const auto run = [&](size_t from, size_t count) {
      short_conv(shape, std::span(x).subspan(from, count), std::as_bytes(std::span(weights)), {},
                 {.in = 0.25F, .out = 2.0F}, state, std::span(out).subspan(from, count));
    };
    run(0, cut);
    run(cut, x.size() - cut);
    for (int64_t t = 0; t < tokens; ++t) {
      for (int64_t e = 0; e < shape.channels; ++e) {
        double sum = 0.0;
        for (int64_t j = 0; j < shape.taps; ++j) {
          const int64_t from = t - shape.taps + 1 + j;
          if (from < 0) continue;
          sum += double{weights[static_cast<size_t>(e * shape.taps + j)]} * 0.25 *
                 x[static_cast<size_t>(from * shape.channels + e)];
        }
        RC_ASSERT(int{out[static_cast<size_t>(t * shape.channels + e)]} ==
                  testing::round_and_clamp(sum / 2.0));
      }
    }
  }));
}

TEST(ShortConvTest, ShapesMustAgree) {
  std::vector<int8_t> x(4);
  std::vector<float> state(2);
  const std::vector<std::byte> weights(2 * 2 * sizeof(float));
  const ShortConvShape shape{.channels = 2, .taps = 2};
  EXPECT_THROW(short_conv(shape, x, weights, {}, {}, std::span(state).first(1), x), InternalError);
  EXPECT_THROW(short_conv(shape, x, std::span(weights).first(8), {}, {}, state, x), InternalError);
}

}  // namespace
}  // namespace tidemark

#include "sim/kernels/elementwise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "inputs.h"
#include "planner/base/check.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;

TEST(SiluTest, ByHand) {
  const ByteTable table = silu_table({.in = 0.1F, .out = 0.05F});
  std::vector<int8_t> x{10, -10, 0, 127};
  apply_table(table, x, x);
  // silu(1) = 0.7311 -> 14.6; silu(-1) = -0.2689 -> -5.4; silu(12.7) = 12.7 saturates.
  EXPECT_THAT(x, ElementsAre(15, -5, 0, 127));
}

TEST(SiluTest, EveryEntryIsTheFunctionToTheNearestStep) {
  for (const float in : {0.001F, 0.03F, 1.0F, 20.0F}) {
    const ByteTable table = silu_table({.in = in, .out = 0.02F});
    for (int q = -128; q <= 127; ++q) {
      const double x = q * double{in};
      const double half = x / 2 * (1 + std::tanh(x / 2));  // the same function by another identity
      EXPECT_NEAR(table.at(static_cast<uint8_t>(q)), testing::round_and_clamp(half / double{0.02F}),
                  1)
          << q;
    }
  }
}

TEST(MultiplyTest, ByHand) {
  std::vector<int8_t> out(4);
  multiply_s8(std::vector<int8_t>{20, -20, -128, 5}, std::vector<int8_t>{30, 30, -128, 5},
              {0.1F, 0.2F, 0.5F}, out);
  EXPECT_THAT(out, ElementsAre(24, -24, 127, 1));  // 16,384 x 0.04 saturates; 25 x 0.04 = 1
}

TEST(MultiplyTest, LawEqualsTheDefinitionAndWorksInPlaceOnEither) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t count = inputs.between(0, 70);
    auto a = inputs.values(count);
    auto b = inputs.values(count);
    const BinaryScales scales{inputs.scale(), inputs.scale(), inputs.scale() * 20};
    std::vector<int8_t> out(a.size());
    multiply_s8(a, b, scales, out);
    const double factor = double{scales.a} * scales.b / scales.out;
    for (size_t i = 0; i < out.size(); ++i) {
      RC_ASSERT(out[i] == testing::requantize_by_definition(a[i] * b[i], factor));
    }
    auto over_a = a;
    multiply_s8(over_a, b, scales, over_a);
    multiply_s8(a, b, scales, b);
    RC_ASSERT(over_a == out);
    RC_ASSERT(b == out);
  }));
}

TEST(AddTest, ByHand) {
  std::vector<int8_t> out(4);
  // 10.0 - 2.5; 12.7 + 6.35 saturates; -12.8 - 6.4 saturates; 0.1 + 0.05 = 1.5 steps, the tie away
  // from zero.
  add_s8(std::vector<int8_t>{100, 127, -128, 2}, std::vector<int8_t>{-50, 127, -128, 2},
         {0.1F, 0.05F, 0.1F}, out);
  EXPECT_THAT(out, ElementsAre(75, 127, -128, 3));
  add_s8(std::vector<int8_t>{1, -1, 3, -3}, std::vector<int8_t>{0, 0, 0, 0}, {1.0F, 1.0F, 2.0F},
         out);
  EXPECT_THAT(out, ElementsAre(1, -1, 2, -2));
}

TEST(AddTest, LawIsWithinOneStepOfTheRealSumAndEqualScalesAddExactly) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t count = inputs.between(1, 70);
    const auto a = inputs.values(count);
    const auto b = inputs.values(count);
    const BinaryScales scales{inputs.scale(), inputs.scale(), inputs.scale()};
    std::vector<int8_t> out(a.size());
    std::vector<int8_t> equal(a.size());
    add_s8(a, b, scales, out);
    add_s8(a, b, {scales.a, scales.a, scales.a}, equal);
    for (size_t i = 0; i < out.size(); ++i) {
      const double sum = a[i] * double{scales.a} + b[i] * double{scales.b};
      RC_ASSERT(std::abs(out[i] - testing::round_and_clamp(sum / double{scales.out})) <= 1);
      RC_ASSERT(equal[i] == testing::round_and_clamp(a[i] + b[i]));
    }
  }));
}

TEST(AddTest, LawEqualsTheRuleInPlainWords) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const auto a = inputs.values(70);
    const auto b = inputs.values(70);
    const BinaryScales scales{inputs.scale(), inputs.scale(), inputs.scale()};
    std::vector<int8_t> out(a.size());
    add_s8(a, b, scales, out);
    const double common = std::fmax(scales.a, scales.b) * 2;
    for (size_t i = 0; i < out.size(); ++i) {
      const int64_t sum = testing::scale_by_real(a[i] * 1'048'576, scales.a / common) +
                          testing::scale_by_real(b[i] * 1'048'576, scales.b / common);
      RC_ASSERT(out[i] ==
                testing::requantize_by_definition(sum, common / (1'048'576 * double{scales.out})));
    }
  }));
}

TEST(AddTest, LawWorksInPlaceOnEither) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t count = inputs.between(0, 70);
    auto a = inputs.values(count);
    auto b = inputs.values(count);
    const BinaryScales scales{inputs.scale(), inputs.scale(), inputs.scale()};
    std::vector<int8_t> out(a.size());
    add_s8(a, b, scales, out);
    auto over_a = a;
    add_s8(over_a, b, scales, over_a);
    add_s8(a, b, scales, b);
    RC_ASSERT(over_a == out);
    RC_ASSERT(b == out);
  }));
}

TEST(AddTest, UnequalLengthsAreABug) {
  std::vector<int8_t> a(3);
  std::vector<int8_t> b(2);
  EXPECT_THROW(add_s8(a, b, {}, a), InternalError);
  EXPECT_THROW(multiply_s8(a, b, {}, a), InternalError);
  EXPECT_THROW(apply_table(silu_table({}), a, b), InternalError);
}

TEST(AddBiasTest, ByHand) {
  const std::vector<float> bias{1.25F, -0.25F};
  std::vector<int8_t> x{10, -3, 127, -128};
  add_bias_s8(x, std::as_bytes(std::span(bias)), {.in = 0.5F, .out = 0.25F}, x);
  // 5 + 1.25 = 6.25, -1.5 - 0.25 = -1.75; 64.75 and -64.25 are past 127 x 0.25.
  EXPECT_THAT(x, ElementsAre(25, -7, 127, -128));
}

TEST(AddBiasTest, LawEqualsTheDefinition) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t width = inputs.between(1, 40);
    const int64_t rows = inputs.between(0, 5);
    const auto x = inputs.values(rows * width);
    std::vector<float> bias;  // sixty-fourths, so that sums and quotients are exact
    for (const int8_t value : inputs.values(width)) bias.push_back(static_cast<float>(value) / 64);
    std::vector<int8_t> out(x.size());
    add_bias_s8(x, std::as_bytes(std::span(bias)), {.in = 0.125F, .out = 0.25F}, out);
    for (size_t i = 0; i < x.size(); ++i) {
      const double real = x[i] * 0.125 + double{bias[i % bias.size()]};
      RC_ASSERT(int{out[i]} == testing::round_and_clamp(real / 0.25));
    }
  }));
}

TEST(AddBiasTest, RowsAreAsLongAsTheBias) {
  std::vector<int8_t> x(5);
  const std::vector<std::byte> bias(8);
  EXPECT_THROW(add_bias_s8(x, bias, {}, x), InternalError);
  EXPECT_THROW(add_bias_s8(x, {}, {}, x), InternalError);
}

}  // namespace
}  // namespace tidemark

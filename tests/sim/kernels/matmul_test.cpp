#include "sim/kernels/matmul/matmul.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "inputs.h"
#include "planner/base/check.h"
#include "sim/kernels/matmul/matmul_reference.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;

struct Case {
  MatMulShape shape{};
  std::vector<int8_t> x{};
  std::vector<std::byte> weights{};
  size_t outputs() const { return static_cast<size_t>(shape.tokens * shape.rows); }
};

Case random_case(testing::Inputs& inputs) {
  Case result;
  result.shape = {inputs.between(1, 11), inputs.between(1, 150), inputs.between(1, 6)};
  result.x = inputs.values(result.shape.tokens * result.shape.columns);
  result.weights = inputs.stored_rows(result.shape.rows, result.shape.columns);
  return result;
}

// The definition in 64 bits.
std::vector<int64_t> accumulators_by_definition(const Case& c) {
  std::vector<int64_t> result;
  for (int64_t t = 0; t < c.shape.tokens; ++t) {
    for (int64_t n = 0; n < c.shape.rows; ++n) {
      int64_t sum = 0;
      for (int64_t k = 0; k < c.shape.columns; ++k) {
        const auto w =
            static_cast<int8_t>(c.weights[static_cast<size_t>(n * (c.shape.columns + 2) + k)]);
        sum += int64_t{c.x[static_cast<size_t>(t * c.shape.columns + k)]} * w;
      }
      result.push_back(sum);
    }
  }
  return result;
}

double weight_scale(const Case& c, size_t output) {
  const auto n = static_cast<int64_t>(output) % c.shape.rows;
  return testing::half_at(c.weights,
                          static_cast<size_t>(n * (c.shape.columns + 2) + c.shape.columns));
}

// Two rows, {10, 20, 30} at 0.5 (0x3800) and {-128, 127, 1} at 1 (0x3C00).
std::vector<std::byte> weights_by_hand() {
  return {std::byte{10},  std::byte{20},  std::byte{30}, std::byte{0}, std::byte{0x38},
          std::byte{128}, std::byte{127}, std::byte{1},  std::byte{0}, std::byte{0x3C}};
}

TEST(MatMulTest, ByHand) {
  const std::vector<int8_t> x{1, -2, 3};
  const MatMulShape shape{.tokens = 1, .columns = 3, .rows = 2};
  std::vector<int32_t> accumulators(2);
  matmul_s32(shape, x, weights_by_hand(), accumulators);
  EXPECT_THAT(accumulators, ElementsAre(60, -379));  // -128 - 254 + 3
  std::vector<int8_t> out(2);
  matmul_s8(shape, x, weights_by_hand(), {.in = 0.125F, .out = 0.25F}, out);
  EXPECT_THAT(out, ElementsAre(15, -128));  // 60 x 0.25; -379 x 0.5 saturates
  matmul_s8(shape, x, weights_by_hand(), {.in = 0.125F, .out = 0.5F}, out);
  EXPECT_THAT(out, ElementsAre(8, -95));  // 60 x 0.125 = 7.5; -379 x 0.25 = -94.75
  std::vector<float> logits(2);
  matmul_f32(shape, x, weights_by_hand(), 0.125F, logits);
  EXPECT_THAT(logits, ElementsAre(3.75F, -47.375F));
}

TEST(MatMulTest, LawAccumulatorsEqualEigensAndTheDefinition) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const Case c = random_case(inputs);
    std::vector<int32_t> fast(c.outputs());
    std::vector<int32_t> reference(c.outputs());
    matmul_s32(c.shape, c.x, c.weights, fast);
    matmul_s32_reference(c.shape, c.x, c.weights, reference);
    RC_ASSERT(fast == reference);
    const auto expected = accumulators_by_definition(c);
    RC_ASSERT(std::equal(fast.begin(), fast.end(), expected.begin(), expected.end()));
    matmul_s32(c.shape, c.x, testing::Shifted(c.weights).bytes(), reference);
    RC_ASSERT(fast == reference);
  }));
}

TEST(MatMulTest, LawInt8AndFloatOutputsEqualTheDefinition) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const Case c = random_case(inputs);
    const Scales scales{.in = inputs.scale(), .out = inputs.scale() * 50};
    std::vector<int8_t> out(c.outputs());
    std::vector<float> logits(c.outputs());
    matmul_s8(c.shape, c.x, c.weights, scales, out);
    matmul_f32(c.shape, c.x, c.weights, scales.in, logits);
    const auto accumulators = accumulators_by_definition(c);
    for (size_t i = 0; i < out.size(); ++i) {
      const double factor = scales.in * weight_scale(c, i);
      RC_ASSERT(out[i] ==
                testing::requantize_by_definition(accumulators[i], factor / double{scales.out}));
      RC_ASSERT(logits[i] == static_cast<float>(static_cast<double>(accumulators[i]) * factor));
    }
  }));
}

TEST(MatMulTest, LawManyTokensEqualOneTokenAtATime) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const Case c = random_case(inputs);
    const Scales scales{.in = 0.1F, .out = 5.0F};
    std::vector<int8_t> together(c.outputs());
    std::vector<int8_t> alone(c.outputs());
    matmul_s8(c.shape, c.x, c.weights, scales, together);
    MatMulShape one = c.shape;
    one.tokens = 1;
    for (int64_t t = 0; t < c.shape.tokens; ++t) {
      matmul_s8(one, row_of(std::span(c.x), t, one.columns), c.weights, scales,
                row_of(std::span(alone), t, one.rows));
    }
    RC_ASSERT(together == alone);
  }));
}

TEST(MatMulTest, TheLongestRowOfTheMostNegativeBytesDoesNotOverflow) {
  const std::vector<int8_t> a(static_cast<size_t>(kMaxReduced), -128);
  EXPECT_EQ(dot_s8(a, a), 2'147'467'264);
  const std::vector<int8_t> longer(static_cast<size_t>(kMaxReduced) + 1, -128);
  EXPECT_THROW(dot_s8(longer, longer), InternalError);
  const MatMulShape shape{.tokens = 1, .columns = kMaxReduced + 1, .rows = 0};
  EXPECT_THROW(matmul_s8(shape, longer, {}, {}, {}), InternalError);
}

TEST(MatMulTest, ARowWithoutAUsableScaleGivesZeros) {
  std::vector<std::byte> weights = weights_by_hand();
  weights[4] = std::byte{0x7E};  // NaN
  std::vector<int8_t> out(2);
  matmul_s8({.tokens = 1, .columns = 3, .rows = 2}, std::vector<int8_t>{1, 1, 1}, weights, {}, out);
  EXPECT_THAT(out, ElementsAre(0, 0));  // second row: -128 + 127 + 1 = 0
}

TEST(MatMulTest, AWrongShapeIsABug) {
  const std::vector<int8_t> x(3);
  std::vector<int8_t> out(2);
  const auto weights = weights_by_hand();
  EXPECT_THROW(matmul_s8({2, 3, 2}, x, weights, {}, out), InternalError);
  EXPECT_THROW(matmul_s8({1, 3, 1}, x, weights, {}, out), InternalError);
  EXPECT_THROW(matmul_s8({1, 3, 2}, x, weights, {}, std::span(out).first(1)), InternalError);
}

}  // namespace
}  // namespace tidemark

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <numeric>

#include "inputs.h"
#include "planner/base/check.h"
#include "sim/kernels/norm/layer_norm.h"
#include "sim/kernels/softmax.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;

std::vector<int8_t> softmax(float scale, int64_t columns, std::vector<int8_t> x) {
  softmax_rows(softmax_table(scale), columns, x, x);
  return x;
}

TEST(SoftmaxRowsTest, ByHand) {
  EXPECT_THAT(softmax(0.3F, 2, {0, 0}), ElementsAre(0, 0));
  const auto tenth_of_ln3 = static_cast<float>(std::log(3.0) / 10.0);
  EXPECT_THAT(softmax(tenth_of_ln3, 2, {10, 0, -128, -118}), ElementsAre(64, -64, -64, 64));
  EXPECT_THAT(softmax(1.0F, 1, {-128}), ElementsAre(127));  // 256 does not fit
  // Three equal: 85.33; 1/512 exactly would be a half step, which goes up.
  EXPECT_THAT(softmax(1.0F, 3, {5, 5, 5}), ElementsAre(-43, -43, -43));
  EXPECT_THAT(softmax(1.0F, 512, std::vector<int8_t>(512)), ::testing::Each(-127));
  EXPECT_THAT(softmax(1.0F, 513, std::vector<int8_t>(513)), ::testing::Each(-128));
}

TEST(SoftmaxRowsTest, BetaScalesTheRealValues) {
  EXPECT_EQ(softmax_table(0.5F, 0.25).weights, softmax_table(0.125F).weights);
  EXPECT_EQ(softmax_table(0.0F).weights[255], uint32_t{1} << 30);
}

// The largest q with (2 q - 1) sum <= 512 weight: the nearest to 256 weight / sum, halves upwards.
int nearest_steps(int64_t weight, int64_t sum) {
  int q = 0;
  while (q < 256 && (2 * q + 1) * sum <= 512 * weight) ++q;
  return q;
}

TEST(SoftmaxRowsTest, LawEqualsTheDefinitionAndIsTheNearestStep) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const float scale = inputs.scale();
    const int64_t columns = inputs.between(1, inputs.between(0, 1) == 0 ? 40 : 600);
    const auto x = inputs.values(columns * 2);
    const auto out = softmax(scale, columns, x);
    const auto width = static_cast<size_t>(columns);
    for (size_t first = 0; first < x.size(); first += width) {
      const auto row = std::span(x).subspan(first, width);
      const int largest = *std::max_element(row.begin(), row.end());
      int64_t sum = 0;
      long double real_sum = 0;
      std::vector<long double> real;
      for (const int8_t value : row) {
        real.push_back(std::exp(-static_cast<long double>(scale) * (largest - value)));
        real_sum += real.back();
        sum += std::llround(real.back() * 1'073'741'824.0L);
      }
      for (size_t i = 0; i < width; ++i) {
        const int64_t weight = std::llround(real[i] * 1'073'741'824.0L);
        RC_ASSERT(out[first + i] == std::min(nearest_steps(weight, sum), 255) - 128);
        const long double steps = std::fmin(255.0L, 256.0L * real[i] / real_sum);
        RC_ASSERT(std::abs(steps - (out[first + i] + 128)) <= 0.50001L);
      }
    }
  }));
}

TEST(SoftmaxRowsTest, BadShapesAreABug) {
  std::vector<int8_t> x(3);
  EXPECT_THROW(softmax_rows(softmax_table(1.0F), 2, x, x), InternalError);
  EXPECT_THROW(softmax_rows(softmax_table(1.0F), 0, x, x), InternalError);
  EXPECT_THROW(softmax_table(-1.0F), InternalError);
  EXPECT_THROW(softmax_table(INFINITY), InternalError);
}

std::span<const std::byte> stored(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

TEST(LayerNormTest, ByHand) {
  std::vector<int8_t> x{1, 3, 7, 7};
  const std::vector<float> gain{2.0F, 2.0F};
  const std::vector<float> bias{0.5F, 0.5F};
  layer_norm(x, stored(gain), stored(bias),
             {.out = {.scale = 0.5F, .zero_point = 4}, .epsilon = 0.0F}, x);
  EXPECT_THAT(x, ElementsAre(1, 9, 5, 5));  // equal values: the bias, 0.5 / 0.5 + 4
}

TEST(LayerNormTest, EpsilonBelongsToTheVarianceInRealUnits) {
  // Scale 0.1, values -1 and 1: variance 0.01, and with epsilon 0.03 the root is 0.2: +-0.5.
  std::vector<int8_t> x{-1, 1};
  layer_norm(x, stored({1.0F, 1.0F}), {}, {.scale_in = 0.1F, .out = {0.01F, 0}, .epsilon = 0.03F},
             x);
  EXPECT_THAT(x, ElementsAre(-50, 50));
}

TEST(LayerNormTest, LawIsTheDefinitionToTheNearestStep) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t columns = inputs.between(1, 90);
    const auto x = inputs.values(columns * 2);
    std::vector<float> gain;
    std::vector<float> bias;
    for (int64_t i = 0; i < columns; ++i) {
      gain.push_back(static_cast<float>(inputs.between(-200, 200)) / 100.0F);
      bias.push_back(static_cast<float>(inputs.between(-200, 200)) / 100.0F);
    }
    const LayerNormSettings settings{
        .scale_in = inputs.scale(),
        .out = {inputs.scale() / 4, static_cast<int32_t>(inputs.between(-128, 127))}};
    std::vector<int8_t> out(x.size());
    layer_norm(x, testing::Shifted(stored(gain)).bytes(), stored(bias), settings, out);
    for (size_t i = 0; i < x.size(); ++i) {
      const auto width = static_cast<size_t>(columns);
      const auto row = std::span(x).subspan(i / width * width, width);
      double mean = 0;
      for (const int8_t value : row) mean += value * double{settings.scale_in};
      mean /= static_cast<double>(width);
      double variance = 0;
      for (const int8_t value : row) {
        variance += std::pow(value * double{settings.scale_in} - mean, 2);
      }
      variance /= static_cast<double>(width);
      const double normal = (x[i] * double{settings.scale_in} - mean) /
                            std::sqrt(variance + double{settings.epsilon});
      const double y = normal * double{gain[i % width]} + double{bias[i % width]};
      const double steps = y / double{settings.out.scale} + settings.out.zero_point;
      const double kept = std::fmin(127.0, std::fmax(-128.0, steps));
      RC_ASSERT(std::abs(out[i] - kept) <= 0.51);
    }
  }));
}

TEST(LayerNormTest, BadShapesAreABug) {
  std::vector<int8_t> x(3);
  const std::vector<float> two(2);
  EXPECT_THROW(layer_norm(x, stored(two), {}, {}, x), InternalError);
  EXPECT_THROW(layer_norm(x, stored(two).first(7), {}, {}, x), InternalError);
  EXPECT_THROW(layer_norm({}, stored(two), stored(two).first(4), {}, {}), InternalError);
}

}  // namespace
}  // namespace tidemark

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <complex>
#include <cstring>

#include "inputs.h"
#include "planner/base/check.h"
#include "sim/kernels/attention/rope.h"
#include "sim/kernels/norm/rms_norm.h"

namespace tidemark {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

std::vector<std::byte> as_bytes(const std::vector<float>& values) {
  std::vector<std::byte> result(values.size() * sizeof(float));
  std::memcpy(result.data(), values.data(), result.size());
  return result;
}

TEST(RmsNormTest, ByHand) {
  std::vector<int8_t> out(2);
  rms_norm(std::vector<int8_t>{3, 4}, as_bytes({1, 1}), {.scales = {1.0F, 0.01F}, .epsilon = 0.0F},
           out);
  EXPECT_THAT(out, ElementsAre(85, 113));
  // Gain -0.5 and 2: -42.4, 226 saturates. The input scale cancels when epsilon is 0.
  rms_norm(std::vector<int8_t>{3, 4}, as_bytes({-0.5F, 2}),
           {.scales = {7.0F, 0.01F}, .epsilon = 0.0F}, out);
  EXPECT_THAT(out, ElementsAre(-42, 127));
  // Mean square 12.5 and epsilon 12.5: root 5.
  rms_norm(std::vector<int8_t>{3, 4}, as_bytes({1, 1}), {.scales = {1.0F, 0.1F}, .epsilon = 12.5F},
           out);
  EXPECT_THAT(out, ElementsAre(6, 8));
}

TEST(RmsNormTest, ARowOfZerosStaysZero) {
  for (const float epsilon : {0.0F, 1e-5F}) {
    std::vector<int8_t> x(3, 0);
    rms_norm(x, as_bytes({1, 1, 1}), {.scales = {}, .epsilon = epsilon}, x);
    EXPECT_THAT(x, Each(0));
  }
}

TEST(RmsNormTest, LawIsWithinOneStepOfTheDefinitionAndWorksInPlaceAtAnyAddress) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t columns = inputs.between(1, 70);
    auto x = inputs.values(columns * inputs.between(1, 3));
    std::vector<float> gain;
    for (const int8_t value : inputs.values(columns))
      gain.push_back(static_cast<float>(value) / 64);
    const RmsNormSettings settings{.scales = {inputs.scale(), 0.02F}, .epsilon = 1e-3F};
    std::vector<int8_t> out(x.size());
    rms_norm(x, as_bytes(gain), settings, out);
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t begin = i - i % gain.size();
      double squares = 0.0;
      for (size_t k = 0; k < gain.size(); ++k)
        squares += std::pow(x[begin + k] * settings.scales.in, 2);
      const double root = std::sqrt(squares / static_cast<double>(columns) + settings.epsilon);
      const double y = x[i] * settings.scales.in / root * gain[i % gain.size()];
      RC_ASSERT(std::abs(out[i] - testing::round_and_clamp(y / settings.scales.out)) <= 1);
    }
    rms_norm(x, testing::Shifted(as_bytes(gain)).bytes(), settings, x);
    RC_ASSERT(x == out);
  }));
}

TEST(RmsNormTest, AWrongShapeIsABug) {
  std::vector<int8_t> x(3);
  EXPECT_THROW(rms_norm(x, as_bytes({1, 1}), {}, x), InternalError);
  EXPECT_THROW(rms_norm(x, {}, {}, x), InternalError);
}

TEST(RopeTest, ByHand) {
  std::vector<int8_t> x{100, 0};
  rope({.heads = 1, .head_dim = 2}, std::vector<int32_t>{1}, x, x);
  EXPECT_THAT(x, ElementsAre(54, 84));
}

TEST(RopeTest, PairsAreHalfAHeadApartAndTurnSlowerTowardsTheEnd) {
  // D = 4, theta 10,000: component 0 with 2 by 1 radian, component 1 with 3 by 1/100.
  const std::vector<int8_t> x{100, 100, 0, 0};
  std::vector<int8_t> out(4);
  rope({.heads = 1, .head_dim = 4}, std::vector<int32_t>{1}, x, out);
  EXPECT_THAT(out, ElementsAre(54, 100, 84, 1));
}

TEST(RopeTest, TurningTowardsOneAxisSaturates) {
  // theta plays no part in pair 0; position 355 is 113 pi less 3e-5: half a turn.
  std::vector<int8_t> x{-128, 0};
  rope({.heads = 1, .head_dim = 2}, std::vector<int32_t>{355}, x, x);
  EXPECT_THAT(x, ElementsAre(127, 0));
}

TEST(RopeTest, LawPositionZeroIsTheIdentity) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const RopeShape shape{.heads = inputs.between(1, 4), .head_dim = 2 * inputs.between(1, 20)};
    const std::vector<int32_t> positions(3, 0);
    const auto x = inputs.values(3 * shape.heads * shape.head_dim);
    std::vector<int8_t> out(x.size());
    rope(shape, positions, x, out);
    RC_ASSERT(out == x);
  }));
}

TEST(RopeTest, LawIsAComplexRotationWithinOneStepAndWorksInPlace) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const RopeShape shape{
        .heads = inputs.between(1, 4), .head_dim = 2 * inputs.between(1, 20), .theta = 500.0};
    const std::vector<int32_t> positions{static_cast<int32_t>(inputs.between(0, 4'000)),
                                         static_cast<int32_t>(inputs.between(0, 4'000))};
    auto x = inputs.values(2 * shape.heads * shape.head_dim);
    std::vector<int8_t> out(x.size());
    rope(shape, positions, x, out);
    const auto dim = static_cast<size_t>(shape.head_dim);
    for (size_t i = 0; i < x.size(); ++i) {
      if (i % dim >= dim / 2) continue;
      const size_t token = i / (static_cast<size_t>(shape.heads) * dim);
      const double turn =
          std::pow(shape.theta, -2.0 * static_cast<double>(i % dim) / static_cast<double>(dim));
      const auto turned =
          std::complex<double>(x[i], x[i + dim / 2]) * std::polar(1.0, positions[token] * turn);
      RC_ASSERT(std::abs(out[i] - testing::round_and_clamp(turned.real())) <= 1);
      RC_ASSERT(std::abs(out[i + dim / 2] - testing::round_and_clamp(turned.imag())) <= 1);
    }
    rope(shape, positions, x, x);
    RC_ASSERT(x == out);
  }));
}

TEST(RopeTest, AnOddHeadIsABug) {
  std::vector<int8_t> x(3);
  EXPECT_THROW(rope({.heads = 1, .head_dim = 3}, std::vector<int32_t>{1}, x, x), InternalError);
}

}  // namespace
}  // namespace tidemark

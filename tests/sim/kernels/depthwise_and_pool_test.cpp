#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "conv_inputs.h"
#include "planner/base/check.h"
#include "sim/kernels/conv/conv_reference.h"
#include "sim/kernels/conv/depthwise_conv.h"
#include "sim/kernels/conv/pool.h"
#include "sim/kernels/isa.h"

namespace tidemark {
namespace {

using testing::ConvCase;
using ::testing::ElementsAre;

std::vector<int8_t> convolved(const ConvCase& c) {
  std::vector<int8_t> out(c.out_size());
  depthwise_conv2d(c.in, c.x, c.filters(), c.settings, out);
  return out;
}

TEST(DepthwiseConvTest, ByHand) {
  ConvCase c;
  c.in.channels = 2;
  c.multiplier = 2;
  c.outputs = 4;
  c.settings.layer = {.in = {1.0F, 1}, .out = {1.0F, 0}};
  c.x = {3, 5};
  c.values = {1, 2, 10, 20};
  c.scales = {1.0F};
  EXPECT_THAT(convolved(c), ElementsAre(2, 4, 40, 80));
  c.scales = {1.0F, 0.5F, 1.0F, 0.25F};
  EXPECT_THAT(convolved(c), ElementsAre(2, 2, 40, 20));
}

TEST(DepthwiseConvTest, LawEqualsReferenceAndDefinitionAtEveryLevel) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const ConvCase c = testing::random_conv(inputs, inputs.between(1, 3), 90);
    std::vector<int8_t> reference(c.out_size());
    depthwise_conv2d_reference(c.in, c.x, c.filters(), c.settings, reference);
    RC_ASSERT(reference == testing::conv_by_definition(c));
    for (const Isa isa : supported_isas()) {
      const IsaHold hold(isa);
      RC_ASSERT(convolved(c) == reference);
    }
  }));
}

TEST(DepthwiseConvTest, ThreadsChangeNothing) {
  testing::Inputs inputs(5);
  ConvCase c = testing::random_conv(inputs, 1, 90);
  c.settings.window = {.height = 3, .width = 3, .padding = Padding::kSame};
  c.in = {.batch = 2, .height = 20, .width = 20, .channels = c.outputs};  // 800 pixels: four parts
  c.x = inputs.values(800 * c.outputs);
  c.values = inputs.values(9 * c.outputs);
  const auto alone = convolved(c);
  c.settings.threads = 3;
  EXPECT_EQ(convolved(c), alone);
  EXPECT_EQ(alone, testing::conv_by_definition(c));
}

TEST(DepthwiseConvTest, BadShapesAreABug) {
  ConvCase c;
  c.in.channels = 2;
  c.multiplier = 1;
  c.outputs = 3;
  c.x = {3, 5};
  c.values = {1, 2, 10};
  c.scales = {1.0F};
  EXPECT_THROW(convolved(c), InternalError);
}

TEST(PoolTest, ByHand) {
  const ImageShape in{.batch = 2, .height = 2, .width = 2};
  const Window window{.height = 2, .width = 2};
  const std::vector<int8_t> x{1, 2, 4, -4, -1, -2, -2, -1};
  std::vector<int8_t> out(2);
  average_pool(in, window, x, {}, out);
  EXPECT_THAT(out, ElementsAre(1, -2));
  max_pool(in, window, x, {}, out);
  EXPECT_THAT(out, ElementsAre(4, -1));
  max_pool(in, window, x, {.low = 0, .high = 3}, out);
  EXPECT_THAT(out, ElementsAre(3, 0));
}

TEST(PoolTest, PaddingDoesNotCount) {
  // Same, 2 x 2 at stride 1 over one line {10, 20}: windows {10, 20} and {20}.
  const ImageShape in{.width = 2};
  const Window window{.height = 2, .width = 2, .padding = Padding::kSame};
  std::vector<int8_t> out(2);
  average_pool(in, window, std::vector<int8_t>{10, 20}, {}, out);
  EXPECT_THAT(out, ElementsAre(15, 20));
  max_pool(in, window, std::vector<int8_t>{-10, -20}, {}, out);
  EXPECT_THAT(out, ElementsAre(-10, -20));
}

TEST(PoolTest, LawEqualsTheDefinition) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const ImageShape in{inputs.between(1, 2), inputs.between(1, 9), inputs.between(1, 9),
                        inputs.between(1, 90)};
    Window w = testing::random_window(inputs);
    w.dilation_y = w.dilation_x = 1;
    const auto x = inputs.values(in.batch * in.height * in.width * in.channels);
    const auto ys = testing::axis_by_definition(in.height, w.height, w.stride_y, 1, w.padding);
    const auto xs = testing::axis_by_definition(in.width, w.width, w.stride_x, 1, w.padding);
    const int64_t outputs = in.batch * ys.out * xs.out * in.channels;
    std::vector<int8_t> average(static_cast<size_t>(outputs));
    std::vector<int8_t> largest(average.size());
    average_pool(in, w, x, {}, average);
    max_pool(in, w, x, {}, largest);
    for (int64_t i = 0; i < outputs; ++i) {
      const int64_t pixel = i / in.channels;
      int64_t sum = 0;
      int64_t count = 0;
      int64_t top = -1000;
      for (int64_t k = 0; k < w.height * w.width; ++k) {
        const int64_t y = pixel / xs.out % ys.out * w.stride_y - ys.before + k / w.width;
        const int64_t ix = pixel % xs.out * w.stride_x - xs.before + k % w.width;
        if (y < 0 || y >= in.height || ix < 0 || ix >= in.width) continue;
        const int64_t n = pixel / xs.out / ys.out;
        const int64_t at = ((n * in.height + y) * in.width + ix) * in.channels + i % in.channels;
        sum += x[static_cast<size_t>(at)];
        top = std::max<int64_t>(top, x[static_cast<size_t>(at)]);
        ++count;
      }
      const double mean = static_cast<double>(sum) / static_cast<double>(count);
      RC_ASSERT(average[static_cast<size_t>(i)] == testing::round_and_clamp(mean));
      RC_ASSERT(largest[static_cast<size_t>(i)] == top);
    }
  }));
}

TEST(PoolTest, ADilatedWindowIsABug) {
  std::vector<int8_t> x(9);
  EXPECT_THROW(max_pool({.height = 3, .width = 3}, {.dilation_x = 2}, x, {}, x), InternalError);
}

}  // namespace
}  // namespace tidemark

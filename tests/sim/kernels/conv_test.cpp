#include "sim/kernels/conv/conv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "conv_inputs.h"
#include "planner/base/check.h"
#include "sim/kernels/conv/conv_reference.h"
#include "sim/kernels/isa.h"

namespace tidemark {
namespace {

using testing::ConvCase;
using ::testing::ElementsAre;

std::vector<int8_t> convolved(const ConvCase& c) {
  const auto sizes = conv_scratch_sizes(c.in, c.settings.window, c.outputs);
  std::vector<int8_t> rows(static_cast<size_t>(sizes.rows), int8_t{99});
  std::vector<int32_t> sums(static_cast<size_t>(sizes.sums), 99);
  std::vector<int8_t> out(c.out_size());
  conv2d(c.in, c.x, c.filters(), c.settings, {rows, sums}, out);
  return out;
}

struct Axes {
  int64_t in = 1;
  int64_t window = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t out = 0;
  int64_t before = 0;
  Padding padding = Padding::kSame;
};

TEST(WindowTest, ByHand) {
  const std::vector<Axes> rows{
      {5, 3, 2, 1, 3, 1},
      {6, 3, 2, 1, 3, 0},  // padding 2 and 1; the smaller half is before
      {5, 3, 1, 2, 5, 2},  // reach 5: padding 4
      {1, 4, 3, 2, 1, 3},  // reach 7: padding 6
      {7, 1, 4, 1, 2, 0},  // a stride longer than the window needs no padding
      {5, 3, 2, 1, 2, 0, Padding::kValid},
      {5, 3, 1, 2, 1, 0, Padding::kValid},
      {4, 3, 1, 2, 0, 0, Padding::kValid},   // it does not fit
      {6, 3, 2, 1, 2, 0, Padding::kValid}};  // the last column is not seen
  for (const Axes& row : rows) {
    const Window window{.height = row.window,
                        .width = row.window,
                        .stride_y = row.stride,
                        .stride_x = row.stride,
                        .dilation_y = row.dilation,
                        .dilation_x = row.dilation,
                        .padding = row.padding};
    const WindowGrid grid = window_grid({.height = row.in, .width = row.in}, window);
    EXPECT_EQ(grid.y.out, row.out) << row.in << ' ' << row.window;
    EXPECT_EQ(grid.x.before, row.before) << row.in << ' ' << row.window;
  }
}

TEST(WindowTest, LawEqualsTheRuleInPlainWords) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const Window w = testing::random_window(inputs);
    const ImageShape in{.height = inputs.between(1, 20), .width = inputs.between(1, 20)};
    const WindowGrid grid = window_grid(in, w);
    const auto ys =
        testing::axis_by_definition(in.height, w.height, w.stride_y, w.dilation_y, w.padding);
    const auto xs =
        testing::axis_by_definition(in.width, w.width, w.stride_x, w.dilation_x, w.padding);
    RC_ASSERT(grid.y.out == ys.out);
    RC_ASSERT(grid.y.before == ys.before);
    RC_ASSERT(grid.x.out == xs.out);
    RC_ASSERT(grid.x.before == xs.before);
  }));
}

TEST(WindowTest, SizesNoModelHasAreABug) {
  EXPECT_THROW(window_grid({}, {.stride_x = 0}), InternalError);
  EXPECT_THROW(window_grid({.height = 0}, {}), InternalError);
  EXPECT_THROW(window_grid({}, {.dilation_y = -1}), InternalError);
}

TEST(ConvTest, ByHand) {
  ConvCase c;
  c.in = {.width = 3};
  c.settings.window = {.width = 3, .padding = Padding::kSame};
  c.settings.layer = {.in = {1.0F, 1}, .out = {1.0F, -3}};
  c.x = {1, 2, 3};
  c.values = {10, 20, 30};
  c.scales = {1.0F};
  EXPECT_THAT(convolved(c), ElementsAre(27, 77, 47));  // {30, 80, 50} - 3
  c.settings.layer.range = {.low = 30, .high = 60};
  EXPECT_THAT(convolved(c), ElementsAre(30, 60, 47));
}

TEST(ConvTest, AScaleAndABiasForEachChannel) {
  ConvCase c;
  c.outputs = 2;
  c.settings.layer = {.in = {0.5F, 0}, .out = {1.0F, 0}};
  c.x = {100};
  c.values = {10, 10};
  c.scales = {0.1F, 0.01F};
  c.bias = {0, 200};
  // 1000 x 0.05 = 50; 1200 x 0.005 = 6.
  EXPECT_THAT(convolved(c), ElementsAre(50, 6));
}

TEST(ConvTest, LawEqualsReferenceAndDefinitionAtEveryLevel) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    ConvCase c = testing::random_conv(inputs, 0, 20);
    std::vector<int8_t> reference(c.out_size());
    conv2d_reference(c.in, c.x, c.filters(), c.settings, reference);
    RC_ASSERT(reference == testing::conv_by_definition(c));
    for (const Isa isa : supported_isas()) {
      const IsaHold hold(isa);
      c.settings.threads = static_cast<int>(inputs.between(1, 2));
      RC_ASSERT(convolved(c) == reference);
    }
  }));
}

TEST(ConvTest, SumsThatLeaveInt32WithTheirBiasSaturate) {
  ConvCase c;
  c.settings.layer.out.scale = 0x1p25F;
  c.x = {127};
  c.values = {127};
  c.scales = {1.0F};
  c.bias = {INT32_MAX};
  EXPECT_THAT(convolved(c), ElementsAre(64));  // 2^31 / 2^25, not the -64 of a sum that wrapped
}

TEST(ConvTest, BadShapesAreABug) {
  ConvCase c;
  c.x = {1};
  c.values = {1};
  c.scales = {1.0F};
  std::vector<int8_t> out(1);
  std::vector<int32_t> sums(68);
  EXPECT_NO_THROW(conv2d(c.in, c.x, c.filters(), c.settings, {{}, sums}, out));
  EXPECT_THROW(conv2d(c.in, c.x, c.filters(), c.settings, {}, out), InternalError);
  c.scales = {1.0F, 1.0F};
  EXPECT_THROW(conv2d(c.in, c.x, c.filters(), c.settings, {{}, sums}, out), InternalError);
  EXPECT_THROW(conv_scratch_sizes({.channels = kMaxTaps + 1}, {}, 1), InternalError);
}

std::vector<int8_t> connected(const ConvCase& c, int64_t tokens) {
  std::vector<int32_t> sums(static_cast<size_t>((kConvTile + kConvTableRows) * c.outputs));
  std::vector<int8_t> out(static_cast<size_t>(tokens * c.outputs));
  fully_connected(c.in.channels, c.x, c.filters(), c.settings.layer, {{}, sums}, out);
  return out;
}

TEST(FullyConnectedTest, ByHand) {
  ConvCase c;
  c.in.channels = 2;
  c.settings.layer = {.in = {0.5F, 1}, .out = {0.25F, -3}};
  c.x = {3, 5};
  c.values = {10, -4};
  c.scales = {0.1F};
  c.bias = {6};
  EXPECT_THAT(connected(c, 1), ElementsAre(-1));
}

TEST(FullyConnectedTest, LawEqualsTheDefinition) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    ConvCase c = testing::random_conv(inputs, 0, 150);
    c.settings.window = {};
    c.in.height = inputs.between(1, 90);
    c.in.batch = c.in.width = 1;
    c.x = inputs.values(c.in.height * c.in.channels);
    c.values = inputs.values(c.outputs * c.in.channels);
    RC_ASSERT(connected(c, c.in.height) == testing::conv_by_definition(c));
  }));
}

}  // namespace
}  // namespace tidemark

#include "planner/model/scale.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "support/sample_models.h"

namespace tidemark {
namespace {

using testing::Dimensions;
using testing::transformer;

TEST(ScaleTest, MiniCpmByAQuarter) {
  const ModelSpec scaled = scale_widths(transformer(testing::kMiniCpm2b), 0.25);
  Dimensions quarter = testing::kMiniCpm2b;
  quarter.n_embd = 576;
  quarter.n_head = 9;
  quarter.n_head_kv = 9;
  quarter.n_ff = 1440;
  EXPECT_EQ(scaled, transformer(quarter));
}

TEST(ScaleTest, GroupedHeadsKeepTheirRatioWhereItFits) {
  const auto attention = [](double factor) {
    const ModelSpec scaled = scale_widths(transformer(testing::kLlama31_8b), factor);
    return *scaled.transformer()->layers.front().attention();
  };
  EXPECT_EQ(attention(0.25), (AttentionSpec{.n_head = 8, .n_head_kv = 2, .head_dim = 128}));
  // 3 heads and a wish for 0.75 of them stored.
  EXPECT_EQ(attention(3.0 / 32.0), (AttentionSpec{.n_head = 3, .n_head_kv = 1, .head_dim = 128}));
  // 6 heads, 1.5 wished: 1 and 2 are equally near, the smaller is taken.
  EXPECT_EQ(attention(6.0 / 32.0), (AttentionSpec{.n_head = 6, .n_head_kv = 1, .head_dim = 128}));
}

TEST(ScaleTest, AWidthThatHeadsDoNotFillIsAMultipleOf32) {
  const ModelSpec model = transformer({.n_layer = 2,
                                       .n_embd = 1000,
                                       .n_head = 8,
                                       .n_head_kv = 4,
                                       .head_dim = 64,
                                       .n_ff = 3000,
                                       .n_vocab = 10});
  const TransformerSpec half = *scale_widths(model, 0.5).transformer();
  EXPECT_EQ(half.n_embd, 512);                        // 500 / 32 = 15.6
  EXPECT_EQ(half.layers[1].feed_forward.n_ff, 1504);  // 1500 / 32 = 46.9
  const TransformerSpec least = *scale_widths(model, kLeastModelScale).transformer();
  EXPECT_EQ(least.n_embd, 32);
  EXPECT_EQ(least.layers[0],
            (LayerSpec{.mixer = AttentionSpec{.n_head = 1, .n_head_kv = 1, .head_dim = 64},
                       .feed_forward = {.n_ff = 32}}));
}

TEST(ScaleTest, OneChangesNothingAndAListOfSizesStaysAsItIs) {
  const ModelSpec odd = transformer({.n_layer = 1, .n_ff = 77});
  EXPECT_EQ(scale_widths(odd, 1.0), odd);
  EXPECT_EQ(scale_widths(testing::demo_layers(), 0.25), testing::demo_layers());
}

TEST(ScaleTest, EveryScaledModelIsLegalAndNoLarger) {
  const bool held = rc::check("scaled widths", [] {
    Dimensions d;
    d.n_head_kv = *rc::gen::inRange<int64_t>(1, 40);
    d.n_head = d.n_head_kv * *rc::gen::inRange<int64_t>(1, 9);
    d.head_dim = 2 * *rc::gen::inRange<int64_t>(1, 129);
    d.n_embd = *rc::gen::arbitrary<bool>() ? d.n_head * d.head_dim
                                           : 32 * *rc::gen::inRange<int64_t>(1, 500);
    d.n_ff = 32 * *rc::gen::inRange<int64_t>(1, 900);
    d.n_layer = *rc::gen::inRange<int64_t>(1, 5);
    const double factor = *rc::gen::inRange(1, 1001) / 1000.0;
    const TransformerSpec spec = *scale_widths(transformer(d), factor).transformer();
    RC_ASSERT(spec.n_vocab == d.n_vocab && std::ssize(spec.layers) == d.n_layer);
    RC_ASSERT(spec.n_embd >= 1 && spec.n_embd <= d.n_embd);
    for (const LayerSpec& layer : spec.layers) {
      RC_ASSERT(layer.attention()->n_head >= 1 && layer.attention()->n_head <= d.n_head);
      RC_ASSERT(layer.attention()->n_head % layer.attention()->n_head_kv == 0);
      RC_ASSERT(layer.attention()->head_dim == d.head_dim);
      RC_ASSERT(layer.feed_forward.n_ff % 32 == 0 && layer.feed_forward.n_ff <= d.n_ff);
    }
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace tidemark

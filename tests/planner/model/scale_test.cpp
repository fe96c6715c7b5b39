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

TransformerSpec scaled(TransformerSpec spec, double factor) {
  return *scale_widths({.name = "sample", .dims = std::move(spec)}, factor).transformer();
}

// Heads of 128 + 64, a latent of 512 + 64; experts and what a head stores stay.
TEST(ScaleTest, LatentAttentionAndExperts) {
  const LayerSpec layer{
      .mixer = MlaSpec{.n_head = 128,
                       .q_lora = 1536,
                       .kv_lora = 512,
                       .qk_nope = 128,
                       .qk_rope = 64,
                       .v_head = 128},
      .moe = {.n_expert = 256, .n_expert_used = 8, .n_ff_exp = 2048, .n_ff_shared = 2048}};
  const TransformerSpec half = scaled({.n_embd = 7168, .n_vocab = 10, .layers = {layer}}, 0.5);
  EXPECT_EQ(half.n_embd, 3584);
  EXPECT_EQ(
      half.layers[0],
      (LayerSpec{
          .mixer = MlaSpec{.n_head = 64,
                           .q_lora = 768,
                           .kv_lora = 256,
                           .qk_nope = 128,
                           .qk_rope = 64,
                           .v_head = 128},
          .moe = {.n_expert = 256, .n_expert_used = 8, .n_ff_exp = 1024, .n_ff_shared = 1024}}));
}

// d_inner = 2 n_embd, dt_rank = n_embd / 16; of Mamba-2 heads of 64 in 8 groups.
TEST(ScaleTest, StateWidthsOfRecurrences) {
  const NoMixer none;
  const auto mixer = [&none](Mixer before, double factor) {
    const std::vector<LayerSpec> layers = {{.mixer = before}, {.mixer = none}};
    return scaled({.n_embd = 1024, .n_vocab = 10, .layers = layers}, factor).layers[0].mixer;
  };
  EXPECT_EQ(mixer(MambaSpec{.d_conv = 4, .d_inner = 2048, .d_state = 16, .dt_rank = 64}, 0.25),
            Mixer(MambaSpec{.d_conv = 4, .d_inner = 512, .d_state = 16, .dt_rank = 16}));
  EXPECT_EQ(
      mixer(Mamba2Spec{.d_conv = 4, .d_inner = 2048, .d_state = 128, .n_head = 32, .n_group = 8},
            0.25),
      Mixer(Mamba2Spec{.d_conv = 4, .d_inner = 512, .d_state = 128, .n_head = 8, .n_group = 2}));
  EXPECT_EQ(
      mixer(GatedDeltaSpec{.n_key_head = 16, .n_value_head = 32, .key_dim = 8, .value_dim = 8},
            0.5),
      Mixer(GatedDeltaSpec{.n_key_head = 8, .n_value_head = 16, .key_dim = 8, .value_dim = 8}));
  EXPECT_EQ(mixer(LinearAttentionSpec{.n_head = 64, .head_dim = 96}, 0.5),
            Mixer(LinearAttentionSpec{.n_head = 32, .head_dim = 96}));
}

// n_embd 768 = 12 heads of 64: 0.3 leaves 4 of them. Ranks below 32 stay.
TEST(ScaleTest, TheWidthOfRwkvIsAMultipleOfItsHeads) {
  const RwkvSpec before{
      .version = 6, .head_size = 64, .n_ff = 2688, .lora_mix = 32, .lora_decay = 64};
  const TransformerSpec spec =
      scaled({.n_embd = 768, .n_vocab = 10, .layers = {{.mixer = before}}}, 0.3);
  EXPECT_EQ(spec.n_embd, 256);
  EXPECT_EQ(
      std::get<RwkvSpec>(spec.layers[0].mixer),
      (RwkvSpec{.version = 6, .head_size = 64, .n_ff = 800, .lora_mix = 32, .lora_decay = 32}));
}

TEST(ScaleTest, FeaturesOfAttentionStay) {
  AttentionSpec spec{.n_head = 8, .n_head_kv = 4, .head_dim = 64};
  spec.bias.q = spec.fused_qkv = spec.sinks = true;
  spec.window = 512;
  const TransformerSpec half =
      scaled({.n_embd = 512, .n_vocab = 10, .layers = {{.mixer = spec}}}, 0.5);
  spec.n_head = 4;
  spec.n_head_kv = 2;
  EXPECT_EQ(*half.layers[0].attention(), spec);
  EXPECT_EQ(half.layers[0].feed_forward, FeedForwardSpec{});  // absent, and stays so
}

// An encoder of 512 beside a decoder of 256: its projector and what reads it follow.
TEST(ScaleTest, StacksAndExtrasFollow) {
  const AttentionSpec wide{.n_head = 8, .n_head_kv = 8, .head_dim = 64};
  const AttentionSpec narrow{.n_head = 4, .n_head_kv = 4, .head_dim = 64};
  TransformerSpec spec{.n_embd = 256, .n_vocab = 10};
  spec.layers = {{.mixer = narrow, .cross = {.attention = narrow, .source_width = 512}}};
  spec.stacks = {{.role = StackRole::kEncoder,
                  .n_embd = 512,
                  .layers = {{.mixer = wide, .feed_forward = {.n_ff = 2048}}},
                  .extras = {{.name = "projector", .columns = 512, .rows = 256},
                             {.name = "patch", .columns = 588, .rows = 512}}}};
  const TransformerSpec half = scaled(spec, 0.5);
  EXPECT_EQ(half.n_embd, 128);
  EXPECT_EQ(half.layers[0].cross.source_width, 256);
  EXPECT_EQ(half.layers[0].cross.attention.n_head, 2);
  const StackSpec& stack = half.stacks[0];
  EXPECT_EQ(stack.n_embd, 256);
  EXPECT_EQ(stack.layers[0].attention()->n_head, 4);
  EXPECT_EQ(stack.layers[0].feed_forward.n_ff, 1024);
  EXPECT_EQ(stack.extras[0].columns, 256);
  EXPECT_EQ(stack.extras[0].rows, 128);
  EXPECT_EQ(stack.extras[1].columns, 588);
  EXPECT_EQ(stack.extras[1].rows, 256);
}

TEST(ScaleTest, WhatAFileStoresIsForgotten) {
  ModelSpec model = transformer({});
  model.stored = {{.name = "token_embd.weight"}};
  EXPECT_TRUE(scale_widths(model, 0.5).stored.empty());
  EXPECT_EQ(scale_widths(model, 1.0), model);
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

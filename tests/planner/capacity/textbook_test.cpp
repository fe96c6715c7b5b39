// The founding formulas and worked examples, one by one (docs/explanation/textbook-formulas.md).
#include "planner/capacity/textbook.h"

#include <gtest/gtest.h>

#include "planner/model/state.h"
#include "sample_scenarios.h"

namespace tidemark {
namespace {

using testing::demo_scenario;
using testing::scenario_of;
using testing::transformer;
using namespace literals;

constexpr int64_t kSevenBillion = 7'000'000'000;

TEST(TextbookTest, LayerActivation) {
  EXPECT_EQ(textbook_layer_activation(1, 2048, 4096), 33'554'432_B);
  EXPECT_EQ(textbook_layer_activation(1, 2048, 4096), 32_MiB);
  EXPECT_EQ(textbook_layer_activation(3, 2048, 4096), 96_MiB);
}

TEST(TextbookTest, QuantizedSizeFromSixteenBits) {
  EXPECT_EQ(textbook_quantized(14_GB, 16), 14_GB);
  EXPECT_EQ(textbook_quantized(14_GB, 8), 7_GB);
  EXPECT_EQ(textbook_quantized(14_GB, 4), 3500_MB);
  EXPECT_EQ(textbook_quantized(14_GB, 32), 28_GB);
  EXPECT_EQ(textbook_quantized(3_B, 4), 1_B);  // a part of a byte is a byte
}

TEST(TextbookTest, BothWaysToTheQuantizedSizeAgree) {
  const Bytes at_16_bits = textbook_weight_bytes(kSevenBillion, DType::kF16);
  EXPECT_EQ(textbook_quantized(at_16_bits, 8), textbook_weight_bytes(kSevenBillion, DType::kInt8));
  EXPECT_EQ(textbook_quantized(at_16_bits, 4), textbook_weight_bytes(kSevenBillion, DType::kInt4));
}

TEST(TextbookTest, SevenBillionAtFourBitsInThirtyTwoLayers) {
  EXPECT_EQ(textbook_weight_bytes(kSevenBillion, DType::kInt4) / 32, 109'375'000_B);
}

TEST(TextbookTest, RuntimeOverhead) {
  EXPECT_EQ(textbook_runtime(3400_MB, 608_MB, 0.1), 400'800'000_B);
  EXPECT_EQ(textbook_runtime(3400_MB, 608_MB, 0.0), 0_B);
}

struct SliceCase {
  int64_t layers = 0;
  Bytes layer{};
  Bytes budget{};
  std::optional<int64_t> slices{};
};

TEST(TextbookTest, Slices) {
  const SliceCase cases[] = {
      {100, 10_MB, 50_MB, 20},           // room for five
      {101, 10_MB, 50_MB, 21},           // one more layer, one more slice
      {100, 10_MB, 59_MB, 20},           // half a layer is no layer
      {100, 10_MB, 9_MB, std::nullopt},  // room for none
      {100, 10_MB, 0_MB, std::nullopt},
      {100, 10_MB, 10_MB, 100},
      {100, 10_MB, 5_GB, 1},
      {100, 0_B, 0_B, 1},  // layers without weights
      {100, 0_B, Bytes::of(-1), std::nullopt},
      {0, 0_B, 0_B, 0},
  };
  for (const SliceCase& row : cases) {
    EXPECT_EQ(textbook_slices(row.layers, row.layer, row.budget), row.slices)
        << row.layers << " layers of " << row.layer.count() << " in " << row.budget.count();
  }
}

TEST(TextbookTest, MostTokensUnderTheRedLine) {
  const Bytes layer = 109'375'000_B;
  const std::optional<int64_t> most = textbook_max_tokens(layer, 1, 4096, 2250_MB);
  ASSERT_EQ(most, 130'653);
  EXPECT_LE(layer + textbook_layer_activation(1, *most, 4096), 2250_MB);
  EXPECT_GT(layer + textbook_layer_activation(1, *most + 1, 4096), 2250_MB);
  EXPECT_EQ(textbook_max_tokens(layer, 2, 4096, 2250_MB), 65'326);
  EXPECT_EQ(textbook_max_tokens(layer, 1, 4096, layer), 0);
  EXPECT_EQ(textbook_max_tokens(layer, 1, 4096, layer - 1_B), std::nullopt);
}

TEST(TextbookTest, ActivationsPassWeightsFrom6676Tokens) {
  const Bytes layer = 109'375'000_B;
  EXPECT_EQ(textbook_crossover_tokens(layer, 1, 4096), 6676);
  EXPECT_GT(textbook_layer_activation(1, 6676, 4096), layer);
  EXPECT_LE(textbook_layer_activation(1, 6675, 4096), layer);
  EXPECT_EQ(textbook_crossover_tokens(16_B, 1, 1), 5);  // equal is not larger
}

TEST(TextbookTest, WhatDoesNotStayIsReadInEveryPass) {
  EXPECT_EQ(textbook_least_read(3500_MB, 1500_MB), 2_GB);
  EXPECT_EQ(textbook_least_read(1500_MB, 350_MB), 1150_MB);
  EXPECT_EQ(textbook_least_read(1_GB, 2_GB), 0_B);
  EXPECT_EQ(textbook_least_read(1_GB, Bytes::of(-5)), 1_GB);
}

struct RatioCase {
  DType weights = DType::kF16;
  int64_t tokens = 0;
};

// A split of 40 : 35 between weights and KV cache holds at one context length only, here of
// MiniCPM-2B with its cache at f16: KV = 0.875 W.
TEST(TextbookTest, FortyToThirtyFiveHoldsAtOneLength) {
  const ModelSpec model = transformer(testing::kMiniCpm2b);
  const Bytes per_token = kv_bytes_per_token(model, DType::kF16, DType::kF16);
  const RatioCase cases[] = {{DType::kF16, 12'935}, {DType::kInt8, 6'467}, {DType::kInt4, 3'233}};
  for (const RatioCase& row : cases) {
    const Bytes kv = textbook_weight_bytes(2'724'880'896, row.weights) * 35 / 40;
    EXPECT_LE(per_token * row.tokens, kv);
    EXPECT_GT(per_token * (row.tokens + 1), kv);
  }
}

TEST(TextbookTest, KvPerTokenCountsNominalBits) {
  const ModelSpec model = transformer(testing::kMiniCpm2b);
  EXPECT_EQ(textbook_kv_per_token(*model.transformer(), DType::kF16, DType::kF16), 368'640_B);
  EXPECT_EQ(textbook_kv_per_token(*model.transformer(), DType::kInt8, DType::kF16), 276'480_B);
}

TEST(TextbookTest, BreakdownOfTheFoundingExample) {
  Scenario scenario = demo_scenario();
  scenario.engine.runtime_ratio = 0.1;
  const Breakdown breakdown = textbook_breakdown(scenario);
  EXPECT_EQ(breakdown.weights, 3400_MB);
  EXPECT_EQ(breakdown.compute, 608_MB);
  EXPECT_EQ(breakdown.runtime, 400'800'000_B);
  EXPECT_EQ(breakdown.total(), 4'408'800'000_B);
  EXPECT_EQ(breakdown.kv_cache, 0_B);
}

TEST(TextbookTest, ATransformersLayersAreAllAlike) {
  Scenario scenario = scenario_of(transformer({.n_layer = 3}));
  scenario.n_ctx = Tokens(10);
  scenario.n_seq = 2;
  const std::vector<TextbookLayer> layers = textbook_layers(scenario);
  ASSERT_EQ(layers.size(), 3u);
  // Per layer 128 parameters, 10 x 4 of the embedding and 4 of the last norm: 428 at 2 B.
  EXPECT_EQ(textbook_weights(scenario), 856_B);
  EXPECT_EQ(layers[2].weights, 285_B);
  EXPECT_EQ(layers[2].activation, Bytes::of(2 * 5 * 4 * 4));
  EXPECT_EQ(textbook_activations(layers), Bytes::of(3 * 160));
}

}  // namespace
}  // namespace tidemark

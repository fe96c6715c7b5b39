// What is held when a part of the weights comes and goes: bytes by hand.
#include "planner/capacity/kept_weights.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

// The header's two layers, of experts or of neurons, and 10 B outside them.
class KeptWeightsTest : public ::testing::Test {
 protected:
  KeptWeightsTest() {
    add(10, WeightRole::kTokenEmbedding, -1);
    units_.push_back({.name = "token_embd", .bytes = Bytes::of(10), .tensors = {WeightId{0}}});
  }

  void add(int64_t bytes, WeightRole role, int64_t layer) {
    weights_.tensors.push_back({.role = role, .layer = layer, .bytes = Bytes::of(bytes)});
  }
  // A layer of 100 B: so much of each of two matrices, the rest attention.
  void add_layer(int64_t layer, WeightRole a, WeightRole b, int64_t each) {
    const auto first = static_cast<int64_t>(weights_.tensors.size());
    add(100 - 2 * each, WeightRole::kQuery, layer);
    add(each, a, layer);
    add(each, b, layer);
    units_.push_back({.name = "blk",
                      .bytes = Bytes::of(100),
                      .tensors = {WeightId(first), WeightId(first + 1), WeightId(first + 2)}});
  }
  Bytes kept(const LayerSpec& layer, const ResidencyChoices& choices,
             StrategyKind strategy = StrategyKind::kResident) {
    Scenario scenario{.strategy = strategy};
    scenario.model.dims = TransformerSpec{.layers = {layer, layer}};
    scenario.residency = choices;
    return kept_weight_bytes(scenario, units_, weights_);
  }

  WeightsInventory weights_{};
  std::vector<WeightUnit> units_{};
};

TEST_F(KeptWeightsTest, WorkedInTheHeader) {
  for (const int64_t layer : {0, 1}) {
    add_layer(layer, WeightRole::kExpertUp, WeightRole::kExpertDown, 40);
  }
  const LayerSpec mixture{.moe = {.n_expert = 4, .n_expert_used = 1}};
  EXPECT_EQ(kept(mixture, {.expert_slots = 2}), Bytes::of(130));
  EXPECT_EQ(kept(mixture, {.expert_bytes = Bytes::of(50)}), Bytes::of(100));
}

TEST_F(KeptWeightsTest, RowsOfTheHeader) {
  for (const int64_t layer : {0, 1}) add_layer(layer, WeightRole::kUp, WeightRole::kDown, 30);
  const LayerSpec dense{.feed_forward = {.n_ff = 6}};
  EXPECT_EQ(kept(dense, {.rows = HotRows{.kept_ppm = 500'000}}), Bytes::of(180));
}

// 10 + 20 + 3 x 20, of slots and of bytes alike.
TEST_F(KeptWeightsTest, WhatATokenUsesAtLeast) {
  add_layer(0, WeightRole::kExpertUp, WeightRole::kExpertDown, 40);
  const LayerSpec mixture{.moe = {.n_expert = 4, .n_expert_used = 3}};
  EXPECT_EQ(kept(mixture, {.expert_slots = 1}), Bytes::of(90));
  EXPECT_EQ(kept(mixture, {.expert_bytes = Bytes::of(1)}), Bytes::of(90));
}

// More slots than experts, more bytes than they have, and a strategy that moves whole units: all.
TEST_F(KeptWeightsTest, NoMoreThanThereIs) {
  add_layer(0, WeightRole::kExpertUp, WeightRole::kExpertDown, 40);
  const LayerSpec mixture{.moe = {.n_expert = 4, .n_expert_used = 1}};
  EXPECT_EQ(kept(mixture, {.expert_slots = 9}), Bytes::of(110));
  EXPECT_EQ(kept(mixture, {.expert_bytes = Bytes::of(1000)}), Bytes::of(110));
  EXPECT_EQ(kept(mixture, {}), Bytes::of(110));
  EXPECT_EQ(kept(mixture, {.expert_slots = 2}, StrategyKind::kLayerwise), Bytes::of(110));
}

}  // namespace
}  // namespace tidemark

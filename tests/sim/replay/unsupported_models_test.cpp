// One model for each thing that the kernels do not do: it is named, and nothing is run.
#include <gtest/gtest.h>

#include <functional>

#include "sim/replay/replay_input.h"
#include "tiny.h"

namespace tidemark {
namespace {

using testing::plan_of;
using testing::tiny_scenario;

// What is said of the tiny model after `change`.
std::string refusal(const std::function<void(TransformerSpec&)>& change) {
  Scenario scenario = tiny_scenario();
  const MemoryPlan plan = plan_of(scenario);
  change(std::get<TransformerSpec>(scenario.model.dims));
  return to_string(unsupported(scenario, plan));
}

std::string said(const std::string& what) {
  return "error: MODEL: tiny has " + what +
         ", which the replay cannot run\n"
         "  hint: plan or simulate it, or name a decoder of attention layers: see `tidemark list "
         "models`\n";
}

TEST(UnsupportedModels, TheTinyModelRuns) {
  EXPECT_EQ(refusal([](TransformerSpec&) {}), "");
}

TEST(UnsupportedModels, AMixerIsNamedWithItsLayer) {
  const std::pair<Mixer, const char*> mixers[] = {{MlaSpec{}, "the mixer mla"},
                                                  {MambaSpec{}, "the mixer mamba"},
                                                  {RwkvSpec{}, "the mixer rwkv"},
                                                  {NoMixer{}, "no mixer"}};
  for (const auto& [mixer, what] : mixers) {
    EXPECT_EQ(refusal([&](TransformerSpec& model) { model.layers[1].mixer = mixer; }),
              said(std::string(what) + " in layer 1"));
  }
}

TEST(UnsupportedModels, EveryFeatureOfAttentionIsNamed) {
  const std::pair<std::function<void(AttentionSpec&)>, const char*> features[] = {
      {[](AttentionSpec& a) { a.n_bucket = 8; }, "a relative position bias"}};
  for (const auto& [change, what] : features) {
    EXPECT_EQ(refusal([&](TransformerSpec& model) {
                change(std::get<AttentionSpec>(model.layers[1].mixer));
              }),
              said(std::string(what) + " in layer 1"));
  }
}

TEST(UnsupportedModels, EveryFeatureOfALayerIsNamed) {
  const std::pair<std::function<void(LayerSpec&)>, const char*> features[] = {
      {[](LayerSpec& l) { l.cross.attention.n_head = 2; }, "cross-attention"},
      {[](LayerSpec& l) { l.feed_forward = {}; }, "no feed-forward"}};
  for (const auto& [change, what] : features) {
    EXPECT_EQ(refusal([&](TransformerSpec& model) { change(model.layers[0]); }),
              said(std::string(what) + " in layer 0"));
  }
}

TEST(UnsupportedModels, WhatStandsOutsideTheLayersIsNamed) {
  const std::pair<std::function<void(TransformerSpec&)>, const char*> features[] = {
      {[](TransformerSpec& m) { m.is_causal = false; }, "attention to later tokens"},
      {[](TransformerSpec& m) { m.has_head = false; }, "no head"},
      {[](TransformerSpec& m) { m.stacks = {{.role = StackRole::kEncoder}}; }, "an encoder"}};
  for (const auto& [change, what] : features) {
    EXPECT_EQ(refusal(change), said(what));
  }
}

// The 6th of 5 learned positions would be no row of the table.
TEST(UnsupportedModels, PositionsBeyondThoseThatWereLearned) {
  Scenario scenario = tiny_scenario();
  scenario.prompt = Tokens(4);
  scenario.generate = Tokens(3);  // the last token is not looked up
  std::get<TransformerSpec>(scenario.model.dims).n_position = 6;
  EXPECT_EQ(to_string(unsupported(scenario, plan_of(scenario))), "");
  std::get<TransformerSpec>(scenario.model.dims).n_position = 5;
  EXPECT_EQ(to_string(unsupported(scenario, plan_of(scenario))),
            "error: --prompt: 6 positions are needed, tiny has learned 5\n"
            "  hint: lower --prompt or --generate\n");
}

// The table is loaded with the embedding, the bias with the last norm.
TEST(UnsupportedModels, AnOpThatReadsWeightsOfTwoUnits) {
  Scenario scenario = tiny_scenario();
  std::get<TransformerSpec>(scenario.model.dims).head_bias = true;
  EXPECT_EQ(to_string(unsupported(scenario, plan_of(scenario))),
            "error: MODEL: logits reads token_embd.weight and output.bias, which are loaded one "
            "after the other\n"
            "  hint: plan or simulate it\n");
}

TEST(UnsupportedModels, OnlyTheFirstReasonIsGiven) {
  EXPECT_EQ(refusal([](TransformerSpec& model) {
              model.layers[0].mixer = NoMixer{};
              model.layers[1].mixer = MlaSpec{};
            }),
            said("no mixer in layer 0"));
}

}  // namespace
}  // namespace tidemark

// One small model for each part that decoders differ in. Each lives, each op of it is judged, and
// its replay passes: outputs as without reuse, memory as predicted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "alive.h"
#include "op_judge.h"

namespace tidemark {
namespace {

using testing::Bench;
using testing::OpJudge;
using testing::replay_all;
using testing::tiny_scenario;

using Change = std::function<void(TransformerSpec&)>;

// The tiny model after `change` of its widths' spec.
Scenario changed(const Change& change) {
  Scenario scenario = tiny_scenario();
  scenario.n_ctx = Tokens(32);
  scenario.prompt = Tokens(9);  // 4, 4 and 1
  change(std::get<TransformerSpec>(scenario.model.dims));
  return scenario;
}

Change in_layers(const std::function<void(LayerSpec&)>& change) {
  return [change](TransformerSpec& model) { std::ranges::for_each(model.layers, change); };
}

Change in_attention(const std::function<void(AttentionSpec&)>& change) {
  return in_layers([change](LayerSpec& layer) { change(std::get<AttentionSpec>(layer.mixer)); });
}

// The kinds of ops that were judged.
std::set<OpKind> expect_right(const Change& change) {
  const Scenario scenario = changed(change);
  std::set<OpKind> judged;
  const Bench bench(scenario);
  bench.run(planned_layout(bench.plan),
            [&](const TensorMemory&) { return std::make_unique<OpJudge>(bench, judged); });
  testing::expect_alive(scenario);
  Scenario layerwise = scenario;
  layerwise.strategy = StrategyKind::kLayerwise;
  Scenario plain = scenario;
  plain.flash_attention = false;
  Scenario parted = scenario;  // a bias comes with its matrix, however a layer is divided
  parted.strategy = StrategyKind::kChunked;
  parted.load.chunk_parts = 7;
  std::vector<ReplayReport> reports = replay_all({scenario, layerwise, parted});
  reports.push_back(replay_all({plain}).front());
  for (const ReplayReport& report : reports) {
    EXPECT_TRUE(passed(report)) << to_text(std::span(&report, 1));
  }
  return judged;
}

TEST(ModelParts, ADenseDecoderIsJudgedOpByOp) {
  const std::set<OpKind> judged = expect_right([](TransformerSpec&) {});
  for (const OpKind kind : {OpKind::kEmbed, OpKind::kRmsNorm, OpKind::kMatMul, OpKind::kRope,
                            OpKind::kAdd, OpKind::kSilu, OpKind::kMul}) {
    EXPECT_TRUE(judged.contains(kind)) << name_of(kind);
  }
}

TEST(ModelParts, BiasesInAttention) {
  const Change change = in_attention(
      [](AttentionSpec& spec) { spec.bias = {.q = true, .k = true, .v = true, .out = true}; });
  EXPECT_TRUE(expect_right(change).contains(OpKind::kAddBias));
}

TEST(ModelParts, NormsOfQueriesAndKeys) {
  for (const QkNormKind kind : {QkNormKind::kHead, QkNormKind::kWidth}) {
    for (const bool with_bias : {false, true}) {
      SCOPED_TRACE(std::string(name_of(kind)) + (with_bias ? " with bias" : ""));
      expect_right(in_attention([&](AttentionSpec& spec) {
        spec.qk_norm = kind;
        spec.qk_norm_bias = with_bias;
      }));
    }
  }
}

TEST(ModelParts, AGateBehindAttention) {
  const Change change = in_attention([](AttentionSpec& spec) { spec.output_gate = true; });
  EXPECT_TRUE(expect_right(change).contains(OpKind::kSigmoid));
}

TEST(ModelParts, OneMatrixForQueriesKeysAndValues) {
  for (const QkNormKind kind : {QkNormKind::kNone, QkNormKind::kHead}) {
    for (const bool is_learned :
         {false, true}) {  // without rope the cache reads the product itself
      SCOPED_TRACE(std::string(name_of(kind)) + (is_learned ? ", learned positions" : ""));
      expect_right([&](TransformerSpec& model) {
        in_attention([&](AttentionSpec& spec) {
          spec.fused_qkv = true;
          spec.qk_norm = kind;
        })(model);
        if (is_learned) model.n_position = 32;
      });
    }
  }
}

TEST(ModelParts, FeedForwards) {
  const FeedForwardSpec specs[] = {{.n_ff = 64, .gated = false},
                                   {.n_ff = 64, .gated = false, .bias = true},
                                   {.n_ff = 64, .bias = true},
                                   {.n_ff = 64, .fused_gate_up = true}};
  std::set<OpKind> judged;
  for (const FeedForwardSpec& spec : specs) {
    SCOPED_TRACE(&spec - specs);
    judged.merge(expect_right(in_layers([&](LayerSpec& layer) { layer.feed_forward = spec; })));
  }
  EXPECT_TRUE(judged.contains(OpKind::kActivation) && judged.contains(OpKind::kGlu));
}

TEST(ModelParts, AFeedForwardBesideAttention) {
  for (const NormKind norm : {NormKind::kScale, NormKind::kNone}) {
    SCOPED_TRACE(name_of(norm));
    expect_right(in_layers([&](LayerSpec& layer) {
      layer.is_parallel = true;
      layer.norms.before_ffn = norm;
    }));
  }
}

TEST(ModelParts, NormsBeforeAndBehindEachPart) {
  for (const NormKind norm : {NormKind::kPlain, NormKind::kScaleAndShift}) {
    SCOPED_TRACE(name_of(norm));
    const std::set<OpKind> judged = expect_right(in_layers(
        [&](LayerSpec& layer) { layer.norms = {.before_mixer = norm, .before_ffn = norm}; }));
    EXPECT_TRUE(judged.contains(OpKind::kLayerNorm));
  }
  expect_right(in_layers([](LayerSpec& layer) {
    layer.norms.after_mixer = layer.norms.after_ffn = NormKind::kScale;  // Gemma 2
  }));
  expect_right(in_layers([](LayerSpec& layer) {  // OLMo 2
    layer.norms = {.before_mixer = NormKind::kNone,
                   .after_mixer = NormKind::kScale,
                   .before_ffn = NormKind::kNone,
                   .after_ffn = NormKind::kScale};
  }));
}

// LFM2: some layers convolve over three tokens where others attend.
TEST(ModelParts, ShortConvolutions) {
  for (const bool bias : {false, true}) {
    SCOPED_TRACE(bias);
    const std::set<OpKind> judged = expect_right([&](TransformerSpec& model) {
      model.layers[1].mixer = ShortConvSpec{.d_conv = 3, .bias = bias};
    });
    EXPECT_TRUE(judged.contains(OpKind::kRope) && judged.contains(OpKind::kMul));
  }
}

TEST(ModelParts, WhatStandsOutsideTheLayers) {
  const Change changes[] = {
      [](TransformerSpec& model) { model.n_position = 32; },
      [](TransformerSpec& model) { model.n_token_type = 2; },
      [](TransformerSpec& model) { model.embedding_norm = NormKind::kScaleAndShift; },
      [](TransformerSpec& model) { model.final_norm = NormKind::kScaleAndShift; },
      [](TransformerSpec& model) { model.final_norm = NormKind::kPlain; },
      [](TransformerSpec& model) {
        model.tied_embeddings = false;
        model.head_bias = true;
      }};
  for (const Change& change : changes) {
    SCOPED_TRACE(&change - changes);
    expect_right(change);
  }
}

// What is loaded and not run is said: a tower's weights, and tensors of which sizes alone are
// known.
TEST(ModelParts, TowersAndTensorsWithoutAFunction) {
  const Scenario scenario = changed([](TransformerSpec& model) {
    StackSpec tower{.role = StackRole::kVision, .n_embd = 16, .n_tokens = Tokens(4)};
    tower.layers.assign(
        1, LayerSpec{.mixer = AttentionSpec{.n_head = 2, .n_head_kv = 2, .head_dim = 8},
                     .feed_forward = {.n_ff = 32}});
    model.stacks = {tower};
    model.layers[0].extras = {{.name = "scale", .columns = 8}};
    model.extras = {{.name = "rope_freqs", .columns = 8}};
  });
  const ReplayReport report = replay_all({scenario}).front();
  EXPECT_TRUE(passed(report)) << to_text(std::span(&report, 1));
  ASSERT_EQ(report.not_computed.size(), 2U);
  EXPECT_THAT(report.not_computed[0], ::testing::StartsWith("the vision stack ("));
  EXPECT_EQ(report.not_computed[1],
            "2 tensors whose function is not known (blk.0.scale): values pass them unchanged.");
  testing::expect_alive(scenario);
}

}  // namespace
}  // namespace tidemark

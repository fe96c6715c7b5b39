#include "planner/model/transform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "planner/model/state.h"
#include "planner/model/weights.h"
#include "support/sample_models.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using testing::kLlama31_8b;
using testing::kMiniCpm2b;
using testing::transformer;

ModelSpec made(const ModelSpec& model, std::string_view text) {
  const Result<std::vector<Transform>> transforms = parse_transforms(text);
  EXPECT_TRUE(transforms.ok()) << to_string(transforms.diagnostics());
  Result<ModelSpec> result = transformed(model, *transforms);
  EXPECT_TRUE(result.ok()) << to_string(result.diagnostics());
  return std::move(result).value();
}

std::string refusal(const ModelSpec& model, std::string_view text) {
  const Result<std::vector<Transform>> transforms = parse_transforms(text);
  if (!transforms) return to_string(transforms.diagnostics());
  return to_string(transformed(model, *transforms).diagnostics());
}

const TransformerSpec& dims(const ModelSpec& model) { return *model.transformer(); }

// Layers that can be told apart: n_ff is the index + 1.
ModelSpec numbered(int64_t n_layer) {
  ModelSpec model = transformer({.n_layer = n_layer});
  int64_t index = 0;
  for (LayerSpec& layer : std::get<TransformerSpec>(model.dims).layers) {
    layer.feed_forward.n_ff = ++index;
  }
  return model;
}

std::vector<int64_t> layers_of(const ModelSpec& model) {
  std::vector<int64_t> layers;
  for (const LayerSpec& layer : dims(model).layers) layers.push_back(layer.feed_forward.n_ff - 1);
  return layers;
}

// A layer of MiniCPM-2B has 61,051,392 parameters (weights_test.cpp).
TEST(TransformTest, DroppingLayersOfMiniCpm) {
  const ModelSpec model = transformer(kMiniCpm2b);
  const ModelSpec dropped = made(model, "drop-layers=8");
  EXPECT_EQ(dropped.n_layer(), 32);
  EXPECT_EQ(parameter_count(dropped), 2'724'880'896 - 8 * int64_t{61'051'392});
  EXPECT_EQ(made(model, "keep-layers=32"), dropped);
}

// DistilBERT (arXiv 1910.01108, and its published extraction script) keeps 0, 2, 4, 7, 9 and 11.
TEST(TransformTest, LayersThatStayAreSpreadEvenly) {
  EXPECT_THAT(layers_of(made(numbered(12), "keep-layers=6")), ElementsAre(0, 2, 4, 7, 9, 11));
  EXPECT_THAT(layers_of(made(numbered(12), "keep-layers=2")), ElementsAre(0, 11));
  EXPECT_THAT(layers_of(made(numbered(12), "keep-layers=1")), ElementsAre(0));
  EXPECT_THAT(layers_of(made(numbered(4), "drop-layers=1")), ElementsAre(0, 2, 3));
  EXPECT_THAT(layers_of(made(numbered(3), "drop-layers=0")), ElementsAre(0, 1, 2));
}

TEST(TransformTest, LayersMayBeListed) {
  EXPECT_THAT(layers_of(made(numbered(8), "drop-layers=2-4")), ElementsAre(0, 1, 5, 6, 7));
  EXPECT_THAT(layers_of(made(numbered(8), "keep-layers=0-1+7-7+1-2")), ElementsAre(0, 1, 2, 7));
}

// 32 heads in 8 groups of 4. Of a layer: Q and its output 2 x 4096 x H x 128, K and V 2 x 4096 x K
// x 128; 32 layers.
TEST(TransformTest, WholeGroupsOfHeadsAreTakenOutOfLlama) {
  const ModelSpec model = transformer(kLlama31_8b);
  const ModelSpec half = made(model, "keep-heads=0.5");
  for (const LayerSpec& layer : dims(half).layers) {
    EXPECT_EQ(*layer.attention(), (AttentionSpec{.n_head = 16, .n_head_kv = 4, .head_dim = 128}));
  }
  EXPECT_EQ(parameter_count(model) - parameter_count(half),
            32 * (2 * 4096 * 16 * 128 + 2 * 4096 * 4 * 128));
  EXPECT_EQ(kv_bytes_per_token(half, DType::kF16, DType::kF16),
            Bytes::of(32 * 4 * 128 * 2 * 2));  // half of 128 KiB
  // 0.7 x 8 = 5.6 -> 6 groups.
  EXPECT_EQ(dims(made(model, "keep-heads=0.7")).layers[0].attention()->n_head, 24);
  EXPECT_EQ(dims(made(model, "keep-heads=0.01")).layers[0].attention()->n_head, 4);
}

TEST(TransformTest, HeadsWithoutGroups) {
  // Every head of MiniCPM-2B has its own K and V; 36 x 0.75 = 27.
  EXPECT_EQ(*dims(made(transformer(kMiniCpm2b), "keep-heads=0.75")).layers[0].attention(),
            (AttentionSpec{.n_head = 27, .n_head_kv = 27, .head_dim = 64}));
  // All share one: query heads go.
  EXPECT_EQ(*dims(made(transformer({.n_head = 8, .n_head_kv = 1}), "keep-heads=0.5"))
                 .layers[0]
                 .attention(),
            (AttentionSpec{.n_head = 4, .n_head_kv = 1, .head_dim = 2}));
}

// 14336 x 0.75 = 10752 = 336 x 32; three matrices of 4096 rows or columns a layer.
TEST(TransformTest, ChannelsOfLlama) {
  const ModelSpec model = transformer(kLlama31_8b);
  const ModelSpec pruned = made(model, "keep-ffn=0.75");
  EXPECT_EQ(dims(pruned).layers[31].feed_forward.n_ff, 10752);
  EXPECT_EQ(parameter_count(model) - parameter_count(pruned), int64_t{32} * 3 * 4096 * 3584);
  // 448 x 32 x 0.333 = 149.2 x 32 -> 149; 7 x 0.5 = 3.5 -> 4.
  EXPECT_EQ(dims(made(model, "keep-ffn=0.333")).layers[0].feed_forward.n_ff, 149 * 32);
  EXPECT_EQ(dims(made(transformer({.n_ff = 7}), "keep-ffn=0.5")).layers[0].feed_forward.n_ff, 4);
}

TEST(TransformTest, ChannelsOfExpertsAndOfRwkv) {
  ModelSpec model = transformer({.n_layer = 2});
  auto& layers = std::get<TransformerSpec>(model.dims).layers;
  layers[0].feed_forward = {};
  layers[0].moe = {.n_expert = 8, .n_expert_used = 2, .n_ff_exp = 64, .n_ff_shared = 128};
  layers[1] = {.mixer = RwkvSpec{.version = 6, .head_size = 2, .n_ff = 96}};
  const ModelSpec half = made(model, "keep-ffn=0.5");
  EXPECT_EQ(dims(half).layers[0].moe,
            (MoeSpec{.n_expert = 8, .n_expert_used = 2, .n_ff_exp = 32, .n_ff_shared = 64}));
  // 96 / 32 = 3 blocks, 1.5 -> 2.
  EXPECT_EQ(std::get<RwkvSpec>(dims(half).layers[1].mixer).n_ff, 64);
}

TEST(TransformTest, HeadsOfMlaAndOfCrossAttention) {
  ModelSpec model = transformer({});
  LayerSpec& layer = std::get<TransformerSpec>(model.dims).layers[0];
  layer.mixer = MlaSpec{.n_head = 16, .kv_lora = 8};
  layer.cross.attention = {.n_head = 8, .n_head_kv = 8, .head_dim = 2};
  const ModelSpec half = made(model, "keep-heads=0.5");
  EXPECT_EQ(std::get<MlaSpec>(dims(half).layers[0].mixer).n_head, 8);
  EXPECT_EQ(dims(half).layers[0].cross.attention.n_head_kv, 4);
}

// Llama-3.1-8B: two matrices of 128,256 x 4,096.
TEST(TransformTest, VocabularyAndTies) {
  const ModelSpec model = transformer(kLlama31_8b);
  EXPECT_EQ(parameter_count(made(model, "vocab=32000")),
            8'030'261'248 - int64_t{2} * (128'256 - 32'000) * 4096);
  EXPECT_EQ(parameter_count(made(model, "tie")), 8'030'261'248 - int64_t{128'256} * 4096);
  EXPECT_EQ(parameter_count(made(model, "vocab=32000,tie")),
            8'030'261'248 - int64_t{2} * 128'256 * 4096 + int64_t{32'000} * 4096);
  ModelSpec beside = transformer({});
  std::get<TransformerSpec>(beside.dims).extras = {{.name = "per_word", .columns = 3, .rows = 10},
                                                   {.name = "other", .columns = 3, .rows = 9}};
  EXPECT_EQ(dims(made(beside, "vocab=4")).extras[0].rows, 4);
  EXPECT_EQ(dims(made(beside, "vocab=4")).extras[1].rows, 9);
}

TEST(TransformTest, SeveralAreDoneInOrder) {
  const ModelSpec model = made(transformer(kLlama31_8b), "drop-layers=16,keep-ffn=0.5,tie");
  EXPECT_EQ(model.n_layer(), 16);
  EXPECT_EQ(dims(model).layers[0].feed_forward.n_ff, 7168);
  EXPECT_TRUE(dims(model).tied_embeddings);
  EXPECT_EQ(made(transformer(kLlama31_8b), ""), transformer(kLlama31_8b));
}

TEST(TransformTest, WhatAFileStoresIsForgotten) {
  ModelSpec model = transformer({.n_layer = 2});
  model.stored = {{.name = "blk.1.attn_q.weight"}};
  EXPECT_TRUE(made(model, "drop-layers=1").stored.empty());
}

TEST(TransformTest, ASharedCacheFollowsItsLayer) {
  ModelSpec model = numbered(4);
  auto& layers = std::get<TransformerSpec>(model.dims).layers;
  std::get<AttentionSpec>(layers[3].mixer).shares_kv_with = 1;
  const ModelSpec kept = made(model, "drop-layers=0-0");
  EXPECT_EQ(dims(kept).layers[2].attention()->shares_kv_with, 0);
  EXPECT_EQ(refusal(model, "drop-layers=1-1"),
            "error: layer 3 reads the KV cache of layer 1, which would go\n"
            "  hint: keep layer 1, or drop layer 3 as well\n");
  EXPECT_EQ(made(model, "drop-layers=1-1+3-3").n_layer(), 2);
}

TEST(TransformTest, IllegalRequestsAreExplained) {
  const ModelSpec model = numbered(4);  // tied, vocabulary 10
  const std::pair<const char*, const char*> cases[] = {
      {"drop-layers=4", "error: no layer would be left\n  hint: keep at least one\n"},
      {"keep-layers=0", "error: no layer would be left\n  hint: keep at least one\n"},
      {"drop-layers=0-3", "error: no layer would be left\n  hint: keep at least one\n"},
      {"keep-layers=5", "error: there are no 5 layers\n  hint: the model has 4\n"},
      {"drop-layers=9", "error: there are no 9 layers\n  hint: the model has 4\n"},
      {"drop-layers=2-9223372036854775807",
       "error: there are no layers 2 to 9223372036854775807\n"
       "  hint: the model has 4 layers, counted from 0\n"},
      {"vocab=0", "error: a vocabulary of 0 words cannot be made\n  hint: the model has 10\n"},
      {"vocab=11", "error: a vocabulary of 11 words cannot be made\n  hint: the model has 10\n"},
      {"tie", "error: sample ties its embeddings already\n  hint: leave tie out\n"}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(refusal(model, text), expected) << text;
}

TEST(TransformTest, AModelWithoutThePartIsRefused) {
  ModelSpec bare = transformer({});
  auto& spec = std::get<TransformerSpec>(bare.dims);
  spec.has_head = false;
  spec.layers[0] = {.mixer = MambaSpec{}};
  EXPECT_EQ(refusal(bare, "keep-heads=0.5"),
            "error: sample has no attention heads\n  hint: leave keep-heads out\n");
  EXPECT_EQ(refusal(bare, "keep-ffn=0.5"),
            "error: sample has no feed-forward\n  hint: leave keep-ffn out\n");
  EXPECT_EQ(refusal(bare, "tie"), "error: sample has no head\n  hint: leave tie out\n");
  EXPECT_EQ(refusal(testing::demo_layers(), "drop-layers=1"),
            "error: demo-layers states sizes, which have no parts\n"
            "  hint: leave transforms out for a model that is a list of layers\n");
  EXPECT_EQ(
      to_string(
          transformed(bare, Transform{.kind = TransformKind::kKeepHeads, .part = 0}).diagnostics()),
      "error: a part is more than 0 and at most 1\n"
      "  hint: keep-heads=0.5 keeps half of them\n");
}

TEST(TransformTest, NoWidthIsTooLarge) {
  const int64_t huge = std::numeric_limits<int64_t>::max() / 32 * 32;
  EXPECT_EQ(dims(made(transformer({.n_ff = huge}), "keep-ffn=1")).layers[0].feed_forward.n_ff,
            huge);
}

RC_GTEST_PROP(TransformLaws, WhatStaysIsLegalAndNoLarger, ()) {
  const int64_t kv = *rc::gen::inRange<int64_t>(1, 9);
  const ModelSpec model = transformer({.n_layer = *rc::gen::inRange<int64_t>(1, 30),
                                       .n_head = kv * *rc::gen::inRange<int64_t>(1, 9),
                                       .n_head_kv = kv,
                                       .n_ff = *rc::gen::inRange<int64_t>(1, 400)});
  const auto part = *rc::gen::inRange<int64_t>(1, kWholePart + 1);
  const int64_t layers = *rc::gen::inRange<int64_t>(1, model.n_layer() + 1);
  const Result<ModelSpec> result =
      transformed(model, {{.kind = TransformKind::kKeepLayers, .count = layers},
                          {.kind = TransformKind::kKeepHeads, .part = part},
                          {.kind = TransformKind::kKeepFeedForward, .part = part}});
  RC_ASSERT(result.ok());
  RC_ASSERT(result->n_layer() == layers);
  for (const LayerSpec& layer : dims(*result).layers) {
    const AttentionSpec& before = *dims(model).layers[0].attention();
    const AttentionSpec& after = *layer.attention();
    RC_ASSERT(after.n_head_kv >= 1 && after.n_head % after.n_head_kv == 0);
    RC_ASSERT(after.n_head <= before.n_head && after.n_head_kv <= before.n_head_kv);
    RC_ASSERT(layer.feed_forward.n_ff >= 1);
    RC_ASSERT(layer.feed_forward.n_ff <= dims(model).layers[0].feed_forward.n_ff);
  }
  RC_ASSERT(parameter_count(*result) <= parameter_count(model));
}

RC_GTEST_PROP(TransformLaws, ASpreadIsStrictlyAscendingFromFirstToLast, ()) {
  const auto total = *rc::gen::inRange<int64_t>(1, 200);
  const auto count = *rc::gen::inRange<int64_t>(1, total + 1);
  const std::vector<int64_t> kept = evenly_spread(count, total);
  RC_ASSERT(std::ssize(kept) == count);
  RC_ASSERT(kept.front() == 0 && (count == 1 || kept.back() == total - 1));
  for (size_t i = 1; i < kept.size(); ++i) RC_ASSERT(kept[i] > kept[i - 1]);
}

}  // namespace
}  // namespace tidemark

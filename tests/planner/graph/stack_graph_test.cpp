// Towers and encoders: what runs before the prompt.
#include "planner/graph/stack_graph.h"

#include <gtest/gtest.h>

#include "layer_kinds.h"
#include "planner/base/check.h"

namespace tidemark {
namespace {

using namespace literals;
using testing::op_named;
using testing::tensor_named;

LayerSpec vit_layer(int64_t n_head, int64_t head_dim, int64_t n_ff) {
  return {
      .mixer = AttentionSpec{.n_head = n_head, .n_head_kv = n_head, .head_dim = head_dim},
      .feed_forward = {.n_ff = n_ff, .gated = false},
      .norms = {.before_mixer = NormKind::kScaleAndShift, .before_ffn = NormKind::kScaleAndShift}};
}

// A decoder 8 wide with that stack before it.
ModelSpec model_with(StackSpec stack) {
  ModelSpec model = testing::model_of(testing::attention_with(testing::kHeads));
  testing::dims_of(model).stacks = {std::move(stack)};
  return model;
}

// 4 wide, 2 heads of 2, an image of 4 x 4 pixels in 4 patches of 2 x 2.
StackSpec tiny_tower() {
  return {.role = StackRole::kVision,
          .n_embd = 4,
          .layers = {vit_layer(2, 2, 6)},
          .final_norm = NormKind::kScaleAndShift,
          .extras = {{.name = "class_embd", .columns = 4},
                     {.name = "patch_embd.weight", .columns = 2, .rows = 2, .count = 3 * 4},
                     {.name = "position_embd.weight", .columns = 4, .rows = 5},
                     {.name = "pre_ln.weight", .columns = 4},
                     {.name = "pre_ln.bias", .columns = 4},
                     {.name = "mm.0.weight", .columns = 4, .rows = 8},
                     {.name = "mm.0.bias", .columns = 8},
                     {.name = "mm.2.weight", .columns = 8, .rows = 8}},
          .image = {.image_size = 4, .patch_size = 2}};
}

// "op [shape]" a line.
std::string shapes(const Graph& graph) {
  std::string text = "\n";
  for (const Op& op : graph.ops()) {
    text += fmt::format("{} = {}", op.name, name_of(op.kind));
    for (const TensorId id : op.outputs) {
      const Tensor& tensor = graph.tensor(id);
      text += fmt::format(" [{},{}]", tensor.shape[0], tensor.shape[1]);
    }
    text += "\n";
  }
  return text;
}

Graph stack_graph(const ModelSpec& model, const GraphOptions& options = {}) {
  return build_stack_graph(model, 0, weights_inventory(model, DType::kF16), options);
}

TEST(StackGraphTest, TowerByHand) {
  const ModelSpec model = model_with(tiny_tower());
  EXPECT_EQ(stack_input(model, 0), (StackInput{.pixels = 4, .n_row = 4, .n_out = 4}));
  const Graph graph = stack_graph(model);
  EXPECT_EQ(tensor_named(graph, "v.image").shape, (std::array<int64_t, 4>{4, 4, 3, 1}));
  // A patch is 2 x 2 pixels of 3 planes; the class token is a fifth row, dropped at the end.
  EXPECT_EQ(shapes(graph), R"(
v.patch_embd_unfold = unfold [12,4]
v.patch_embd = matmul [4,4]
v.class_embd = prepend [4,5]
v.position_add = add_bias [4,5]
v.pre_ln = layer_norm [4,5]
v.blk.0.attn_norm = layer_norm [4,5]
v.blk.0.q = matmul [4,5]
v.blk.0.k = matmul [4,5]
v.blk.0.v = matmul [4,5]
v.blk.0.attention = flash_attention [4,5]
v.blk.0.attn_out = matmul [4,5]
v.blk.0.attn_add = add [4,5]
v.blk.0.ffn_norm = layer_norm [4,5]
v.blk.0.up = matmul [6,5]
v.blk.0.act = activation [6,5]
v.blk.0.down = matmul [4,5]
v.blk.0.ffn_add = add [4,5]
v.post_norm = layer_norm [4,5]
v.patches = select_rows [4,4]
v.mm.0 = matmul [8,4]
v.mm.0_bias = add_bias [8,4]
v.mm.0_act = activation [8,4]
v.mm.2 = matmul [8,4]
)");
  // 2 operations for each of the 48 elements of the kernel and each of 4 patches.
  EXPECT_EQ(op_named(graph, "v.patch_embd").operations, 2 * 48 * 4);
  EXPECT_EQ(op_named(graph, "v.patch_embd").weights_read, 96_B);
}

TEST(StackGraphTest, ScoresOfAllRowsWithoutFlashAttention) {
  const Graph graph = stack_graph(model_with(tiny_tower()), {.flash_attention = false});
  EXPECT_EQ(tensor_named(graph, "v.blk.0.scores").shape, (std::array<int64_t, 4>{5, 5, 2, 1}));
  for (const Tensor& tensor : graph.tensors()) {
    EXPECT_NE(tensor.kind, TensorKind::kState) << tensor.name;  // no cache
  }
}

// Qwen2-VL's: a norm over each patch, four patches side by side, two matrices.
TEST(StackGraphTest, MergerByHand) {
  StackSpec tower = tiny_tower();
  tower.image.merge = 2;
  tower.extras = {{.name = "patch_embd.weight", .columns = 2, .rows = 2, .count = 6 * 4},
                  {.name = "mm.norm.weight", .columns = 4},
                  {.name = "mm.0.weight", .columns = 16, .rows = 16},
                  {.name = "mm.2.weight", .columns = 16, .rows = 8}};
  const Graph graph = stack_graph(model_with(tower));
  EXPECT_EQ(tensor_named(graph, "v.image").shape[2], 6);  // two frames of 3 planes
  EXPECT_EQ(tensor_named(graph, "v.mm.norm").shape, (std::array<int64_t, 4>{4, 4, 1, 1}));
  EXPECT_EQ(tensor_named(graph, "v.mm.0_merge").shape, (std::array<int64_t, 4>{16, 1, 1, 1}));
  EXPECT_EQ(tensor_named(graph, "v.mm.2").shape, (std::array<int64_t, 4>{8, 1, 1, 1}));
  EXPECT_EQ(op_named(graph, "v.blk.0.q_rope").kind, OpKind::kRope);  // it has no position table
}

// Gemma 3's: patches are averaged, since its matrix is as wide as the tower.
TEST(StackGraphTest, RowsArePooledWhereTheMatrixDoesNotMergeThem) {
  StackSpec tower = tiny_tower();
  tower.image.merge = 2;
  tower.extras = {{.name = "patch_embd.weight", .columns = 2, .rows = 2, .count = 3 * 4},
                  {.name = "mm.soft_emb_norm.weight", .columns = 4},
                  {.name = "mm.input_projection.weight", .columns = 4, .rows = 8}};
  const Graph graph = stack_graph(model_with(tower));
  EXPECT_EQ(tensor_named(graph, "v.pool").shape, (std::array<int64_t, 4>{4, 1, 1, 1}));
  EXPECT_EQ(tensor_named(graph, "v.mm.input_projection").shape,
            (std::array<int64_t, 4>{8, 1, 1, 1}));
}

// MiniCPM-V's: 2 queries meet 4 patches. Heads are 128 wide, or one as wide as the decoder.
TEST(StackGraphTest, ResamplerByHand) {
  StackSpec tower = tiny_tower();
  const auto norm = [](const char* name) { return ExtraWeight{.name = name, .columns = 8}; };
  tower.extras = {{.name = "patch_embd.weight", .columns = 2, .rows = 2, .count = 3 * 4},
                  {.name = "resampler.query", .columns = 8, .rows = 2},
                  {.name = "resampler.kv.weight", .columns = 4, .rows = 8},
                  {.name = "resampler.attn_qkv.weight", .columns = 8, .rows = 24},
                  {.name = "resampler.attn_output.weight", .columns = 8, .rows = 8},
                  norm("resampler.ln_q.weight"),
                  norm("resampler.ln_kv.weight"),
                  norm("resampler.ln_post.weight"),
                  {.name = "resampler.proj.weight", .columns = 8, .rows = 8}};
  const Graph graph = stack_graph(model_with(tower), {.flash_attention = false});
  EXPECT_EQ(tensor_named(graph, "v.resampler.kv_heads").shape,
            (std::array<int64_t, 4>{16, 4, 1, 1}));
  EXPECT_EQ(tensor_named(graph, "v.resampler.scores").shape, (std::array<int64_t, 4>{4, 2, 1, 1}));
  EXPECT_EQ(tensor_named(graph, "v.resampler.proj").shape, (std::array<int64_t, 4>{8, 2, 1, 1}));
  // K and V are two thirds of 8 x 24 elements for 4 rows, Q is one third for 2.
  EXPECT_EQ(op_named(graph, "v.resampler.kv_heads").operations, 2 * 128 * 4);
  EXPECT_EQ(op_named(graph, "v.resampler.q_heads").operations, 2 * 64 * 2);
}

// A matrix that nothing in the tower fits is read, and its rows are made.
TEST(StackGraphTest, AnUnknownProjectorMakesItsRows) {
  StackSpec tower = tiny_tower();
  tower.extras = {{.name = "patch_embd.weight", .columns = 2, .rows = 2, .count = 3 * 4},
                  {.name = "mm.0.weight", .columns = 7, .rows = 8}};
  const Graph graph = stack_graph(model_with(tower));
  EXPECT_EQ(op_named(graph, "v.projector").kind, OpKind::kExtra);
  EXPECT_EQ(op_named(graph, "v.projector").weights_read, Bytes::of(7 * 8 * 2));
  EXPECT_EQ(tensor_named(graph, "v.projector").shape, (std::array<int64_t, 4>{8, 4, 1, 1}));
}

// DeepStack: two layers, one merger behind the first; its part stands beside the tower's own.
TEST(StackGraphTest, PartsOfDeepStackStandSideBySide) {
  StackSpec tower = tiny_tower();
  tower.layers.push_back(tower.layers[0]);
  tower.image.merge = 2;
  tower.extras = {{.name = "patch_embd.weight", .columns = 2, .rows = 2, .count = 3 * 4},
                  {.name = "mm.0.weight", .columns = 16, .rows = 8},
                  {.name = "deepstack.0.norm.weight", .columns = 16},
                  {.name = "deepstack.0.0.weight", .columns = 16, .rows = 8}};
  const ModelSpec model = model_with(tower);
  EXPECT_EQ(stack_input(model, 0)->n_deep, 1);
  const Graph graph = stack_graph(model);
  EXPECT_EQ(tensor_named(graph, "v.rows").shape, (std::array<int64_t, 4>{16, 1, 1, 1}));
  const Op& merger = op_named(graph, "v.deepstack.0.norm");
  EXPECT_LT(merger.id, op_named(graph, "v.blk.1.attn_norm").id);
}

// Whisper's: 3 frames of 2 x 3 spectra with 5 bands, and the cache of a decoder 8 wide.
TEST(StackGraphTest, EncoderOfSoundByHand) {
  ModelSpec model =
      model_with({.role = StackRole::kEncoder,
                  .n_embd = 4,
                  .layers = {vit_layer(2, 2, 6)},
                  .final_norm = NormKind::kScaleAndShift,
                  .extras = {{.name = "conv1.weight", .columns = 3, .rows = 5, .count = 4},
                             {.name = "conv1.bias", .columns = 4},
                             {.name = "conv2.weight", .columns = 3, .rows = 4, .count = 4},
                             {.name = "position_embd.weight", .columns = 4, .rows = 3}},
                  .n_tokens = Tokens(3)});
  testing::dims_of(model).layers[0].cross = {.attention = testing::kHeads, .source_width = 4};
  const Graph graph = stack_graph(model, {.n_seq = 2, .type_k = DType::kF16});
  EXPECT_EQ(tensor_named(graph, "enc.mel").shape, (std::array<int64_t, 4>{6, 5, 1, 1}));
  EXPECT_EQ(tensor_named(graph, "enc.conv1_unfold").shape, (std::array<int64_t, 4>{15, 6, 1, 1}));
  EXPECT_EQ(tensor_named(graph, "enc.conv1").shape, (std::array<int64_t, 4>{4, 6, 1, 1}));
  EXPECT_EQ(tensor_named(graph, "enc.conv2_unfold").shape, (std::array<int64_t, 4>{12, 3, 1, 1}));
  EXPECT_EQ(tensor_named(graph, "enc.conv2").shape, (std::array<int64_t, 4>{4, 3, 1, 1}));
  // 2 stored heads of 2 for 3 frames of each of 2 sequences; one of them is made here.
  EXPECT_EQ(tensor_named(graph, "cross_key").shape, (std::array<int64_t, 4>{4, 3, 1, 1}));
  EXPECT_EQ(tensor_named(graph, "cross_k").shape, (std::array<int64_t, 4>{4, 3, 2, 1}));
  EXPECT_EQ(tensor_named(graph, "cross_k").kind, TensorKind::kState);
  EXPECT_EQ(op_named(graph, "cross_store").kind, OpKind::kStoreKv);
}

// T5's: the decoder's embedding, positions by distance.
TEST(StackGraphTest, EncoderOfTextReadsTheEmbeddingOfTheDecoder) {
  LayerSpec layer = testing::attention_with(testing::kHeads);
  std::get<AttentionSpec>(layer.mixer).n_bucket = 4;
  ModelSpec model = model_with({.role = StackRole::kEncoder,
                                .n_embd = 8,
                                .layers = {layer},
                                .final_norm = NormKind::kScale});
  testing::dims_of(model).n_ctx_train = Tokens(3);
  const Graph graph = stack_graph(model);
  EXPECT_EQ(op_named(graph, "enc.embed").weights_read, Bytes::of(3 * 8 * 2));
  EXPECT_EQ(tensor_named(graph, "enc.blk.0.position_bias").shape,
            (std::array<int64_t, 4>{3, 3, 4, 1}));
  EXPECT_EQ(tensor_named(graph, "enc.post_norm").shape, (std::array<int64_t, 4>{8, 3, 1, 1}));
}

TEST(StackGraphTest, WhatHasNoGraphSaysSo) {
  const auto input_of = [](auto change) {
    StackSpec tower = tiny_tower();
    change(tower);
    return stack_input(model_with(tower), 0);
  };
  EXPECT_TRUE(input_of([](StackSpec&) {}).has_value());
  EXPECT_FALSE(input_of([](StackSpec& s) { s.is_counted = false; }).has_value());
  EXPECT_FALSE(input_of([](StackSpec& s) { s.role = StackRole::kDraft; }).has_value());
  EXPECT_FALSE(input_of([](StackSpec& s) { s.layers.clear(); }).has_value());
  EXPECT_FALSE(input_of([](StackSpec& s) { s.image.patch_size = 0; }).has_value());
  EXPECT_FALSE(input_of([](StackSpec& s) { s.image.patch_size = 5; }).has_value());  // of 4 pixels
  EXPECT_FALSE(input_of([](StackSpec& s) { s.extras.clear(); }).has_value());
  EXPECT_FALSE(input_of([](StackSpec& s) { s.image.merge = 3; }).has_value());  // no token is left
  EXPECT_FALSE(input_of([](StackSpec& s) { s.role = StackRole::kAudio; }).has_value());
  EXPECT_FALSE(input_of([](StackSpec& s) { s.role = StackRole::kEncoder; }).has_value());
  const ModelSpec plain = testing::model_of(testing::attention_with(testing::kHeads));
  EXPECT_THROW(stack_input(plain, 0), InternalError);
}

// Where a tower takes any size, an image of 896 pixels a side: 64 x 64 patches of 14.
TEST(StackGraphTest, AnImageOfAnySizeIsOfTheStatedOne) {
  StackSpec tower = tiny_tower();
  tower.image = {.patch_size = 14, .merge = 2};
  tower.extras = {{.name = "patch_embd.weight", .columns = 14, .rows = 14, .count = 3 * 4}};
  EXPECT_EQ(stack_input(model_with(tower), 0),
            (StackInput{.pixels = 896, .n_row = 4096, .n_out = 1024}));
}

// Published: SigLIP so400m/14 at 384 pixels has 27 x 27 = 729 patches, CLIP ViT-L/14 at 336 has
// 24 x 24 and a class token, 577 rows. Scores of CLIP: 577 x 577 x 16 heads of f32.
TEST(StackGraphTest, PublishedTowers) {
  StackSpec siglip{.role = StackRole::kVision,
                   .n_embd = 1152,
                   .layers = {vit_layer(16, 72, 4304)},
                   .extras = {{.name = "patch_embd.weight",
                               .columns = 14,
                               .rows = 14,
                               .count = int64_t{3} * 1152}},
                   .image = {.image_size = 384, .patch_size = 14}};
  EXPECT_EQ(stack_input(model_with(siglip), 0)->n_row, 729);
  StackSpec clip{.role = StackRole::kVision,
                 .n_embd = 1024,
                 .layers = {vit_layer(16, 64, 4096)},
                 .extras = {{.name = "class_embd", .columns = 1024},
                            {.name = "patch_embd.weight",
                             .columns = 14,
                             .rows = 14,
                             .count = int64_t{3} * 1024}},
                 .image = {.image_size = 336, .patch_size = 14}};
  const Graph graph = stack_graph(model_with(clip), {.flash_attention = false});
  EXPECT_EQ(tensor_named(graph, "v.blk.0.scores").bytes, Bytes::of(577 * 577 * 16 * 4));
  EXPECT_EQ(tensor_named(graph, "v.patch_embd_unfold").bytes, Bytes::of(588 * 576 * 4));
}

// Every layer kind may stand in a stack: nothing but the last activation is left unread, every
// weight of the layers is read, and no more ops are made than was said.
TEST(StackGraphLaws, WhatHoldsForEveryLayerKind) {
  for (const testing::LayerKind& kind : testing::all_kinds()) {
    StackSpec tower = tiny_tower();
    tower.n_embd = 8;
    tower.layers = {kind.layer};
    tower.extras = {{.name = "patch_embd.weight", .columns = 2, .rows = 2, .count = 3 * 8}};
    const ModelSpec model = model_with(tower);
    const WeightsInventory weights = weights_inventory(model, DType::kF16);
    for (const bool flash : {true, false}) {
      const Graph graph = build_stack_graph(model, 0, weights, {.flash_attention = flash});
      EXPECT_LE(std::ssize(graph.ops()), most_stack_ops(model, 0)) << kind.name;
      std::vector<bool> is_read(weights.tensors.size(), false);
      for (const Op& op : graph.ops()) {
        for (const WeightId id : op.weights) is_read[id.index()] = true;
      }
      for (size_t i = 0; i < is_read.size(); ++i) {
        const WeightTensor& tensor = weights.tensors[i];
        const bool is_cross = tensor.name.find("cross") != std::string::npos;
        if (!is_cross) {
          EXPECT_EQ(is_read[i], tensor.stack == 0) << kind.name << tensor.name;
        }
      }
      int64_t unread = 0;
      for (const Tensor& tensor : graph.tensors()) {
        const bool is_stored = tensor.kind == TensorKind::kState;
        if (!is_stored && graph.consumers(tensor.id).empty()) ++unread;
      }
      EXPECT_EQ(unread, 1) << kind.name;
    }
  }
}

}  // namespace

// --- Scratch of attention over quantized caches.

namespace {

// Tiles of 32 rows of one head as f32: 32 x 128 x 4 = 16,384.
TEST(AttentionScratchTest, OfEachCacheType) {
  EXPECT_EQ(expanded_rows_scratch(DType::kQ8_0, 128), 16384_B);
  EXPECT_EQ(expanded_rows_scratch(DType::kQ4_0, 64), 8192_B);
  EXPECT_EQ(expanded_rows_scratch(DType::kInt4, 64), 8192_B);
  EXPECT_EQ(expanded_rows_scratch(DType::kInt8, 128), 0_B);
  EXPECT_EQ(expanded_rows_scratch(DType::kF16, 128), 0_B);
  EXPECT_EQ(expanded_rows_scratch(DType::kF32, 128), 0_B);
}

// One head of 32 reads tiles of K and of V: 4 x (32 + 2 + 32) + 2 x 32 x 32 x 4 = 264 + 8,192.
TEST(AttentionScratchTest, ByHand) {
  const ModelSpec model =
      testing::model_of(testing::attention_with({.n_head = 2, .n_head_kv = 1, .head_dim = 32}));
  const auto scratch = [&](std::string_view op, GraphOptions options) {
    options.n_tokens = 3;
    options.n_cells = 5;
    return op_named(testing::graph_of(model, options), op).scratch;
  };
  constexpr DType kQ8 = DType::kQ8_0;
  EXPECT_EQ(scratch("attention", {.type_k = kQ8, .type_v = kQ8}), Bytes::of(264 + 2 * 4096));
  EXPECT_EQ(scratch("attention", {.type_k = kQ8}), Bytes::of(264 + 4096));
  EXPECT_EQ(scratch("attention", {}), 264_B);
  EXPECT_EQ(scratch("attention", {.type_k = DType::kInt8, .type_v = DType::kInt8}), 264_B);
  // Without flash attention Q's 3 x 2 rows become int8 with a scale of 4 bytes, as before any
  // product with a quantized matrix; a tile of V is expanded.
  const GraphOptions plain{.type_k = kQ8, .type_v = kQ8, .flash_attention = false};
  EXPECT_EQ(scratch("scores", plain), Bytes::of(6 * (32 + 4)));
  EXPECT_EQ(scratch("context", plain), 4096_B);
  EXPECT_EQ(scratch("scores", {.flash_attention = false}), 0_B);
  EXPECT_EQ(scratch("context", {.flash_attention = false}), 0_B);
}

// Latents are keys and values at once: one tile of rows of 32 + 32 values.
TEST(AttentionScratchTest, LatentsAreExpandedOnce) {
  MlaSpec mla = testing::kMla;
  mla.kv_lora = 32;
  mla.qk_rope = 32;
  const ModelSpec model = testing::model_of({.mixer = mla, .feed_forward = {.n_ff = 6}});
  const Graph graph = testing::graph_of(
      model, {.n_tokens = 3, .n_cells = 5, .type_k = DType::kQ8_0, .type_v = DType::kQ8_0});
  EXPECT_EQ(op_named(graph, "attention").scratch, Bytes::of(4 * (32 + 2 + 32) + 32 * 64 * 4));
}

// --- What a tower hands on.

// 3 rows of 8 values for a pass of 2 tokens, and 2 parts more: they are read behind the embedding
// and the first two layers, and wait for the next pass behind all ops.
TEST(TowerRowsTest, AreReadWhereTheirTokensStandAndWaitForTheRest) {
  ModelSpec model = testing::model_of(testing::attention_with(testing::kHeads), 3);
  testing::dims_of(model).stacks = {tiny_tower()};
  const auto readers = [&](int64_t n_tokens) {
    const Graph graph = testing::graph_of(
        model, {.n_tokens = n_tokens, .n_cells = 9, .n_tower_rows = 3, .n_deep_rows = 2});
    const Tensor& rows = tensor_named(graph, "tower_rows");
    EXPECT_EQ(rows.kind, TensorKind::kInput);
    EXPECT_EQ(rows.bytes, Bytes::of(3 * 8 * 3 * 4));
    EXPECT_LE(std::ssize(graph.ops()), most_ops(model));
    std::string text;
    for (const OpId id : graph.consumers(rows.id)) text += graph.op(id).name + " ";
    return text;
  };
  EXPECT_EQ(readers(2), "tower_rows_mix blk.0.deep_rows_add blk.1.deep_rows_add logits ");
  EXPECT_EQ(readers(3), "tower_rows_mix blk.0.deep_rows_add blk.1.deep_rows_add ");
}

}  // namespace
}  // namespace tidemark

// Good files -> specs. The refused ones are in tests/configs/broken.
#include "planner/config/load.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

using namespace literals;

constexpr std::string_view kTransformer =
    "schema: model/1\n"
    "name: small\n"
    "architecture: llama\n"
    "source: a card\n"
    "n_layer: 2\n"
    "n_embd: 64\n"
    "n_head: 4\n"
    "n_ff: 128\n"
    "n_vocab: 1000\n"
    "tied_embeddings: true\n"
    "dtype: bf16\n";

TEST(LoadModel, AUniformTransformerIsOneLayerRepeated) {
  const ModelSpec model = parse_model("x.yaml", kTransformer).value();
  EXPECT_EQ(model.name, "small");
  EXPECT_EQ(model.architecture, "llama");
  EXPECT_EQ(model.source, "a card");
  EXPECT_EQ(model.dtype, DType::kBf16);
  const LayerSpec layer{.mixer = AttentionSpec{.n_head = 4, .n_head_kv = 4, .head_dim = 16},
                        .feed_forward = {.n_ff = 128}};
  const TransformerSpec expected{.n_embd = 64,
                                 .n_vocab = 1000,
                                 .n_ctx_train = Tokens(0),
                                 .tied_embeddings = true,
                                 .layers = {layer, layer}};
  ASSERT_NE(model.transformer(), nullptr);
  EXPECT_EQ(*model.transformer(), expected);
}

TEST(LoadModel, HeadsMayBeStated) {
  const std::string text =
      std::string(kTransformer) + "n_head_kv: 2\nhead_dim: 24\nn_ctx_train: 2048\n";
  const ModelSpec model = parse_model("x.yaml", text).value();
  const AttentionSpec expected{.n_head = 4, .n_head_kv = 2, .head_dim = 24};
  EXPECT_EQ(*model.transformer()->layers.at(0).attention(), expected);
  EXPECT_EQ(model.transformer()->n_ctx_train, Tokens(2048));
}

TEST(LoadModel, AListOfLayersIsTheShortestSpelling) {
  const ModelSpec model = parse_model("x.yaml",
                                      "schema: model/1\nname: demo\nsource: chosen\nlayers:\n"
                                      "  - {name: embed, weights: 800 MB, activation: 64 MB}\n"
                                      "  - {name: head, weights: 200 MB, activation: 0 B}\n")
                              .value();
  EXPECT_EQ(model.architecture, "layer-list");
  const LayerListSpec expected{.layers = {{"embed", 800_MB, 64_MB}, {"head", 200_MB, 0_B}}};
  ASSERT_NE(model.layer_list(), nullptr);
  EXPECT_EQ(*model.layer_list(), expected);
}

std::vector<LayerSpec> layers_of(const std::string& keys) {
  const std::string text =
      "schema: model/1\nname: x\narchitecture: y\nsource: z\nn_embd: 64\nn_vocab: 1000\n"
      "tied_embeddings: true\ndtype: bf16\n" +
      keys;
  const Result<ModelSpec> model = parse_model("x.yaml", text);
  EXPECT_TRUE(model.ok()) << to_string(model.diagnostics());
  return model.ok() ? model->transformer()->layers : std::vector<LayerSpec>{};
}

TEST(LoadModel, TheOrderOfKindsIsRepeatedAndCutOff) {
  const std::vector<LayerSpec> layers = layers_of(
      "n_layer: 8\nn_head: 4\nn_ff: 128\nkinds:\n  sliding: {window: 512}\n  full: {}\n"
      "layer_order: [2 sliding, full]\n");
  std::vector<int64_t> windows;
  for (const LayerSpec& layer : layers) windows.push_back(layer.attention()->window);
  EXPECT_EQ(windows, (std::vector<int64_t>{512, 512, 0, 512, 512, 0, 512, 512}));
}

TEST(LoadModel, AKindTakesOverEveryKeyButThoseOfAnotherMixer) {
  const std::vector<LayerSpec> layers = layers_of(
      "n_layer: 3\nn_head: 4\nn_head_kv: 2\nqk_norm: head\nn_ff: 128\nafter_ffn: scale\nkinds:\n"
      "  plain: {}\n  wide: {n_head: 8, n_ff: 0, n_expert: 4, n_expert_used: 2, n_ff_exp: 32}\n"
      "  delta: {mixer: mamba2, d_conv: 4, d_inner: 128, d_state: 16, n_head: 8}\n"
      "layer_order: [plain, wide, delta]\n");
  const LayerNorms norms{.after_ffn = NormKind::kScale};
  const LayerSpec plain{
      .mixer =
          AttentionSpec{.n_head = 4, .n_head_kv = 2, .head_dim = 16, .qk_norm = QkNormKind::kHead},
      .feed_forward = {.n_ff = 128},
      .norms = norms};
  // head_dim follows the kind's own n_head: 64 / 8.
  const LayerSpec wide{
      .mixer =
          AttentionSpec{.n_head = 8, .n_head_kv = 2, .head_dim = 8, .qk_norm = QkNormKind::kHead},
      .moe = {.n_expert = 4, .n_expert_used = 2, .n_ff_exp = 32},
      .norms = norms};
  const LayerSpec delta{
      .mixer = Mamba2Spec{.d_conv = 4, .d_inner = 128, .d_state = 16, .n_head = 8},
      .feed_forward = {.n_ff = 128},
      .norms = norms};
  EXPECT_EQ(layers, (std::vector<LayerSpec>{plain, wide, delta}));
}

TEST(LoadModel, WhatIsNotThereHasNoNormBeforeIt) {
  const LayerSpec mamba =
      layers_of("n_layer: 1\nmixer: mamba\nd_conv: 4\nd_inner: 128\nd_state: 16\ndt_rank: 4\n")
          .at(0);
  EXPECT_EQ(mamba.norms, (LayerNorms{.before_ffn = NormKind::kNone}));
  const LayerSpec dense = layers_of("n_layer: 1\nmixer: none\nn_ff: 128\n").at(0);
  EXPECT_EQ(dense.norms, (LayerNorms{.before_mixer = NormKind::kNone}));
  // Channel mixing is RWKV's feed-forward.
  const LayerSpec rwkv =
      layers_of("n_layer: 1\nmixer: rwkv\nversion: 4\nn_ff_channel: 256\n").at(0);
  EXPECT_EQ(rwkv.norms, LayerNorms{});
  const LayerSpec stated = layers_of(
                               "n_layer: 1\nmixer: none\nn_ff: 0\nbefore_mixer: plain\n"
                               "before_ffn: scale-and-shift\n")
                               .at(0);
  EXPECT_EQ(stated.norms,
            (LayerNorms{.before_mixer = NormKind::kPlain, .before_ffn = NormKind::kScaleAndShift}));
}

TEST(LoadModel, AKindTakesOverNothingOfAPartItDoesNotHave) {
  const std::vector<LayerSpec> layers = layers_of(
      "n_layer: 2\nn_head: 4\nn_ff: 128\ngated: false\nn_expert: 4\nn_expert_used: 2\n"
      "n_ff_exp: 32\nrouter_bias: true\nkinds:\n  dense: {n_expert: 0}\n  moe: {n_ff: 0}\n"
      "layer_order: [dense, moe]\n");
  EXPECT_EQ(layers.at(0).feed_forward, (FeedForwardSpec{.n_ff = 128, .gated = false}));
  EXPECT_EQ(layers.at(0).moe, MoeSpec{});
  EXPECT_EQ(layers.at(1).feed_forward, FeedForwardSpec{});
  EXPECT_EQ(layers.at(1).moe,
            (MoeSpec{.n_expert = 4, .n_expert_used = 2, .n_ff_exp = 32, .router_bias = true}));
}

// Nothing is rotated where positions are learned or looked up by distance.
TEST(LoadModel, AHeadMayBeOddWhereNothingIsRotated) {
  const std::string odd = "n_layer: 1\nn_head: 4\nhead_dim: 15\nn_ff: 128\n";
  EXPECT_EQ(layers_of(odd + "n_position: 512\n").at(0).attention()->head_dim, 15);
  EXPECT_EQ(layers_of(odd + "n_bucket: 32\n").at(0).attention()->head_dim, 15);
}

TEST(LoadModel, ALaterLayerReadsTheCacheOfAnEarlierOne) {
  const std::vector<LayerSpec> layers = layers_of(
      "n_layer: 3\nn_head: 4\nn_ff: 128\nkinds:\n  own: {}\n  shared: {shares_kv_with: 0}\n"
      "layer_order: [own, 2 shared]\n");
  EXPECT_EQ(layers.at(0).attention()->shares_kv_with, -1);
  EXPECT_EQ(layers.at(1).attention()->shares_kv_with, 0);
  EXPECT_EQ(layers.at(2), layers.at(1));
}

TEST(LoadModel, AStackTakesOverNothing) {
  const std::string text =
      std::string(kTransformer) +
      "window: 32\nstored_as: q4_k_m\nstacks:\n"
      "  - {role: vision, n_embd: 32, n_layer: 2, n_head: 2, n_ff: 64, final_norm: scale,\n"
      "     image: {image_size: 224, patch_size: 14, merge: 2}, is_counted: false}\n"
      "  - role: draft\n    n_embd: 64\n    n_layer: 0\n    extras:\n"
      "      - {name: a, columns: 3, rows: 2, is_parameter: false}\n";
  const Result<ModelSpec> model = parse_model("x.yaml", text);
  ASSERT_TRUE(model.ok()) << to_string(model.diagnostics());
  const LayerSpec layer{.mixer = AttentionSpec{.n_head = 2, .n_head_kv = 2, .head_dim = 16},
                        .feed_forward = {.n_ff = 64}};
  const StackSpec vision{.role = StackRole::kVision,
                         .n_embd = 32,
                         .layers = {layer, layer},
                         .final_norm = NormKind::kScale,
                         .image = {.image_size = 224, .patch_size = 14, .merge = 2},
                         .is_counted = false};
  const StackSpec draft{
      .role = StackRole::kDraft,
      .n_embd = 64,
      .extras = {{.name = "a", .columns = 3, .rows = 2, .count = 1, .is_parameter = false}}};
  EXPECT_EQ(model->transformer()->stacks, (std::vector<StackSpec>{vision, draft}));
  EXPECT_EQ(name_of(model->stored_as), "Q4_K_M");
}

constexpr std::string_view kDevice =
    "schema: device/1\n"
    "name: phone\n"
    "description: a phone\n"
    "source: a sheet\n"
    "ram_total: 3 GB\n"
    "memory_bandwidth: 6 GB/s\n"
    "flash_read: 280 MB/s\n"
    "flash_latency: 600 us\n"
    "compute: 512 GOPS\n"
    "page_size: 4 KiB\n";

TEST(LoadDevice, TheSystemsShareIsTakenOff) {
  const DeviceSpec device =
      parse_device("x.yaml", std::string(kDevice) + "os_reserved: 0.5 GB\n").value();
  EXPECT_EQ(device.ram_total, 3_GB);
  EXPECT_EQ(device.app_available, 2500_MB);
  EXPECT_EQ(device.app_hard_limit, std::nullopt);
  EXPECT_EQ(device.memory_bandwidth, BytesPerSecond::of(6000000000));
  EXPECT_EQ(device.flash_read, BytesPerSecond::of(280000000));
  EXPECT_EQ(device.flash_latency, Duration::us(600));
  EXPECT_EQ(device.compute, OpsPerSecond::of(512000000000));
  EXPECT_EQ(device.page_size, 4_KiB);
  EXPECT_TRUE(device.estimates.empty());
}

TEST(LoadDevice, OrWhatIsAvailableIsStated) {
  const DeviceSpec device =
      parse_device("x.yaml",
                   std::string(kDevice) +
                       "app_available: 700 MiB\napp_hard_limit: 1 GiB\nestimates: [compute]\n")
          .value();
  EXPECT_EQ(device.app_available, 700_MiB);
  EXPECT_EQ(device.app_hard_limit, 1_GiB);
  EXPECT_EQ(device.estimates, std::vector<std::string>{"compute"});
}

TEST(LoadEngine, ReadsEveryKey) {
  const EngineProfile engine =
      parse_engine("x.yaml",
                   "schema: engine/1\nname: e\nversion: 2\nsummary: s\nsource: o\n"
                   "policy: textbook\nactivations: live\nruntime_fixed: 1 MiB\n"
                   "runtime_ratio: 10 %\nalignment: 64 B\nflash_attention: false\n"
                   "cache_type_k: Q8_0\ncache_type_v: q4_0\nactivation_type: fp16\n")
          .value();
  EXPECT_EQ(engine.name, "e");
  EXPECT_EQ(engine.version, "2");
  EXPECT_EQ(engine.summary, "s");
  EXPECT_EQ(engine.source, "o");
  EXPECT_EQ(engine.policy, EnginePolicy::kTextbook);
  EXPECT_EQ(engine.activations, ActivationPolicy::kLive);
  EXPECT_EQ(engine.runtime_fixed, 1_MiB);
  EXPECT_EQ(engine.runtime_ratio, 0.1);
  EXPECT_EQ(engine.alignment, Alignment::of(64));
  EXPECT_FALSE(engine.flash_attention);
  EXPECT_EQ(engine.type_k, DType::kQ8_0);
  EXPECT_EQ(engine.type_v, DType::kQ4_0);
  EXPECT_EQ(engine.type_act, DType::kF16);
}

TEST(Load, ProblemsOfAFileNameTheFile) {
  const std::string path = std::string(TIDEMARK_SOURCE_DIR) + "/configs/devices/galaxy-s23.yaml";
  const Result<ModelSpec> model = load_model(path);
  EXPECT_EQ(to_string(model.diagnostics()),
            path +
                ":1:9: error: schema: \"device/1\" is not \"model/1\"\n"
                "  hint: this file is read as another kind or another version than it says\n");
}

}  // namespace
}  // namespace tidemark

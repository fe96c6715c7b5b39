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

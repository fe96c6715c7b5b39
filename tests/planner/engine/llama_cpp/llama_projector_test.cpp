#include "planner/engine/llama_cpp/llama_projector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "planner/config/load.h"
#include "planner/engine/ggml_alloc.h"

namespace tidemark {
namespace {

ModelSpec shipped(const std::string& name) {
  return load_model(std::string(TIDEMARK_SOURCE_DIR) + "/configs/models/" + name + ".yaml").value();
}

// As the logs print them.
double mib(Bytes bytes) { return static_cast<double>(bytes.count()) / (1 << 20); }

StackSpec& vision(ModelSpec& model) {
  return *std::ranges::find(std::get<TransformerSpec>(model.dims).stacks, StackRole::kVision,
                            &StackSpec::role);
}

// Qwen3-VL's tower as Qwen3.5 has it: other widths, and no layer in the middle is kept.
ModelSpec qwen_tower(int64_t n_layer, int64_t n_embd, int64_t n_ff, int64_t rows) {
  ModelSpec model = shipped("qwen3.5-27b");
  StackSpec& tower = vision(model);
  const int64_t was = tower.n_embd;
  tower.n_embd = n_embd;
  tower.layers.resize(static_cast<size_t>(n_layer));
  for (LayerSpec& layer : tower.layers) {
    std::get<AttentionSpec>(layer.mixer).n_head = n_embd / 64;
    std::get<AttentionSpec>(layer.mixer).n_head_kv = n_embd / 64;
    std::get<AttentionSpec>(layer.mixer).head_dim = 64;
    layer.feed_forward.n_ff = n_ff;
  }
  for (ExtraWeight& extra : tower.extras) {
    if (extra.columns == was) extra.columns = n_embd;
    if (extra.columns == 4 * was) extra.columns = 4 * n_embd;
    if (extra.rows == 4 * was) extra.rows = 4 * n_embd;
    if (extra.count == 6 * was) extra.count = 6 * n_embd;
    if (extra.rows == 5120) extra.rows = rows;
    if (extra.columns == 5120) extra.columns = rows;
  }
  return model;
}

// ggml-org/llama.cpp issue 18181: Qwen3-VL-235B's tower, which is that of 8B, in f32.
TEST(LlamaProjectorTest, WorkedInTheHeader) {
  const ModelSpec model = shipped("qwen3-vl-8b");
  EXPECT_NEAR(mib(projector_weights(model, DType::kF32).tensors), 2198.75, 0.005);
  const auto compute = projector_compute(model, true, false, DType::kF32);
  ASSERT_TRUE(compute.has_value());
  EXPECT_EQ(compute->pixels, 1472);
  EXPECT_NEAR(mib(compute->compute), 372.08, 0.005);
}

// Qwen3.6-27B's projector in bf16, as logs of May 2026 print it; CUDA.
TEST(LlamaProjectorTest, LoggedOnACard) {
  const ModelSpec model = shipped("qwen3.5-27b");
  EXPECT_NEAR(mib(projector_weights(model, DType::kBf16).tensors), 887.99, 0.005);
  const auto compute = projector_compute(model, true, true, DType::kBf16);
  ASSERT_TRUE(compute.has_value());
  EXPECT_EQ(compute->n_nodes, 823);
  EXPECT_NEAR(mib(compute->compute), 248.10, 0.005);
  EXPECT_NEAR(mib(compute->host), 24.93, 0.005);
}

// Qwen3.5-2B (bf16) and 0.8B on a CPU.
TEST(LlamaProjectorTest, LoggedOnACpu) {
  const ModelSpec larger = qwen_tower(24, 1024, 4096, 2048);
  EXPECT_NEAR(mib(projector_weights(larger, DType::kBf16).tensors), 640.25, 0.005);
  const auto compute = projector_compute(larger, true, false, DType::kBf16);
  ASSERT_TRUE(compute.has_value());
  EXPECT_EQ(compute->n_nodes, 736);
  EXPECT_NEAR(mib(compute->compute), 223.30, 0.005);
  const auto smaller = projector_compute(qwen_tower(12, 768, 3072, 1024), true, false);
  ASSERT_TRUE(smaller.has_value());
  EXPECT_EQ(smaller->n_nodes, 388);
  EXPECT_NEAR(mib(smaller->compute), 161.31, 0.005);
}

// ggml-org/llama.cpp pull request 16837: Gemma 3 with and without flash attention, on Metal.
TEST(LlamaProjectorTest, LoggedWithAndWithoutFlashAttention) {
  const ModelSpec model = shipped("gemma-3-12b");
  const auto with = projector_compute(model, true, true);
  const auto without = projector_compute(model, false, true);
  ASSERT_TRUE(with && without);
  EXPECT_EQ(with->pixels, 896);
  EXPECT_NEAR(mib(with->compute), 121.25, 0.005);
  EXPECT_NEAR(mib(without->compute), 1132.00, 0.005);
  EXPECT_NEAR(mib(with->host), 9.19, 0.005);
  EXPECT_NEAR(mib(without->host), 9.19, 0.005);
}

// gpustack/gguf-parser-go issue 44: the buffers of an accelerator in whole MiB, off and on.
TEST(LlamaProjectorTest, LoggedInWholeMebibytes) {
  struct Row {
    const char* model;
    double plain;
    double flash;
  };
  for (const Row& row : {Row{"qwen2-vl-7b", 4598, 267}, Row{"qwen2.5-vl-7b", 4872, 705},
                         Row{"gemma-3-4b", 1132, 121}}) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, row.model);
    const ModelSpec model = shipped(row.model);
    EXPECT_NEAR(mib(projector_compute(model, false, true)->compute), row.plain, 0.5);
    EXPECT_NEAR(mib(projector_compute(model, true, true)->compute), row.flash, 0.5);
  }
}

// Qwen2-VL: 46 tokens a side of 28 pixels are 92 x 92 patches; all scores of 16 heads in f32. Twice
// the side is 16 times as many scores.
TEST(LlamaProjectorTest, ScoresSetTheBuffer) {
  const ModelSpec model = shipped("qwen2-vl-2b");
  const int64_t n = 92 * 92;
  const Bytes scores = Bytes::of(4 * n * n * 16);
  const Bytes compute = projector_compute(model, false, false)->compute;
  EXPECT_GT(compute, scores);
  EXPECT_LT(compute, scores + scores / 10);
  const Bytes twice = reserve(projector_graph(model, 2 * 1288, false).value()).reserved;
  EXPECT_GT(twice, scores * 16);
}

// SmolVLM-256M: 12 layers of 768, 512 pixels in patches of 16, 4 x 4 of which are a token.
//   layers 12 x (4 x 768 x 768 + 2 x 768 x 3,072) = 84,934,656, the projector 12,288 x 576, and
//   patches 16 x 16 x 3 x 768 in f16; positions 1,024 x 768 and all vectors in f32
TEST(LlamaProjectorTest, WeightsByHand) {
  const int64_t matrices = 12 * (4 * 768 * 768 + 2 * 768 * 3072) + 12288 * 576 + 768 * 768;
  const int64_t vectors = 12 * (4 * 768 + 3072 + 768 + 4 * 768) + 768 + 2 * 768;
  const LlamaProjectorFile made = projector_weights(shipped("smolvlm-256m"), DType::kF16);
  EXPECT_EQ(made.tensors, Bytes::of(2 * matrices + 4 * (1024 * 768 + vectors)));
  EXPECT_EQ(made.whole, made.tensors);  // all are multiples of 32
}

// gpustack issue 998: Qwen2-VL-2B's tower in f32, whose Q, K and V are three tensors there.
TEST(LlamaProjectorTest, LoggedWeights) {
  EXPECT_NEAR(mib(projector_weights(shipped("qwen2-vl-2b"), DType::kF32).tensors), 2537.81, 0.005);
}

TEST(LlamaProjectorTest, WhatIsNotKnown) {
  EXPECT_EQ(projector_weights(shipped("llama-3.2-1b"), DType::kF16).n_tensors, 0);
  EXPECT_FALSE(projector_compute(shipped("llama-3.2-1b"), true, false));
  EXPECT_GT(projector_weights(shipped("minicpm-v-2.6"), DType::kF16).n_tensors, 0);
  EXPECT_FALSE(projector_compute(shipped("minicpm-v-2.6"), true, false));
  // No whole number of tokens, no layers.
  EXPECT_FALSE(projector_graph(shipped("gemma-3-4b"), 897, true));
  EXPECT_FALSE(projector_graph(shipped("gemma-3-4b"), 0, true));
  ModelSpec bare = shipped("gemma-3-4b");
  vision(bare).layers.clear();
  EXPECT_FALSE(projector_compute(bare, true, false));
}

// Sizes of a file that no tensor can have are told, not reached.
TEST(LlamaProjectorTest, ImagesOutOfRange) {
  EXPECT_THROW((void)projector_graph(shipped("qwen2-vl-2b"), int64_t{28} << 40, true),
               std::overflow_error);
}

}  // namespace
}  // namespace tidemark

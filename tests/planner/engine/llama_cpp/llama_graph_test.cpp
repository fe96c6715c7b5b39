#include "planner/engine/llama_cpp/llama_graph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "planner/engine/ggml_alloc.h"
#include "planner/engine/llama_cpp/graph_traits.h"
#include "support/llamacpp_models.h"

namespace tidemark {
namespace {

using namespace literals;
using testing::MeasuredModel;
using testing::restated_model;

LlamaGraph graph_of(const MeasuredModel& measured, const LlamaSettings& settings) {
  const LlamaContext context = llama_context(measured.model, settings);
  return llama_graph(measured.model, measured.weights, context, prompt_run(context)).value();
}

TEST(LlamaGraphTest, WorkedInTheHeader) {
  const LlamaGraph made = graph_of(restated_model("llama-3.2-1b", "Q4_K_M"),
                                   {.n_ctx = 4096, .flash = LlamaFlash::kOff});
  EXPECT_EQ(made.n_nodes, 582);
  EXPECT_EQ(made.n_leaves, 186);
  EXPECT_TRUE(made.exact_for_architecture);
  EXPECT_EQ(reserve(made.graph).reserved, 299902976_B);
  Bytes largest;
  for (const GgmlTensor& tensor : made.graph.tensors) {
    if (!tensor.external) largest = std::max(largest, tensor.bytes);
  }
  EXPECT_EQ(largest, 268435456_B);
}

struct Logged {
  const char* model = "";
  LlamaSettings settings{};
  int64_t kv = 0;
  int64_t recurrent = 0;
  int64_t compute = 0;
  int64_t n_nodes = 0;
};

constexpr LlamaFlash kOff = LlamaFlash::kOff;
constexpr LlamaFlash kOn = LlamaFlash::kOn;
constexpr DType kQ8 = DType::kQ8_0;
constexpr DType kQ4 = DType::kQ4_0;

// As llama.cpp reported them at 3f545bec; Q4_K_M, on a CPU.
const Logged kLogged[] = {
    {"llama-3.2-1b", {.n_ctx = 8192, .flash = kOff}, 268435456, 0, 576727040, 582},
    {"llama-3.2-1b",
     {.n_ctx = 8192, .n_outputs_max = 1, .flash = kOn},
     268435456,
     0,
     75509792,
     502},
    {"llama-3.2-1b", {.n_ctx = 5000, .n_seq = 3, .flash = kOn}, 176160768, 0, 271067168, 534},
    {"tinyllama-1.1b", {.n_ctx = 2048, .n_outputs_max = 1}, 46137344, 0, 53489696, 688},
    {"qwen2.5-0.5b",
     {.n_ctx = 8192, .n_outputs_max = 1, .flash = kOn, .type_k = kQ8, .type_v = kQ8},
     53477376,
     0,
     43823136,
     1110},
    {"qwen3-0.6b",
     {.n_ctx = 8192, .n_seq = 4, .n_outputs_max = 4, .flash = kOff, .kv_unified = true},
     939524096,
     0,
     304095264,
     1126},
    {"qwen3-30b-a3b", {.n_ctx = 2048, .n_outputs_max = 1}, 201326592, 0, 94384160, 3030},
    {"minicpm-2b", {.n_ctx = 4096, .n_ubatch = 128}, 1509949440, 0, 65209344, 1328},
    {"gemma-2-2b",
     {.n_ctx = 2048, .n_outputs_max = 1, .flash = kOff},
     218103808,
     0,
     95957024,
     1154},
    {"gemma-3-1b", {.n_ctx = 8192, .n_outputs_max = 1, .type_k = kQ8}, 43352064, 0, 61624352, 1203},
    {"gemma-3-1b", {.n_ctx = 512, .flash = kOff, .swa_full = true}, 13631488, 0, 543950848, 1177},
    {"phi-3-mini-4k",
     {.n_ctx = 2048, .n_outputs_max = 1, .flash = kOff},
     805306368,
     0,
     169877536,
     1094},
    {"minicpm3-4b", {.n_ctx = 8192, .n_seq = 4, .n_outputs_max = 4}, 6501171200, 0, 62402592, 2798},
    {"deepseek-v2-lite",
     {.n_ctx = 2048, .n_outputs_max = 1, .flash = kOff},
     63700992,
     0,
     132403232,
     1818},
    {"mamba-130m", {.n_ctx = 8192, .n_seq = 4, .n_outputs_max = 4}, 0, 11206656, 20990016, 1160},
    {"jamba-3b-shape",
     {.n_ctx = 2048, .n_outputs_max = 1, .flash = kOff},
     2097152,
     10117120,
     109582400,
     1662},
    {"granite-4.0-h-micro",
     {.n_ctx = 8192, .n_outputs_max = 1, .type_k = kQ4, .type_v = kQ4},
     18874368,
     77377536,
     71398464,
     2342},
};

TEST(LlamaGraphTest, LoggedBuffers) {
  for (const Logged& logged : kLogged) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, logged.model);
    const MeasuredModel measured = restated_model(logged.model, "Q4_K_M");
    const LlamaGraph made = graph_of(measured, logged.settings);
    EXPECT_EQ(made.n_nodes, logged.n_nodes);
    EXPECT_EQ(reserve(made.graph).reserved.count(), logged.compute);
    EXPECT_TRUE(made.exact_for_architecture);
    const LlamaContext context = llama_context(measured.model, logged.settings);
    const StateSizes sizes = state_sizes(measured.model, state_options(context));
    EXPECT_EQ(sizes.kv_cache().count(), logged.kv);
    EXPECT_EQ(sizes.recurrent.count(), logged.recurrent);
  }
}

// Fewer cells read: a smaller mask, nothing else. 2 B x (4,096 - 256) x 512 less.
TEST(LlamaGraphTest, CellsThatAreRead) {
  const MeasuredModel measured = restated_model("qwen3-0.6b", "Q4_K_M");
  const LlamaContext context = llama_context(measured.model, {.n_ctx = 4096});
  const auto leaves = [&](const LlamaRun& run) {
    Bytes total;
    const GgmlGraph graph = llama_graph(measured.model, measured.weights, context, run)->graph;
    for (const GgmlTensor& tensor : graph.tensors) {
      if (tensor.leaf && !tensor.external) total += tensor.bytes;
    }
    return total;
  };
  LlamaRun run = prompt_run(context);
  const Bytes all = leaves(run);
  run.n_kv = 256;
  EXPECT_EQ(all - leaves(run), Bytes::of(2 * (4096 - 256) * 512));
}

ModelSpec small(const LayerSpec& layer, const std::string& architecture) {
  const TransformerSpec spec{
      .n_embd = 64, .n_vocab = 100, .n_ctx_train = Tokens(256), .layers = {layer, layer}};
  return {.name = "small", .architecture = architecture, .dims = spec};
}

std::vector<LayerSpec> layers_of_every_kind() {
  const AttentionSpec heads{.n_head = 4, .n_head_kv = 2, .head_dim = 16};
  AttentionSpec gated = heads;
  gated.output_gate = gated.sinks = gated.fused_qkv = true;
  AttentionSpec normed = heads;
  normed.qk_norm = QkNormKind::kWidth;
  AttentionSpec chunked = heads;
  chunked.chunk = 64;
  std::vector<LayerSpec> layers;
  for (const Mixer& mixer : std::vector<Mixer>{
           heads, gated, normed, chunked,
           MlaSpec{
               .n_head = 4, .q_lora = 32, .kv_lora = 16, .qk_nope = 8, .qk_rope = 8, .v_head = 8},
           MambaSpec{.d_conv = 4, .d_inner = 128, .d_state = 16, .dt_rank = 4},
           Mamba2Spec{.d_conv = 4, .d_inner = 128, .d_state = 16, .n_head = 8, .n_group = 2},
           GatedDeltaSpec{
               .n_key_head = 2, .n_value_head = 4, .key_dim = 8, .value_dim = 8, .d_conv = 4},
           LinearAttentionSpec{.n_head = 4, .head_dim = 16}, RwkvSpec{.head_size = 16, .n_ff = 128},
           ShortConvSpec{.d_conv = 3}, NoMixer{}}) {
    layers.push_back({.mixer = mixer, .feed_forward = {.n_ff = 128}});
  }
  layers.push_back({.mixer = heads,
                    .moe = {.n_expert = 4,
                            .n_expert_used = 1,
                            .n_ff_exp = 32,
                            .n_ff_shared = 32,
                            .gated = false,
                            .shared_gate = true,
                            .balance_bias = true,
                            .expert_bias = true}});
  layers.push_back({.mixer = heads,
                    .feed_forward = {.n_ff = 64, .gated = false, .bias = true},
                    .is_parallel = true});
  return layers;
}

// Whatever a layer may be, there is a graph, and it says that it was never compared.
TEST(LlamaGraphTest, EveryKindOfLayerHasAGraph) {
  for (const LayerSpec& layer : layers_of_every_kind()) {
    const ModelSpec model = small(layer, "cohere2");
    for (const LlamaFlash flash : {kOn, kOff}) {
      const LlamaContext context = llama_context(model, {.n_seq = 2, .flash = flash});
      const Result<LlamaGraph> made =
          llama_graph(model, weights_inventory(model, DType::kF16), context, prompt_run(context));
      ASSERT_TRUE(made.ok()) << mixer_name(layer.mixer);
      EXPECT_FALSE(made->exact_for_architecture);
      EXPECT_GT(reserve(made->graph).reserved, 0_B);
      EXPECT_EQ(made->graph.tensors.back().name, "result_output");
    }
  }
}

TEST(LlamaGraphTest, WhatHasNoGraphIsRefused) {
  ModelSpec encoder =
      small({.mixer = AttentionSpec{.n_head = 4, .n_head_kv = 4, .head_dim = 16}}, "bert");
  std::get<TransformerSpec>(encoder.dims).is_causal = false;
  const LlamaContext context = llama_context(encoder, {});
  const Result<LlamaGraph> refused = llama_graph(encoder, {}, context, prompt_run(context));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.diagnostics().front().message, "an encoder has no decoder's graph");
  const ModelSpec sizes{.name = "sizes", .dims = LayerListSpec{}};
  EXPECT_FALSE(llama_graph(sizes, {}, context, prompt_run(context)).ok());
}

TEST(LlamaGraphTest, SizesOutOfRangeAreRefused) {
  ModelSpec model =
      small({.mixer = AttentionSpec{.n_head = 4, .n_head_kv = 4, .head_dim = 16}}, "llama");
  std::get<TransformerSpec>(model.dims).n_vocab = int64_t{1} << 50;
  const LlamaContext context = llama_context(model, {});
  EXPECT_THROW((void)llama_graph(model, {}, context, prompt_run(context)), std::overflow_error);
}

TEST(GraphTraitsTest, WorkedInTheHeader) {
  const LayerSpec layer{.mixer = AttentionSpec{.n_head = 4, .n_head_kv = 4, .head_dim = 16},
                        .feed_forward = {.n_ff = 128}};
  const auto scales = [&](const std::string& architecture) {
    const ModelSpec model = small(layer, architecture);
    const LlamaContext context = llama_context(model, {});
    const LlamaGraph made =
        llama_graph(model, weights_inventory(model, DType::kF16), context, prompt_run(context))
            .value();
    return std::ranges::count(made.graph.tensors, "SCALE", &GgmlTensor::op);
  };
  EXPECT_EQ(scales("minicpm"), 2 * 2 + 2);
  EXPECT_EQ(scales("llama"), 0);
  EXPECT_TRUE(graph_traits(small(layer, "phi3")).residual_before_ffn);
  EXPECT_FALSE(graph_traits(small(layer, "phi3")).residual_before_mixer);
}

}  // namespace
}  // namespace tidemark

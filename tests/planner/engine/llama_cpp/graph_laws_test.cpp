// Whatever a model file can say, and whatever may be asked for: a graph, a refusal or a size out of
// range, and never a broken promise inside.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <stdexcept>

#include "../../config/random_models.h"
#include "planner/engine/llama_cpp/graph_faults.h"
#include "planner/engine/llama_cpp/llama_offload.h"
#include "planner/engine/llama_cpp/llama_resident.h"

namespace tidemark {
namespace {

TEST(GraphFaultsTest, WorkedInTheHeader) {
  TransformerSpec spec{.n_embd = 24, .n_vocab = 100};
  const Mamba2Spec sound{.d_conv = 4, .d_inner = 48, .d_state = 16, .n_head = 6};
  Mamba2Spec odd = sound;
  odd.n_head = 5;
  spec.layers = {{.mixer = sound}, {.mixer = sound}, {.mixer = sound}, {.mixer = odd}};
  EXPECT_EQ(graph_fault(spec), "layer 3: 5 heads do not divide d_inner 48");
  spec.layers.pop_back();
  EXPECT_EQ(graph_fault(spec), "");
}

TEST(GraphFaultsTest, WidthsThatMakeNoGraph) {
  const AttentionSpec heads{.n_head = 4, .n_head_kv = 2, .head_dim = 16};
  const auto fault = [](std::vector<LayerSpec> layers) {
    return graph_fault({.n_embd = 64, .n_vocab = 100, .layers = std::move(layers)});
  };
  EXPECT_EQ(fault({{.mixer = heads}}), "");
  AttentionSpec reader = heads;
  reader.shares_kv_with = 0;
  EXPECT_EQ(fault({{.mixer = heads}, {.mixer = reader}}), "");
  reader.head_dim = 32;
  EXPECT_EQ(fault({{.mixer = heads}, {.mixer = reader}}),
            "layer 1: it reads the cache of another kind of layer");
  reader.shares_kv_with = 5;
  EXPECT_EQ(fault({{.mixer = reader}}), "layer 0: it reads the cache of no layer");
  const MoeSpec moe{.n_expert = 4, .n_expert_used = 5, .n_ff_exp = 8};
  EXPECT_EQ(fault({{.mixer = heads, .moe = moe}}), "layer 0: 5 of 4 experts are used");
  EXPECT_EQ(fault({{.mixer = MlaSpec{}}}), "layer 0: latent attention without heads or width");
  EXPECT_EQ(graph_fault({.n_vocab = 10}), "it has no width or no vocabulary");
}

LlamaSettings random_settings() {
  const DType types[] = {DType::kF16, DType::kF32, DType::kQ8_0, DType::kQ4_0};
  return {.n_ctx = *rc::gen::inRange<int64_t>(0, 5000),
          .n_batch = *rc::gen::inRange<int64_t>(0, 2048),
          .n_ubatch = *rc::gen::inRange<int64_t>(0, 700),
          .n_seq = *rc::gen::inRange<int64_t>(0, 6),
          .n_outputs_max = *rc::gen::inRange<int64_t>(0, 20),
          .flash = *rc::gen::element(LlamaFlash::kOn, LlamaFlash::kOff, LlamaFlash::kAuto),
          .type_k = types[*rc::gen::inRange<size_t>(0, 4)],
          .type_v = types[*rc::gen::inRange<size_t>(0, 4)],
          .kv_unified = *rc::gen::arbitrary<bool>(),
          .swa_full = *rc::gen::arbitrary<bool>()};
}

TEST(GraphLawsTest, AnyModelUnderAnySettings) {
  EXPECT_TRUE(rc::check([] {
    const ModelSpec model = testing::random_model();
    const LlamaSettings settings = random_settings();
    try {
      const WeightsInventory weights = weights_inventory(model, DType::kF16);
      const Result<LlamaMemory> memory = llama_memory(model, weights, settings, LlamaRepack::kAvx2);
      const bool made = memory.ok() && memory->context.rejection.empty();
      RC_CLASSIFY(made, "has a graph");
      if (!made) return;
      RC_ASSERT(memory->compute >= memory->output || !model.transformer()->has_head ||
                memory->context.n_outputs < memory->context.n_seq);
      const LlamaOffload offload{.n_gpu_layers = *rc::gen::inRange<int64_t>(0, 10),
                                 .devices = {{.name = "A"}, {.name = "B", .share = 2}},
                                 .kv_with_layers = *rc::gen::arbitrary<bool>(),
                                 .n_copies = *rc::gen::element<int64_t>(1, 4)};
      RC_ASSERT(llama_offloaded_memory(model, weights, settings, offload).ok());
      const Result<LlamaResident> resident =
          llama_resident(model, weights, settings, {.prompt = 100, .generate = 2});
      RC_ASSERT(resident.ok());
      RC_ASSERT(resident->touched <= memory->compute + Bytes::of(2 * 4096));
      RC_ASSERT(resident->loaded <= resident->context && resident->context <= resident->prompt);
    } catch (const std::overflow_error&) {  // widths whose products leave the range of a tensor
    }
  }));
}

}  // namespace
}  // namespace tidemark

// Keys and tensors of real files, shortened to a layer or two, and what becomes of them.
#include "planner/import/gguf/gguf_model.h"

#include <gmock/gmock.h>

#include "headers.h"
#include "planner/model/quantized_weights.h"
#include "planner/model/weights.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::header_of;
using testing::model_of;
using testing::Numbers;
using testing::Shapes;

const Numbers kLlamaKeys = {{"block_count", 1},           {"context_length", 131072},
                            {"embedding_length", 2048},   {"feed_forward_length", 8192},
                            {"attention.head_count", 32}, {"attention.head_count_kv", 8},
                            {"attention.key_length", 64}, {"attention.value_length", 64}};

// The tensors of one layer of Llama-3.2-1B.
Shapes llama_tensors() {
  return {{"rope_freqs.weight", {32}},           {"token_embd.weight", {2048, 128256}},
          {"output_norm.weight", {2048}},        {"blk.0.attn_norm.weight", {2048}},
          {"blk.0.attn_q.weight", {2048, 2048}}, {"blk.0.attn_k.weight", {2048, 512}},
          {"blk.0.attn_v.weight", {2048, 512}},  {"blk.0.attn_output.weight", {2048, 2048}},
          {"blk.0.ffn_norm.weight", {2048}},     {"blk.0.ffn_gate.weight", {2048, 8192}},
          {"blk.0.ffn_up.weight", {2048, 8192}}, {"blk.0.ffn_down.weight", {8192, 2048}}};
}

const TransformerSpec& spec_of(const Result<ImportedModel>& read) {
  return *read.value().model.transformer();
}

TEST(GgufModelTest, KeysByHand) {
  const auto read = model_of(header_of("llama", kLlamaKeys, llama_tensors()));
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  const LayerSpec layer{.mixer = AttentionSpec{.n_head = 32, .n_head_kv = 8, .head_dim = 64},
                        .feed_forward = {.n_ff = 8192}};
  const TransformerSpec expected{
      .n_embd = 2048,
      .n_vocab = 128256,
      .n_ctx_train = Tokens(131072),
      .tied_embeddings = true,
      .layers = {layer},
      .extras = {{.name = "rope_freqs.weight", .columns = 32, .is_parameter = false}}};
  EXPECT_EQ(spec_of(read), expected);
  EXPECT_THAT(read->warnings, ElementsAre());
  EXPECT_EQ(read->format, "GGUF v3");
  EXPECT_EQ(read->model.architecture, "llama");
  EXPECT_EQ(read->model.dtype, DType::kF32);
  // 32 + 2048 x 128256 + 2048 + (2 x 2048 + 2 x 2048^2 + 2 x 2048 x 512 + 3 x 2048 x 8192)
  EXPECT_EQ(read->stored->elements, 32 + 262668288 + 2048 + 60821504);
  EXPECT_EQ(read->model.stored.size(), 12u);
  EXPECT_EQ(read->model.stored[1].name, "token_embd.weight");
  EXPECT_EQ(read->model.stored[1].rows, 128256);
}

// Without keys for them, heads are as wide as n_embd / n_head and as many KV heads as heads.
TEST(GgufModelTest, WhatKeysLeaveOut) {
  const auto read = model_of(header_of(
      "llama", {{"block_count", 1}, {"embedding_length", 64}, {"attention.head_count", 4}},
      {{"token_embd.weight", {64, 10}},
       {"output.weight", {64, 10}},
       {"output.bias", {10}},
       {"blk.0.attn_norm.weight", {64}},
       {"blk.0.attn_norm.bias", {64}},
       {"blk.0.attn_qkv.weight", {64, 192}},
       {"blk.0.attn_qkv.bias", {192}},
       {"blk.0.attn_output.weight", {64, 64}},
       {"blk.0.ffn_up.weight", {64, 256}},
       {"blk.0.ffn_down.weight", {128, 64}}}));
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  const TransformerSpec& spec = spec_of(read);
  EXPECT_FALSE(spec.tied_embeddings);
  EXPECT_TRUE(spec.head_bias);
  EXPECT_EQ(spec.final_norm, NormKind::kNone);
  const AttentionSpec expected{.n_head = 4,
                               .n_head_kv = 4,
                               .head_dim = 16,
                               .bias = {.q = true, .k = true, .v = true},
                               .fused_qkv = true};
  EXPECT_EQ(*spec.layers[0].attention(), expected);
  // 256 rows into 128 columns: gate and up in one matrix.
  EXPECT_EQ(spec.layers[0].feed_forward,
            (FeedForwardSpec{.n_ff = 128, .gated = true, .fused_gate_up = true}));
  EXPECT_EQ(spec.layers[0].norms.before_mixer, NormKind::kScaleAndShift);
  // No norm before the feed-forward: it reads what attention reads.
  EXPECT_EQ(spec.layers[0].norms.before_ffn, NormKind::kNone);
  EXPECT_TRUE(spec.layers[0].is_parallel);
}

// Every sixth layer of Gemma 3 sees everything.
TEST(GgufModelTest, SlidingLayers) {
  Shapes tensors = {{"token_embd.weight", {64, 10}}};
  for (int i = 0; i < 7; ++i) {
    const std::string block = "blk." + std::to_string(i) + ".";
    tensors.push_back({block + "attn_norm.weight", {64}});
    tensors.push_back({block + "attn_q.weight", {64, 64}});
    tensors.push_back({block + "attn_k.weight", {64, 64}});
    tensors.push_back({block + "attn_v.weight", {64, 64}});
    tensors.push_back({block + "attn_output.weight", {64, 64}});
  }
  GgufHeader header = header_of("gemma3",
                                {{"block_count", 7},
                                 {"embedding_length", 64},
                                 {"attention.head_count", 4},
                                 {"attention.sliding_window", 512}},
                                tensors);
  const auto windows = [](const Result<ImportedModel>& read) {
    std::vector<int64_t> found;
    for (const LayerSpec& layer : spec_of(read).layers) found.push_back(layer.attention()->window);
    return found;
  };
  EXPECT_THAT(windows(model_of(header)), ElementsAre(512, 512, 512, 512, 512, 0, 512));
  // A period in the file, then a pattern, go before what the architecture does.
  header.keys["gemma3.attention.sliding_window_pattern"] = testing::number_value(2);
  EXPECT_THAT(windows(model_of(header)), ElementsAre(512, 0, 512, 0, 512, 0, 512));
  GgufValue pattern{.type = GgufType::kArray, .element_type = GgufType::kBool, .count = 7};
  for (const bool slides : {false, true, false, false, false, false, true}) {
    pattern.elements.emplace_back(slides);
  }
  header.keys["gemma3.attention.sliding_window_pattern"] = pattern;
  EXPECT_THAT(windows(model_of(header)), ElementsAre(0, 512, 0, 0, 0, 0, 512));
}

// Phi-3 states a window that llama.cpp ignores.
TEST(GgufModelTest, WindowThatIsIgnored) {
  Numbers keys = kLlamaKeys;
  keys.push_back({"attention.sliding_window", 2047});
  const auto read = model_of(header_of("llama", keys, llama_tensors()));
  EXPECT_EQ(spec_of(read).layers[0].attention()->window, 0);
}

// DeepSeek-V2-Lite's layer 1: key_length is the cache's row (512 + 64), the _mla keys are a head's.
TEST(GgufModelTest, LatentAttention) {
  const auto read = model_of(header_of("deepseek2",
                                       {{"block_count", 1},
                                        {"embedding_length", 2048},
                                        {"attention.head_count", 16},
                                        {"attention.head_count_kv", 1},
                                        {"attention.key_length", 576},
                                        {"attention.value_length", 512},
                                        {"attention.key_length_mla", 192},
                                        {"attention.value_length_mla", 128},
                                        {"attention.kv_lora_rank", 512},
                                        {"rope.dimension_count", 64},
                                        {"expert_count", 64},
                                        {"expert_used_count", 6},
                                        {"expert_feed_forward_length", 1408}},
                                       {{"token_embd.weight", {2048, 10}},
                                        {"blk.0.attn_norm.weight", {2048}},
                                        {"blk.0.attn_q.weight", {2048, 3072}},
                                        {"blk.0.attn_kv_a_mqa.weight", {2048, 576}},
                                        {"blk.0.attn_kv_a_norm.weight", {512}},
                                        {"blk.0.attn_k_b.weight", {128, 512, 16}},
                                        {"blk.0.attn_v_b.weight", {512, 128, 16}},
                                        {"blk.0.attn_output.weight", {2048, 2048}},
                                        {"blk.0.ffn_norm.weight", {2048}},
                                        {"blk.0.ffn_gate_inp.weight", {2048, 64}},
                                        {"blk.0.exp_probs_b.bias", {64}},
                                        {"blk.0.ffn_gate_up_exps.weight", {2048, 2816, 64}},
                                        {"blk.0.ffn_down_exps.weight", {1408, 2048, 64}},
                                        {"blk.0.ffn_gate_shexp.weight", {2048, 2816}},
                                        {"blk.0.ffn_up_shexp.weight", {2048, 2816}},
                                        {"blk.0.ffn_down_shexp.weight", {2816, 2048}}}));
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  const MlaSpec mla{.n_head = 16,
                    .kv_lora = 512,
                    .qk_nope = 128,
                    .qk_rope = 64,
                    .v_head = 128,
                    .latent_cache = true,
                    .split_kv_b = true};
  EXPECT_EQ(spec_of(read).layers[0].mixer, Mixer(mla));
  const MoeSpec moe{.n_expert = 64,
                    .n_expert_used = 6,
                    .n_ff_exp = 1408,
                    .n_ff_shared = 2816,
                    .balance_bias = true};
  EXPECT_EQ(spec_of(read).layers[0].moe, moe);
  EXPECT_THAT(read->warnings, ElementsAre());
}

// BERT's norms stand behind, under names of its own; stored tensors carry this project's names.
TEST(GgufModelTest, NamesOfTheArchitecture) {
  const auto read = model_of(header_of("bert",
                                       {{"block_count", 1},
                                        {"embedding_length", 64},
                                        {"feed_forward_length", 256},
                                        {"attention.head_count", 4}},
                                       {{"token_embd.weight", {64, 10}},
                                        {"token_types.weight", {64, 2}},
                                        {"position_embd.weight", {64, 512}},
                                        {"token_embd_norm.weight", {64}},
                                        {"token_embd_norm.bias", {64}},
                                        {"blk.0.attn_q.weight", {64, 64}},
                                        {"blk.0.attn_k.weight", {64, 64}},
                                        {"blk.0.attn_v.weight", {64, 64}},
                                        {"blk.0.attn_output.weight", {64, 64}},
                                        {"blk.0.attn_output_norm.weight", {64}},
                                        {"blk.0.attn_output_norm.bias", {64}},
                                        {"blk.0.ffn_up.weight", {64, 256}},
                                        {"blk.0.ffn_down.weight", {256, 64}},
                                        {"blk.0.layer_output_norm.weight", {64}},
                                        {"blk.0.layer_output_norm.bias", {64}}}));
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  const TransformerSpec& spec = spec_of(read);
  EXPECT_FALSE(spec.is_causal);
  EXPECT_FALSE(spec.has_head);
  EXPECT_EQ(spec.n_position, 512);
  EXPECT_EQ(spec.n_token_type, 2);
  EXPECT_EQ(spec.layers[0].norms, (LayerNorms{.before_mixer = NormKind::kNone,
                                              .after_mixer = NormKind::kScaleAndShift,
                                              .before_ffn = NormKind::kNone,
                                              .after_ffn = NormKind::kScaleAndShift}));
  EXPECT_EQ(read->model.stored[9].name, "blk.0.post_attention_norm.weight");
  EXPECT_THAT(read->warnings, ElementsAre());
}

// Layer 1 of 2 predicts the token after the next; it is no layer of the model.
TEST(GgufModelTest, DraftLayers) {
  Shapes tensors = llama_tensors();
  for (size_t i = 3; i < 12; ++i) {
    tensors.push_back({"blk.1" + tensors[i].first.substr(5), tensors[i].second});
  }
  tensors.push_back({"blk.1.nextn.eh_proj.weight", {4096, 2048}});
  Numbers keys = kLlamaKeys;
  keys[0].second = 2;
  keys.push_back({"nextn_predict_layers", 1});
  const auto read = model_of(header_of("llama", keys, tensors));
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  EXPECT_EQ(spec_of(read).layers.size(), 1u);
  ASSERT_EQ(spec_of(read).stacks.size(), 1u);
  EXPECT_EQ(spec_of(read).stacks[0].role, StackRole::kDraft);
  EXPECT_FALSE(spec_of(read).stacks[0].is_counted);
  EXPECT_EQ(spec_of(read).stacks[0].layers[0].extras[0].name, "nextn.eh_proj.weight");
  EXPECT_EQ(read->model.stored.back().name, "mtp.blk.0.nextn.eh_proj.weight");
  // Nor is it loaded: what is counted is the model, and the model file made of it says the same.
  const auto weights = quantized_weights(read->model, {});
  ASSERT_TRUE(weights.ok()) << to_string(weights.diagnostics());
  EXPECT_EQ(weights->parameters, 323491872 - 32);  // rope_freqs is a table
  EXPECT_EQ(weights->parameters, weights_inventory(read->model, DType::kF16).parameters);
  EXPECT_THAT(read->warnings, ElementsAre());
}

TEST(GgufModelTest, TensorsNobodyExplains) {
  Shapes tensors = llama_tensors();
  for (int i = 0; i < 7; ++i) tensors.push_back({"blk.0.odd_" + std::to_string(i), {10}});
  const auto read = model_of(header_of("llama", kLlamaKeys, tensors));
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  EXPECT_EQ(read->stored->elements, 323491872 + 70);
  ASSERT_EQ(read->warnings.size(), 2u);
  EXPECT_THAT(read->warnings[0],
              HasSubstr("7 tensors of the file belong to no part of the model known here "
                        "(blk.0.odd_0, blk.0.odd_1, blk.0.odd_2, blk.0.odd_3, blk.0.odd_4, ...)"));
  EXPECT_THAT(read->warnings[1],
              HasSubstr("the file holds 323491942 elements, the model as understood 323491872"));
}

TEST(GgufModelTest, VocabularyOfAnotherSize) {
  GgufHeader header = header_of("llama", kLlamaKeys, llama_tensors());
  header.keys["tokenizer.ggml.tokens"] = {
      .type = GgufType::kArray, .element_type = GgufType::kString, .count = 128000, .kept = false};
  const auto read = model_of(header);
  EXPECT_THAT(read.value().warnings,
              ElementsAre("the vocabulary has 128000 tokens, the embedding 128256 rows"));
}

TEST(GgufModelTest, UnknownArchitectureAsDense) {
  const auto read = model_of(header_of("kolibri", kLlamaKeys, llama_tensors()), true);
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  EXPECT_EQ(read->model.architecture, "kolibri");
  EXPECT_EQ(spec_of(read).layers[0].attention()->n_head_kv, 8);
  EXPECT_THAT(read->warnings,
              ElementsAre("architecture \"kolibri\" is not known here; it was read as a dense "
                          "decoder"));
  // What contradicts the keys is a warning then.
  Shapes tensors = llama_tensors();
  tensors[5].second = {2048, 1024};
  const auto odd = model_of(header_of("kolibri", kLlamaKeys, tensors), true);
  ASSERT_TRUE(odd.ok()) << to_string(odd.diagnostics());
  EXPECT_THAT(odd->warnings[1],
              "blk.0.attn_k.weight: 2048 x 1024 in the file, but the keys make "
              "it 2048 x 512");
}

}  // namespace
}  // namespace tidemark

#include "planner/engine/llama_cpp/llama_context.h"

#include <gtest/gtest.h>

#include "../../import/test_data.h"
#include "support/llamacpp_models.h"

namespace tidemark {
namespace {

using testing::at;
using testing::CsvRow;

// One attention layer; head widths and a window of choice.
ModelSpec model_with(Mixer mixer, std::string architecture = "llama") {
  TransformerSpec spec{.n_embd = 256, .n_vocab = 1000, .n_ctx_train = Tokens(300)};
  spec.layers = {{.mixer = std::move(mixer), .feed_forward = {.n_ff = 512}}};
  return {.name = "small", .architecture = std::move(architecture), .dims = spec};
}

ModelSpec heads_of(int64_t head_dim) {
  return model_with(AttentionSpec{.n_head = 4, .n_head_kv = 2, .head_dim = head_dim});
}

ModelSpec latent() {
  return model_with(
      MlaSpec{.n_head = 4, .kv_lora = 512, .qk_nope = 128, .qk_rope = 64, .v_head = 128});
}

// The batch is cut to the 1,000 that were asked for; 1000 -> 1024, 1024 / 3 = 341 -> 512.
TEST(LlamaContextTest, WorkedInTheHeader) {
  const LlamaContext made = llama_context(heads_of(64), {.n_ctx = 1000, .n_seq = 3});
  EXPECT_EQ(made.rejection, "");
  EXPECT_EQ(made.n_batch, 1000);
  EXPECT_EQ(made.n_ubatch, 512);
  EXPECT_EQ(made.n_ctx_seq, 512);
  EXPECT_EQ(made.n_ctx, 1536);
  EXPECT_EQ(made.n_stream, 3);
  EXPECT_EQ(made.n_tokens, 513);
  EXPECT_EQ(made.n_outputs, 512);  // logits of all that were asked for: n_outputs_max = n_batch
}

// 300 tokens as trained: the batch stays 300, the cache is padded to 512.
TEST(LlamaContextTest, WhatIsLeftOpenIsAsTrained) {
  const LlamaContext made =
      llama_context(heads_of(64), {.n_ubatch = 0, .n_seq = 4, .kv_unified = true});
  EXPECT_EQ(made.n_batch, 300);
  EXPECT_EQ(made.n_ubatch, 300);
  EXPECT_EQ(made.n_ctx, 512);
  EXPECT_EQ(made.n_ctx_seq, 512);
  EXPECT_EQ(made.n_stream, 1);
  EXPECT_EQ(made.n_tokens, 300);
}

// 192 = 3 x 64: K by a matrix of 64. 256 = 4 x 64: of 256. 96 and 80 are no multiples of 64.
TEST(LlamaContextTest, QuantizedCachesAreRotated) {
  const auto rotation = [](int64_t head_dim, DType k, DType v) {
    return llama_context(heads_of(head_dim), {.type_k = k, .type_v = v}).rotation;
  };
  EXPECT_EQ(rotation(192, DType::kQ8_0, DType::kQ8_0), (LlamaRotation{.k = 64, .v = 64}));
  EXPECT_EQ(rotation(256, DType::kQ8_0, DType::kF16), (LlamaRotation{.k = 256, .v = 0}));
  EXPECT_EQ(rotation(96, DType::kQ8_0, DType::kQ8_0), (LlamaRotation{}));
  EXPECT_EQ(rotation(64, DType::kF16, DType::kBf16), (LlamaRotation{}));
}

// A latent cache, 576 = 9 x 64 wide, is said to be rotated in K and is not.
TEST(LlamaContextTest, LatentCachesAreNotRotated) {
  const LlamaContext made =
      llama_context(latent(), {.type_k = DType::kQ8_0, .type_v = DType::kQ8_0});
  EXPECT_TRUE(made.says_rotated_k);
  EXPECT_FALSE(made.says_rotated_v);
  EXPECT_EQ(made.rotation, LlamaRotation{});
}

TEST(LlamaContextTest, Rejections) {
  const auto rejection = [](const ModelSpec& model, LlamaFlash flash, DType k, DType v) {
    return llama_context(model, {.flash = flash, .type_k = k, .type_v = v}).rejection;
  };
  EXPECT_EQ(rejection(heads_of(64), LlamaFlash::kOff, DType::kF16, DType::kQ8_0),
            "quantized V cache requires flash_attn to be enabled");
  EXPECT_EQ(rejection(heads_of(64), LlamaFlash::kOff, DType::kQ8_0, DType::kF16), "");
  EXPECT_EQ(rejection(latent(), LlamaFlash::kOn, DType::kQ8_0, DType::kF16),
            "model does not support different K (q8_0) and V (f16) cache types");
  EXPECT_EQ(rejection(heads_of(80), LlamaFlash::kAuto, DType::kQ8_0, DType::kF16),
            "K cache type q8_0 with block size 32 does not divide n_embd_head_k=80");
}

// Gemma-3's window counts, Mistral's and Phi-3's do not.
TEST(LlamaContextTest, SomeWindowsAreIgnored) {
  const AttentionSpec spec{.n_head = 4, .n_head_kv = 4, .head_dim = 64, .window = 512};
  const auto cells = [&](std::string architecture) {
    const ModelSpec model = as_llama_cpp_sees(model_with(spec, std::move(architecture)));
    return llama_context(model, {.n_ctx = 8192}).cells_swa;
  };
  EXPECT_EQ(cells("gemma3"), 1024);  // 512 + a batch of 512
  EXPECT_EQ(cells("llama"), 0);
  EXPECT_EQ(cells("phi3"), 0);
}

void expect_row(const ModelSpec& model, const CsvRow& row) {
  const LlamaContext made = llama_context(model, testing::settings_of(row));
  EXPECT_EQ(made.rejection, row.at("reason"));
  if (row.at("status") != "ok") return;
  EXPECT_EQ(made.n_ctx, at(row, "n_ctx"));
  EXPECT_EQ(made.n_ctx_seq, at(row, "n_ctx_seq"));
  EXPECT_EQ(made.n_batch, at(row, "n_batch"));
  EXPECT_EQ(made.n_ubatch, at(row, "n_ubatch"));
  EXPECT_EQ(made.cells_swa, at(row, "swa_cells"));
  EXPECT_EQ(made.says_rotated_k, at(row, "attn_rot_k") == 1);
  EXPECT_EQ(made.says_rotated_v, at(row, "attn_rot_v") == 1);
  const StateSizes sizes = state_sizes(model, state_options(made));
  EXPECT_EQ(sizes.kv_full.count(), at(row, "kv_full_bytes"));
  EXPECT_EQ(sizes.kv_window.count(), at(row, "kv_swa_bytes"));
  EXPECT_EQ(sizes.recurrent.count(), at(row, "rs_bytes"));
}

TEST(LlamaContextTest, EveryMeasuredRow) {
  TIDEMARK_NEED_TEST_DATA(file, "llamacpp/measured.csv");
  const auto models = testing::measured_models(file.parent_path(), "Q4_K_M");
  int checked = 0;
  for (const CsvRow& row : testing::read_csv(file)) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, testing::settings_text(row));
    expect_row(models.at(row.at("model")).model, row);
    ++checked;
  }
  EXPECT_EQ(checked, 977);
}

}  // namespace
}  // namespace tidemark

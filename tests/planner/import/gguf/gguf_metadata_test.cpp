// Models written as GGUF headers, and read again.
#include "planner/import/gguf/gguf_metadata.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include "family_specs.h"
#include "headers.h"
#include "planner/model/weights.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;

ModelSpec one_layer(LayerSpec layer) {
  return {.name = "tiny",
          .architecture = "llama",
          .dims = TransformerSpec{.n_embd = 64, .n_vocab = 100, .layers = {std::move(layer)}}};
}

AttentionSpec small_heads() { return {.n_head = 4, .n_head_kv = 2, .head_dim = 16}; }

// 40 layers of 9 tensors, the embedding and the last norm: 362. Bytes as llama.cpp reports them.
TEST(GgufMetadataTest, MiniCpm) {
  LayerSpec layer{.mixer = AttentionSpec{.n_head = 36, .n_head_kv = 36, .head_dim = 64},
                  .feed_forward = {.n_ff = 5760}};
  const ModelSpec model{.name = "MiniCPM-2B",
                        .architecture = "minicpm",
                        .dims = TransformerSpec{.n_embd = 2304,
                                                .n_vocab = 122753,
                                                .n_ctx_train = Tokens(4096),
                                                .tied_embeddings = true,
                                                .layers = std::vector<LayerSpec>(40, layer)}};
  const Result<GgufHeader> header = gguf_of_model(model, RecipeChoice{.type = FileType::kQ4KM});
  ASSERT_TRUE(header.ok()) << to_string(header.diagnostics());
  EXPECT_EQ(header->tensors.size(), 362u);
  EXPECT_EQ(header->tensors.front().name, "output_norm.weight");
  EXPECT_EQ(header->integer("minicpm.block_count"), 40);
  EXPECT_EQ(header->integer("minicpm.attention.head_count"), 36);
  EXPECT_EQ(header->integer("minicpm.context_length"), 4096);
  EXPECT_EQ(header->integer("general.file_type"), 15);
  const Result<GgufHeader> again = testing::through_bytes(*header);
  const Result<ImportedModel> read = testing::model_of(*again);
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  EXPECT_EQ(read->stored->bytes, Bytes::of(1799561826));
  EXPECT_EQ(read->stored->elements, 2724880896);
  EXPECT_EQ(read->model.dims, model.dims);
  EXPECT_EQ(read->model.stored_as.file_type, FileType::kQ4KM);
  EXPECT_EQ(read->model.dtype, DType::kQ4K);
}

// A dense layer first, then experts: the keys say how many lead, and the widths of both.
TEST(GgufMetadataTest, KeysOfExperts) {
  ModelSpec model = one_layer({.mixer = small_heads(), .feed_forward = {.n_ff = 96}});
  std::get<TransformerSpec>(model.dims)
      .layers.push_back(
          {.mixer = small_heads(),
           .moe = {.n_expert = 8, .n_expert_used = 2, .n_ff_exp = 32, .n_ff_shared = 64}});
  const Result<GgufHeader> header = gguf_of_model(model, RecipeChoice{.type = FileType::kF16});
  ASSERT_TRUE(header.ok()) << to_string(header.diagnostics());
  EXPECT_EQ(header->integer("llama.leading_dense_block_count"), 1);
  EXPECT_EQ(header->integer("llama.feed_forward_length"), 96);
  EXPECT_EQ(header->integer("llama.expert_feed_forward_length"), 32);
  EXPECT_EQ(header->integer("llama.expert_shared_count"), 2);
  EXPECT_EQ(header->find_tensor("blk.1.ffn_gate_exps.weight")->dims,
            (std::vector<int64_t>{64, 32, 8}));
}

TEST(GgufMetadataTest, TypesOfTheCaller) {
  const ModelSpec model = one_layer({.mixer = small_heads(), .feed_forward = {.n_ff = 96}});
  std::vector<DType> types(weight_tensors(model).size(), DType::kF32);
  types[0] = DType::kQ8_0;  // token_embd
  const Result<GgufHeader> header = gguf_of_model(model, types);
  ASSERT_TRUE(header.ok()) << to_string(header.diagnostics());
  EXPECT_EQ(header->find_tensor("token_embd.weight")->type_id, 8u);
  EXPECT_EQ(header->find_tensor("output.weight")->type_id, 0u);
  types[0] = DType::kGptq4G128;
  const Result<GgufHeader> refused = gguf_of_model(model, types);
  EXPECT_THAT(to_string(refused.diagnostics()),
              HasSubstr("token_embd.weight: GGUF has no tensors of gptq4_g128"));
}

TEST(GgufMetadataTest, WhatGgufCannotSayIsRefused) {
  const RecipeChoice choice{.type = FileType::kF16};
  ModelSpec unknown = one_layer({.mixer = small_heads()});
  unknown.architecture = "kolibri";
  EXPECT_THAT(to_string(gguf_of_model(unknown, choice).diagnostics()),
              HasSubstr("the GGUF keys of \"kolibri\" are not known here\n"
                        "  hint: a .safetensors holds any model\n"));
  EXPECT_THAT(to_string(gguf_of_model({.dims = LayerListSpec{}}, choice).diagnostics()),
              HasSubstr("not known here"));
  ModelSpec mixed = one_layer({.mixer = small_heads()});
  std::get<TransformerSpec>(mixed.dims)
      .layers.push_back({.mixer = AttentionSpec{.n_head = 4, .n_head_kv = 2, .head_dim = 32}});
  EXPECT_THAT(to_string(gguf_of_model(mixed, choice).diagnostics()),
              HasSubstr("llama.attention.key_length: a GGUF file has one value for all layers"));
  const ModelSpec linear = one_layer({.mixer = LinearAttentionSpec{.n_head = 2, .head_dim = 8}});
  EXPECT_THAT(to_string(gguf_of_model(linear, choice).diagnostics()),
              HasSubstr("linear attention"));
  // The files of dbrx call the norm before the feed-forward attn_output_norm; bert's use that name
  // for the norm behind attention.
  ModelSpec norms = one_layer({.mixer = small_heads(), .norms = {.after_mixer = NormKind::kScale}});
  norms.architecture = "gpt-oss";
  EXPECT_THAT(to_string(gguf_of_model(norms, choice).diagnostics()),
              HasSubstr("blk.0.post_attention_norm.weight: files of this architecture"));
}

// What was written is what is read, for any model of any architecture.
TEST(GgufMetadataTest, WhatIsWrittenIsReadAgain) {
  for (const GgufArchitecture& architecture : gguf_architectures()) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, std::string(architecture.name));
    EXPECT_TRUE(rc::check(std::string(architecture.name), [&architecture] {
      const ModelSpec model = testing::random_model(architecture);
      const Result<GgufHeader> header = gguf_of_model(model, RecipeChoice{.type = FileType::kF32});
      if (!header) RC_FAIL(to_string(header.diagnostics()));
      const Result<GgufHeader> file = testing::through_bytes(*header);
      if (!file) RC_FAIL(to_string(file.diagnostics()));
      const Result<ImportedModel> read = testing::model_of(*file);
      if (!read) RC_FAIL(to_string(read.diagnostics()));
      RC_ASSERT(read->warnings == std::vector<std::string>{});
      RC_ASSERT(read->model.architecture == model.architecture);
      RC_ASSERT(*read->model.transformer() == *model.transformer());
    }));
  }
}

}  // namespace
}  // namespace tidemark

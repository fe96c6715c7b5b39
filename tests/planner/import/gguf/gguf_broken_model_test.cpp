// Files that are no model, or whose keys and tensors do not fit each other.
#include <gmock/gmock.h>

#include "headers.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using testing::header_of;
using testing::model_of;
using ::testing::Not;
using testing::Numbers;
using testing::Shapes;

const Numbers kKeys = {{"block_count", 1},
                       {"embedding_length", 64},
                       {"feed_forward_length", 96},
                       {"attention.head_count", 4},
                       {"attention.head_count_kv", 2}};

Shapes tensors() {
  return {{"token_embd.weight", {64, 10}},     {"blk.0.attn_norm.weight", {64}},
          {"blk.0.attn_q.weight", {64, 64}},   {"blk.0.attn_k.weight", {64, 32}},
          {"blk.0.attn_v.weight", {64, 32}},   {"blk.0.attn_output.weight", {64, 64}},
          {"blk.0.ffn_norm.weight", {64}},     {"blk.0.ffn_up.weight", {64, 96}},
          {"blk.0.ffn_gate.weight", {64, 96}}, {"blk.0.ffn_down.weight", {96, 64}}};
}

std::string refusal(const GgufHeader& header) {
  const Result<ImportedModel> read = model_of(header);
  return read.ok() ? "it was read" : to_string(read.diagnostics());
}

Numbers without(const std::string& key) {
  Numbers keys = kKeys;
  std::erase_if(keys, [&](const auto& one) { return one.first == key; });
  return keys;
}

TEST(GgufBrokenModelTest, TheSoundOne) {
  EXPECT_EQ(refusal(header_of("llama", kKeys, tensors())), "it was read");
}

TEST(GgufBrokenModelTest, FilesThatAreNoModel) {
  GgufHeader header = header_of("llama", kKeys, {});
  EXPECT_EQ(refusal(header),
            "x.gguf: error: the file holds a vocabulary without tensors, not a model\n");
  header = header_of("clip", {}, tensors());
  EXPECT_THAT(refusal(header), HasSubstr("a multimodal projector, not a language model"));
  header = header_of("llama", kKeys, tensors());
  header.keys["general.type"] = testing::text_value("adapter");
  EXPECT_THAT(refusal(header), HasSubstr("an adapter, not a model"));
  header.keys["general.type"] = testing::text_value("mmproj");
  EXPECT_THAT(refusal(header), HasSubstr("a multimodal projector"));
  header.keys["general.type"] = testing::text_value("imatrix");
  EXPECT_THAT(refusal(header), HasSubstr("an importance matrix"));
}

TEST(GgufBrokenModelTest, Architectures) {
  GgufHeader header = header_of("lama", kKeys, tensors());
  EXPECT_EQ(refusal(header),
            "x.gguf: error: general.architecture: architecture \"lama\" is not known here; the "
            "nearest are llama, jamba, lfm2\n"
            "  hint: --assume-dense reads it as a dense decoder\n");
  header.keys.erase("general.architecture");
  EXPECT_EQ(refusal(header), "x.gguf: error: general.architecture: the file lacks this key\n");
}

TEST(GgufBrokenModelTest, MissingKeys) {
  for (const auto* key : {"block_count", "embedding_length", "attention.head_count"}) {
    EXPECT_THAT(refusal(header_of("llama", without(key), tensors())),
                HasSubstr("llama." + std::string(key) + ": the file lacks this key"));
  }
  Shapes experts = tensors();
  experts.push_back({"blk.0.ffn_gate_inp.weight", {64, 8}});
  experts.push_back({"blk.0.ffn_down_exps.weight", {96, 64, 8}});
  const std::string text = refusal(header_of("llama", kKeys, experts));
  EXPECT_THAT(text, HasSubstr("llama.expert_count: the file lacks this key"));
  EXPECT_THAT(text, HasSubstr("llama.expert_used_count: the file lacks this key"));
}

TEST(GgufBrokenModelTest, KeysOutOfRange) {
  GgufHeader header = header_of("llama", kKeys, tensors());
  header.keys["llama.embedding_length"] = {.elements = {int64_t{-1}}, .file_offset = 77};
  EXPECT_THAT(refusal(header), HasSubstr("llama.embedding_length: byte 77: -1 is out of range"));
  header.keys["llama.embedding_length"] = {.elements = {int64_t{1} << 32}};
  EXPECT_THAT(refusal(header), HasSubstr("4294967296 is out of range"));
  header.keys["llama.embedding_length"] = testing::text_value("64");
  EXPECT_THAT(refusal(header), HasSubstr("must be one integer"));
  header = header_of("llama", kKeys, tensors());
  header.keys["llama.block_count"] = testing::number_value(1'000'000'000);
  EXPECT_THAT(refusal(header), HasSubstr("1000000000 layers in 10 tensors"));
  header = header_of("llama", kKeys, tensors());
  header.keys["llama.attention.head_count_kv"] = {.type = GgufType::kArray, .count = 0};
  EXPECT_THAT(refusal(header), HasSubstr("must be an array of 1 integers, one a layer"));
}

TEST(GgufBrokenModelTest, ContradictionsBetweenKeysAndTensors) {
  Shapes shapes = tensors();
  shapes[3].second = {64, 16};
  EXPECT_EQ(refusal(header_of("llama", kKeys, shapes)),
            "x.gguf: error: blk.0.attn_k.weight: 64 x 16 in the file, but the keys make it 64 x "
            "32\n");
  shapes.erase(shapes.begin() + 4);
  EXPECT_THAT(refusal(header_of("llama", kKeys, shapes)),
              HasSubstr("blk.0.attn_v.weight: the file lacks this tensor"));
  shapes.erase(shapes.begin());
  EXPECT_THAT(refusal(header_of("llama", kKeys, shapes)),
              HasSubstr("token_embd.weight: the file lacks this tensor"));
}

// Eight are named, the others counted.
TEST(GgufBrokenModelTest, ManyContradictions) {
  Numbers keys = kKeys;
  keys[0].second = 12;
  Shapes shapes = tensors();
  shapes.resize(1);
  for (int i = 0; i < 12; ++i) {
    for (const auto& [name, dims] : tensors()) {
      if (name == "token_embd.weight") continue;
      shapes.push_back({"blk." + std::to_string(i) + name.substr(5), dims});
      if (name == "blk.0.attn_k.weight") shapes.back().second = {64, 16};
    }
  }
  const std::string text = refusal(header_of("llama", keys, shapes));
  EXPECT_THAT(text, HasSubstr("blk.7.attn_k.weight"));
  EXPECT_THAT(text, Not(HasSubstr("blk.8.attn_k.weight")));
  EXPECT_THAT(text, HasSubstr("4 more tensors contradict the keys"));
}

TEST(GgufBrokenModelTest, MoreExpertsUsedThanThereAre) {
  Numbers keys = kKeys;
  keys.push_back({"expert_count", 2});
  keys.push_back({"expert_used_count", 3});
  Shapes experts = tensors();
  experts.push_back({"blk.0.ffn_down_exps.weight", {96, 64, 2}});
  EXPECT_THAT(refusal(header_of("llama", keys, experts)),
              HasSubstr("llama.expert_used_count: byte 0: more experts are used than there are"));
}

}  // namespace
}  // namespace tidemark

// Files that others wrote. They are too large or not ours to ship; each test looks for its own in
// the folder TIDEMARK_TEST_DATA names and is skipped without.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "byte_text.h"
#include "planner/import/ggml_types.h"
#include "planner/import/safetensors_index.h"
#include "support/golden.h"
#include "test_data.h"

namespace tidemark {
namespace {

using namespace literals;

int64_t elements_of(const SafetensorsHeader& header) {
  int64_t count = 0;
  for (const SafetensorsTensor& tensor : header.tensors) count += element_count(tensor.shape);
  return count;
}

// A file of tests/golden's kind, from another writer: for each model NAME.gguf beside NAME.txt,
// which has a line "name 4096x32 Q4_K bytes" for each tensor, in the order of the file.
TEST(RealFilesTest, TablesOfAnIndependentWriter) {
  TIDEMARK_NEED_TEST_DATA(folder, "make_gguf");
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".txt") continue;
    SCOPED_TRACE(entry.path().stem().string());
    std::filesystem::path path = entry.path();
    const Result<GgufHeader> read = read_gguf(path.replace_extension(".gguf"));
    ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
    std::ostringstream lines;
    for (const GgufTensor& tensor : read->tensors) {
      lines << tensor.name << ' ';
      for (size_t i = 0; i < tensor.dims.size(); ++i) lines << (i > 0 ? "x" : "") << tensor.dims[i];
      lines << ' ' << find_ggml_type(tensor.type_id)->name << ' ' << tensor.bytes.count() << '\n';
    }
    EXPECT_EQ(lines.str(), testing::slurp(entry.path()));
    ++files;
  }
  EXPECT_GT(files, 0);
}

// Vocabularies that ship with llama.cpp (ggerganov/llama.cpp @c392e50, models/): the tokens by the
// vocabularies' published sizes.
TEST(RealFilesTest, VocabulariesOfLlamaCpp) {
  struct Row {
    const char* name;
    const char* architecture;
    int64_t tokens;
  };
  constexpr Row kRows[] = {{"llama-spm", "llama", 32000},     {"gpt-2", "gpt2", 50257},
                           {"bert-bge", "bert", 30522},       {"falcon", "falcon", 65024},
                           {"phi-3", "phi3", 32064},          {"deepseek-llm", "llama", 102400},
                           {"starcoder", "starcoder2", 49152}};
  TIDEMARK_NEED_TEST_DATA(folder, "real/ggml-vocab-llama-spm.gguf");
  for (const Row& row : kRows) {
    const std::string file = "ggml-vocab-" + std::string(row.name) + ".gguf";
    const Result<GgufHeader> read = read_gguf(folder.parent_path() / file);
    ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
    EXPECT_EQ(read->version, 3) << row.name;
    EXPECT_EQ(read->text("general.architecture"), row.architecture);
    EXPECT_EQ(read->array_count("tokenizer.ggml.tokens"), row.tokens) << row.name;
    EXPECT_TRUE(read->tensors.empty()) << row.name;
    // Header only: it ends where the file does, but for the padding.
    EXPECT_EQ(read->data_offset(), align_up(read->parts.front().file_bytes, read->alignment));
  }
}

// IREE's test file repeats general.architecture, which the format forbids. With one of the two
// renamed it is a file with two tensors: 10 x 30 of weights and 30 of bias, twice, as in its twin.
TEST(RealFilesTest, AFileAndItsSafetensorsTwin) {
  TIDEMARK_NEED_TEST_DATA(gguf, "real/parameter_weight_bias_1.gguf");
  TIDEMARK_NEED_TEST_DATA(twin, "real/parameter_weight_bias_1.safetensors");
  EXPECT_EQ(to_string(read_gguf(gguf).diagnostics()),
            gguf.string() + ": error: general.architecture: byte 71: the key appears twice\n");
  std::string bytes = testing::slurp(gguf);
  bytes[bytes.find("general.architecture")] = 'G';
  const Result<GgufHeader> first = testing::parse_gguf(bytes);
  ASSERT_TRUE(first.ok()) << to_string(first.diagnostics());
  const Result<SafetensorsHeader> second = read_safetensors(twin);
  ASSERT_TRUE(second.ok()) << to_string(second.diagnostics());
  EXPECT_EQ(first->alignment, Alignment::of(64));
  ASSERT_EQ(first->tensors.size(), second->tensors.size());
  for (const SafetensorsTensor& tensor : second->tensors) {
    const GgufTensor* same = first->find_tensor(tensor.name);
    ASSERT_NE(same, nullptr) << tensor.name;
    // The same data, byte for byte, where the two headers say it is.
    const auto at = [](const std::string& file, Bytes data, Bytes offset, Bytes size) {
      return file.substr(static_cast<size_t>((data + offset).count()),
                         static_cast<size_t>(size.count()));
    };
    EXPECT_EQ(at(bytes, first->data_offset(), same->offset, same->bytes),
              at(testing::slurp(twin), second->data_offset(), tensor.begin, tensor.bytes()));
    EXPECT_EQ(std::vector<int64_t>(same->dims.rbegin(), same->dims.rend()), tensor.shape);
  }
}

TEST(RealFilesTest, SileroVad) {
  TIDEMARK_NEED_TEST_DATA(path, "real/silero_vad_16k.safetensors");
  const Result<SafetensorsHeader> read = read_safetensors(path);
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  EXPECT_EQ(read->tensors.size(), 15U);
  EXPECT_EQ(elements_of(*read), 309'633);
  EXPECT_EQ(read->find_tensor("stft_conv.weight")->shape, (std::vector<int64_t>{258, 1, 256}));
}

// 46,282 elements in float32, as its README says: 185,128 B.
TEST(RealFilesTest, TinyRandomPhi) {
  TIDEMARK_NEED_TEST_DATA(path, "hf_configs/tiny-random-phi-model/model.safetensors");
  const Result<SafetensorsHeader> read = read_safetensors(path);
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  EXPECT_EQ(elements_of(*read), 46'282);
  EXPECT_EQ(read->parts.front().file_bytes - read->data_offset(), 185'128_B);
  EXPECT_EQ(read->metadata.at("format"), "pt");
}

// Indices as published; Llama 3.2 3B has a shard for each of its 254 tensors there.
TEST(RealFilesTest, PublishedIndices) {
  struct Row {
    const char* file;
    size_t tensors;
    size_t shards;
    int64_t total;
  };
  constexpr Row kRows[] = {
      {"llama-3.2-3b/model.safetensors.index.json", 254, 254, 6'425'499'648},
      {"bloom-176b/pytorch_model.bin.index.json", 845, 72, 352'494'542'848},
      {"falcon-180b-chat/model.safetensors.index.json", 644, 81, 359'045'130'240},
      {"qwen3-14b-mlx-4bit/model.safetensors.index.json", 1007, 2, 8'307'783'680}};
  TIDEMARK_NEED_TEST_DATA(folder, "hf_configs");
  for (const Row& row : kRows) {
    const Result<CheckpointIndex> index = read_checkpoint_index(folder / row.file);
    ASSERT_TRUE(index.ok()) << to_string(index.diagnostics());
    EXPECT_EQ(index->weight_map.size(), row.tensors) << row.file;
    EXPECT_EQ(index->shards().size(), row.shards) << row.file;
    EXPECT_EQ(index->total_size, Bytes::of(row.total)) << row.file;
    EXPECT_EQ(missing_shards(*index, folder), index->shards()) << row.file;
  }
}

}  // namespace
}  // namespace tidemark

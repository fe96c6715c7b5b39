#include "sim/quant/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "planner/base/check.h"
#include "support/golden.h"
#include "weights_file.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using testing::f32_entry;
using ::testing::HasSubstr;

// All values of a tensor, read `at_once` rows at a time.
std::vector<float> values_of(const TensorFile& file, const FileTensor& tensor, int64_t at_once) {
  RowReader reader(file);
  std::vector<float> all;
  for (int64_t row = 0; row < tensor.rows(); row += at_once) {
    const int64_t rows = std::min(at_once, tensor.rows() - row);
    std::vector<float> values(static_cast<size_t>(rows * tensor.columns()));
    EXPECT_EQ(reader.read(tensor, row, values), std::nullopt);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

// 1.5, -2 and 0.25 are exact in every type.
TEST(TensorFileTest, ReadsSafetensorsOfEveryFloatType) {
  const testing::TemporaryFolder folder;
  const std::vector<float> values{1.5F, -2.0F, 0.25F, 0.0F, -0.25F, 3.0F};
  testing::write_safetensors_file(
      folder.path() / "m.safetensors",
      {f32_entry("a", {2, 3}, values),
       {.name = "b", .type = "F16", .shape = {3, 2}, .data = testing::f16_bytes(values)},
       {.name = "c", .type = "BF16", .shape = {1, 2, 3}, .data = testing::bf16_bytes(values)}});
  const Result<TensorFile> file = read_tensor_file(folder.path() / "m.safetensors");
  ASSERT_TRUE(file.ok()) << to_string(file.diagnostics());
  EXPECT_EQ(file->format, "safetensors");
  ASSERT_EQ(file->tensors.size(), 3U);
  EXPECT_EQ(file->tensors[1].type, "F16");
  EXPECT_EQ(file->tensors[1].columns(), 2);
  EXPECT_EQ(file->tensors[2].rows(), 2);
  for (const FileTensor& tensor : file->tensors) {
    EXPECT_EQ(values_of(*file, tensor, 1), values) << tensor.name;
    EXPECT_EQ(values_of(*file, tensor, 2), values) << tensor.name;
  }
}

// A block of Q8_0 is fp16 d and 32 int8: d = 0.5 (0x3800), q = 0 to 31. One of Q4_0 holds value i
// in the low nibble of byte i: 8 + 1 there and 8 - 2 in the high one give 1 and -2 times d.
TEST(TensorFileTest, ReadsGgufWithItsBlocks) {
  const testing::TemporaryFolder folder;
  std::string q8("\x00\x38", 2);
  for (char i = 0; i < 32; ++i) q8 += i;
  const std::string q4 = std::string("\x00\x38", 2) + std::string(16, '\x69');
  testing::write_gguf_file(folder.path() / "m.gguf",
                           {{.name = "one", .type = "Q8_0", .shape = {2, 32}, .data = q8 + q8},
                            {.name = "two", .type = "Q4_0", .shape = {2, 32}, .data = q4 + q4},
                            f32_entry("three", {2, 2}, {1, 2, 3, 4})});
  const Result<TensorFile> file = read_tensor_file(folder.path() / "m.gguf");
  ASSERT_TRUE(file.ok()) << to_string(file.diagnostics());
  EXPECT_EQ(file->format, "GGUF v3");
  EXPECT_THAT(file->tensors[0].shape, ElementsAre(2, 32));
  const std::vector<float> one = values_of(*file, file->tensors[0], 1);
  EXPECT_EQ(one[5], 2.5F);
  EXPECT_EQ(one[63], 15.5F);
  const std::vector<float> two = values_of(*file, file->tensors[1], 2);
  EXPECT_EQ(two[0], 0.5F);
  EXPECT_EQ(two[16], -1.0F);
  EXPECT_THAT(values_of(*file, file->tensors[2], 2), ElementsAre(1, 2, 3, 4));
}

// 0x7E00 is an fp16 NaN, 0x7C00 infinity. Only the values of that block are none: of a row of two
// blocks, the second.
TEST(TensorFileTest, ABlockWithoutAScaleHoldsNoNumbers) {
  const testing::TemporaryFolder folder;
  const std::string q8 = std::string("\x00\x38", 2) + std::string(32, '\x02');
  const std::string q4 = std::string("\x00\x38", 2) + std::string(16, '\x69');
  const std::string broken8 = std::string("\x00\x7E", 2) + std::string(32, '\x02');
  const std::string broken4 = std::string("\x00\x7C", 2) + std::string(16, '\x69');
  testing::write_gguf_file(
      folder.path() / "m.gguf",
      {{.name = "one", .type = "Q8_0", .shape = {1, 64}, .data = q8 + broken8},
       {.name = "two", .type = "Q4_0", .shape = {1, 64}, .data = q4 + broken4}});
  const Result<TensorFile> file = read_tensor_file(folder.path() / "m.gguf");
  ASSERT_TRUE(file.ok()) << to_string(file.diagnostics());
  for (const FileTensor& tensor : file->tensors) {
    const std::vector<float> values = values_of(*file, tensor, 1);
    for (size_t i = 0; i < 64; ++i) EXPECT_EQ(std::isnan(values[i]), i >= 32) << tensor.name << i;
  }
}

TEST(TensorFileTest, ReadsShardsByTheirIndexOrTheirFolder) {
  const testing::TemporaryFolder folder;
  testing::write_safetensors_file(folder.path() / "m-1.safetensors",
                                  {f32_entry("a", {2, 2}, {1, 2, 3, 4})});
  testing::write_safetensors_file(folder.path() / "m-2.safetensors",
                                  {f32_entry("b", {2, 2}, {5, 6, 7, 8})});
  testing::write_bytes(folder.path() / "model.safetensors.index.json",
                       R"({"weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}})");
  for (const auto& path : {folder.path(), folder.path() / "model.safetensors.index.json"}) {
    const Result<TensorFile> file = read_tensor_file(path);
    ASSERT_TRUE(file.ok()) << to_string(file.diagnostics());
    EXPECT_EQ(file->parts.size(), 2U);
    RowReader reader(*file);  // from one shard to the other and back
    std::vector<float> row(2);
    EXPECT_EQ(reader.read(file->tensors[0], 1, row), std::nullopt);
    EXPECT_THAT(row, ElementsAre(3, 4));
    EXPECT_EQ(reader.read(file->tensors[1], 0, row), std::nullopt);
    EXPECT_THAT(row, ElementsAre(5, 6));
    EXPECT_EQ(reader.read(file->tensors[0], 0, row), std::nullopt);
    EXPECT_THAT(row, ElementsAre(1, 2));
  }
}

TEST(TensorFileTest, SaysWhatItCannotRead) {
  const testing::TemporaryFolder folder;
  const auto problem = [&](const std::filesystem::path& path) {
    return to_string(read_tensor_file(path).diagnostics());
  };
  EXPECT_THAT(problem(folder.path()), HasSubstr("no model.safetensors and no index of one"));
  EXPECT_THAT(problem(folder.path() / "m.bin"),
              HasSubstr("m.bin: error: cannot open: no such file"));
  testing::write_bytes(folder.path() / "m.bin", "x");
  EXPECT_THAT(problem(folder.path() / "m.bin"), HasSubstr("its ending says no format"));
  EXPECT_THAT(problem(""), HasSubstr("\"\" names no file"));
  EXPECT_THAT(problem(folder.path() / "m.safetensors"), HasSubstr("no such file"));
  testing::write_bytes(folder.path() / "m.gguf", "GGUF");
  EXPECT_THAT(problem(folder.path() / "m.gguf"), HasSubstr("m.gguf: error: "));
}

TEST(TensorFileTest, AFileThatWasCutOffAfterItsHeaderWasRead) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "m.safetensors";
  testing::write_safetensors_file(path, {f32_entry("a", {2, 2}, {1, 2, 3, 4})});
  const Result<TensorFile> file = read_tensor_file(path);
  ASSERT_TRUE(file.ok());
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  RowReader reader(*file);
  std::vector<float> row(2);
  EXPECT_EQ(reader.read(file->tensors[0], 0, row), std::nullopt);
  const auto failure = reader.read(file->tensors[0], 1, row);
  ASSERT_TRUE(failure.has_value());
  EXPECT_THAT(to_string(*failure), HasSubstr("error: a: byte "));
  EXPECT_THAT(to_string(*failure), HasSubstr("cannot read the values"));
  EXPECT_THROW(reader.read(file->tensors[0], 2, row), InternalError);
}

struct Kept {
  const char* name;
  std::vector<int64_t> shape;
  StoredValues values;
  const char* reason;  // empty: quantized
};

TEST(TensorFileTest, WhatIsQuantizedAndWhatIsKept) {
  constexpr const char* kByName = "norms, routers, positions and the like, by their names";
  const std::vector<Kept> rows{
      {"model.layers.0.self_attn.q_proj.weight", {64, 64}, StoredValues::kBf16, ""},
      {"lm_head.weight", {64, 64}, StoredValues::kF32, ""},
      {"model.layers.0.mlp.experts.gate_up_proj", {4, 64, 64}, StoredValues::kF16, ""},
      {"blk.0.attn_q.weight", {64, 64}, StoredValues::kQ8_0, ""},
      {"model.norm.weight", {64}, StoredValues::kBf16, "vectors"},
      {"model.layers.0.mlp.shared_expert_gate.weight", {1, 64}, StoredValues::kBf16, "vectors"},
      {"x.A_log", {64, 1}, StoredValues::kF32, "vectors"},
      {"scalar", {}, StoredValues::kF32, "vectors"},
      {"empty", {4, 0}, StoredValues::kF32, "without values"},
      {"empty", {int64_t{1} << 62, int64_t{1} << 62, 0}, StoredValues::kF32, "without values"},
      {"model.layers.0.mlp.gate.weight", {8, 64}, StoredValues::kBf16, kByName},
      {"model.layers.0.mlp.router.weight", {8, 64}, StoredValues::kBf16, kByName},
      {"blk.0.ffn_gate_inp.weight", {8, 64}, StoredValues::kF32, kByName},
      {"wpe.weight", {64, 64}, StoredValues::kF32, kByName},
      {"bert.embeddings.position_embeddings.weight", {9, 64}, StoredValues::kF32, kByName},
      {"layers.0.experts.gate_up_proj_bias", {8, 64}, StoredValues::kBf16, kByName},
      {"ids", {8, 64}, StoredValues::kOther, "type I64"},
      {"long.weight",
       {2, kLongestRow + 1},
       StoredValues::kF32,
       "rows of more than 16,777,216 values"},
  };
  for (const Kept& row : rows) {
    const FileTensor tensor{
        .name = row.name, .shape = row.shape, .type = "I64", .values = row.values};
    EXPECT_EQ(why_kept(tensor).value_or(""), row.reason) << row.name;
  }
}

}  // namespace
}  // namespace tidemark

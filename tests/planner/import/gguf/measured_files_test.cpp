// 497 files of 21 models as llama.cpp loaded them: parameters, bytes, and how many tensors of which
// type, from headers of our own.
#include <gtest/gtest.h>

#include "../test_data.h"
#include "headers.h"
#include "planner/import/ggml_types.h"
#include "planner/import/gguf/gguf_metadata.h"
#include "planner/model/weights.h"
#include "support/gguf_tensors.h"
#include "support/llamacpp_data.h"

namespace tidemark {
namespace {

using testing::CsvRow;

// As the table writes it: "F32:61 Q4_K:16".
std::string type_counts(const GgufHeader& header) {
  std::map<std::string, int64_t> counts;
  for (const GgufTensor& tensor : header.tensors) {
    ++counts[std::string(find_ggml_type(tensor.type_id)->name)];
  }
  std::string listed;
  for (const auto& [name, count] : counts) {
    listed += (listed.empty() ? "" : " ") + name + ":" + std::to_string(count);
  }
  return listed;
}

// The model's tensors in memory, each padded to 32 bytes.
Bytes buffer_bytes(const GgufHeader& header) {
  Bytes bytes{};
  for (const GgufTensor& tensor : header.tensors) {
    bytes += align_up(tensor.bytes, Alignment::of(32));
  }
  return bytes;
}

void expect_row(const GgufHeader& header, const CsvRow& row) {
  const Result<ImportedModel> read = testing::model_of(header);
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  EXPECT_EQ(read->warnings, std::vector<std::string>{});
  EXPECT_EQ(std::to_string(read->stored->elements), row.at("n_params"));
  EXPECT_EQ(std::to_string(read->stored->bytes.count()), row.at("tensor_bytes"));
  EXPECT_EQ(std::to_string(buffer_bytes(header).count()), row.at("model_buffer_bytes"));
  EXPECT_EQ(type_counts(header), row.at("type_counts"));
  EXPECT_EQ(std::to_string(read->model.stored.size()), row.at("n_tensors"));
  Bytes bytes{};
  for (const StoredTensor& tensor : read->model.stored) {
    bytes += matrix_bytes(tensor.dtype, tensor.columns, tensor.rows) * tensor.count;
  }
  EXPECT_EQ(bytes, read->stored->bytes);
}

// Dimensions -> our header -> bytes -> read again.
TEST(MeasuredFilesTest, EveryFileFromOurOwnHeaders) {
  TIDEMARK_NEED_TEST_DATA(folder, "llamacpp/weights.csv");
  const auto yaml = testing::read_yaml_models(folder.parent_path() / "models.yaml");
  std::map<std::string, ModelSpec> models;
  int checked = 0;
  for (const CsvRow& row : testing::read_csv(folder)) {
    const std::string& name = row.at("model");
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, name + " " + row.at("ftype"));
    if (!models.contains(name)) {
      const auto read = testing::model_of(testing::converted_header(name, yaml.at(name)));
      ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
      models.emplace(name, read->model);
    }
    const Result<GgufHeader> header = gguf_of_model(
        models.at(name), RecipeChoice{.type = parse_file_type(row.at("ftype")).value()});
    ASSERT_TRUE(header.ok()) << to_string(header.diagnostics());
    const Result<GgufHeader> again = testing::through_bytes(*header);
    ASSERT_TRUE(again.ok()) << to_string(again.diagnostics());
    expect_row(*again, row);
    ++checked;
  }
  EXPECT_EQ(checked, 497);
}

// Files of another writer, when someone has put them there: made_gguf/MODEL.FTYPE.gguf.
TEST(MeasuredFilesTest, FilesOfAnotherWriter) {
  TIDEMARK_NEED_TEST_DATA(folder, "made_gguf");
  TIDEMARK_NEED_TEST_DATA(table, "llamacpp/weights.csv");
  int checked = 0;
  for (const CsvRow& row : testing::read_csv(table)) {
    const auto path = folder / (row.at("model") + "." + row.at("ftype") + ".gguf");
    if (!std::filesystem::exists(path)) continue;
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, path.filename().string());
    const Result<GgufHeader> header = read_gguf(path);
    ASSERT_TRUE(header.ok()) << to_string(header.diagnostics());
    expect_row(*header, row);
    const Result<ImportedModel> read = read_gguf_model(path, {});
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(
        std::to_string(parameter_count(read->model)),
        std::to_string(read->stored->elements - testing::gguf_model(row.at("model")).rope_freqs -
                       2 * testing::gguf_model(row.at("model")).rope_factors));
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

}  // namespace
}  // namespace tidemark

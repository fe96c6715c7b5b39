// Types and sizes of whole files against what llama.cpp reported for them: 21 models, up to 24 file
// types each. The table lies outside the source tree: TIDEMARK_TEST_DATA
// names the folder that holds llamacpp/weights.csv.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "planner/model/gguf_recipe.h"
#include "support/gguf_tensors.h"

namespace tidemark {
namespace {

using testing::gguf_model;
using testing::gguf_tensors;
using testing::GgufTensor;
using testing::recipe_model;
using testing::recipe_tensors;

using Row = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& line, char sign) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, sign);) cells.push_back(cell);
  return cells;
}

std::vector<Row> read_table(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> columns = split(line, ',');
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = split(line, ',');
    Row row;
    for (size_t i = 0; i < cells.size() && i < columns.size(); ++i) row[columns[i]] = cells[i];
    rows.push_back(row);
  }
  return rows;
}

// What the row says, from our own tensors and types.
Row predicted(const Row& measured) {
  const std::vector<GgufTensor> tensors = gguf_tensors(gguf_model(measured.at("model")));
  const auto types =
      choose_types(recipe_model(gguf_model(measured.at("model"))), recipe_tensors(tensors),
                   {.type = parse_file_type(measured.at("ftype")).value()});
  if (!types) return {{"refused", to_string(types.diagnostics())}};
  std::map<std::string, int64_t> counts;
  int64_t parameters = 0;
  Bytes bytes{};
  for (size_t i = 0; i < tensors.size(); ++i) {
    const GgufTensor& tensor = tensors[i];
    std::string name(name_of((*types)[i]));
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    ++counts[name];
    parameters += tensor.columns * tensor.rows * tensor.count;
    bytes += matrix_bytes((*types)[i], tensor.columns, tensor.rows) * tensor.count;
  }
  std::string listed;
  for (const auto& [name, count] : counts) {
    listed += (listed.empty() ? "" : " ") + name + ":" + std::to_string(count);
  }
  return {{"n_tensors", std::to_string(tensors.size())},
          {"n_params", std::to_string(parameters)},
          {"tensor_bytes", std::to_string(bytes.count())},
          {"type_counts", listed}};
}

TEST(GgufWeightsTest, EveryMeasuredFile) {
  const char* folder = std::getenv("TIDEMARK_TEST_DATA");
  if (folder == nullptr) GTEST_SKIP() << "TIDEMARK_TEST_DATA is not set";
  const auto path = std::filesystem::path(folder) / "llamacpp" / "weights.csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is missing";
  const std::vector<Row> rows = read_table(path);
  ASSERT_GT(rows.size(), 400u);
  for (const Row& row : rows) {
    for (const auto& [column, value] : predicted(row)) {
      EXPECT_EQ(value, row.contains(column) ? row.at(column) : "")
          << row.at("model") << " " << row.at("ftype") << " " << column;
    }
  }
}

// A few of the same rows, so that something is checked without the table.
TEST(GgufWeightsTest, MeasuredFilesByHeart) {
  const Row rows[] = {
      {{"model", "minicpm-2b"},
       {"ftype", "F16"},
       {"tensor_bytes", "5450135040"},
       {"type_counts", "F16:281 F32:81"}},
      {{"model", "minicpm-2b"},
       {"ftype", "Q8_0"},
       {"tensor_bytes", "2895734160"},
       {"type_counts", "F32:81 Q8_0:281"}},
      {{"model", "smollm2-135m"},
       {"ftype", "Q4_K_M"},
       {"tensor_bytes", "103668480"},
       {"type_counts", "F32:61 Q4_K:16 Q5_0:166 Q6_K:14 Q8_0:15"}},
      {{"model", "qwen2.5-0.5b"},
       {"ftype", "Q2_K"},
       {"tensor_bytes", "332659200"},
       {"type_counts", "F32:121 Q3_K:24 Q4_0:120 Q5_0:24 Q8_0:1"}},
      {{"model", "qwen3-30b-a3b"},
       {"ftype", "MXFP4_MOE"},
       {"tensor_bytes", "17076477952"},
       {"type_counts", "F32:241 MXFP4:144 Q8_0:194"}},
      {{"model", "deepseek-v2-lite"},
       {"ftype", "Q4_K_M"},
       {"tensor_bytes", "10363959296"},
       {"type_counts", "F32:108 Q4_K:229 Q5_0:41 Q6_K:13 Q8_0:13"}},
      {{"model", "mamba-130m"},
       {"ftype", "Q4_K_M"},
       {"tensor_bytes", "88118256"},
       {"type_counts", "F16:24 F32:145 Q4_K:72 Q6_K:1"}},
      {{"model", "granite-4.0-h-micro"},
       {"ftype", "Q5_K_M"},
       {"tensor_bytes", "2269879296"},
       {"type_counts", "F32:297 Q5_K:186 Q6_K:23"}},
      {{"model", "minicpm3-4b"},
       {"ftype", "Q3_K_M"},
       {"tensor_bytes", "2031452320"},
       {"type_counts", "F32:251 Q3_K:310 Q4_K:181 Q5_K:5 Q6_K:1"}},
  };
  for (const Row& row : rows) {
    const Row ours = predicted(row);
    EXPECT_EQ(ours.at("tensor_bytes"), row.at("tensor_bytes"));
    EXPECT_EQ(ours.at("type_counts"), row.at("type_counts"));
  }
}

}  // namespace
}  // namespace tidemark

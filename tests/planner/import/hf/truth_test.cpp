// Published parameter totals of real models against their config.json.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "../test_data.h"
#include "planner/import/hf/hf_config.h"
#include "planner/model/weights.h"

namespace tidemark {
namespace {

// One line of a CSV file with quotes and no line breaks in a field.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

using Row = std::map<std::string, std::string>;

std::vector<Row> rows_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> names = fields_of(line);
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> fields = fields_of(line);
    Row row;
    for (size_t i = 0; i < names.size() && i < fields.size(); ++i) row[names[i]] = fields[i];
    rows.push_back(row);
  }
  return rows;
}

TEST(HfTruthTest, EveryPublishedTotalIsExact) {
  TIDEMARK_NEED_TEST_DATA(folder, "hf_configs");
  const std::vector<Row> rows = rows_of(folder / "truth.csv");
  ASSERT_EQ(rows.size(), 95U);
  for (const Row& row : rows) {
    const Result<ImportedModel> model = read_hf_config(folder / row.at("name"), {});
    ASSERT_TRUE(model.ok()) << row.at("name") << "\n" << to_string(model.diagnostics());
    int64_t expected = std::stoll(row.at("total_params"));
    // The hub counts what the files hold: the tied head once more.
    if (row.at("name") == "gemma-4-26b-a4b") expected -= int64_t{262144} * 2816;
    EXPECT_EQ(parameter_count(model->model), expected)
        << row.at("name") << ", off by " << parameter_count(model->model) - expected << ", "
        << row.at("check");
  }
}

// Their keys name no model, so the three other spellings have a table of their own.
TEST(HfTruthTest, EveryOtherSpellingIsExact) {
  TIDEMARK_NEED_TEST_DATA(folder, "hf_configs");
  const std::vector<Row> rows = rows_of(folder / "_other_formats/truth_other.csv");
  ASSERT_EQ(rows.size(), 10U);
  for (const Row& row : rows) {
    const Result<ImportedModel> model = read_hf_config(folder / row.at("file"), {});
    ASSERT_TRUE(model.ok()) << row.at("file") << "\n" << to_string(model.diagnostics());
    EXPECT_EQ(std::to_string(parameter_count(model->model)), row.at("total_params"))
        << row.at("file");
  }
}

TEST(HfTruthTest, EveryStatedSizeIsExact) {
  TIDEMARK_NEED_TEST_DATA(folder, "hf_configs");
  int64_t n_stated = 0;
  for (const Row& row : rows_of(folder / "truth.csv")) {
    if (row.at("safetensors_total_size").empty()) continue;
    ++n_stated;
    const Result<ImportedModel> model = read_hf_config(folder / row.at("name"), {});
    ASSERT_TRUE(model.ok()) << row.at("name") << "\n" << to_string(model.diagnostics());
    ASSERT_TRUE(model->stored.has_value()) << row.at("name");
    EXPECT_EQ(std::to_string(model->stored->bytes.count()), row.at("safetensors_total_size"))
        << row.at("name");
    EXPECT_EQ(model->stored->stated_bytes, model->stored->bytes) << row.at("name");
    EXPECT_TRUE(model->warnings.empty()) << row.at("name") << ": " << model->warnings.front();
    if (row.at("stored_elements").empty()) continue;
    EXPECT_EQ(std::to_string(model->stored->elements), row.at("stored_elements")) << row.at("name");
  }
  EXPECT_EQ(n_stated, 24);
}

}  // namespace
}  // namespace tidemark

// KV cache and recurrent state of 953 contexts of 21 models, as llama.cpp allocated them.
#include <gtest/gtest.h>

#include "../test_data.h"
#include "headers.h"
#include "planner/model/state.h"
#include "support/llamacpp_data.h"

namespace tidemark {
namespace {

using testing::ContextRequest;
using testing::ContextShape;
using testing::CsvRow;

int64_t at(const CsvRow& row, const std::string& column) {
  const std::string& cell = row.at(column);
  return cell.empty() ? 0 : std::stoll(cell);
}

ContextShape shape_of(const CsvRow& row, int64_t n_ctx_train) {
  return testing::rounded_context({.n_ctx = at(row, "n_ctx_arg"),
                                   .n_ctx_train = n_ctx_train,
                                   .n_batch = at(row, "n_batch_arg"),
                                   .n_ubatch = at(row, "n_ubatch_arg"),
                                   .n_seq = at(row, "n_seq"),
                                   .unified = at(row, "kv_unified") == 1});
}

void expect_state(const ModelSpec& model, const CsvRow& row) {
  const ContextShape shape = shape_of(row, model.transformer()->n_ctx_train.count());
  EXPECT_EQ(shape, (ContextShape{at(row, "n_ctx"), at(row, "n_ctx_seq"), at(row, "n_batch"),
                                 at(row, "n_ubatch")}));
  const StateSizes sizes = state_sizes(model, {.n_cells = shape.n_ctx_seq,
                                               .n_seq = at(row, "n_seq"),
                                               .n_ubatch = shape.n_ubatch,
                                               .type_k = parse_dtype(row.at("type_k")).value(),
                                               .type_v = parse_dtype(row.at("type_v")).value(),
                                               .unified = at(row, "kv_unified") == 1,
                                               .swa_full = at(row, "swa_full") == 1,
                                               .cell_multiple = 256});
  EXPECT_EQ(sizes.kv_full.count(), at(row, "kv_full_bytes"));
  EXPECT_EQ(sizes.kv_window.count(), at(row, "kv_swa_bytes"));
  EXPECT_EQ(sizes.window_cells, at(row, "swa_cells"));
  EXPECT_EQ(sizes.recurrent.count(), at(row, "rs_bytes"));
  EXPECT_EQ(sizes.cross, Bytes{});
}

TEST(MeasuredStateTest, EveryContext) {
  TIDEMARK_NEED_TEST_DATA(folder, "llamacpp/measured.csv");
  std::map<std::string, ModelSpec> models;
  for (const auto& [name, model] :
       testing::read_yaml_models(folder.parent_path() / "models.yaml")) {
    const Result<ImportedModel> read = testing::model_of(testing::converted_header(name, model));
    ASSERT_TRUE(read.ok()) << name << "\n" << to_string(read.diagnostics());
    models.emplace(name, read->model);
  }
  int checked = 0;
  for (const CsvRow& row : testing::read_csv(folder)) {
    if (row.at("status") != "ok") continue;
    std::string settings;
    for (const auto* column : {"model", "n_ctx_arg", "n_batch_arg", "n_ubatch_arg", "n_seq",
                               "type_k", "type_v", "kv_unified", "swa_full"}) {
      settings += std::string(column) + " " + row.at(column) + " ";
    }
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, settings);
    expect_state(models.at(row.at("model")), row);
    ++checked;
  }
  EXPECT_EQ(checked, 953);  // 24 of the 977 rows were rejected
}

// 1000 tokens for 3 sequences apart: 1000 -> 1024, 1024 / 3 = 341 -> 512 each, 1536 in all. The
// batch is cut to the 1000 that were asked for.
TEST(MeasuredStateTest, RoundedContextByHand) {
  EXPECT_EQ(testing::rounded_context({.n_ctx = 1000, .n_batch = 2048, .n_ubatch = 512, .n_seq = 3}),
            (ContextShape{1536, 512, 1000, 512}));
  EXPECT_EQ(testing::rounded_context({.n_ctx_train = 300, .n_batch = 128, .unified = true}),
            (ContextShape{512, 512, 128, 128}));
}

}  // namespace
}  // namespace tidemark

// Compute buffers of all measured runs, out of dimensions and settings alone.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "../../import/test_data.h"
#include "measured.h"
#include "planner/engine/ggml_alloc.h"
#include "planner/engine/llama_cpp/llama_graph.h"

namespace tidemark {
namespace {

using testing::at;
using testing::CsvRow;

struct Tally {
  int rows = 0;
  int exact = 0;
  double worst = 0;  // relative
};

TEST(MeasuredRowsTest, ComputeBuffers) {
  TIDEMARK_NEED_TEST_DATA(file, "llamacpp/measured.csv");
  const auto models = testing::measured_models(file.parent_path(), "Q4_K_M");
  std::map<std::string, Tally> tallies;
  for (const CsvRow& row : testing::read_csv(file)) {
    if (row.at("status") != "ok") continue;
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, testing::settings_text(row));
    const testing::MeasuredModel& measured = models.at(row.at("model"));
    const LlamaContext context = llama_context(measured.model, testing::settings_of(row));
    const Result<LlamaGraph> prompt =
        llama_graph(measured.model, measured.weights, context, LlamaPhase::kPrompt);
    const Result<LlamaGraph> generation =
        llama_graph(measured.model, measured.weights, context, LlamaPhase::kGeneration);
    ASSERT_TRUE(prompt.ok() && generation.ok());
    EXPECT_EQ(prompt->n_nodes, at(row, "graph_nodes_pp"));
    EXPECT_EQ(generation->n_nodes, at(row, "graph_nodes_tg"));
    const int64_t reserved = reserve(prompt->graph).reserved.count();
    EXPECT_EQ(reserved, at(row, "compute_bytes"));
    EXPECT_LE(reserve(generation->graph).reserved.count(), reserved);
    Tally& tally = tallies[row.at("arch")];
    ++tally.rows;
    if (reserved == at(row, "compute_bytes")) ++tally.exact;
    const auto logged = static_cast<double>(at(row, "compute_bytes"));
    tally.worst = std::max(tally.worst, std::abs(static_cast<double>(reserved) - logged) / logged);
  }
  int rows = 0;
  for (const auto& [architecture, tally] : tallies) {
    std::cout << architecture << ": " << tally.rows << " rows, " << tally.exact
              << " exact, worst error " << tally.worst * 100 << " %\n";
    rows += tally.rows;
  }
  EXPECT_EQ(rows, 953);
}

}  // namespace
}  // namespace tidemark

// The 98 dumped graphs of the folder that TIDEMARK_TEST_DATA names (llamacpp/graphs), in the order
// that needs least memory: never worse than the engine's own, and read without loss.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "planner/alloc/planners.h"
#include "planner/base/gzip.h"
#include "planner/engine/ggml_dump.h"
#include "planner/engine/ggml_order.h"
#include "planner/engine/ggml_replay.h"

namespace tidemark {
namespace {

std::filesystem::path graphs_folder() {
  const char* folder = std::getenv("TIDEMARK_TEST_DATA");
  return std::filesystem::path(folder == nullptr ? "" : folder) / "llamacpp/graphs";
}

// Those of one variant ("fa1-o1"), by the table beside them.
std::vector<std::string> files_of(const std::string& variant) {
  std::vector<std::string> files;
  std::ifstream index(graphs_folder() / "index.csv");
  for (std::string row; std::getline(index, row);) {
    const std::string file = row.substr(0, row.find(','));
    const size_t start = file.rfind("-fa");
    if (start == std::string::npos) continue;
    if (file.substr(start + 1, file.find(".tsv") - start - 1) == variant) files.push_back(file);
  }
  return files;
}

class OrderedDumpsTest : public testing::TestWithParam<std::string> {};

TEST_P(OrderedDumpsTest, NeedNoMoreAndLoseNothing) {
  if (!std::filesystem::exists(graphs_folder() / "index.csv")) {
    GTEST_SKIP() << "TIDEMARK_TEST_DATA does not hold llamacpp/graphs";
  }
  const std::vector<std::string> files = files_of(GetParam());
  ASSERT_EQ(files.size(), 14U);
  for (const std::string& file : files) {
    const auto path = graphs_folder() / file;
    const auto text = read_file_or_gzip(path, kMostGgmlDump);
    ASSERT_TRUE(text.ok()) << to_string(text.diagnostics());
    const auto dump = read_ggml_dump(*text, path.string());
    ASSERT_TRUE(dump.ok()) << to_string(dump.diagnostics());
    const GgmlOrder found = order_for_memory(dump->graph);
    const GgmlGraph graph = reorder(dump->graph, found.order);
    const GgmlPacking packing = packing_problem(graph);
    EXPECT_EQ(found.program_load, peak_load(packing_problem(dump->graph).problem)) << file;
    EXPECT_EQ(found.load, peak_load(packing.problem)) << file;
    EXPECT_LE(found.load, found.program_load) << file;
    EXPECT_LE(found.lower_bound, found.load) << file;
    const Plan made = plan(packing.problem, PlannerKind::kPortfolio);
    const auto offsets = tensor_offsets(graph, packing, made);
    const auto faults = replay(graph, offsets, made.peak, GgmlInPlace::kThroughViews);
    EXPECT_TRUE(faults.empty()) << file << ": " << faults.front().message;
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, OrderedDumpsTest,
                         testing::Values("fa0", "fa0-o1", "fa0-s4", "fa1", "fa1-o1", "fa1-q8",
                                         "fa1-s4"),
                         [](const auto& row) {
                           std::string name = row.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace tidemark

// The 98 dumped graphs of the folder that TIDEMARK_TEST_DATA names (llamacpp/graphs): what the
// engine reserved for each is met to the byte, and each has a plan of the height of its load.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "planner/alloc/planners.h"
#include "planner/alloc/validate.h"
#include "planner/base/gzip.h"
#include "planner/engine/ggml_alloc.h"
#include "planner/engine/ggml_dump.h"
#include "planner/engine/ggml_replay.h"

namespace tidemark {
namespace {

struct Recorded {
  std::string file{};
  GgmlGraph graph{};
  Bytes reserved{};  // by the table beside the dumps
};

std::filesystem::path graphs_folder() {
  const char* folder = std::getenv("TIDEMARK_TEST_DATA");
  return std::filesystem::path(folder == nullptr ? "" : folder) / "llamacpp/graphs";
}

// "fa1-o1" of "minicpm-2b-fa1-o1.tsv.gz".
std::string variant_of(const std::string& file) {
  const size_t start = file.rfind("-fa") + 1;
  return file.substr(start, file.find(".tsv") - start);
}

// The 14 graphs, one a model, whose names end so.
std::vector<Recorded> recorded(const std::string& variant) {
  std::vector<Recorded> list;
  std::ifstream index(graphs_folder() / "index.csv");
  for (std::string row; std::getline(index, row);) {
    const std::string file = row.substr(0, row.find(','));  // the first column
    if (!file.ends_with(".gz") || variant_of(file) != variant) continue;
    const auto path = graphs_folder() / file;
    const auto text = read_file_or_gzip(path, kMostGgmlDump);
    EXPECT_TRUE(text.ok()) << to_string(text.diagnostics());
    const auto dump = read_ggml_dump(*text, path.string());
    EXPECT_TRUE(dump.ok()) << to_string(dump.diagnostics());
    // compute_bytes is the last.
    const Bytes reserved = Bytes::of(std::stoll(row.substr(row.rfind(',') + 1)));
    EXPECT_EQ(dump->compute_bytes, reserved);
    list.push_back({file, dump->graph, reserved});
  }
  return list;
}

class DumpedGraphsTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(graphs_folder() / "index.csv")) {
      GTEST_SKIP() << "TIDEMARK_TEST_DATA does not hold llamacpp/graphs";
    }
    graphs_ = recorded(GetParam());
    ASSERT_EQ(graphs_.size(), 14U);
  }

  std::vector<Recorded> graphs_{};
};

TEST_P(DumpedGraphsTest, AreReservedAsTheEngineDoes) {
  for (const Recorded& one : graphs_) {
    const GgmlReservation made = reserve(one.graph);
    EXPECT_EQ(made.reserved, one.reserved) << one.file;
    const auto faults = replay(one.graph, made.offsets, made.reserved, GgmlInPlace::kEngine);
    EXPECT_TRUE(faults.empty()) << one.file << ": " << faults.front().message;
  }
}

TEST_P(DumpedGraphsTest, AreProvedOptimalInEveryWay) {
  for (const Recorded& one : graphs_) {
    for (const GgmlPackingOptions options : {GgmlPackingOptions{GgmlInPlace::kNone, false},
                                             GgmlPackingOptions{GgmlInPlace::kEngine, false},
                                             GgmlPackingOptions{GgmlInPlace::kThroughViews, true},
                                             GgmlPackingOptions{GgmlInPlace::kWithGlu, true}}) {
      const GgmlPacking packing = packing_problem(one.graph, options);
      const Plan made = plan(packing.problem, PlannerKind::kPortfolio);
      EXPECT_EQ(made.status, PlanStatus::kProvedOptimal) << one.file;
      EXPECT_EQ(made.peak, peak_load(packing.problem)) << one.file;
      EXPECT_LE(made.nodes, 4000) << one.file;  // found by looking, not by searching
      EXPECT_TRUE(validate(packing.problem, made).empty()) << one.file;
      const auto offsets = tensor_offsets(one.graph, packing, made);
      const auto faults = replay(one.graph, offsets, made.peak, options.in_place);
      EXPECT_TRUE(faults.empty()) << one.file << ": " << faults.front().message;
      if (options.in_place != GgmlInPlace::kNone) {
        EXPECT_LT(made.peak, one.reserved) << one.file;
      }
    }
  }
}

// Of 14 models with and without flash attention and one row of logits each, more than half need at
// most nine tenths of what is reserved, so the median does.
TEST(DumpedGraphsMedianTest, ATenthIsSavedWithOneRowOfLogits) {
  if (!std::filesystem::exists(graphs_folder() / "index.csv")) {
    GTEST_SKIP() << "TIDEMARK_TEST_DATA does not hold llamacpp/graphs";
  }
  int graphs = 0;
  int smaller = 0;
  for (const char* variant : {"fa0-o1", "fa1-o1"}) {
    for (const Recorded& one : recorded(variant)) {
      const Bytes peak = plan(packing_problem(one.graph).problem, PlannerKind::kPortfolio).peak;
      ++graphs;
      if (peak * 10 <= one.reserved * 9) ++smaller;
    }
  }
  EXPECT_EQ(graphs, 28);
  EXPECT_GT(2 * smaller, graphs);
}

INSTANTIATE_TEST_SUITE_P(Variants, DumpedGraphsTest,
                         ::testing::Values("fa0", "fa0-o1", "fa0-s4", "fa1", "fa1-o1", "fa1-q8",
                                           "fa1-s4"),
                         [](const auto& row) {
                           std::string name = row.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace tidemark

#include "planner/report/engine_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "planner/report/layout.h"
#include "sample.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using testing::hostile_name;
using ::testing::Not;

RuntimeFeatures features(const std::string& runtime) {
  return {.runtime = runtime,
          .weights = {"FP8, INT8, INT4", "docs.vllm.ai, features/quantization"},
          .kv_types = {"f16, FP8", "docs.vllm.ai, api/vllm/config/cache"},
          .mmap = {"not found", "looked in docs.vllm.ai"},
          .paging = {"blocks of 16 tokens", "docs.vllm.ai, api/vllm/config/cache"},
          .spill = {"to the host", "docs.vllm.ai, api/vllm/config/cache"},
          .platforms = {"GPUs", "docs.vllm.ai, features/quantization"}};
}

std::vector<ListedEngine> engines() {
  return {{.name = "bare", .version = "1", .summary = "live tensors and nothing else"},
          {.name = "paged",
           .version = "vLLM 0.8",
           .summary = "blocks",
           .features = {features("vLLM"), features("another")}},
          {.name = "broken", .summary = "cannot be read: x"}};
}

// Five sources, the same one three times: numbered by first use, and shared by both runtimes.
TEST(EngineListingTest, WorkedInTheHeader) {
  EXPECT_EQ(engines_to_text(engines()),
            "bare       1: live tensors and nothing else\n"
            "paged      vLLM 0.8: blocks\n"
            "broken     cannot be read: x\n"
            "\n"
            "vLLM (profile paged)\n"
            "weights    FP8, INT8, INT4 [1]\n"
            "KV types   f16, FP8 [2]\n"
            "mmap       not found [3]\n"
            "paging     blocks of 16 tokens [2]\n"
            "spill      to the host [2]\n"
            "platforms  GPUs [1]\n"
            "\n"
            "another (profile paged)\n"
            "weights    FP8, INT8, INT4 [1]\n"
            "KV types   f16, FP8 [2]\n"
            "mmap       not found [3]\n"
            "paging     blocks of 16 tokens [2]\n"
            "spill      to the host [2]\n"
            "platforms  GPUs [1]\n"
            "\n"
            "Sources    [1] docs.vllm.ai, features/quantization\n"
            "           [2] docs.vllm.ai, api/vllm/config/cache\n"
            "           [3] looked in docs.vllm.ai\n");
}

TEST(EngineListingTest, LongCellsAreWrapped) {
  std::vector<ListedEngine> all = engines();
  for (EngineFeature* cell : {&all[1].features[0].weights, &all[1].features[1].spill}) {
    for (int i = 0; i < 40; ++i) cell->value += ", a format";
    for (int i = 0; i < 40; ++i) cell->source += " a page";
  }
  std::istringstream lines(engines_to_text(all));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100) << line;
}

TEST(EngineListingTest, HostileTextStaysOnItsLine) {
  std::vector<ListedEngine> all = engines();
  all[1].name = all[1].summary = all[1].version = all[1].features[0].runtime = hostile_name();
  all[1].features[0].mmap = {hostile_name(), hostile_name()};
  const std::string text = engines_to_text(all);
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ');
  EXPECT_TRUE(nlohmann::json::accept(engines_to_json(all)));
}

TEST(EngineListingTest, ARowForEachRuntime) {
  const Listing listing = engine_rows(engines());
  ASSERT_EQ(listing.rows.size(), 4U);  // bare, two of paged, broken
  EXPECT_EQ(listing.columns.size(), 4U + 2 * feature_keys().size());
  for (const auto& row : listing.rows) EXPECT_EQ(row.size(), listing.columns.size());
  EXPECT_EQ(listing.columns[4], "weights");
  EXPECT_EQ(listing.columns[5], "weights_source");
  EXPECT_EQ(listing.rows[0][3], "");
  EXPECT_EQ(listing.rows[2][3], "another");
  EXPECT_EQ(listing.rows[2][4], "FP8, INT8, INT4");
  EXPECT_EQ(listing.rows[2][5], "docs.vllm.ai, features/quantization");
}

// What was there before stays: a row for each profile, all values text.
TEST(EngineListingTest, JsonKeepsItsRowsAndHasFeaturesBesides) {
  const nlohmann::json json = nlohmann::json::parse(engines_to_json(engines()));
  EXPECT_EQ(json["schema"], "tidemark.list/1");
  EXPECT_EQ(json["list"], "engines");
  ASSERT_EQ(json["rows"].size(), 3U);
  EXPECT_EQ(json["rows"][1],
            (nlohmann::json{{"engine", "paged"}, {"version", "vLLM 0.8"}, {"summary", "blocks"}}));
  ASSERT_EQ(json["features"].size(), 2U);
  EXPECT_EQ(json["features"][1]["engine"], "paged");
  EXPECT_EQ(json["features"][1]["runtime"], "another");
  for (const FeatureKey& key : feature_keys()) {
    const nlohmann::json& cell = json["features"][0][std::string(key.key)];
    EXPECT_FALSE(cell["value"].get<std::string>().empty()) << key.key;
    EXPECT_FALSE(cell["source"].get<std::string>().empty()) << key.key;
  }
}

TEST(EngineListingTest, WithoutRuntimesThereAreNoSources) {
  EXPECT_THAT(engines_to_text(std::vector<ListedEngine>{engines()[0]}), Not(HasSubstr("Sources")));
}

}  // namespace
}  // namespace tidemark

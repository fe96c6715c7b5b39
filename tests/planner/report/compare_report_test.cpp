// What `tidemark compare` writes, of a comparison made by hand.
#include "planner/report/compare_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "json_schema.h"
#include "sample.h"

namespace tidemark {
namespace {

using testing::hostile_name;
using testing::schema_problem;

// 258.50 MiB = 271,056,896 B; half of the last place is 5,243 B.
ComparedTerm compute(const std::string& device) {
  return {.kind = TermKind::kCompute,
          .device = device,
          .logged = {.value = 316433367, .rounding = 5243},
          .predicted = 271056896,
          .over = true,
          .reason = "flash attention the other way, \"off\"",
          .line = 7};
}

CompareReport report() {
  Comparison run{.engine = LogEngine::kLlamaCpp,
                 .age = "build 6209",
                 .model = "llama-3-8b",
                 .model_origin = "the log's dimensions",
                 .weights_origin = "Q8_0"};
  run.settings.push_back({"n_ctx", "2048", "log"});
  run.missing.emplace_back("n_batch");
  run.terms = {{.kind = TermKind::kModel,
                .device = "CPU_Mapped",
                .logged = {.value = 8532934000, .rounding = 5243},
                .reason = "a mix of its own",
                .line = 3},
               compute("CUDA0"),
               {.kind = TermKind::kGraphNodes,
                .logged = {.value = 1030},
                .predicted = 1030,
                .judged = false,
                .line = 9}};
  run.notes.emplace_back("Layers: everything on the host.");
  return {.file = "server.log", .runs = {run}, .notes = {"Runs without a model were left out."}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(CompareReportTest, CsvIsARowATerm) {
  EXPECT_EQ(to_csv(report()),
            "run,engine,model,term,device,line,logged,rounding,predicted,difference,unit,judgement,"
            "reason\n"
            "1,llama.cpp,llama-3-8b,model_buffer,CPU_Mapped,3,8532934000,5243,,,bytes,not "
            "predicted,a mix of its own\n"
            "1,llama.cpp,llama-3-8b,compute_buffer,CUDA0,7,316433367,5243,271056896,45376471,bytes,"
            "off,\"flash attention the other way, \"\"off\"\"\"\n"
            "1,llama.cpp,llama-3-8b,graph_nodes,,9,1030,0,1030,0,count,not judged,\n");
}

TEST(CompareReportTest, RunsAreCountedFromOne) {
  CompareReport two = report();
  two.runs.push_back(two.runs[0]);
  const std::vector<std::string> lines = lines_of(to_csv(two));
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_TRUE(lines[3].starts_with("1,"));
  EXPECT_TRUE(lines[4].starts_with("2,"));
}

TEST(CompareReportTest, MarkdownIsATableOfTheSameCells) {
  CompareReport hostile = report();
  hostile.runs[0].terms[1].device = "a | b";
  const std::vector<std::string> lines = lines_of(to_markdown(hostile));
  ASSERT_EQ(lines.size(), 2U + 3U);
  for (const std::string& line : lines) {
    size_t bars = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '|' && (i == 0 || line[i - 1] != '\\')) ++bars;
    }
    EXPECT_EQ(bars, 14U) << line;
  }
  EXPECT_THAT(lines[3], ::testing::HasSubstr("a \\| b"));
  EXPECT_THAT(lines[3], ::testing::HasSubstr("271056896"));
}

TEST(CompareReportTest, JsonObeysItsSchema) {
  EXPECT_EQ(schema_problem("compare", nlohmann::json::parse(to_json(report()))), "");
  CompareReport hostile = report();
  hostile.file = hostile.runs[0].model = hostile.runs[0].terms[1].device = hostile_name();
  hostile.runs[0].engine = LogEngine::kMeminfo;
  EXPECT_EQ(schema_problem("compare", nlohmann::json::parse(to_json(hostile))), "");
}

TEST(CompareReportTest, ItsSchemaRefusesWhatIsNone) {
  nlohmann::json json = nlohmann::json::parse(to_json(report()));
  json["runs"][0]["terms"][1].erase("predicted_bytes");
  EXPECT_NE(schema_problem("compare", json), "");
  json = nlohmann::json::parse(to_json(report()));
  json["runs"][0]["terms"][2]["logged_count"] = "1030";
  EXPECT_NE(schema_problem("compare", json), "");
  json = nlohmann::json::parse(to_json(report()));
  json["runs"][0]["engine"] = "another";
  EXPECT_NE(schema_problem("compare", json), "");
}

TEST(CompareReportTest, JsonHasExactFiguresAndNulls) {
  const nlohmann::json json = nlohmann::json::parse(to_json(report()));
  const nlohmann::json& terms = json["runs"][0]["terms"];
  EXPECT_FALSE(json["within_tolerance"]);
  EXPECT_TRUE(terms[0]["predicted_bytes"].is_null());
  EXPECT_FALSE(terms[0]["judged"]);
  EXPECT_EQ(terms[1]["difference_bytes"], 316433367 - 271056896);
  EXPECT_TRUE(terms[1]["over"]);
  EXPECT_EQ(terms[2]["logged_count"], 1030);
  EXPECT_EQ(json["runs"][0]["compared"], 1);
}

}  // namespace
}  // namespace tidemark

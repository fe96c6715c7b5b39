#include "planner/report/quant_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "json_schema.h"
#include "planner/report/layout.h"
#include "support/golden.h"

namespace tidemark {
namespace {

using namespace literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::matches_golden;
using ::testing::Not;

QuantOutcome lossy(Bytes bytes, double sqnr_db) {
  return {.bytes = bytes,
          .sqnr_db = sqnr_db,
          .largest_error = 0.015625,
          .rms_error = 0.0078125,
          .cosine = 0.999875};
}

// Three matrices: one that loses in both formats, one of zeros, one whose rows fill no blocks.
QuantReport sample() {
  QuantReport report{.file = "m.safetensors",
                     .file_format = "safetensors",
                     .granularity = "channel",
                     .range = "minmax",
                     .formats = {"int8", "Q4_0"}};
  report.tensors = {
      {.name = "model.layers.0.self_attn.q_proj.weight",
       .shape = {64, 64},
       .type = "BF16",
       .bytes = 8192_B,
       .outcomes = {lossy(4224_B, 42.25), lossy(2304_B, 18.5)}},
      {.name = "zeros",
       .shape = {2, 32},
       .type = "F32",
       .bytes = 256_B,
       .outcomes = {{.bytes = 68_B, .sqnr_db = INFINITY}, {.bytes = 36_B, .sqnr_db = INFINITY}}},
      {.name = "odd|width",
       .shape = {2, 33},
       .type = "F32",
       .bytes = 264_B,
       .outcomes = {lossy(70_B, 40.75), {.bytes = 264_B, .as_stored = true}}}};
  report.kept = {
      {.name = "norm.weight", .shape = {64}, .type = "F32", .bytes = 256_B, .reason = "vectors"},
      {.name = "scalar", .type = "F32", .bytes = 4_B, .reason = "vectors"}};
  add_totals(report);
  return report;
}

// int8: 4,224 + 68 + 70 + 260 = 4,622 of 8,972 B, mean of 42.25 and 40.75. Q4_0: 2,304 + 36 + 264 +
// 260 = 2,864 B.
TEST(QuantReportTest, TotalsByHand) {
  const QuantReport report = sample();
  EXPECT_EQ(report.stored, 8972_B);
  ASSERT_EQ(report.totals.size(), 2U);
  EXPECT_EQ(report.totals[0].bytes, 4622_B);
  EXPECT_EQ(report.totals[0].quantized, 3);
  EXPECT_EQ(report.totals[0].exact, 1);
  EXPECT_EQ(report.totals[0].mean_sqnr_db, 41.5);
  EXPECT_EQ(report.totals[0].worst_sqnr_db, 40.75);
  EXPECT_EQ(report.totals[0].worst_tensor, "odd|width");
  EXPECT_EQ(report.totals[1].bytes, 2864_B);
  EXPECT_EQ(report.totals[1].quantized, 2);
  EXPECT_EQ(report.totals[1].mean_sqnr_db, 18.5);
}

TEST(QuantReportTest, TheWorstFirst) {
  QuantReport report = sample();
  EXPECT_THAT(shown_tensors(report), ElementsAre(0, 1, 2));
  report.top = 2;
  EXPECT_THAT(shown_tensors(report), ElementsAre(0, 2));  // 18.5, 40.75, infinite
  report.top = 9;
  EXPECT_THAT(shown_tensors(report), ElementsAre(0, 2, 1));
}

TEST(QuantReportTest, TheTextAndTheTables) {
  QuantReport report = sample();
  report.notes = {"A note."};
  EXPECT_TRUE(matches_golden("quant.txt", to_text(report)));
  EXPECT_TRUE(matches_golden("quant.csv", to_csv(report)));
  EXPECT_TRUE(matches_golden("quant.md", to_markdown(report)));
  EXPECT_TRUE(matches_golden("quant.json", to_json(report)));
}

TEST(QuantReportTest, LinesStayWithin120Columns) {
  QuantReport report = sample();
  report.formats = {"int8_channel_zp", "int4_g128_zp"};
  report.tensors[0].name = "a" + std::string(200, 'b') + "c";
  report.tensors[0].shape = {131072, 28672};
  report.tensors[0].bytes = Bytes::of(1023) * (int64_t{1} << 20);
  report.kept[0].name = std::string(300, 'k');
  add_totals(report);
  report.top = 1;
  std::istringstream text(to_text(report));
  for (std::string line; std::getline(text, line);) EXPECT_LE(display_width(line), 120) << line;
}

TEST(QuantReportTest, NamesKeepBothEnds) {
  QuantReport report = sample();
  report.tensors[0].name = "model.language_model.layers.12.mlp.experts.gate_up_proj.weight";
  const std::string text = to_text(report);
  EXPECT_THAT(text, HasSubstr("\n  model.language_model"));
  EXPECT_THAT(text, HasSubstr("..."));
  EXPECT_THAT(text, HasSubstr("gate_up_proj.weight  64 x 64"));
}

TEST(QuantReportTest, WhatTheIntegersAre) {
  QuantReport report = sample();
  report.granularity = "group=64";
  report.asymmetric = true;
  report.range = "percentile=99.9";
  EXPECT_THAT(to_text(report),
              HasSubstr("one scale for each 64 values of a row, with a zero point; "
                        "range: percentile 99.9"));
  report.range = "";
  EXPECT_THAT(to_text(report), Not(HasSubstr("Integers")));
}

TEST(QuantReportTest, TheJsonObeysItsSchema) {
  const auto problem = [](const QuantReport& report) {
    return testing::schema_problem("quant", nlohmann::json::parse(to_json(report)));
  };
  EXPECT_EQ(problem(sample()), "");
  QuantReport empty{.file = "m", .file_format = "GGUF v3", .formats = {"Q4_0"}};
  add_totals(empty);
  EXPECT_EQ(problem(empty), "");
}

TEST(QuantReportTest, InfiniteIsNullInJsonAndSaidToBeExact) {
  const nlohmann::json json = nlohmann::json::parse(to_json(sample()));
  const nlohmann::json& zeros = json["tensors"][1]["outcomes"][0];
  EXPECT_TRUE(zeros["sqnr_db"].is_null());
  EXPECT_EQ(zeros["exact"], true);
  EXPECT_EQ(zeros["max_error"], 0.0);
  EXPECT_TRUE(zeros["cosine"].is_null());
  const nlohmann::json& misfit = json["tensors"][2]["outcomes"][1];
  EXPECT_EQ(misfit["as_stored"], true);
  EXPECT_EQ(misfit["exact"], false);
  EXPECT_TRUE(misfit["sqnr_db"].is_null());
  EXPECT_TRUE(misfit["max_error"].is_null());
}

}  // namespace
}  // namespace tidemark

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "planner/report/replay_report.h"
#include "sample.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::sample_replay;
using literals::operator""_MiB;

TEST(ReplayReportTest, WorkedExample) {
  const ReplayReport report = sample_replay(101_MiB, 293_MiB);
  EXPECT_EQ(step_tolerance(100_MiB), 4_MiB);
  EXPECT_EQ(step_tolerance(300_MiB), 6_MiB);
  EXPECT_EQ(peak_tolerance(300_MiB), 3_MiB);
  EXPECT_EQ(peak_tolerance(10_MiB), 1_MiB);
  EXPECT_NEAR(relative_error(report), -0.0233, 0.0001);
  EXPECT_EQ(worst_step(report)->step, 1);
  EXPECT_EQ(error_of(*worst_step(report)), Bytes{} - 7_MiB);
  EXPECT_FALSE(peak_is_close(report));
  EXPECT_FALSE(steps_are_close(report));
  EXPECT_FALSE(passed(report));
}

TEST(ReplayReportTest, TheEdgesOfTheTolerancesPass) {
  EXPECT_TRUE(passed(sample_replay(104_MiB, 303_MiB)));
  EXPECT_TRUE(passed(sample_replay(96_MiB, 297_MiB)));
  EXPECT_FALSE(passed(sample_replay(104_MiB + Bytes::of(1), 300_MiB)));
  EXPECT_FALSE(passed(sample_replay(100_MiB, 303_MiB + Bytes::of(1))));
}

TEST(ReplayReportTest, WrongOutputsAndUnfinishedRunsFail) {
  ReplayReport report = sample_replay(100_MiB, 300_MiB);
  EXPECT_TRUE(passed(report));
  report.outputs_match = false;
  EXPECT_FALSE(passed(report));
  report = sample_replay(100_MiB, 300_MiB);
  report.planned_steps = 3;
  EXPECT_FALSE(passed(report));
  EXPECT_EQ(relative_error(ReplayReport{}), 0.0);
  EXPECT_EQ(worst_step(ReplayReport{}), nullptr);
}

TEST(ReplayReportTest, ACorruptionIsASentence) {
  EXPECT_EQ(describe({"prefill 0", "blk.0.q", "blk.0.attention", "blk.0.k"}),
            "prefill 0: blk.0.q was overwritten by blk.0.k before blk.0.attention had read it");
  EXPECT_EQ(describe({"decode 3", "x", "norm", "norm"}),
            "decode 3: x would be overwritten by norm, which still reads it");
  EXPECT_EQ(
      describe({"decode 3", "x", "norm", ""}),
      "decode 3: x was overwritten by a write outside every planned place before norm had read it");
  EXPECT_EQ(describe({"prefill 0", "the guard bytes", "", "norm"}),
            "prefill 0: norm wrote past the end of the arena, over the guard bytes");
}

TEST(ReplayText, ShowsBothPeaksAndTheResult) {
  const std::vector<ReplayReport> reports{sample_replay(101_MiB, 301_MiB)};
  const std::string text = to_text(reports);
  EXPECT_THAT(text, HasSubstr("layerwise    300 MiB   301 MiB  +0.33 %   +1.00 MiB    match"));
  EXPECT_THAT(text, HasSubstr("pass\n"));
  EXPECT_THAT(text, HasSubstr("Tokens     7 8\n"));
  EXPECT_THAT(text, HasSubstr("replay default: quant=int8"));
  EXPECT_THAT(text, Not(HasSubstr("Failed")));
}

TEST(ReplayText, SaysInWordsWhatFailed) {
  ReplayReport wrong = sample_replay(101_MiB, 293_MiB);
  wrong.outputs_match = false;
  const std::string text = to_text(std::span(&wrong, 1));
  EXPECT_THAT(text, HasSubstr("Failed     layerwise: the outputs differ"));
  EXPECT_THAT(text,
              HasSubstr("Failed     layerwise: the peak is -7.00 MiB off; 3.00 MiB is allowed."));
  EXPECT_THAT(
      text,
      HasSubstr("Failed     layerwise: step 1 (prefill 0, blk.0.q) is -7.00 MiB off; 6.00 MiB is"));
}

TEST(ReplayText, SaysWhereAMatchShowsNothing) {
  ReplayReport report = sample_replay(101_MiB, 301_MiB);
  EXPECT_THAT(to_text(std::span(&report, 1)), Not(HasSubstr("Warning")));
  report.outputs_all_equal = true;
  const std::string text = to_text(std::span(&report, 1));
  EXPECT_THAT(text, HasSubstr("Warning    every logit is the same number, so that they match has"));
  EXPECT_THAT(to_json(std::span(&report, 1)), HasSubstr("\"outputs_all_equal\": true"));
  EXPECT_TRUE(passed(report));
}

TEST(ReplayText, FitsThePageAndSurvivesHostileNames) {
  ReplayReport report = sample_replay(101_MiB, 293_MiB);
  report.strategy = "double-buffer";
  report.model.name = testing::hostile_name();
  report.corruption = Corruption{"prefill 0", testing::hostile_name(), "a", "b"};
  std::istringstream lines(to_text(std::span(&report, 1)));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 140U) << line;
    EXPECT_THAT(line, Not(HasSubstr("\x1b")));
  }
}

TEST(ReplayJson, FollowsTheContract) {
  ReplayReport report = sample_replay(101_MiB, 293_MiB);
  report.corruption = Corruption{"prefill 0", "x", "a", "b"};
  const auto json = nlohmann::json::parse(to_json(std::span(&report, 1)));
  EXPECT_EQ(json["schema"], "tidemark.replay/1");
  EXPECT_EQ(json["strategy"], "layerwise");
  EXPECT_EQ(json["predicted_peak_bytes"], (300_MiB).count());
  EXPECT_EQ(json["measured_peak_bytes"], (293_MiB).count());
  EXPECT_DOUBLE_EQ(json["relative_error"], -7.0 / 300.0);
  EXPECT_EQ(json["max_step_error_bytes"], (7_MiB).count());
  EXPECT_EQ(json["outputs_match"], true);
  EXPECT_EQ(json["corruption"]["tensor"], "x");
  EXPECT_EQ(json["process_peak_bytes"], nullptr);
  ASSERT_EQ(json["steps"].size(), 2U);
  EXPECT_EQ(json["steps"][1], (nlohmann::json{{"step", 1},
                                              {"pass", "prefill 0"},
                                              {"op", "blk.0.q"},
                                              {"predicted_bytes", (300_MiB).count()},
                                              {"measured_bytes", (293_MiB).count()},
                                              {"wall_ns", 3000000}}));
  const std::vector<ReplayReport> two{report, report};
  EXPECT_EQ(nlohmann::json::parse(to_json(two))["results"].size(), 2U);
}

TEST(ReplayCsv, HasARowAStep) {
  const ReplayReport report = sample_replay(101_MiB, 293_MiB);
  EXPECT_EQ(to_csv(std::span(&report, 1)),
            "strategy,step,pass,op,predicted_bytes,measured_bytes,wall_ns\n"
            "layerwise,0,prefill 0,embed,104857600,105906176,2000000\n"
            "layerwise,1,prefill 0,blk.0.q,314572800,307232768,3000000\n");
}

}  // namespace
}  // namespace tidemark

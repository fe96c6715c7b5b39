#include "planner/report/replay_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::sample_replay;
using literals::operator""_MiB;
using Texts = std::vector<std::string>;

ReplayReport replay_on(const std::string& device, const std::string& strategy = "layerwise") {
  ReplayReport report = sample_replay(101_MiB, 301_MiB);
  report.strategy = strategy;
  report.settings.push_back({"device", device, "flag --device"});
  report.time = TimeComparison{.predicted = Duration::ms(10),
                               .measured = Duration::ms(11),
                               .runs = {Duration::ms(11)},
                               .parts = {{"norm", 2, Duration::ms(3), Duration::ms(3)},
                                         {"silu", 1, Duration::ms(2), Duration::ms(2)}}};
  return report;
}

TEST(ReplayLabelsTest, TheStrategyAlwaysAndWhatDiffers) {
  EXPECT_EQ(label_keys(std::vector{replay_on("a"), replay_on("a", "mmap")}), Texts{"strategy"});
  const std::vector<ReplayReport> two{replay_on("a"), replay_on("b")};
  EXPECT_EQ(label_keys(two), (Texts{"device", "strategy"}));
  EXPECT_EQ(row_name(two[1], label_keys(two)), "b, layerwise");
  EXPECT_EQ(label_keys({}), Texts{"strategy"});
}

TEST(ReplayLabelsTest, ModelAndEngineStandBeforeIt_OtherSettingsBehind) {
  ReplayReport other = replay_on("a", "mmap");
  other.model.name = "another";
  other.settings.push_back({"engine", "e", "flag --engine"});
  other.settings.push_back({"ctx_size", "64", "flag --ctx-size"});
  const std::vector<ReplayReport> two{replay_on("a"), other};
  EXPECT_EQ(label_keys(two), (Texts{"model", "engine", "strategy", "ctx_size"}));
  EXPECT_EQ(label_values(two[0], label_keys(two)), (Texts{"sample", "", "layerwise", ""}));
}

TEST(ReplayLabelsTest, FilesThatHoldModelsOfOneNameAreToldApart) {
  std::vector<ReplayReport> two{replay_on("a"), replay_on("a")};
  two[0].settings.push_back({"model", "./a.gguf", "flag MODEL"});
  two[1].settings.push_back({"model", "./b.gguf", "flag MODEL"});
  EXPECT_EQ(row_name(two[1], label_keys(two)), "./b.gguf, layerwise");
}

// 28 columns: "..." and the folders from the end that fit.
TEST(ReplayLabelsTest, OfALongPathTheEndIsLeft) {
  const auto cell = [](const std::string& device) {
    return label_cells(replay_on(device), Texts{"device"}).front().text;
  };
  EXPECT_EQ(cell("./me.yaml"), "./me.yaml");
  EXPECT_EQ(cell("../calibrations/of/2026/quick/me.yaml"), ".../of/2026/quick/me.yaml");
  EXPECT_EQ(cell("/a-folder/a-file-of-a-very-long-name.yaml"), ".../a-file-of-a-very-long...");
  EXPECT_EQ(cell("a-device-of-a-very-long-name-indeed"), "a-device-of-a-very-long-n...");
}

TEST(ReplayLabelsTest, EveryTableNamesTheDevice) {
  const std::vector<ReplayReport> two{replay_on("phone-a"), replay_on("phone-b")};
  const std::string text = to_text(two);
  EXPECT_THAT(text, HasSubstr("  device   strategy   predicted  measured"));
  EXPECT_THAT(text, HasSubstr("  phone-b  layerwise    300 MiB   301 MiB"));
  EXPECT_THAT(text, HasSubstr("  device   strategy   predicted time  measured time    error  "));
  EXPECT_THAT(text, HasSubstr("  phone-b  layerwise         10.0 ms        11.0 ms  +10.0 %"));
  EXPECT_THAT(text, HasSubstr("  phone-b  layerwise  norm      2    3.00 ms   3.00 ms  +0.0 %\n"
                              "                      silu      1    2.00 ms   2.00 ms  +0.0 %\n"));
  EXPECT_THAT(to_markdown(two), HasSubstr("phone-b"));
  EXPECT_THAT(to_svg(two), HasSubstr(">phone-b, layerwise<"));
  EXPECT_THAT(to_csv(two), HasSubstr("device,strategy,step,pass"));
  EXPECT_THAT(to_csv(two), HasSubstr("\nphone-b,layerwise,0,prefill 0"));
}

TEST(ReplayLabelsTest, WhatFailedIsNamedLikeItsRow) {
  std::vector<ReplayReport> two{replay_on("a"), replay_on("b")};
  two[1].outputs_match = false;
  EXPECT_THAT(to_text(two), HasSubstr("Failed     b, layerwise: the outputs differ"));
}

TEST(ReplayLabelsTest, WhatIsNotOfAllIsNotSaidOfAll) {
  std::vector<ReplayReport> two{replay_on("a"), replay_on("a")};
  two[1].model.name = "another";
  two[1].planned_steps = 3;
  const std::string text = to_text(two);
  EXPECT_TRUE(text.starts_with("Replays\n")) << text;
  EXPECT_THAT(text, HasSubstr("after each step: the resident pages of the arena, operator"));
  EXPECT_THAT(text, Not(HasSubstr("of 2 steps")));
  EXPECT_THAT(to_svg(two), HasSubstr("<title>Replays</title>"));
}

}  // namespace
}  // namespace tidemark

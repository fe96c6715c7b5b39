#include "sim/sweep/grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SettingText text(std::string value, std::string origin = "") {
  return {.text = std::move(value), .origin = std::move(origin)};
}

std::string point_text(const SettingMap& settings) {
  std::string out;
  for (const auto& [key, value] : settings) out += key + "=" + value.text + " ";
  return out;
}

std::vector<std::string> all_points(const Grid& grid) {
  std::vector<std::string> points;
  for (int64_t i = 0; i < grid.count(); ++i) points.push_back(point_text(grid.at(i)));
  return points;
}

TEST(GridTest, WorkedExample) {
  const auto grid = make_grid({{"quant", text("int4,int8")}, {"ctx_size", text("512-2048*2")}});
  ASSERT_TRUE(grid.ok());
  EXPECT_THAT(all_points(*grid),
              ElementsAre("ctx_size=512 quant=int4 ", "ctx_size=1024 quant=int4 ",
                          "ctx_size=2048 quant=int4 ", "ctx_size=512 quant=int8 ",
                          "ctx_size=1024 quant=int8 ", "ctx_size=2048 quant=int8 "));
}

TEST(GridTest, ATextOfOneValueIsFixed) {
  const auto grid = make_grid({{"model", text("minicpm-2b")}, {"budget", text("1 GiB,2 GiB")}});
  ASSERT_TRUE(grid.ok());
  EXPECT_EQ(grid->axes.size(), 1u);
  EXPECT_THAT(all_points(*grid),
              ElementsAre("budget=1 GiB model=minicpm-2b ", "budget=2 GiB model=minicpm-2b "));
}

TEST(GridTest, AGridWithoutAxesIsOneScenario) {
  const auto grid = make_grid({{"model", text("minicpm-2b")}});
  ASSERT_TRUE(grid.ok());
  EXPECT_EQ(grid->count(), 1);
}

TEST(GridTest, CommasInsideAValueDoNotMakeAnAxis) {
  const auto grid = make_grid({{"pinned", text("token_embd,output")}});
  ASSERT_TRUE(grid.ok());
  EXPECT_THAT(all_points(*grid), ElementsAre("pinned=token_embd,output "));
}

TEST(GridTest, APointKeepsWhereItsValuesCameFrom) {
  const auto grid = make_grid({{"ctx_size", text("512,1024", "flag --ctx-size")}});
  ASSERT_TRUE(grid.ok());
  EXPECT_EQ(grid->at(1).at("ctx_size").origin, "flag --ctx-size");
}

TEST(GridTest, AllProblemsComeBackAtOnceEachAtItsFlag) {
  const auto grid = make_grid({{"quants", text("int4", "flag --set quants")},
                               {"ctx_size", text("8-4*2", "flag --ctx-size")},
                               {"prompt", text("1-8+0", "flag --prompt")}});
  ASSERT_FALSE(grid.ok());
  EXPECT_EQ(to_string(grid.diagnostics()),
            "error: --set quants: there is no setting \"quants\"\n"
            "  hint: did you mean quant?\n"
            "error: --ctx-size: \"8-4*2\": the range ends at 4, below its start 8\n"
            "  hint: write 4-8*2\n"
            "error: --prompt: \"1-8+0\": a step of 0 never ends\n"
            "  hint: write +N with N of at least 1, or *N of at least 2\n");
}

TEST(GridTest, MoreScenariosThanAllowedAreRefusedWithTheirFactors) {
  const auto grid = make_grid({{"ctx_size", text("1-1000")}, {"prompt", text("1-1001")}});
  ASSERT_FALSE(grid.ok());
  EXPECT_THAT(to_string(grid.diagnostics()),
              HasSubstr("ctx_size 1000 x prompt 1001 makes more than 1,000,000 scenarios"));
}

TEST(GridTest, AProductPast63BitsIsRefusedToo) {
  GridTexts texts;
  for (const char* key : {"ctx_size", "batch_size", "ubatch_size", "prompt", "generate", "seed"}) {
    texts.emplace_back(key, text("1-100000"));
  }
  EXPECT_FALSE(make_grid(texts).ok());
}

TEST(GridTest, AsManyScenariosAsAllowedAreAllowed) {
  const auto grid = make_grid({{"ctx_size", text("1-1000")}, {"prompt", text("1-1000")}});
  ASSERT_TRUE(grid.ok());
  EXPECT_EQ(grid->count(), kMostScenarios);
  EXPECT_EQ(point_text(grid->at(kMostScenarios - 1)), "ctx_size=1000 prompt=1000 ");
}

TEST(GridTest, StrongerTextsReplaceWeakerOnesInPlaceAndNewOnesFollow) {
  const GridTexts weaker = {{"ctx_size", text("512")}, {"model", text("a")}};
  const GridTexts both =
      overlay(weaker, {{"model", text("b")}, {"quant", text("int4")}, {"device", text("phone")}});
  std::string order;
  for (const auto& [key, value] : both) order += key + "=" + value.text + " ";
  EXPECT_EQ(order, "ctx_size=512 model=b device=phone quant=int4 ");
}

// Laws: as many points as the product, all different, the same every time.
TEST(GridTest, ExpansionIsTheWholeProductAndDeterministic) {
  EXPECT_TRUE(rc::check([] {
    GridTexts texts;
    int64_t product = 1;
    for (const char* key : {"ctx_size", "prompt", "parallel"}) {
      const auto count = *rc::gen::inRange<int64_t>(1, 7);
      const auto step = *rc::gen::inRange<int64_t>(1, 9);
      texts.emplace_back(
          key, text("1-" + std::to_string(1 + (count - 1) * step) + "+" + std::to_string(step)));
      product *= count;
    }
    const auto grid = make_grid(texts);
    RC_ASSERT(grid.ok());
    RC_ASSERT(grid->count() == product);
    const auto points = all_points(*grid);
    RC_ASSERT(std::ssize(std::set<std::string>(points.begin(), points.end())) == product);
    RC_ASSERT(all_points(*make_grid(texts)) == points);
  }));
}

}  // namespace
}  // namespace tidemark

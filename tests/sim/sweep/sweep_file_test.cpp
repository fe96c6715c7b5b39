#include "sim/sweep/sweep_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark {
namespace {

using ::testing::HasSubstr;

std::string listed(const GridTexts& texts) {
  std::string out;
  for (const auto& [key, value] : texts) out += key + "=" + value.text + "\n";
  return out;
}

constexpr std::string_view kExample =
    "schema: sweep/1\n"
    "description: MiniCPM-2B\n"
    "settings:\n"
    "  model: minicpm-2b\n"
    "  pinned: [token_embd, output]\n"
    "axes:\n"
    "  quant: [int4, int8]\n"
    "  ctx_size: 512-65536*2\n"
    "  budget: [1 GiB, 2 GiB]\n";

TEST(SweepFileTest, ReadsFixedSettingsAndAxesInTheOrderWritten) {
  const auto texts = parse_sweep("s.yaml", kExample);
  ASSERT_TRUE(texts.ok()) << to_string(texts.diagnostics());
  EXPECT_EQ(listed(*texts),
            "model=minicpm-2b\npinned=token_embd,output\nquant=int4,int8\nctx_size=512-65536*2\n"
            "budget=1 GiB,2 GiB\n");
  EXPECT_EQ((*texts)[2].second.origin, "sweep s.yaml:7");
  const auto grid = make_grid(*texts);
  ASSERT_TRUE(grid.ok());
  EXPECT_EQ(grid->count(), 2 * 8 * 2);
}

TEST(SweepFileTest, SettingsAloneAreASweepOfOneScenario) {
  const auto texts = parse_sweep("s.yaml", "schema: sweep/1\nsettings: {model: minicpm-2b}\n");
  ASSERT_TRUE(texts.ok());
  EXPECT_EQ(make_grid(*texts)->count(), 1);
}

TEST(SweepFileTest, EveryProblemOfAFileIsReportedAtItsPlace) {
  const auto texts = parse_sweep("s.yaml",
                                 "schema: sweep/1\n"
                                 "settings:\n"
                                 "  model: minicpm-2b\n"
                                 "  prompt: 64,128\n"
                                 "axes:\n"
                                 "  quants: [int4]\n"
                                 "  ctx_size: 8-4*2\n"
                                 "  model: [a, b]\n"
                                 "axis: {}\n");
  ASSERT_FALSE(texts.ok());
  const std::string text = to_string(texts.diagnostics());
  EXPECT_THAT(text, HasSubstr("s.yaml:4:11: error: prompt: a fixed setting has one value\n"
                              "  hint: move prompt to axes to vary it\n"));
  EXPECT_THAT(text, HasSubstr("s.yaml:6:11: error: quants: there is no setting \"quants\"\n"
                              "  hint: did you mean quant?\n"));
  EXPECT_THAT(text, HasSubstr("s.yaml:7:13: error: ctx_size: \"8-4*2\": the range ends at 4"));
  EXPECT_THAT(text, HasSubstr("s.yaml:8:10: error: model: model stands in settings and in axes\n"));
  EXPECT_THAT(text, HasSubstr("s.yaml:9"));
  EXPECT_THAT(text, HasSubstr("axis"));
}

TEST(SweepFileTest, AnotherSchemaIsRefused) {
  const auto texts = parse_sweep("s.yaml", "schema: scenario/1\nmodel: minicpm-2b\n");
  ASSERT_FALSE(texts.ok());
  EXPECT_THAT(to_string(texts.diagnostics()), HasSubstr("s.yaml:1:9: error: schema"));
}

}  // namespace
}  // namespace tidemark

#include "gui/models/scenario_text.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "gui/models/scenario_settings.h"

namespace tidemark {
namespace {

SettingText stated(const std::string& text) { return {.text = text}; }

TEST(ScenarioText, StandsInTheOrderOfTheTable) {
  EXPECT_EQ(scenario_text({{"budget", stated("2 GiB")},
                           {"ctx_size", stated("512")},
                           {"model", stated("minicpm-2b")}}),
            "schema: scenario/1\nmodel: minicpm-2b\nctx_size: 512\nbudget: \"2 GiB\"\n");
}

TEST(ScenarioText, ReadsBackAsItWas) {
  for (const char* text : {"2 GiB", "-1",   "- a", "a: b", "a # b", "\"q\"", "back\\slash", "it's",
                           "{a}",   "[a]",  "*a",  "&a",   "!a",    "%a",    "@a",          "`a",
                           "? a",   "模型", "1.5", "on",   "~",     "a,b",   "a=b"}) {
    SCOPED_TRACE(text);
    const Result<SettingMap> read =
        parse_scenario("s.yaml", scenario_text({{"trace", stated(text)}}));
    ASSERT_TRUE(read) << to_string(read.diagnostics());
    EXPECT_EQ(read->at("trace").text, text);
  }
}

TEST(ScenarioText, APathCountsFromTheFileThatStatesIt) {
  const SettingText in_file{.text = "m/x.yaml", .where = {.file = "/a/s.yaml", .line = 2}};
  EXPECT_EQ(text_with_whole_path("model", in_file), "/a/m/x.yaml");
  EXPECT_EQ(text_with_whole_path("model", stated("./x.gguf")),
            (std::filesystem::current_path() / "x.gguf").string());
  EXPECT_EQ(text_with_whole_path("model", stated("/b/x.gguf")), "/b/x.gguf");
  EXPECT_EQ(text_with_whole_path("requests", {.text = "r.csv", .where = {.file = "/a/s.yaml"}}),
            "/a/r.csv");
}

TEST(ScenarioText, ANameStaysAName) {
  EXPECT_EQ(text_with_whole_path("model", {.text = "minicpm-2b", .where = {.file = "/a/s.yaml"}}),
            "minicpm-2b");
  EXPECT_EQ(text_with_whole_path("requests", {.text = "200:2.5", .where = {.file = "/a/s.yaml"}}),
            "200:2.5");
  EXPECT_EQ(text_with_whole_path("tensor_type", {.text = "a/b=q8_0"}), "a/b=q8_0");
}

// Taking back one setting turns the rest of the file into edits, which know no folder.
TEST(ScenarioText, APathOutlivesTheFileItStoodIn) {
  ScenarioSettings settings(SettingMap{});
  settings.openScenario("/a/s.yaml",
                        {{"model", {.text = "./x.yaml", .where = {.file = "/a/s.yaml", .line = 2}}},
                         {"quant", {.text = "int4", .where = {.file = "/a/s.yaml", .line = 3}}}});
  settings.setValue("quant", "");
  EXPECT_EQ(settings.value("model"), "/a/x.yaml");
}

}  // namespace
}  // namespace tidemark

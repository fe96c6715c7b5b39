#include "planner/config/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

namespace tidemark {
namespace {

SettingText flag(std::string text, std::string name) {
  return {.text = std::move(text), .origin = "flag " + std::move(name)};
}

TEST(SettingsTable, NamesEverySettingOnceByItsFlag) {
  std::set<std::string_view> keys;
  for (const SettingInfo& info : settings_table()) {
    EXPECT_TRUE(keys.insert(info.key).second) << info.key;
    EXPECT_FALSE(info.help.empty()) << info.key;
    if (info.flags.empty()) continue;
    std::string flag(info.key);
    for (char& c : flag) c = c == '_' ? '-' : c;
    EXPECT_TRUE(info.flags.ends_with("--" + flag)) << info.flags;
  }
  EXPECT_EQ(find_setting("ctx_size")->flags, "-c,--ctx-size");
  EXPECT_EQ(find_setting("ctx-size"), nullptr);
}

TEST(SettingsFromEnvironment, ReadsOneVariablePerKey) {
  ::setenv("TIDEMARK_CTX_SIZE", "8192", 1);
  ::setenv("TIDEMARK_QUANT", "", 1);
  const SettingMap settings = settings_from_environment();
  ::unsetenv("TIDEMARK_CTX_SIZE");
  ::unsetenv("TIDEMARK_QUANT");
  ASSERT_EQ(settings.size(), 1U);
  EXPECT_EQ(settings.at("ctx_size").text, "8192");
  EXPECT_EQ(settings.at("ctx_size").origin, "environment TIDEMARK_CTX_SIZE");
}

TEST(SettingFromAssignment, TakesKeyAndValue) {
  const SettingMap settings = setting_from_assignment("budget=2000 MB").value();
  EXPECT_EQ(settings.at("budget").text, "2000 MB");
  EXPECT_EQ(settings.at("budget").origin, "flag --set budget");
  EXPECT_EQ(setting_from_assignment("pinned=a=b").value().at("pinned").text, "a=b");
}

TEST(SettingFromAssignment, RefusesWhatIsNone) {
  const auto text = [](std::string_view assignment) {
    return to_string(setting_from_assignment(assignment).diagnostics());
  };
  const std::string example = "  hint: write --set ctx_size=8192\n";
  EXPECT_EQ(text("ctx_size"), "error: --set: \"ctx_size\" is not key=value\n" + example);
  EXPECT_EQ(text("ctx_size="), "error: --set: \"ctx_size=\" is not key=value\n" + example);
  EXPECT_EQ(text(""), "error: --set: \"\" is not key=value\n" + example);
  EXPECT_EQ(text("ctx-size=1"),
            "error: --set: \"ctx-size\" is not a setting\n  hint: did you mean \"ctx_size\"?\n");
}

TEST(ScenarioFile, BecomesSettingsWithTheirPlace) {
  const SettingMap settings = parse_scenario("x.yaml",
                                             "schema: scenario/1\ndescription: a run\nmodel: demo\n"
                                             "trace: [a, b]\n")
                                  .value();
  ASSERT_EQ(settings.size(), 2U);
  EXPECT_EQ(settings.at("model").origin, "scenario x.yaml:3");
  EXPECT_EQ(settings.at("trace").text, "a,b");
  EXPECT_EQ(settings.at("trace").where, (SourcePos{"x.yaml", 4, 8}));
}

TEST(Merge, TheStrongerWins) {
  const SettingMap merged = merge({{"seed", flag("1", "a")}, {"prompt", flag("2", "a")}},
                                  {{"seed", flag("3", "b")}, {"quant", flag("4", "b")}});
  ASSERT_EQ(merged.size(), 3U);
  EXPECT_EQ(merged.at("seed").text, "3");
  EXPECT_EQ(merged.at("prompt").text, "2");
}

TEST(ExpandLists, MakesEveryCombinationTheLastKeyFastest) {
  const auto runs = expand_lists({{"strategy", flag("resident, layerwise", "--strategy")},
                                  {"model", flag("a,b", "MODEL")},
                                  {"trace", flag("x,y", "--set trace")}})
                        .value();
  std::vector<std::string> seen;
  for (const SettingMap& run : runs)
    seen.push_back(run.at("model").text + " " + run.at("strategy").text);
  EXPECT_EQ(seen,
            (std::vector<std::string>{"a resident", "a layerwise", "b resident", "b layerwise"}));
  EXPECT_EQ(runs[3].at("trace").text, "x,y");
  EXPECT_EQ(runs[3].at("model").origin, "flag MODEL");
}

TEST(ExpandLists, OneValueEachIsOneRun) {
  EXPECT_EQ(expand_lists({}).value().size(), 1U);
  EXPECT_EQ(expand_lists({{"model", flag("a", "MODEL")}}).value().size(), 1U);
}

TEST(ExpandLists, RefusesEmptyEntriesAndTooManyRuns) {
  std::string many = "a";
  for (int i = 0; i < 31; ++i) many += ",a";
  const auto result = expand_lists({{"model", flag(many, "MODEL")},
                                    {"device", flag(many, "--device")},
                                    {"strategy", flag("resident,,layerwise", "--strategy")},
                                    {"planner", flag("best-of,", "--planner")}});
  EXPECT_EQ(to_string(result.diagnostics()),
            "error: --device: makes 1024 combinations\n"
            "  hint: at most 1000 are run at once\n"
            "error: --strategy: \"resident,,layerwise\" has an empty entry\n"
            "  hint: separate the values by single commas\n"
            "error: --planner: \"best-of,\" has an empty entry\n"
            "  hint: separate the values by single commas\n");
}

}  // namespace
}  // namespace tidemark

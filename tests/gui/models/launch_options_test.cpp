#include "gui/models/launch_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string problems_of(const std::vector<std::string>& arguments) {
  return to_string(parse_launch_options(arguments).diagnostics());
}

TEST(LaunchOptions, ReadsFilesSettingsAndExport) {
  const Result<LaunchOptions> options =
      parse_launch_options({"a.yaml", "--quant", "int4", "-c", "512", "--set", "trace=a,b",
                            "--export=x.png", "--size", "640x480", "--theme", "dark", "b.json"});
  ASSERT_TRUE(options.ok()) << to_string(options.diagnostics());
  EXPECT_THAT(options->files, ElementsAre("a.yaml", "b.json"));
  EXPECT_THAT(options->settings,
              ElementsAre(Pair("quant", "int4"), Pair("ctx_size", "512"), Pair("trace", "a,b")));
  EXPECT_EQ(options->export_file, "x.png");
  EXPECT_EQ(options->width, 640);
  EXPECT_EQ(options->height, 480);
  EXPECT_EQ(options->theme, "dark");
}

TEST(LaunchOptions, TakesTheFlagsOfEverySetting) {
  for (const SettingInfo& info : settings_table()) {
    if (info.flags.empty()) continue;
    const std::string flag(info.flags.substr(0, info.flags.find(',')));
    const bool is_switch = info.value.empty();  // takes a value only behind an equals sign
    const std::string long_flag(info.flags.substr(info.flags.find(',') + 1));
    const Result<LaunchOptions> options =
        is_switch ? parse_launch_options({long_flag + "=1"}) : parse_launch_options({flag, "1"});
    ASSERT_TRUE(options.ok()) << flag;
    EXPECT_THAT(options->settings, ElementsAre(Pair(std::string(info.key), "1")));
    EXPECT_THAT(launch_help(), HasSubstr(flag));
  }
}

TEST(LaunchOptions, ASwitchDoesNotTakeTheModelForItsValue) {
  const Result<LaunchOptions> options = parse_launch_options({"--swa-full", "gemma-3-1b"});
  ASSERT_TRUE(options.ok());
  EXPECT_THAT(options->settings, ElementsAre(Pair("swa_full", "on")));
  EXPECT_THAT(options->files, ElementsAre("gemma-3-1b"));
}

TEST(LaunchOptions, RefusesWhatItDoesNotKnowWithTheNearestFlag) {
  EXPECT_EQ(problems_of({"--exprot", "x.png"}),
            "error: --exprot: is not a flag of tidemark-gui\n  hint: did you mean \"--export\"?\n"
            "");
  EXPECT_THAT(problems_of({"--qunat", "int4"}), HasSubstr("--quant"));
}

TEST(LaunchOptions, RefusesWrongValues) {
  EXPECT_THAT(problems_of({"--size", "0x0"}), HasSubstr("\"0x0\" is not WIDTHxHEIGHT"));
  EXPECT_THAT(problems_of({"--size", "800"}), HasSubstr("WIDTHxHEIGHT"));
  EXPECT_THAT(problems_of({"--size", "99999999999x480"}), HasSubstr("WIDTHxHEIGHT"));
  EXPECT_THAT(problems_of({"--theme", "pink"}), HasSubstr("system, light, dark"));
  EXPECT_THAT(problems_of({"--set", "quant"}), HasSubstr("key=value"));
  EXPECT_THAT(problems_of({"--export"}), HasSubstr("needs a value"));
}

}  // namespace
}  // namespace tidemark

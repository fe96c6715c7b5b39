#include "gui/models/setting_choices.h"

#include <gtest/gtest.h>

#include "planner/config/settings.h"

namespace tidemark {
namespace {

TEST(SettingChoices, ContextStops) {
  EXPECT_EQ(context_at(0), 128);
  EXPECT_EQ(context_at(1), 160);
  EXPECT_EQ(context_at(2), 192);
  EXPECT_EQ(context_at(3), 224);
  EXPECT_EQ(context_at(4), 256);
  EXPECT_EQ(context_at(20), 4096);
  EXPECT_EQ(context_at(last_context_position()), 1048576);
}

TEST(SettingChoices, EveryStopIsItsOwnPosition) {
  for (int position = 0; position <= last_context_position(); ++position) {
    EXPECT_EQ(context_position(context_at(position)), position);
  }
}

TEST(SettingChoices, BetweenStopsTheLowerOneCounts) {
  EXPECT_EQ(context_position(1), 0);
  EXPECT_EQ(context_position(191), 1);
  EXPECT_EQ(context_position(int64_t{1} << 40), last_context_position());
}

TEST(SettingChoices, EveryChoiceCanBeRun) {
  for (const char* key : {"device", "engine", "quant", "strategy"}) {
    ASSERT_FALSE(setting_choices(key).isEmpty()) << key;
    for (const QString& choice : setting_choices(key)) {
      const SettingMap settings{{"model", {.text = "minicpm-2b", .origin = "flag MODEL"}},
                                {key, {.text = choice.toStdString(), .origin = "flag"}}};
      const Result<Scenario> scenario = resolve_scenario(settings);
      EXPECT_TRUE(scenario.ok()) << key << " " << choice.toStdString() << "\n"
                                 << to_string(scenario.diagnostics());
    }
  }
}

TEST(SettingChoices, EveryModelLoads) {
  ASSERT_TRUE(setting_choices("model").contains("minicpm-2b"));
  for (const QString& choice : setting_choices("model")) {
    const SettingMap settings{{"model", {.text = choice.toStdString(), .origin = "flag MODEL"}}};
    EXPECT_TRUE(resolve_scenario(settings).ok()) << choice.toStdString();
  }
}

TEST(SettingChoices, TheExampleIsAScenario) {
  EXPECT_TRUE(load_scenario_file(example_scenario().toStdString()).ok());
}

TEST(SettingChoices, NumbersSizesAndTextsHaveNone) {
  for (const char* key : {"ctx_size", "kv_resident", "trace", "split", "requests", "mmproj"}) {
    EXPECT_TRUE(setting_choices(key).isEmpty()) << key;
  }
}

// As the settings table words them, the default last.
TEST(SettingChoices, WordsOfTheHelp) {
  EXPECT_EQ(setting_choices("page_cache"), (QStringList{"warm", "cold"}));
  EXPECT_EQ(setting_choices("enforce"), (QStringList{"on", "off"}));
  EXPECT_EQ(setting_choices("load_overlap"), (QStringList{"off", "on"}));
  EXPECT_TRUE(setting_choices("planner").contains("best-of"));
}

}  // namespace
}  // namespace tidemark

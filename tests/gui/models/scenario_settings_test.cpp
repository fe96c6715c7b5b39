#include "gui/models/scenario_settings.h"

#include <gtest/gtest.h>

#include <QSignalSpy>

namespace tidemark {
namespace {

SettingLayers scenario_layers() {
  return {.scenario_file = "s.yaml",
          .scenario = {{"model", {.text = "m", .origin = "scenario s.yaml:1"}},
                       {"quant", {.text = "int4", .origin = "scenario s.yaml:2"}}}};
}

std::string origin(const ScenarioSettings& settings, const std::string& key) {
  return settings.merged().at(key).origin;
}

TEST(ScenarioSettings, AnEditCountsAsTheFlag) {
  ScenarioSettings settings(SettingMap{});
  settings.setValue("ctx_size", "512");
  settings.setValue("model", "m");
  settings.setValue("trace", "a,b");
  EXPECT_EQ(origin(settings, "ctx_size"), "flag --ctx-size");
  EXPECT_EQ(origin(settings, "model"), "flag MODEL");
  EXPECT_EQ(origin(settings, "trace"), "flag --set trace");
}

TEST(ScenarioSettings, EditsWinOverTheEnvironmentAndThatOverTheFile) {
  ScenarioSettings settings(
      SettingMap{{"quant", {.text = "int8", .origin = "environment TIDEMARK_QUANT"}},
                 {"device", {.text = "d", .origin = "environment TIDEMARK_DEVICE"}}});
  settings.start(scenario_layers());
  settings.setValue("device", "pixel-8");
  EXPECT_EQ(settings.value("model"), "m");
  EXPECT_EQ(settings.value("quant"), "int8");
  EXPECT_EQ(settings.value("device"), "pixel-8");
}

TEST(ScenarioSettings, UndoAndRedoWalkTheEditsOneByOne) {
  ScenarioSettings settings(SettingMap{});
  settings.start(scenario_layers());
  EXPECT_FALSE(settings.canUndo());
  settings.setValue("quant", "int8");
  settings.setValue("quant", "f16");
  settings.undo();
  EXPECT_EQ(settings.value("quant"), "int8");
  settings.undo();
  EXPECT_EQ(settings.value("quant"), "int4");
  EXPECT_EQ(origin(settings, "quant"), "scenario s.yaml:2");
  EXPECT_FALSE(settings.canUndo());
  settings.redo();
  settings.redo();
  EXPECT_EQ(settings.value("quant"), "f16");
  EXPECT_FALSE(settings.canRedo());
}

TEST(ScenarioSettings, AnEditAfterUndoForgetsWhatWasUndone) {
  ScenarioSettings settings(SettingMap{});
  settings.setValue("quant", "int8");
  settings.undo();
  settings.setValue("quant", "f16");
  EXPECT_FALSE(settings.canRedo());
  settings.undo();
  EXPECT_EQ(settings.value("quant"), "");
}

TEST(ScenarioSettings, ADragIsOneStep) {
  ScenarioSettings settings(SettingMap{});
  settings.setValue("ctx_size", "100");
  settings.beginDrag();
  for (const char* text : {"200", "300", "400"}) settings.setValue("ctx_size", text);
  settings.endDrag();
  settings.undo();
  EXPECT_EQ(settings.value("ctx_size"), "100");
  settings.redo();
  EXPECT_EQ(settings.value("ctx_size"), "400");
}

TEST(ScenarioSettings, TwoDragsAreTwoSteps) {
  ScenarioSettings settings(SettingMap{});
  for (const char* text : {"200", "300"}) {
    settings.beginDrag();
    settings.setValue("ctx_size", text);
    settings.endDrag();
  }
  settings.undo();
  EXPECT_EQ(settings.value("ctx_size"), "200");
}

TEST(ScenarioSettings, WhatChangesNothingIsNoStep) {
  ScenarioSettings settings(SettingMap{});
  settings.start(scenario_layers());
  const QSignalSpy changed(&settings, &ScenarioSettings::changed);
  settings.setValue("quant", "int4");  // as the file says
  settings.setValue("device", "");     // nowhere stated
  EXPECT_FALSE(settings.canUndo());
  EXPECT_EQ(changed.count(), 0);
}

TEST(ScenarioSettings, TakingBackAnEditShowsTheFileAgain) {
  ScenarioSettings settings(SettingMap{});
  settings.start(scenario_layers());
  settings.setValue("device", "pixel-8");
  settings.setValue("device", "");
  EXPECT_EQ(settings.value("device"), "");
  EXPECT_EQ(settings.layers().scenario_file, "s.yaml");
}

TEST(ScenarioSettings, TakingBackWhatTheFileStatesTurnsTheFileIntoEdits) {
  ScenarioSettings settings(SettingMap{});
  settings.start(scenario_layers());
  settings.setValue("quant", "");
  EXPECT_EQ(settings.value("quant"), "");
  EXPECT_EQ(settings.value("model"), "m");
  EXPECT_EQ(origin(settings, "model"), "flag MODEL");
  EXPECT_EQ(settings.layers().scenario_file, "");
  settings.undo();
  EXPECT_EQ(settings.value("quant"), "int4");
  EXPECT_EQ(settings.layers().scenario_file, "s.yaml");
}

TEST(ScenarioSettings, OpeningAScenarioDropsTheEditsInOneStep) {
  ScenarioSettings settings(SettingMap{});
  settings.setValue("device", "pixel-8");
  settings.openScenario("s.yaml", scenario_layers().scenario);
  EXPECT_EQ(settings.value("device"), "");
  settings.undo();
  EXPECT_EQ(settings.value("device"), "pixel-8");
  EXPECT_EQ(settings.value("quant"), "");
}

}  // namespace
}  // namespace tidemark

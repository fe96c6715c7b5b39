#include "gui/models/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QProcess>

namespace tidemark {
namespace {

using ::testing::ElementsAre;

SettingLayers layers_of(const std::vector<std::pair<std::string, QString>>& edits,
                        const std::string& file = "") {
  ScenarioSettings settings(SettingMap{});
  settings.start({.scenario_file = file});
  for (const auto& [key, text] : edits) settings.setValue(key, text);
  return settings.layers();
}

// What a shell makes of the line, one argument an entry.
QStringList arguments_by_a_shell(const std::string& line) {
  QProcess shell;
  shell.start("/bin/sh", {"-c", "printf '%s\\001' " + QString::fromStdString(line)});
  EXPECT_TRUE(shell.waitForFinished());
  QStringList arguments = QString::fromUtf8(shell.readAllStandardOutput()).split(QChar(1));
  arguments.removeLast();
  return arguments;
}

TEST(CommandLine, EveryEditIsItsFlagInTheOrderOfTheTable) {
  const SettingLayers layers =
      layers_of({{"budget", "2 GiB"}, {"quant", "int4"}, {"model", "m"}, {"trace", "a,b"}});
  EXPECT_THAT(
      command_arguments("plan", layers),
      ElementsAre("plan", "m", "--quant", "int4", "--budget", "2 GiB", "--set", "trace=a,b"));
}

TEST(CommandLine, AScenarioFileIsNamedInsteadOfItsSettings) {
  EXPECT_THAT(command_arguments("simulate", layers_of({{"quant", "int4"}}, "demo.yaml")),
              ElementsAre("simulate", "--scenario", "demo.yaml", "--quant", "int4"));
}

// `--swa-full off` would leave "off" to be taken for a model.
TEST(CommandLine, ASwitchCarriesItsValue) {
  EXPECT_THAT(command_arguments("plan", layers_of({{"swa_full", "off"}, {"pure", "on"}})),
              ElementsAre("plan", "--pure=on", "--swa-full=off"));
}

TEST(CommandLine, PlainWordsStandUnquoted) {
  EXPECT_EQ(command_line("plan", layers_of({{"model", "minicpm-2b"}, {"ctx_size", "512"}})),
            "tidemark plan minicpm-2b --ctx-size 512");
}

TEST(CommandLine, AShellReadsBackWhatWasQuoted) {
  const QString awkward = QStringLiteral("a b/$HOME `x` \"y\" 'z' \\ * 模型.yaml");
  const std::string line = command_line("plan", layers_of({{"model", awkward}}));
  EXPECT_EQ(arguments_by_a_shell(line), (QStringList{"tidemark", "plan", awkward}));
}

}  // namespace
}  // namespace tidemark

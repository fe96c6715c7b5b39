#include "open_window.h"

#include <QProcess>
#include <QSet>
#include <QTest>
#include <span>

#include "gui/models/command_line.h"
#include "planner/report/writers.h"

namespace tidemark::testing {

std::unique_ptr<MainWindow> open_window(const LaunchOptions& options,
                                        RunController::Runner runner) {
  auto window = std::make_unique<MainWindow>(false, std::move(runner));
  window->start(options);
  window->show();
  window->activateWindow();
  EXPECT_TRUE(QTest::qWaitForWindowActive(window.get()));
  return window;
}

bool settle(MainWindow& window) {
  return QTest::qWaitFor([&] { return window.isSettled(); }, 10000);
}

Finished run_program(const QString& program, const QStringList& arguments,
                     const QStringList& without_environment) {
  QProcess process;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  for (const QString& name : without_environment) environment.remove(name);
  process.setProcessEnvironment(environment);
  process.start(program, arguments);
  EXPECT_TRUE(process.waitForFinished(20000)) << process.errorString().toStdString();
  return {.code = process.exitCode(),
          .output = process.readAllStandardOutput(),
          .errors = process.readAllStandardError().toStdString()};
}

std::string json_of_command_line(const char* verb, const MainWindow& window) {
  QStringList arguments;
  for (const std::string& argument : command_arguments(verb, window.settings().layers())) {
    arguments.push_back(QString::fromStdString(argument));
  }
  const Finished finished = run_program(TIDEMARK_CLI, arguments + QStringList{"--json"});
  EXPECT_EQ(finished.errors, "");
  return finished.output.toStdString();
}

std::string plan_json(const MainWindow& window) {
  const auto result = window.result();
  if (result == nullptr || !result->plan) return "";
  return to_json(std::span(&*result->plan, 1));
}

std::string simulation_json(const MainWindow& window) {
  const auto result = window.result();
  if (result == nullptr || !result->simulation) return "";
  return to_json(std::span(&*result->simulation, 1));
}

int colors_in(const QImage& picture) {
  QSet<QRgb> colors;
  for (int y = 0; y < picture.height(); y += 3) {
    for (int x = 0; x < picture.width(); x += 3) colors.insert(picture.pixel(x, y));
  }
  return static_cast<int>(colors.size());
}

}  // namespace tidemark::testing

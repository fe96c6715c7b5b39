// A window to be used in a test, and the command line to compare it with.
#pragma once

#include <gtest/gtest.h>

#include <QByteArray>
#include <QImage>
#include <QString>
#include <memory>
#include <string>

#include "gui/views/main_window.h"

namespace tidemark::testing {

// Remembers nothing from one start to the next.
std::unique_ptr<MainWindow> open_window(const LaunchOptions& options = {},
                                        RunController::Runner runner = run_settings);

// Until the result of the newest settings is shown; false after ten seconds.
bool settle(MainWindow& window);

template <typename T>
T& field(MainWindow& window, const char* name) {
  T* found = window.findChild<T*>(QString::fromLatin1(name));
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

struct Finished {
  int code = -1;
  QByteArray output{};
  std::string errors{};
};

// Runs a built program to its end.
Finished run_program(const QString& program, const QStringList& arguments,
                     const QStringList& without_environment = {});

// What `tidemark VERB ... --json` prints for the settings of the window.
std::string json_of_command_line(const char* verb, const MainWindow& window);
// What the window shows, written as the command line writes it.
std::string plan_json(const MainWindow& window);
std::string simulation_json(const MainWindow& window);

// Different colours in a picture, counted up to a few.
int colors_in(const QImage& picture);

}  // namespace tidemark::testing

// tidemark-gui: shows the window, or writes a picture of it.
#include <QApplication>
#include <QLocale>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "gui/models/launch_options.h"
#include "gui/views/export_picture.h"
#include "gui/views/main_window.h"
#include "gui/views/theme.h"

namespace tidemark {
namespace {

constexpr int kDone = 0;
constexpr int kBadInput = 2;
constexpr int kInternalError = 3;

int fail(const Diagnostics& problems) {
  std::fputs(to_string(problems).c_str(), stderr);
  return kBadInput;
}

bool has_flag(const std::vector<std::string>& arguments, const std::string& flag) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    return argument == flag || argument.starts_with(flag + "=");
  });
}

// Without a display Qt warns of what a picture does not need.
void keep_errors_only(QtMsgType type, const QMessageLogContext&, const QString& message) {
  if (type != QtCriticalMsg && type != QtFatalMsg) return;
  std::fputs((message.toStdString() + "\n").c_str(), stderr);
}

// Qt ends the program when it finds no display. A picture needs none.
bool choose_platform(bool exports) {
  const bool chosen = qEnvironmentVariableIsSet("QT_QPA_PLATFORM");
  if (exports) qInstallMessageHandler(keep_errors_only);
  if (exports && !chosen) qputenv("QT_QPA_PLATFORM", "offscreen");
#ifdef Q_OS_LINUX
  const bool has_display =
      !qEnvironmentVariableIsEmpty("DISPLAY") || !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
  return exports || chosen || has_display;
#else
  return true;
#endif
}

int export_window(MainWindow& window, const LaunchOptions& options, Diagnostics problems) {
  window.setAttribute(Qt::WA_DontShowOnScreen);
  window.resize(options.width, options.height);
  window.show();
  int code = kDone;
  QObject::connect(&window, &MainWindow::settled, &window, [&] {
    const RunResult& result = *window.result();
    problems.insert(problems.end(), result.problems.begin(), result.problems.end());
    if (!has_errors(problems)) {
      problems = export_picture(*window.centralWidget(), options.export_file);
    }
    if (!problems.empty()) code = fail(problems);
    QCoreApplication::exit(code);
  });
  return QApplication::exec();
}

int run(const QStringList& arguments, QApplication& application) {
  std::vector<std::string> texts;
  for (const QString& argument : arguments.mid(1)) texts.push_back(argument.toStdString());
  const Result<LaunchOptions> options = parse_launch_options(texts);
  if (!options) return fail(options.diagnostics());

  const bool exports = has_flag(texts, "--export");
  const bool states_theme = exports || has_flag(texts, "--theme");
  if (exports && options->export_file.empty()) {
    return fail(one_error("--export", "needs the name of a file", "end it in .png, .svg or .pdf"));
  }
  apply_theme(application, QStringLiteral("system"));
  MainWindow window(!exports);
  window.setTheme(states_theme ? QString::fromStdString(options->theme)
                               : MainWindow::rememberedTheme());
  const Diagnostics problems = window.start(*options);
  if (exports) return export_window(window, *options, problems);
  if (has_flag(texts, "--size")) window.resize(options->width, options->height);
  window.show();
  const int code = QApplication::exec();
  // A run cannot be stopped, and nobody waits for it any more.
  if (window.isComputing()) std::_Exit(code);
  return code;
}

int start(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (has_flag(arguments, "--help")) {
    std::fputs(launch_help().c_str(), stdout);
    return kDone;
  }
  if (has_flag(arguments, "--version")) {
    std::fputs((std::string("tidemark-gui ") + kToolVersion + "\n").c_str(), stdout);
    return kDone;
  }
  if (!choose_platform(has_flag(arguments, "--export"))) {
    return fail(one_error("display", "there is none to show a window on",
                          "set DISPLAY, or write a picture with --export FILE.png"));
  }
  // Numbers look as on the command line, whatever the desktop's language.
  QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
  QApplication application(argc, argv);
  QCoreApplication::setOrganizationName(QStringLiteral("tidemark"));
  QCoreApplication::setApplicationName(QStringLiteral("tidemark-gui"));
  return run(QCoreApplication::arguments(), application);
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  try {
    return tidemark::start(argc, argv);
  } catch (const std::exception& bug) {
    const std::string words = std::string("internal error at ") + bug.what() +
                              "\n  hint: please report this with the command line\n";
    std::fputs(words.c_str(), stderr);
    return tidemark::kInternalError;
  }
}

// The window: settings at the left, results at the right, and the run controller between them.
#pragma once

#include <QMainWindow>
#include <memory>
#include <string>
#include <vector>

#include "gui/models/launch_options.h"
#include "gui/models/measured_curve.h"
#include "gui/models/run_controller.h"
#include "gui/models/scenario_settings.h"

class QAction;
class QActionGroup;
class QBoxLayout;
class QLabel;
class QMenu;
class QScrollArea;

namespace tidemark {

class ResultsPage;
class SettingsPanel;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  // `remembers`: keeps its place on the screen and the recent files from one start to the next.
  explicit MainWindow(bool remembers, RunController::Runner runner = run_settings,
                      QWidget* parent = nullptr);
  ~MainWindow() override;

  // Opens the files, makes the edits, and begins the first run; without a model among them, the
  // built-in example. Problems with the files come back and are shown as well.
  Diagnostics start(const LaunchOptions& options);
  Diagnostics openFile(const std::string& file);
  // The settings as they are, as a scenario file.
  Diagnostics saveScenario(const std::string& file);

  // "system", "light" or "dark", as the menu has it.
  void setTheme(const QString& name);
  // What was chosen in the menu of an earlier start.
  static QString rememberedTheme();

  ScenarioSettings& settings() { return settings_; }
  const ScenarioSettings& settings() const { return settings_; }
  const ResultsPage& page() const { return *page_; }
  // Of the settings as they are, once settled() has been said; nullptr before the first.
  std::shared_ptr<const RunResult> result() const { return result_; }
  bool isSettled() const { return controller_.isIdle(); }
  // Also of what nobody waits for any more.
  bool isComputing() const { return controller_.hasThreads(); }

 Q_SIGNALS:
  // The result of the newest settings is shown.
  void settled();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dragLeaveEvent(QDragLeaveEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void makeContent();
  void makeMenus();
  void makeFileMenu();
  void makeEditMenu();
  void makeViewMenu();
  QAction* add(QMenu* menu, const QString& text, const QKeySequence& keys,
               void (MainWindow::*slot)());
  void showFileDialog();
  void showSaveDialog();
  void showExportDialog();
  void showShortcuts();
  void showAbout();
  void showBox(const QString& title, const QString& html);
  void say(const QString& words);
  void sayWritten(const QString& file, const Diagnostics& problems);
  void copyCurve();
  void copyTable();
  void copyCommand(const char* verb);
  void copyPlanCommand();
  void copySimulateCommand();
  void undo();
  void redo();
  void rerun();
  void showResult(std::shared_ptr<const RunResult> result);
  void showReplay();
  void showParts();
  void updateActions();
  void remember(const std::string& file);
  void openRecent(const QString& file);
  void showRecent();
  void arrange();

  bool remembers_ = false;
  ScenarioSettings settings_;
  RunController controller_;
  std::shared_ptr<const RunResult> result_{};
  std::vector<MeasuredCurve> replays_{};
  Diagnostics file_problems_{};  // of what was opened last

  SettingsPanel* panel_ = nullptr;
  ResultsPage* page_ = nullptr;
  QScrollArea* scroll_ = nullptr;
  QBoxLayout* halves_ = nullptr;
  QAction* undo_ = nullptr;
  QAction* redo_ = nullptr;
  QAction* replay_ = nullptr;
  QAction* export_ = nullptr;
  QActionGroup* themes_ = nullptr;
  QLabel* source_ = nullptr;
  QMenu* parts_ = nullptr;
  QMenu* recent_ = nullptr;
};

}  // namespace tidemark

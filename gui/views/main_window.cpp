#include "gui/views/main_window.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QBoxLayout>
#include <QClipboard>
#include <QCloseEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenuBar>
#include <QMimeData>
#include <QScrollArea>
#include <QSettings>
#include <QStatusBar>
#include <QUrl>

#include "gui/models/command_line.h"
#include "gui/models/open_file.h"
#include "gui/models/setting_choices.h"
#include "gui/views/export_picture.h"
#include "gui/views/results_page.h"
#include "gui/views/settings_panel.h"
#include "gui/views/theme.h"

namespace tidemark {
namespace {

constexpr int kNarrow = 760;
constexpr int kPanelWidth = 320;
constexpr int kMostRecent = 10;
constexpr const char* kRecentKey = "recent_files";
constexpr const char* kGeometryKey = "geometry";

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace

MainWindow::MainWindow(bool remembers, RunController::Runner runner, QWidget* parent)
    : QMainWindow(parent), remembers_(remembers), controller_(std::move(runner)) {
  setWindowTitle(tr("Tidemark"));
  setAcceptDrops(true);
  resize(1280, 800);
  makeContent();
  makeFileMenu();
  makeEditMenu();
  makeViewMenu();
  connect(&settings_, &ScenarioSettings::changed, this, &MainWindow::rerun);
  connect(&controller_, &RunController::finished, this, &MainWindow::showResult);
  connect(page_, &ResultsPage::shapesChanged, this, &MainWindow::showParts);
  if (remembers_) restoreGeometry(QSettings().value(kGeometryKey).toByteArray());
  updateActions();
}

// A field that loses the focus says so; the settings it speaks to must still be there.
MainWindow::~MainWindow() { delete takeCentralWidget(); }

void MainWindow::makeContent() {
  auto* content = new QWidget;
  halves_ = new QBoxLayout(QBoxLayout::LeftToRight, content);
  halves_->setContentsMargins(12, 12, 12, 12);
  halves_->setSpacing(12);
  panel_ = new SettingsPanel(settings_);
  scroll_ = new QScrollArea;
  scroll_->setWidget(panel_);
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setFocusPolicy(Qt::NoFocus);
  page_ = new ResultsPage;
  halves_->addWidget(scroll_);
  halves_->addWidget(page_, 1);
  setCentralWidget(content);
}

QAction* MainWindow::add(QMenu* menu, const QString& text, const QKeySequence& keys,
                         void (MainWindow::*slot)()) {
  QAction* action = menu->addAction(text);
  action->setShortcut(keys);
  connect(action, &QAction::triggered, this, slot);
  return action;
}

void MainWindow::makeFileMenu() {
  QMenu* menu = menuBar()->addMenu(tr("&File"));
  add(menu, tr("&Open..."), QKeySequence::Open, &MainWindow::showFileDialog);
  recent_ = menu->addMenu(tr("Open &recent"));
  showRecent();
  add(menu, tr("&Compute again"), QKeySequence::Refresh, &MainWindow::rerun);
  menu->addSeparator();
  add(menu, tr("&Export picture..."), QKeySequence(tr("Ctrl+Shift+E")),
      &MainWindow::showExportDialog);
  menu->addSeparator();
  QAction* quit = menu->addAction(tr("&Quit"));
  quit->setShortcut(QKeySequence(tr("Ctrl+Q")));
  connect(quit, &QAction::triggered, this, &QWidget::close);
}

void MainWindow::makeEditMenu() {
  QMenu* menu = menuBar()->addMenu(tr("&Edit"));
  undo_ = add(menu, tr("&Undo"), QKeySequence::Undo, &MainWindow::undo);
  redo_ = add(menu, tr("&Redo"), QKeySequence(tr("Ctrl+Shift+Z")), &MainWindow::redo);
  menu->addSeparator();
  add(menu, tr("Copy &table"), QKeySequence(tr("Ctrl+Shift+C")), &MainWindow::copyTable);
  add(menu, tr("Copy &plan command"), QKeySequence(tr("Ctrl+Shift+P")),
      &MainWindow::copyPlanCommand);
  add(menu, tr("Copy &simulate command"), QKeySequence(tr("Ctrl+Shift+S")),
      &MainWindow::copySimulateCommand);
}

void MainWindow::makeViewMenu() {
  QMenu* menu = menuBar()->addMenu(tr("&View"));
  parts_ = menu->addMenu(tr("&Parts of the curve"));
  replay_ = add(menu, tr("&Replay"), QKeySequence(tr("Ctrl+R")), &MainWindow::showReplay);
  replay_->setCheckable(true);
  QMenu* themes = menu->addMenu(tr("&Theme"));
  auto* group = new QActionGroup(this);
  for (const QString& name :
       {QStringLiteral("system"), QStringLiteral("light"), QStringLiteral("dark")}) {
    QAction* action = themes->addAction(name);
    action->setCheckable(true);
    group->addAction(action);
    connect(action, &QAction::triggered, this, [name] { apply_theme(*qApp, name); });
  }
}

Diagnostics MainWindow::start(const LaunchOptions& options) {
  Diagnostics problems;
  for (const std::string& file : options.files) {
    const Diagnostics more = openFile(file);
    problems.insert(problems.end(), more.begin(), more.end());
  }
  for (const auto& [key, text] : options.settings) {
    settings_.setValue(key, QString::fromStdString(text));
  }
  SettingLayers layers = settings_.layers();
  if (!settings_.merged().contains("model")) {
    const std::string example = example_scenario().toStdString();
    const Result<SettingMap> scenario = load_scenario_file(example);
    if (scenario) {
      layers.scenario_file = example;
      layers.scenario = *scenario;
    }
  }
  settings_.start(std::move(layers));
  return problems;
}

Diagnostics MainWindow::openFile(const std::string& file) {
  Result<OpenedFile> opened = open_file(file);
  if (!opened) {
    page_->setProblems(opened.diagnostics());
    return opened.diagnostics();
  }
  std::visit(Overloaded{[&](const OpenedScenario& scenario) {
                          settings_.openScenario(scenario.file, scenario.settings);
                        },
                        [&](const OpenedConfig& config) {
                          settings_.setValue(config.key, QString::fromStdString(config.file));
                        },
                        [&](const std::vector<MeasuredCurve>& curves) {
                          replays_ = curves;
                          replay_->setChecked(true);
                          showReplay();
                        }},
             *opened);
  remember(file);
  updateActions();
  return {};
}

void MainWindow::rerun() {
  page_->setPending();
  updateActions();
  controller_.request(settings_.merged());
}

void MainWindow::showResult(std::shared_ptr<const RunResult> result) {
  result_ = std::move(result);
  panel_->setResult(*result_);
  page_->setResult(result_);
  // Another strategy may have a replay of its own.
  if (replay_->isChecked()) showReplay();
  if (result_->plan) {
    const ModelFacts& model = result_->plan->model;
    setWindowTitle(tr("%1 on %2 - Tidemark")
                       .arg(QString::fromStdString(model.name),
                            QString::fromStdString(result_->plan->device.name)));
  }
  Q_EMIT settled();
}

// The run of the strategy that is shown, or the first.
void MainWindow::showReplay() {
  updateActions();
  if (!replay_->isChecked() || replays_.empty()) return page_->setMeasured(std::nullopt);
  const std::string strategy = result_ && result_->plan ? result_->plan->strategy : "";
  const MeasuredCurve* chosen = &replays_.front();
  for (const MeasuredCurve& curve : replays_) {
    if (curve.strategy == strategy) {
      chosen = &curve;
      break;
    }
  }
  page_->setMeasured(*chosen);
}

void MainWindow::showParts() {
  parts_->clear();
  const bool simulated = page_->shapes().measured.isEmpty();
  parts_->setEnabled(simulated && !page_->shapes().bands.empty());
  if (!simulated) return;
  for (const CurveBand& band : page_->shapes().bands) {
    QAction* action = parts_->addAction(band.label);
    action->setCheckable(true);
    action->setChecked(!band.hidden);
    // The menu is made anew by what the action does, so it is done after the menu has closed.
    connect(
        action, &QAction::triggered, page_,
        [page = page_, key = band.key] { page->togglePart(key); }, Qt::QueuedConnection);
  }
}

void MainWindow::updateActions() {
  undo_->setEnabled(settings_.canUndo());
  redo_->setEnabled(settings_.canRedo());
  undo_->setText(settings_.canUndo() ? tr("&Undo %1").arg(settings_.undoText()) : tr("&Undo"));
  redo_->setText(settings_.canRedo() ? tr("&Redo %1").arg(settings_.redoText()) : tr("&Redo"));
  replay_->setEnabled(!replays_.empty());
}

void MainWindow::undo() { settings_.undo(); }

void MainWindow::redo() { settings_.redo(); }

void MainWindow::copyTable() { QApplication::clipboard()->setText(table_text(page_->table())); }

void MainWindow::copyPlanCommand() {
  const std::string line = command_line("plan", settings_.layers());
  QApplication::clipboard()->setText(QString::fromStdString(line));
}

void MainWindow::copySimulateCommand() {
  const std::string line = command_line("simulate", settings_.layers());
  QApplication::clipboard()->setText(QString::fromStdString(line));
}

void MainWindow::showFileDialog() {
  const QString file = QFileDialog::getOpenFileName(this, tr("Open"), QString(), openable_files());
  if (!file.isEmpty()) openFile(file.toStdString());
}

void MainWindow::showExportDialog() {
  const QString file = QFileDialog::getSaveFileName(
      this, tr("Export picture"), QStringLiteral("tidemark.png"),
      tr("PNG picture (*.png);;SVG drawing (*.svg);;PDF document (*.pdf)"));
  if (file.isEmpty()) return;
  const Diagnostics problems = export_picture(*centralWidget(), file.toStdString());
  statusBar()->showMessage(problems.empty() ? tr("wrote %1").arg(file)
                                            : QString::fromStdString(to_string(problems)).trimmed(),
                           problems.empty() ? 5000 : 0);
}

void MainWindow::remember(const std::string& file) {
  const QFileInfo info(QString::fromStdString(file));
  if (!remembers_ || !info.exists()) return;
  QSettings store;
  QStringList files = store.value(kRecentKey).toStringList();
  files.removeAll(info.absoluteFilePath());
  files.prepend(info.absoluteFilePath());
  store.setValue(kRecentKey, files.mid(0, kMostRecent));
  showRecent();
}

void MainWindow::showRecent() {
  recent_->clear();
  const QStringList files =
      remembers_ ? QSettings().value(kRecentKey).toStringList() : QStringList();
  for (const QString& file : files) {
    QAction* action = recent_->addAction(QFileInfo(file).fileName());
    action->setToolTip(file);
    connect(
        action, &QAction::triggered, this, [this, file] { openFile(file.toStdString()); },
        Qt::QueuedConnection);
  }
  recent_->setToolTipsVisible(true);
  recent_->setEnabled(!files.isEmpty());
}

// Side by side; one below the other where that would squeeze the chart.
void MainWindow::arrange() {
  const bool narrow = width() < kNarrow;
  halves_->setDirection(narrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
  if (narrow) {
    scroll_->setMinimumWidth(0);
    scroll_->setMaximumWidth(QWIDGETSIZE_MAX);
    scroll_->setFixedHeight(height() / 4);
  } else {
    scroll_->setFixedWidth(kPanelWidth);
    scroll_->setMinimumHeight(0);
    scroll_->setMaximumHeight(QWIDGETSIZE_MAX);
  }
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  arrange();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (remembers_) QSettings().setValue(kGeometryKey, saveGeometry());
  QMainWindow::closeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) openFile(url.toLocalFile().toStdString());
  }
  event->acceptProposedAction();
}

}  // namespace tidemark

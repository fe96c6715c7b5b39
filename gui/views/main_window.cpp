#include "gui/views/main_window.h"

#include <QAction>
#include <QBoxLayout>
#include <QCloseEvent>
#include <QLabel>
#include <QMimeData>
#include <QScrollArea>
#include <QSettings>
#include <QStatusBar>
#include <QUrl>

#include "gui/models/open_file.h"
#include "gui/models/setting_choices.h"
#include "gui/views/results_page.h"
#include "gui/views/settings_panel.h"

namespace tidemark {
namespace {

constexpr int kNarrow = 760;
constexpr int kPanelWidth = 320;
constexpr int kLeastWidth = 480;
constexpr int kLeastHeight = 360;
constexpr const char* kGeometryKey = "geometry";

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

QStringList local_files(const QMimeData& data) {
  QStringList files;
  for (const QUrl& url : data.urls()) {
    if (url.isLocalFile()) files << url.toLocalFile();
  }
  return files;
}

}  // namespace

MainWindow::MainWindow(bool remembers, RunController::Runner runner, QWidget* parent)
    : QMainWindow(parent), remembers_(remembers), controller_(std::move(runner)) {
  setWindowTitle(tr("Tidemark"));
  setAcceptDrops(true);
  resize(1280, 800);
  setMinimumSize(kLeastWidth, kLeastHeight);
  makeContent();
  makeMenus();
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
  auto* results = new QScrollArea;
  results->setWidget(page_);
  results->setWidgetResizable(true);
  results->setFrameShape(QFrame::NoFrame);
  results->setFocusPolicy(Qt::NoFocus);
  halves_->addWidget(scroll_);
  halves_->addWidget(results, 1);
  setCentralWidget(content);
  source_ = new QLabel;
  source_->setObjectName(QStringLiteral("source"));
  source_->setTextFormat(Qt::PlainText);
  source_->setContentsMargins(0, 0, 12, 0);
  statusBar()->addPermanentWidget(source_);
  statusBar()->setSizeGripEnabled(false);
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
  file_problems_ = problems;
  return problems;
}

Diagnostics MainWindow::openFile(const std::string& file) {
  Result<OpenedFile> opened = open_file(file);
  if (!opened) {
    file_problems_ = opened.diagnostics();
    page_->setProblems(file_problems_);
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
  file_problems_.clear();
  page_->setPending();
  updateActions();
  controller_.request(settings_.merged());
}

void MainWindow::showResult(std::shared_ptr<const RunResult> result) {
  result_ = std::move(result);
  panel_->setResult(*result_);
  page_->setResult(result_);
  // The file that could not be opened is not forgotten with the next result.
  if (!file_problems_.empty()) page_->setProblems(file_problems_);
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
  const QStringList files = local_files(*event->mimeData());
  if (files.isEmpty()) return;
  event->acceptProposedAction();
  statusBar()->showMessage(files.size() == 1 ? tr("drop to open %1").arg(files.front())
                                             : tr("drop to open %1 files").arg(files.size()));
}

void MainWindow::dragLeaveEvent(QDragLeaveEvent*) { statusBar()->clearMessage(); }

void MainWindow::dropEvent(QDropEvent* event) {
  statusBar()->clearMessage();
  Diagnostics problems;
  for (const QString& file : local_files(*event->mimeData())) {
    const Diagnostics more = openFile(file.toStdString());
    problems.insert(problems.end(), more.begin(), more.end());
  }
  file_problems_ = problems;
  event->acceptProposedAction();
}

}  // namespace tidemark

// The menus of the window and what is done from them.
#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMenuBar>
#include <QMessageBox>
#include <QSettings>
#include <QStatusBar>
#include <QTableView>

#include "gui/models/command_line.h"
#include "gui/models/open_file.h"
#include "gui/models/scenario_text.h"
#include "gui/views/export_picture.h"
#include "gui/views/main_window.h"
#include "gui/views/memory_chart.h"
#include "gui/views/results_page.h"
#include "gui/views/settings_panel.h"
#include "gui/views/theme.h"

namespace tidemark {
namespace {

constexpr int kMostRecent = 10;
constexpr int kBrief = 5000;    // milliseconds
constexpr double kSharp = 2.0;  // dots a point, for a document that is zoomed
constexpr const char* kRecentKey = "recent_files";
constexpr const char* kThemeKey = "theme";

// A name in a menu: an ampersand would underline the next letter.
QString in_menu(QString text) { return text.replace(QLatin1Char('&'), QLatin1String("&&")); }

}  // namespace

QAction* MainWindow::add(QMenu* menu, const QString& text, const QKeySequence& keys,
                         void (MainWindow::*slot)()) {
  QAction* action = menu->addAction(text);
  action->setShortcut(keys);
  connect(action, &QAction::triggered, this, slot);
  return action;
}

void MainWindow::makeMenus() {
  makeFileMenu();
  makeEditMenu();
  makeViewMenu();
  QMenu* help = menuBar()->addMenu(tr("&Help"));
  add(help, tr("&Keyboard shortcuts"), QKeySequence::HelpContents, &MainWindow::showShortcuts);
  add(help, tr("&About Tidemark"), QKeySequence(), &MainWindow::showAbout);
}

void MainWindow::makeFileMenu() {
  QMenu* menu = menuBar()->addMenu(tr("&File"));
  add(menu, tr("&Open..."), QKeySequence::Open, &MainWindow::showFileDialog);
  recent_ = menu->addMenu(tr("Open &recent"));
  showRecent();
  add(menu, tr("&Save scenario..."), QKeySequence::Save, &MainWindow::showSaveDialog);
  add(menu, tr("&Compute again"), QKeySequence::Refresh, &MainWindow::rerun);
  menu->addSeparator();
  export_ = add(menu, tr("&Export picture..."), QKeySequence(tr("Ctrl+Shift+E")),
                &MainWindow::showExportDialog);
  menu->addSeparator();
  QAction* quit = menu->addAction(tr("&Quit"));
  quit->setShortcut(QKeySequence(tr("Ctrl+Q")));
  connect(quit, &QAction::triggered, this, &QWidget::close);
}

void MainWindow::makeEditMenu() {
  QMenu* menu = menuBar()->addMenu(tr("&Edit"));
  undo_ = add(menu, tr("&Undo"), QKeySequence::Undo, &MainWindow::undo);
  redo_ = add(menu, tr("&Redo"), QKeySequence(), &MainWindow::redo);
  redo_->setShortcuts({QKeySequence(tr("Ctrl+Shift+Z")), QKeySequence(tr("Ctrl+Y"))});
  menu->addSeparator();
  QAction* curve = add(menu, tr("Copy c&urve as a picture"), QKeySequence(tr("Ctrl+Shift+U")),
                       &MainWindow::copyCurve);
  QAction* table =
      add(menu, tr("Copy &table"), QKeySequence(tr("Ctrl+Shift+C")), &MainWindow::copyTable);
  add(menu, tr("Copy &plan command"), QKeySequence(tr("Ctrl+Shift+P")),
      &MainWindow::copyPlanCommand);
  add(menu, tr("Copy &simulate command"), QKeySequence(tr("Ctrl+Shift+S")),
      &MainWindow::copySimulateCommand);
  page_->chart()->addActions({curve, export_});
  page_->chart()->setContextMenuPolicy(Qt::ActionsContextMenu);
  page_->tableView()->addAction(table);
}

void MainWindow::makeViewMenu() {
  QMenu* menu = menuBar()->addMenu(tr("&View"));
  parts_ = menu->addMenu(tr("&Parts of the curve"));
  replay_ = add(menu, tr("&Replay"), QKeySequence(tr("Ctrl+R")), &MainWindow::showReplay);
  replay_->setCheckable(true);
  QMenu* themes = menu->addMenu(tr("&Theme"));
  themes_ = new QActionGroup(this);
  for (const QString& name :
       {QStringLiteral("system"), QStringLiteral("light"), QStringLiteral("dark")}) {
    QAction* action = themes->addAction(name);
    action->setCheckable(true);
    themes_->addAction(action);
    connect(action, &QAction::triggered, this, [this, name] {
      setTheme(name);
      if (remembers_) QSettings().setValue(kThemeKey, name);
    });
  }
}

QString MainWindow::rememberedTheme() {
  const QString name = QSettings().value(kThemeKey).toString();
  return name == QLatin1String("light") || name == QLatin1String("dark") ? name
                                                                         : QStringLiteral("system");
}

void MainWindow::setTheme(const QString& name) {
  apply_theme(*qApp, name);
  for (QAction* action : themes_->actions()) {
    if (action->text() == name) action->setChecked(true);
  }
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
  const QString undone = in_menu(panel_->labelOf(settings_.undoText()));
  const QString redone = in_menu(panel_->labelOf(settings_.redoText()));
  undo_->setText(settings_.canUndo() ? tr("&Undo: %1").arg(undone) : tr("&Undo"));
  redo_->setText(settings_.canRedo() ? tr("&Redo: %1").arg(redone) : tr("&Redo"));
  replay_->setEnabled(!replays_.empty());
  const SettingLayers& layers = settings_.layers();
  const QString file = QString::fromStdString(layers.scenario_file);
  const QString changed = layers.edits.empty() ? QString() : tr(", changed");
  source_->setText(file.isEmpty() ? QString()
                                  : tr("scenario %1").arg(QFileInfo(file).fileName()) + changed);
  source_->setToolTip(file);
}

void MainWindow::undo() { settings_.undo(); }

void MainWindow::redo() { settings_.redo(); }

void MainWindow::say(const QString& words) { statusBar()->showMessage(words, kBrief); }

void MainWindow::copyCurve() {
  QApplication::clipboard()->setImage(picture_of(*page_->chart(), kSharp));
  say(tr("copied the curve as a picture"));
}

void MainWindow::copyTable() {
  QApplication::clipboard()->setText(table_text(page_->table()));
  say(tr("copied the table"));
}

void MainWindow::copyCommand(const char* verb) {
  const QString line = QString::fromStdString(command_line(verb, settings_.layers()));
  QApplication::clipboard()->setText(line);
  say(tr("copied: %1").arg(line));
}

void MainWindow::copyPlanCommand() { copyCommand("plan"); }

void MainWindow::copySimulateCommand() { copyCommand("simulate"); }

void MainWindow::showFileDialog() {
  const QString file = QFileDialog::getOpenFileName(this, tr("Open"), QString(), openable_files());
  if (!file.isEmpty()) openFile(file.toStdString());
}

void MainWindow::sayWritten(const QString& file, const Diagnostics& problems) {
  if (problems.empty()) return say(tr("wrote %1").arg(file));
  auto* box =
      new QMessageBox(QMessageBox::Warning, tr("Not written"),
                      QString::fromStdString(to_string(problems)).trimmed(), QMessageBox::Ok, this);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setTextFormat(Qt::PlainText);
  box->open();
}

void MainWindow::showExportDialog() {
  QString kind;
  QString file = QFileDialog::getSaveFileName(
      this, tr("Export picture"), QStringLiteral("tidemark.png"),
      tr("PNG picture (*.png);;SVG drawing (*.svg);;PDF document (*.pdf)"), &kind);
  if (file.isEmpty()) return;
  // The ending that was chosen in the list, when none was typed.
  if (QFileInfo(file).suffix().isEmpty())
    file += kind.mid(kind.indexOf(QLatin1String("*.")) + 1, 4);
  sayWritten(file, export_picture(*centralWidget(), file.toStdString()));
}

void MainWindow::showSaveDialog() {
  QString file = QFileDialog::getSaveFileName(
      this, tr("Save scenario"), QStringLiteral("scenario.yaml"), tr("Scenario (*.yaml *.yml)"));
  if (file.isEmpty()) return;
  if (QFileInfo(file).suffix().isEmpty()) file += QStringLiteral(".yaml");
  const Diagnostics problems = saveScenario(file.toStdString());
  sayWritten(file, problems);
}

Diagnostics MainWindow::saveScenario(const std::string& file) {
  Diagnostics problems = save_scenario(file, settings_.merged());
  if (problems.empty()) remember(file);
  return problems;
}

void MainWindow::showShortcuts() {
  QString rows;
  for (const QAction* action : findChildren<QAction*>()) {
    const QString name = action->text().remove(QLatin1Char('&')).remove(QLatin1String("..."));
    const QString keys = QKeySequence::listToString(action->shortcuts(), QKeySequence::NativeText);
    if (keys.isEmpty() || name.isEmpty()) continue;
    rows += QStringLiteral("<tr><td>%1&nbsp;&nbsp;</td><td>%2</td></tr>")
                .arg(keys.toHtmlEscaped(), name.toHtmlEscaped());
  }
  rows +=
      tr("<tr><td>Alt+letter&nbsp;&nbsp;</td><td>to the field with that letter underlined</td>"
         "</tr><tr><td>Esc</td><td>take half-typed text back</td></tr>");
  showBox(tr("Keyboard shortcuts"), QStringLiteral("<table>") + rows + QStringLiteral("</table>"));
}

void MainWindow::showAbout() {
  showBox(tr("About Tidemark"),
          tr("<b>Tidemark %1</b><p>How much memory a model needs on a device, when and why.</p>"
             "<p>The numbers are those of <tt>tidemark plan</tt> and <tt>tidemark simulate</tt>; "
             "the Edit menu copies the command.</p><p>Qt %2</p>")
              .arg(QLatin1String(kToolVersion), QLatin1String(qVersion())));
}

void MainWindow::showBox(const QString& title, const QString& html) {
  auto* box = new QMessageBox(QMessageBox::NoIcon, title, html, QMessageBox::Close, this);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setTextFormat(Qt::RichText);
  box->open();
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

void MainWindow::openRecent(const QString& file) {
  const bool is_gone = !QFileInfo::exists(file);
  openFile(file.toStdString());
  if (!is_gone) return;
  QSettings store;
  QStringList files = store.value(kRecentKey).toStringList();
  files.removeAll(file);
  store.setValue(kRecentKey, files);
  showRecent();
}

// The folder as well: files of one name are many.
void MainWindow::showRecent() {
  recent_->clear();
  const QStringList files =
      remembers_ ? QSettings().value(kRecentKey).toStringList().mid(0, kMostRecent) : QStringList();
  for (const QString& file : files) {
    const QFileInfo info(file);
    QAction* action =
        recent_->addAction(in_menu(tr("%1 in %2").arg(info.fileName(), info.absolutePath())));
    connect(
        action, &QAction::triggered, this, [this, file] { openRecent(file); },
        Qt::QueuedConnection);
  }
  recent_->setEnabled(!files.isEmpty());
  if (files.isEmpty()) return;
  recent_->addSeparator();
  QAction* clear = recent_->addAction(tr("&Clear the list"));
  connect(
      clear, &QAction::triggered, this,
      [this] {
        QSettings().remove(kRecentKey);
        showRecent();
      },
      Qt::QueuedConnection);
}

}  // namespace tidemark

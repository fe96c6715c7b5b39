// Files in and out, what is remembered, and pages that are too small or hold too much.
#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDropEvent>
#include <QLabel>
#include <QLayout>
#include <QMimeData>
#include <QSettings>
#include <QTableView>
#include <QTest>
#include <QUrl>
#include <fstream>

#include "gui/views/memory_chart.h"
#include "gui/views/results_page.h"
#include "open_window.h"
#include "support/golden.h"

namespace tidemark::testing {
namespace {

QAction* action_that_begins(MainWindow& window, const QString& text) {
  for (QAction* candidate : window.findChildren<QAction*>()) {
    if (candidate->text().remove('&').startsWith(text)) return candidate;
  }
  ADD_FAILURE() << "no action " << text.toStdString();
  return nullptr;
}

std::string write(const TemporaryFolder& folder, const std::string& name,
                  const std::string& content) {
  const std::filesystem::path path = folder.path() / name;
  std::ofstream(path) << content;
  return path.string();
}

// A store of its own for what is remembered.
class Remembering : public ::testing::Test {
 protected:
  Remembering() {
    QCoreApplication::setOrganizationName(QStringLiteral("tidemark-tests"));
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope,
                       QString::fromStdString(folder_.path().string()));
  }
  TemporaryFolder folder_{};
};

TEST_F(Remembering, TheThemeIsTheSameNextTime) {
  {
    MainWindow window(true);
    action_that_begins(window, "dark")->trigger();
  }
  EXPECT_EQ(MainWindow::rememberedTheme(), "dark");
  MainWindow again(true);
  again.setTheme(MainWindow::rememberedTheme());
  EXPECT_TRUE(action_that_begins(again, "dark")->isChecked());
  again.setTheme("light");
}

TEST_F(Remembering, BrokenMemoriesAreForgotten) {
  QSettings store;
  store.setValue("geometry", QByteArray("\x01\xd9garbage"));
  store.setValue("recent_files", 42);
  store.setValue("theme", "purple");
  EXPECT_EQ(MainWindow::rememberedTheme(), "system");
  MainWindow window(true);
  window.start({});
  window.show();
  ASSERT_TRUE(settle(window));
  EXPECT_GE(window.width(), 480);
  window.close();
}

TEST_F(Remembering, RecentFilesSayWhereTheyAreAndGoWhenTheyAreGone) {
  const std::string file = write(folder_, "a&b.yaml", "schema: scenario/1\nmodel: demo-layers\n");
  MainWindow window(true);
  window.start({});
  EXPECT_TRUE(window.openFile(file).empty());
  QAction* recent = action_that_begins(window, "ab.yaml in ");
  ASSERT_NE(recent, nullptr);
  EXPECT_TRUE(recent->text().startsWith("a&&b.yaml in /")) << recent->text().toStdString();
  std::filesystem::remove(file);
  recent->trigger();
  QCoreApplication::processEvents();
  EXPECT_TRUE(QSettings().value("recent_files").toStringList().isEmpty());
  ASSERT_TRUE(settle(window));
}

TEST(WindowFiles, ASavedScenarioGivesTheSameNumbers) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "s.yaml").string();
  const auto window = open_window();
  window->settings().setValue("budget", "4 GiB");
  window->settings().setValue("margin", "20 %");
  ASSERT_TRUE(settle(*window));
  EXPECT_TRUE(window->saveScenario(file).empty());
  EXPECT_TRUE(has_errors(window->saveScenario("no/such/folder/s.yaml")));
  const auto again = open_window({.files = {file}});
  ASSERT_TRUE(settle(*again));
  EXPECT_EQ(again->result()->plan->memory.total(), window->result()->plan->memory.total());
  EXPECT_EQ(again->result()->plan->device.limit.limit, window->result()->plan->device.limit.limit);
  EXPECT_EQ(field<QLabel>(*again, "source").text(), "scenario s.yaml");
  again->settings().setValue("quant", "int8");
  EXPECT_EQ(field<QLabel>(*again, "source").text(), "scenario s.yaml, changed");
}

// The result of the example comes after the problem.
TEST(WindowFiles, AFileThatCannotBeOpenedAtTheStartIsNotForgotten) {
  const TemporaryFolder folder;
  const auto window = open_window({.files = {write(folder, "bad.json", "{")}});
  ASSERT_TRUE(settle(*window));
  EXPECT_EQ(field<QLabel>(*window, "headline").text(), "This file cannot be used");
  window->settings().setValue("budget", "4 GiB");
  ASSERT_TRUE(settle(*window));
  EXPECT_TRUE(field<QLabel>(*window, "headline").text().startsWith("FITS"));
}

TEST(WindowFiles, WhatIsNoFileIsNotTaken) {
  const auto window = open_window();
  QMimeData link;
  link.setUrls({QUrl(QStringLiteral("https://example.org/model.yaml"))});
  QDragEnterEvent enter({10, 10}, Qt::CopyAction, &link, Qt::LeftButton, Qt::NoModifier);
  enter.ignore();
  QApplication::sendEvent(window.get(), &enter);
  EXPECT_FALSE(enter.isAccepted());
}

TEST(WindowCopies, TheCurveAsAPicture) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  action_that_begins(*window, "Copy curve")->trigger();
  const QImage picture = QApplication::clipboard()->image();
  EXPECT_EQ(picture.size(), window->findChild<MemoryChart*>()->size() * 2);
  EXPECT_GT(colors_in(picture), 20);
}

TEST(WindowCopies, TheRowsThatAreChosen) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  QTableView& table = field<QTableView>(*window, "breakdown");
  table.setFocus();
  table.selectRow(1);
  QTest::keyClick(&table, Qt::Key_C, Qt::ControlModifier);
  EXPECT_EQ(QApplication::clipboard()->text(),
            "Memory\tbytes\tsize\tshare\tat the peak\n"
            "KV cache\t1,509,949,440\t1.41 GiB\t51.7 %\t1.41 GiB\n");
}

TEST(WindowRoom, PartsNeverLieOverEachOther) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  for (const QSize size : {QSize(1280, 800), QSize(1024, 700), QSize(700, 700), QSize(480, 360)}) {
    window->resize(size);
    QTest::qWait(50);
    EXPECT_EQ(window->size(), size);
    const auto* page = window->findChild<ResultsPage*>();
    int end = 0;
    for (int i = 0; i < page->layout()->count(); ++i) {
      const QRect place = page->layout()->itemAt(i)->geometry();
      if (page->layout()->itemAt(i)->isEmpty()) continue;
      EXPECT_GE(place.top(), end) << i << " at " << size.width();
      end = place.bottom() + 1;
    }
    EXPECT_LE(end, page->height());
  }
}

TEST(WindowRoom, TheLimitStandsBesideTheCurveWhereItCan) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  QTest::qWait(50);
  const auto* chart = window->findChild<MemoryChart*>();
  EXPECT_FALSE(chart->coversCurve(chart->limitLabel()));
  // The right end of the line lies in the weights.
  EXPECT_TRUE(chart->coversCurve(chart->limitLabel().translated(500, 0)));
}

TEST(WindowRoom, ALongNameIsShortenedInTheMiddle) {
  const TemporaryFolder folder;
  const std::string model = slurp(TIDEMARK_SOURCE_DIR "/configs/models/demo-layers.yaml");
  std::string named = model;
  named.replace(named.find("name: demo-layers"), 17, "name: " + std::string(300, 'n'));
  const auto window = open_window({.files = {write(folder, "m.yaml", named)}});
  ASSERT_TRUE(settle(*window));
  QTest::qWait(50);
  const QString title = window->findChild<MemoryChart*>()->shownTitle();
  EXPECT_TRUE(title.endsWith("on galaxy-s23, resident")) << title.toStdString();
  EXPECT_LT(title.size(), 200);
}

}  // namespace
}  // namespace tidemark::testing

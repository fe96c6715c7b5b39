#include "gui/views/main_window.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDropEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QMimeData>
#include <QSemaphore>
#include <QSpinBox>
#include <QTest>
#include <QThread>
#include <QToolTip>
#include <QUrl>
#include <atomic>
#include <fstream>

#include "gui/views/memory_chart.h"
#include "gui/views/results_page.h"
#include "open_window.h"
#include "support/golden.h"

namespace tidemark::testing {
namespace {

void type_budget(MainWindow& window, const char* text) {
  QLineEdit& budget = field<QLineEdit>(window, "budget");
  budget.setFocus();
  budget.selectAll();
  QTest::keyClicks(&budget, text);
  QTest::keyClick(&budget, Qt::Key_Return);
}

QString headline(MainWindow& window) { return field<QLabel>(window, "headline").text(); }

QAction* action(MainWindow& window, const QString& text) {
  for (QAction* candidate : window.findChildren<QAction*>()) {
    if (candidate->text().remove('&') == text) return candidate;
  }
  ADD_FAILURE() << "no action " << text.toStdString();
  return nullptr;
}

const char* const kReplay = R"({"schema": "tidemark.replay/1", "strategy": "resident",
  "model": {"name": "minicpm-2b"}, "predicted_peak_bytes": 300, "measured_peak_bytes": 310,
  "relative_error": 0.033, "outputs_match": true,
  "steps": [{"step": 0, "predicted_bytes": 100, "measured_bytes": 110, "wall_ns": 1},
            {"step": 1, "predicted_bytes": 300, "measured_bytes": 310, "wall_ns": 1}]})";

std::string write(const TemporaryFolder& folder, const std::string& name,
                  const std::string& content) {
  const std::filesystem::path path = folder.path() / name;
  std::ofstream(path) << content;
  return path.string();
}

TEST(Window, SaysThatTheExampleDoesNotFitAndThatALargerBudgetDoes) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  EXPECT_TRUE(headline(*window).startsWith("DOES NOT FIT")) << headline(*window).toStdString();
  EXPECT_EQ(window->windowTitle(), "minicpm-2b on galaxy-s23 - Tidemark");
  type_budget(*window, "4 GiB");
  ASSERT_TRUE(settle(*window));
  EXPECT_TRUE(headline(*window).startsWith("FITS")) << headline(*window).toStdString();
}

TEST(Window, AWrongValueStandsBesideItsFieldAndTheOldNumbersAreShaded) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  EXPECT_FALSE(window->page().isStale());
  type_budget(*window, "bananas");
  ASSERT_TRUE(settle(*window));
  EXPECT_EQ(headline(*window), "This setting cannot be used");
  QLabel& problem = field<QLabel>(*window, "budget_problem");
  EXPECT_TRUE(problem.isVisible());
  EXPECT_TRUE(problem.text().contains("\"bananas\" is not a size"));
  EXPECT_TRUE(window->page().isStale());
  type_budget(*window, "3 GiB");
  ASSERT_TRUE(settle(*window));
  EXPECT_FALSE(problem.isVisible());
  EXPECT_FALSE(window->page().isStale());
}

TEST(Window, NumbersAreShadedFromTheEditUntilTheResult) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  window->settings().setValue("ctx_size", "2048");
  EXPECT_TRUE(window->page().isStale());
  ASSERT_TRUE(settle(*window));
  EXPECT_FALSE(window->page().isStale());
}

TEST(Window, SaysThatTheFirstRunIsUnderWay) {
  QSemaphore may_end;
  const auto window = open_window({}, [&](const SettingMap& settings) {
    may_end.acquire();
    return run_settings(settings);
  });
  EXPECT_EQ(headline(*window), "Computing...");
  may_end.release();
  ASSERT_TRUE(settle(*window));
  EXPECT_TRUE(headline(*window).startsWith("DOES NOT FIT"));
}

TEST(Window, QuickEditsEndWithTheNewest) {
  std::atomic<int> runs = 0;
  const auto window = open_window({}, [&](const SettingMap& settings) {
    ++runs;
    QThread::msleep(30);
    return run_settings(settings);
  });
  ASSERT_TRUE(settle(*window));
  runs = 0;
  for (int i = 1; i <= 40; ++i) {
    window->settings().setValue("ctx_size", QString::number(1000 + i));
    QTest::qWait(1);
  }
  ASSERT_TRUE(settle(*window));
  EXPECT_EQ(plan_json(*window), json_of_command_line("plan", *window));
  EXPECT_NE(plan_json(*window).find("\"ctx_size\": {\"value\": \"1040\""), std::string::npos);
  EXPECT_LT(runs, 40);
}

TEST(Window, ClosesWhileARunIsUnderWay) {
  std::atomic<bool> begun = false;
  std::atomic<bool> ended = false;
  auto window = open_window({}, [&](const SettingMap& settings) {
    begun = true;
    QThread::msleep(200);
    ended = true;
    return run_settings(settings);
  });
  ASSERT_TRUE(QTest::qWaitFor([&] { return begun.load(); }));
  window->close();
  window.reset();
  EXPECT_TRUE(ended);
  QCoreApplication::processEvents();
}

TEST(Window, CopiesTheTableAndTheCommands) {
  const auto window = open_window({.files = {"minicpm-2b"}, .settings = {{"quant", "int4"}}});
  ASSERT_TRUE(settle(*window));
  action(*window, "Copy plan command")->trigger();
  EXPECT_EQ(QApplication::clipboard()->text(), "tidemark plan minicpm-2b --quant int4");
  action(*window, "Copy simulate command")->trigger();
  EXPECT_EQ(QApplication::clipboard()->text(), "tidemark simulate minicpm-2b --quant int4");
  action(*window, "Copy table")->trigger();
  EXPECT_TRUE(QApplication::clipboard()->text().contains("weights\t1,365,182,338\t1.27 GiB"));
}

TEST(Window, HidesAndShowsAPartOfTheCurve) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  const auto weights = [&] { return window->page().shapes().bands.back(); };
  ASSERT_EQ(weights().key, "weights");
  const double with_cache = weights().upper.back().y();
  action(*window, "KV cache")->trigger();
  QCoreApplication::processEvents();
  EXPECT_EQ(weights().upper.back().y(), with_cache - 1509949440.0);
  EXPECT_FALSE(action(*window, "KV cache")->isChecked());
  action(*window, "KV cache")->trigger();
  QCoreApplication::processEvents();
  EXPECT_EQ(weights().upper.back().y(), with_cache);
}

TEST(Window, TellsWhatIsResidentUnderTheMouse) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  auto& chart = *window->findChild<MemoryChart*>();
  QTest::qWait(50);
  const QPoint at = chart.positionOf({1.5e9, 1e9});
  QWidget* target = chart.childAt(at);
  ASSERT_NE(target, nullptr);
  QTest::mouseMove(target, target->mapFrom(&chart, at));
  ASSERT_TRUE(QTest::qWaitFor([] { return QToolTip::isVisible(); }));
  EXPECT_TRUE(QToolTip::text().contains("KV cache  1.41 GiB (1,509,949,440 B), 51.7 %"))
      << QToolTip::text().toStdString();
}

TEST(Window, LaysADroppedReplayOverItsPrediction) {
  const TemporaryFolder folder;
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  QMimeData files;
  files.setUrls({QUrl::fromLocalFile(QString::fromStdString(write(folder, "r.json", kReplay)))});
  QDragEnterEvent enter({10, 10}, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(window.get(), &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent drop({10, 10}, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(window.get(), &drop);
  EXPECT_EQ(window->page().shapes().measured.size(), 4);
  EXPECT_EQ(window->page().shapes().bands.front().key, "predicted");
  action(*window, "Replay")->trigger();
  EXPECT_TRUE(window->page().shapes().measured.isEmpty());
  EXPECT_EQ(window->page().shapes().bands.back().key, "weights");
}

TEST(Window, SaysWhatIsWrongWithAnOpenedFileAndGoesOn) {
  const TemporaryFolder folder;
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  EXPECT_TRUE(has_errors(window->openFile(write(folder, "bad.json", "{}"))));
  EXPECT_EQ(headline(*window), "This file cannot be used");
  EXPECT_TRUE(window->openFile("demo-layers-1200").empty());
  ASSERT_TRUE(settle(*window));
  EXPECT_TRUE(headline(*window).startsWith("FITS: 1007 MiB"));
}

TEST(Window, AModelFileThatIsWrongShowsItsLines) {
  const TemporaryFolder folder;
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  window->openFile(write(folder, "m.yaml", "schema: model/1\nname: m\nn_layer: many\n"));
  ASSERT_TRUE(settle(*window));
  EXPECT_TRUE(field<QLabel>(*window, "details").text().contains("m.yaml:3"));
  EXPECT_TRUE(window->page().isStale());
}

TEST(Window, EveryFieldHasANameForScreenReaders) {
  const auto window = open_window();
  for (const char* name :
       {"model", "device", "engine", "quant", "ctx_size", "ctx_size_slider", "strategy",
        "cache_type_k", "cache_type_v", "budget", "prompt", "generate"}) {
    EXPECT_FALSE(field<QWidget>(*window, name).accessibleName().isEmpty()) << name;
  }
}

}  // namespace
}  // namespace tidemark::testing

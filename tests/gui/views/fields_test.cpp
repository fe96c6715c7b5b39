// What a person's hands do to the fields: typing, the wheel, undo in the middle of a word.
#include <gtest/gtest.h>

#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QCompleter>
#include <QLabel>
#include <QLineEdit>
#include <QSemaphore>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>

#include "gui/views/number_field.h"
#include "gui/views/results_page.h"
#include "open_window.h"

namespace tidemark::testing {
namespace {

void roll_wheel(QWidget& widget) {
  const QPointF middle(widget.rect().center());
  QWheelEvent down(middle, widget.mapToGlobal(middle), {}, {0, -120}, Qt::NoButton, Qt::NoModifier,
                   Qt::NoScrollPhase, false);
  QApplication::sendEvent(&widget, &down);
}

void type(QWidget& widget, const char* text) {
  widget.setFocus();
  QTest::keyClick(&widget, Qt::Key_A, Qt::ControlModifier);
  QTest::keyClicks(&widget, text);
}

void enter(QWidget& widget, const char* text) {
  type(widget, text);
  QTest::keyClick(&widget, Qt::Key_Return);
}

TEST(Fields, TheWheelChangesOnlyTheFieldThatHasTheFocus) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  for (const char* name : {"quant", "ctx_size", "ctx_size_slider", "device"}) {
    field<QLineEdit>(*window, "budget").setFocus();
    roll_wheel(field<QWidget>(*window, name));
    EXPECT_FALSE(window->settings().canUndo()) << name;
  }
  field<QWidget>(*window, "quant").setFocus();
  roll_wheel(field<QWidget>(*window, "quant"));
  EXPECT_TRUE(window->settings().canUndo());
}

TEST(Fields, UndoReachesTheSettingsFromTheFieldThatWasTypedInto) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  for (const char* name : {"budget", "ctx_size", "prompt", "device"}) {
    SCOPED_TRACE(name);
    QWidget& typed = field<QWidget>(*window, name);
    const QString before = window->settings().value(name);
    enter(typed, QString(name) == "device"   ? "pixel-8"
                 : QString(name) == "budget" ? "4 GiB"
                                             : "77");
    EXPECT_NE(window->settings().value(name), before);
    QTest::keyClick(&typed, Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(window->settings().value(name), before);
    EXPECT_FALSE(window->settings().canUndo());
  }
}

TEST(Fields, UndoOfHalfTypedTextStaysInTheField) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  QLineEdit& budget = field<QLineEdit>(*window, "budget");
  enter(budget, "4 GiB");
  type(budget, "5");
  QTest::keyClick(&budget, Qt::Key_Z, Qt::ControlModifier);
  EXPECT_EQ(window->settings().value("budget"), "4 GiB");
  EXPECT_NE(budget.text(), "5");
}

TEST(Fields, EscapeTakesHalfTypedTextBack) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  QLineEdit& budget = field<QLineEdit>(*window, "budget");
  NumberField& context = field<NumberField>(*window, "ctx_size");
  QComboBox& model = field<QComboBox>(*window, "model");
  type(budget, "3 G");
  QTest::keyClick(&budget, Qt::Key_Escape);
  EXPECT_EQ(budget.text(), "");
  type(context, "12");
  EXPECT_TRUE(context.isHalfTyped());
  QTest::keyClick(&context, Qt::Key_Escape);
  EXPECT_EQ(context.text(), "4,096 tokens");
  type(model, "zz");
  QTest::keyClick(&model, Qt::Key_Escape);
  EXPECT_EQ(model.currentText(), "minicpm-2b");
  EXPECT_FALSE(model.completer()->popup()->isVisible());
  EXPECT_FALSE(window->settings().canUndo());
}

// The run of the first edit ends while the second is being typed.
TEST(Fields, AResultTakesAwayNothingThatIsHalfTyped) {
  QSemaphore may_end(1);
  const auto window = open_window({}, [&](const SettingMap& settings) {
    may_end.acquire();
    return run_settings(settings);
  });
  ASSERT_TRUE(settle(*window));
  for (const char* name : {"budget", "prompt", "model"}) {
    SCOPED_TRACE(name);
    const QString context = QString::number(window->settings().value("ctx_size").toInt() + 1);
    window->settings().setValue("ctx_size", context);
    type(field<QWidget>(*window, name), "3");
    may_end.release();
    ASSERT_TRUE(settle(*window));
    QWidget& typed = field<QWidget>(*window, name);
    QLineEdit* edit = qobject_cast<QLineEdit*>(&typed);
    if (edit == nullptr) edit = typed.findChild<QLineEdit*>();
    EXPECT_TRUE(edit->text().startsWith('3')) << edit->text().toStdString();
    EXPECT_EQ(edit->text().remove(" tokens"), "3");
    QTest::keyClick(&typed, Qt::Key_Escape);
  }
  may_end.release(8);
}

TEST(Fields, AnEmptiedNumberIsTheDefaultAgain) {
  const auto window = open_window({.files = {"minicpm-2b"}});
  ASSERT_TRUE(settle(*window));
  NumberField& context = field<NumberField>(*window, "ctx_size");
  EXPECT_EQ(context.text(), "default (4,096 tokens)");
  enter(context, "512");
  ASSERT_TRUE(settle(*window));
  EXPECT_EQ(context.text(), "512 tokens");
  EXPECT_EQ(window->settings().value("ctx_size"), "512");
  context.setFocus();
  QTest::keyClick(&context, Qt::Key_A, Qt::ControlModifier);
  QTest::keyClick(&context, Qt::Key_Delete);
  QTest::keyClick(&context, Qt::Key_Return);
  ASSERT_TRUE(settle(*window));
  EXPECT_EQ(window->settings().value("ctx_size"), "");
  EXPECT_EQ(context.text(), "default (4,096 tokens)");
}

// From what the default comes to, not from the least number.
TEST(Fields, StepsBeginAtTheDefault) {
  const auto window = open_window({.files = {"minicpm-2b"}});
  ASSERT_TRUE(settle(*window));
  QWidget& context = field<QWidget>(*window, "ctx_size");
  context.setFocus();
  QTest::keyClick(&context, Qt::Key_Up);
  EXPECT_EQ(window->settings().value("ctx_size"), "4352");
  QWidget& prompt = field<QWidget>(*window, "prompt");
  prompt.setFocus();
  for (const char* then : {"96", "64", "32", "0", ""}) {
    QTest::keyClick(&prompt, Qt::Key_Down);
    EXPECT_EQ(window->settings().value("prompt"), then);
  }
}

TEST(Fields, AHugeNumberIsAnsweredAndTakenBack) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  const std::string before = plan_json(*window);
  enter(field<QWidget>(*window, "ctx_size"), "999999999");
  ASSERT_TRUE(settle(*window));
  EXPECT_TRUE(field<QLabel>(*window, "headline").text().startsWith("DOES NOT FIT"));
  window->settings().undo();
  for (const char* name : {"prompt", "generate"}) {
    enter(field<QWidget>(*window, name), "999999999");
    ASSERT_TRUE(settle(*window));
    EXPECT_TRUE(window->page().isStale()) << name;
    EXPECT_TRUE(field<QLabel>(*window, (std::string(name) + "_problem").c_str()).isVisible());
    window->settings().undo();
    ASSERT_TRUE(settle(*window));
    EXPECT_FALSE(window->page().isStale()) << name;
  }
  EXPECT_EQ(plan_json(*window), before);
}

// Stated on the command line or in a file; the field cannot be typed into such a state.
TEST(Fields, WhatIsNoNumberIsShownAsItIsStated) {
  const auto window = open_window({.settings = {{"ctx_size", "8k"}, {"prompt", "2000000000"}}});
  ASSERT_TRUE(settle(*window));
  EXPECT_EQ(field<NumberField>(*window, "ctx_size").text(), "8k");
  EXPECT_EQ(field<NumberField>(*window, "prompt").text(), "2000000000");
  enter(field<QWidget>(*window, "ctx_size"), "8000");
  EXPECT_EQ(window->settings().value("ctx_size"), "8000");
  EXPECT_EQ(field<NumberField>(*window, "ctx_size").text(), "8,000 tokens");
}

TEST(Fields, AModelIsFoundByAPartOfItsName) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  QComboBox& model = field<QComboBox>(*window, "model");
  type(model, "yllama-1");
  QTest::keyClick(QApplication::activePopupWidget() ? QApplication::activePopupWidget() : &model,
                  Qt::Key_Down);
  QTest::keyClick(QApplication::activePopupWidget() ? QApplication::activePopupWidget() : &model,
                  Qt::Key_Return);
  EXPECT_EQ(window->settings().value("model"), "tinyllama-1.1b");
}

TEST(Fields, AWrongNameIsAnsweredWithTheNearestAndNotKept) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  QComboBox& model = field<QComboBox>(*window, "model");
  const int listed = model.count();
  for (const char* name : {"minicpm-2", "minicpm-22", "minicpm-222"}) {
    enter(model, name);
    ASSERT_TRUE(settle(*window));
    EXPECT_TRUE(field<QLabel>(*window, "model_problem").text().contains(name));
    EXPECT_EQ(model.currentText(), name);
  }
  EXPECT_EQ(model.count(), listed + 1);
  enter(model, "");
  EXPECT_EQ(model.currentText(), "minicpm-222");
}

TEST(Fields, WithoutAResultNoNumberIsMadeUp) {
  const auto window = open_window({.files = {"no-such-model"}});
  ASSERT_TRUE(settle(*window));
  for (const char* name : {"ctx_size", "prompt", "generate"}) {
    EXPECT_EQ(field<NumberField>(*window, name).text(), "default") << name;
  }
  EXPECT_FALSE(field<QWidget>(*window, "breakdown").isVisible());
  EXPECT_FALSE(window->page().isStale());
}

TEST(OtherSettings, OfAScenarioAreShownChangedAndTakenBack) {
  const auto window = open_window({.files = {"demo-lru"}});
  ASSERT_TRUE(settle(*window));
  const QString stated = window->settings().value("cache_size");
  ASSERT_FALSE(stated.isEmpty());
  EXPECT_EQ(field<QLineEdit>(*window, "cache_size").text(), stated);
  enter(field<QLineEdit>(*window, "cache_size"), "1 GB");
  EXPECT_EQ(window->settings().value("cache_size"), "1 GB");
  enter(field<QLineEdit>(*window, "cache_size"), "much");
  ASSERT_TRUE(settle(*window));
  EXPECT_TRUE(field<QLabel>(*window, "cache_size_problem").isVisible());
  field<QToolButton>(*window, "cache_size_remove").click();
  QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  EXPECT_EQ(window->settings().value("cache_size"), "");
  EXPECT_EQ(window->findChild<QLineEdit*>("cache_size"), nullptr);
}

TEST(OtherSettings, AreReachedByTabInTheOrderInWhichTheyStand) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  window->settings().setValue("margin", "20 %");
  window->settings().setValue("page_cache", "warm");
  QCoreApplication::processEvents();
  field<QWidget>(*window, "generate").setFocus();
  for (const char* next :
       {"page_cache", "page_cache_remove", "margin", "margin_remove", "add_setting"}) {
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
    EXPECT_EQ(QApplication::focusWidget()->objectName(), next);
  }
}

void add_setting(MainWindow& window, const char* key) {
  QComboBox& list = field<QComboBox>(window, "add_setting");
  const int index = list.findData(key);
  ASSERT_GE(index, 0) << key;
  list.setCurrentIndex(index);
  Q_EMIT list.activated(index);
}

TEST(OtherSettings, AreAddedFromTheList) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  add_setting(*window, "page_cache");
  EXPECT_EQ(window->settings().value("page_cache"), "warm");
  EXPECT_EQ(field<QComboBox>(*window, "page_cache").currentText(), "warm");
  add_setting(*window, "margin");
  EXPECT_EQ(window->settings().value("margin"), "");
  enter(field<QLineEdit>(*window, "margin"), "20 %");
  ASSERT_TRUE(settle(*window));
  EXPECT_EQ(window->settings().value("margin"), "20 %");
  EXPECT_EQ(plan_json(*window), json_of_command_line("plan", *window));
  EXPECT_EQ(field<QComboBox>(*window, "add_setting").findData("margin"), -1);
  window->settings().undo();
  window->settings().undo();
  QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  EXPECT_EQ(window->findChild<QWidget*>("page_cache"), nullptr);
}

}  // namespace
}  // namespace tidemark::testing

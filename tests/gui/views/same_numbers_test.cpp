// The window and the command line agree to the byte, whatever a person does to the fields.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLineEdit>
#include <QSlider>
#include <QSpinBox>
#include <QStyle>
#include <QStyleOptionSlider>
#include <QTest>

#include "open_window.h"

namespace tidemark::testing {
namespace {

void expect_same_numbers(MainWindow& window) {
  ASSERT_TRUE(settle(window));
  ASSERT_NE(plan_json(window), "");
  EXPECT_EQ(plan_json(window), json_of_command_line("plan", window));
  EXPECT_EQ(simulation_json(window), json_of_command_line("simulate", window));
}

void type_number(QSpinBox& spin, const char* number) {
  spin.setFocus();
  spin.selectAll();
  QTest::keyClicks(&spin, number);
  QTest::keyClick(&spin, Qt::Key_Return);
}

QPoint handle_of(const QSlider& slider, int position) {
  QStyleOptionSlider option;
  option.initFrom(&slider);
  option.orientation = Qt::Horizontal;
  option.minimum = slider.minimum();
  option.maximum = slider.maximum();
  option.sliderPosition = position;
  option.sliderValue = position;
  return slider.style()
      ->subControlRect(QStyle::CC_Slider, &option, QStyle::SC_SliderHandle, &slider)
      .center();
}

void drag(QSlider& slider, int to) {
  const int from = slider.value();
  QTest::mousePress(&slider, Qt::LeftButton, {}, handle_of(slider, from));
  for (int i = 1; i <= 8; ++i) {
    QTest::mouseMove(&slider, handle_of(slider, from + (to - from) * i / 8));
  }
  QTest::mouseRelease(&slider, Qt::LeftButton, {}, handle_of(slider, to));
}

TEST(SameNumbers, OfTheExampleItBeginsWith) {
  const auto window = open_window();
  expect_same_numbers(*window);
}

TEST(SameNumbers, AfterChoosingInEveryList) {
  // A short run: one engine adds a point to the curve with every op.
  const auto window =
      open_window({.files = {"minicpm-2b"}, .settings = {{"prompt", "8"}, {"generate", "2"}}});
  const std::pair<const char*, const char*> choices[] = {
      {"device", "pixel-8"},       {"engine", "bare"},       {"quant", "int8"},
      {"strategy", "double"},      {"cache_type_k", "q8_0"}, {"cache_type_v", "q8_0"},
      {"model", "tinyllama-1.1b"},
  };
  for (const auto& [name, typed] : choices) {
    QComboBox& combo = field<QComboBox>(*window, name);
    combo.setFocus();
    if (combo.isEditable()) combo.lineEdit()->selectAll();
    QTest::keyClicks(&combo, typed);
    if (combo.isEditable()) QTest::keyClick(&combo, Qt::Key_Return);
    ASSERT_TRUE(combo.currentText().startsWith(typed, Qt::CaseInsensitive))
        << name << ": " << combo.currentText().toStdString();
    SCOPED_TRACE(name);
    expect_same_numbers(*window);
  }
  EXPECT_EQ(window->result()->plan->model.name, "tinyllama-1.1b");
  EXPECT_EQ(window->result()->plan->strategy, "double-buffer");
}

TEST(SameNumbers, AfterTypingNumbersAndASize) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  type_number(field<QSpinBox>(*window, "ctx_size"), "1000");
  expect_same_numbers(*window);
  type_number(field<QSpinBox>(*window, "prompt"), "300");
  type_number(field<QSpinBox>(*window, "generate"), "7");
  QLineEdit& budget = field<QLineEdit>(*window, "budget");
  QTest::keyClicks(&budget, "1.5 GiB");
  QTest::keyClick(&budget, Qt::Key_Return);
  expect_same_numbers(*window);
  EXPECT_EQ(window->result()->plan->device.limit.limit.count(), int64_t{3} << 29);
  EXPECT_EQ(window->settings().merged().at("prompt").text, "300");
}

TEST(SameNumbers, AfterDraggingTheContextSlider) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  QSlider& slider = field<QSlider>(*window, "ctx_size_slider");
  drag(slider, 12);
  expect_same_numbers(*window);
  EXPECT_EQ(window->settings().merged().at("ctx_size").text, "1024");
  EXPECT_EQ(field<QSpinBox>(*window, "ctx_size").value(), 1024);
  // One step for the whole drag.
  window->settings().undo();
  EXPECT_EQ(window->settings().merged().at("ctx_size").text, "4096");
  EXPECT_FALSE(window->settings().canUndo());
}

TEST(SameNumbers, AfterUndoAndRedoByKey) {
  const auto window = open_window({.files = {"minicpm-2b"}});
  ASSERT_TRUE(settle(*window));
  const std::string before = plan_json(*window);
  type_number(field<QSpinBox>(*window, "ctx_size"), "512");
  ASSERT_TRUE(settle(*window));
  const std::string after = plan_json(*window);
  ASSERT_NE(after, before);
  field<QComboBox>(*window, "model").setFocus();
  QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
  expect_same_numbers(*window);
  EXPECT_EQ(plan_json(*window), before);
  QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  expect_same_numbers(*window);
  EXPECT_EQ(plan_json(*window), after);
}

TEST(SameNumbers, OfASettingThatHasNoField) {
  const auto window = open_window({.files = {"demo-lru"}});
  expect_same_numbers(*window);
  const auto edited = open_window({.files = {"demo-blocks"},
                                   .settings = {{"strategy", "block-cache"},
                                                {"cache_size", "1536 MB"},
                                                {"device", "demo-3gb"},
                                                {"trace", "embed,layer1,embed"}}});
  expect_same_numbers(*edited);
}

TEST(SameNumbers, AfterTakingBackWhatTheScenarioStates) {
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  QComboBox& quant = field<QComboBox>(*window, "quant");
  quant.setFocus();
  QTest::keyClick(&quant, Qt::Key_Home);
  expect_same_numbers(*window);
  EXPECT_EQ(quant.currentText(), "as stored");
}

}  // namespace
}  // namespace tidemark::testing

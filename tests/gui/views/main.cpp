// The window is tested without a screen, as a person would use it.
#include <gtest/gtest.h>

#include <QApplication>
#include <QLocale>

#include "gui/views/theme.h"

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  ::testing::InitGoogleTest(&argc, argv);
  QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
  QApplication application(argc, argv);
  tidemark::apply_theme(application, QStringLiteral("light"));
  return RUN_ALL_TESTS();
}

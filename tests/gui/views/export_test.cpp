// Pictures: from the window, and from the program without a display.
#include <gtest/gtest.h>

#include <QFile>
#include <QImage>
#include <QPainter>

#include "gui/views/export_picture.h"
#include "open_window.h"
#include "support/golden.h"

namespace tidemark::testing {
namespace {

constexpr int kManyColors = 40;

QString path_in(const TemporaryFolder& folder, const char* name) {
  return QString::fromStdString((folder.path() / name).string());
}

// A test of its own machine may have a display; the program must do without.
Finished run_gui(const QStringList& arguments) {
  return run_program(TIDEMARK_GUI, arguments, {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"});
}

TEST(ExportPicture, WritesWhatTheWindowShows) {
  const TemporaryFolder folder;
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  const QString png = path_in(folder, "w.png");
  EXPECT_TRUE(export_picture(*window->centralWidget(), png.toStdString()).empty());
  const QImage picture(png);
  EXPECT_EQ(picture.size(), window->centralWidget()->size());
  EXPECT_GT(colors_in(picture), kManyColors);
}

TEST(ExportPicture, WritesTextIntoSvg) {
  const TemporaryFolder folder;
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  const QString svg = path_in(folder, "w.svg");
  EXPECT_TRUE(export_picture(*window->centralWidget(), svg.toStdString()).empty());
  const std::string text = slurp(svg.toStdString());
  for (const char* words : {"peak 2.72 GiB", "limit 2.55 GiB", "KV cache", "DOES NOT FIT"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words;
  }
  EXPECT_LT(text.size(), 1000000U);
}

TEST(ExportPicture, WritesAPdf) {
  const TemporaryFolder folder;
  const auto window = open_window();
  ASSERT_TRUE(settle(*window));
  const QString pdf = path_in(folder, "w.pdf");
  EXPECT_TRUE(export_picture(*window->centralWidget(), pdf.toStdString()).empty());
  const std::string text = slurp(pdf.toStdString());
  EXPECT_TRUE(text.starts_with("%PDF-"));
  EXPECT_GT(text.size(), 10000U);
}

TEST(ExportPicture, SaysWhyItCannot) {
  QWidget widget;
  EXPECT_TRUE(has_errors(export_picture(widget, "w.bmp")));
  EXPECT_TRUE(has_errors(export_picture(widget, "no/such/folder/w.png")));
}

TEST(ExportProgram, WritesEveryKindWithoutADisplay) {
  const TemporaryFolder folder;
  for (const char* name : {"a.png", "a.svg", "a.pdf"}) {
    const Finished finished =
        run_gui({"minicpm-2b", "--quant", "int4", "--set", "strategy=layerwise", "--size",
                 "900x700", "--export", path_in(folder, name)});
    EXPECT_EQ(finished.code, 0) << finished.errors;
    EXPECT_EQ(finished.errors, "");
    EXPECT_GT(QFile(path_in(folder, name)).size(), 10000) << name;
  }
  const QImage picture(path_in(folder, "a.png"));
  EXPECT_EQ(picture.width(), 900);
  EXPECT_GT(colors_in(picture), kManyColors);
}

TEST(ExportProgram, IsTheSameEveryTime) {
  const TemporaryFolder folder;
  for (const char* name : {"a.png", "b.png"}) {
    ASSERT_EQ(run_gui({"minicpm-2b", "--export", path_in(folder, name)}).code, 0);
  }
  EXPECT_EQ(QImage(path_in(folder, "a.png")), QImage(path_in(folder, "b.png")));
}

TEST(ExportProgram, WritesNothingForBadInput) {
  const TemporaryFolder folder;
  const QString png = path_in(folder, "a.png");
  const Finished wrong = run_gui({"minicpm-2", "--export", png});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.errors.find("minicpm-2b"), std::string::npos) << wrong.errors;
  EXPECT_EQ(run_gui({"none.json", "--export", png}).code, 2);
  EXPECT_EQ(run_gui({"--exprot", png, "--export", png}).code, 2);
  EXPECT_FALSE(QFile::exists(png));
}

TEST(Program, NeedsADisplayForAWindow) {
  const Finished finished = run_gui({});
  EXPECT_EQ(finished.code, 2);
  EXPECT_NE(finished.errors.find("--export FILE.png"), std::string::npos);
  EXPECT_EQ(run_gui({"--version"}).code, 0);
  EXPECT_NE(run_gui({"--help"}).output.indexOf("--quant"), -1);
}

// Without a font for it, every character is the same box.
TEST(ChineseText, IsDrawnAsCharacters) {
  const auto drawn = [](const QString& text) {
    QImage image(60, 60, QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    painter.drawText(10, 40, text);
    return image;
  };
  EXPECT_NE(drawn("模"), drawn("型"));
}

}  // namespace
}  // namespace tidemark::testing

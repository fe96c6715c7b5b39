// Light and dark: one palette for the widgets, and the colours of the chart and the banner.
#pragma once

#include <QColor>
#include <QPalette>
#include <QString>

class QApplication;

namespace tidemark {

// "system" keeps the desktop's palette; "light" and "dark" set one of their own. The style is the
// same everywhere, so that a window looks as in the documentation.
void apply_theme(QApplication& application, const QString& theme);

bool is_dark(const QPalette& palette);

// Of a part of the stack ("kv_cache"), or of "predicted" and "measured". Told apart by people with
// any colour vision (after Okabe and Ito), the same as in the SVG of `tidemark simulate`.
QColor color_of_part(const QString& key, const QPalette& palette);
QColor limit_color(const QPalette& palette);

struct BannerColors {
  QColor background{};
  QColor text{};
};
BannerColors good_colors(const QPalette& palette);
BannerColors bad_colors(const QPalette& palette);
BannerColors problem_colors(const QPalette& palette);

}  // namespace tidemark

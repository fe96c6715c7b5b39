#include "gui/views/theme.h"

#include <QApplication>
#include <QHash>
#include <QStyleFactory>

namespace tidemark {
namespace {

QPalette plain_palette(bool dark) {
  const QColor window(dark ? "#1e2227" : "#f4f6f8");
  const QColor base(dark ? "#15181c" : "#ffffff");
  const QColor ink(dark ? "#e4e7eb" : "#1f2933");
  const QColor faint(dark ? "#98a3af" : "#5f6b78");  // still read: 5 to 1 against both backgrounds
  const QColor accent(dark ? "#5aa2dd" : "#2a6fad");
  QPalette palette(ink, window);
  palette.setColor(QPalette::Window, window);
  palette.setColor(QPalette::Base, base);
  palette.setColor(QPalette::AlternateBase, QColor(dark ? "#1b1f24" : "#f7f9fb"));
  palette.setColor(QPalette::Button, QColor(dark ? "#2b3138" : "#e9edf1"));
  palette.setColor(QPalette::ToolTipBase, QColor(dark ? "#2b3138" : "#ffffff"));
  for (const QPalette::ColorRole role :
       {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText}) {
    palette.setColor(role, ink);
    palette.setColor(QPalette::Disabled, role, faint);
  }
  // The style draws words that are disabled twice, the second time in this, as if embossed.
  palette.setColor(QPalette::Disabled, QPalette::Light, window);
  palette.setColor(QPalette::PlaceholderText, faint);
  palette.setColor(QPalette::Highlight, accent);
  palette.setColor(QPalette::HighlightedText, QColor("#ffffff"));
  palette.setColor(QPalette::Link, accent);
  return palette;
}

}  // namespace

void apply_theme(QApplication& application, const QString& theme) {
  application.setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  if (theme == QLatin1String("system")) {
    application.setPalette(QPalette());
  } else {
    application.setPalette(plain_palette(theme == QLatin1String("dark")));
  }
}

bool is_dark(const QPalette& palette) {
  return palette.color(QPalette::Window).lightness() <
         palette.color(QPalette::WindowText).lightness();
}

QColor color_of_part(const QString& key, const QPalette& palette) {
  static const QHash<QString, QColor> colors = {
      {"runtime", "#8a94a0"},  {"output", "#cc79a7"},  {"recurrent_state", "#009e73"},
      {"kv_cache", "#e69f00"}, {"compute", "#f0e442"}, {"weights", "#3b82bd"},
  };
  // Pale, so that the measured line stands out against it.
  if (key == QLatin1String("predicted")) return QColor(is_dark(palette) ? "#2c5478" : "#a9cdea");
  if (key == QLatin1String("measured")) return QColor(is_dark(palette) ? "#ffb000" : "#8c2d04");
  const QColor color = colors.value(key, QColor("#8a94a0"));
  return is_dark(palette) ? color.darker(112) : color;
}

QColor limit_color(const QPalette& palette) {
  return QColor(is_dark(palette) ? "#ff5a6e" : "#c8102e");
}

BannerColors good_colors(const QPalette& palette) {
  if (is_dark(palette)) return {QColor("#12352a"), QColor("#93e6c4")};
  return {QColor("#e1f4ea"), QColor("#0b5a3a")};
}

BannerColors bad_colors(const QPalette& palette) {
  if (is_dark(palette)) return {QColor("#451a20"), QColor("#ffb8bf")};
  return {QColor("#fce4e6"), QColor("#8f0d22")};
}

BannerColors problem_colors(const QPalette& palette) {
  if (is_dark(palette)) return {QColor("#3d3015"), QColor("#ffdf99")};
  return {QColor("#fff2d1"), QColor("#614300")};
}

}  // namespace tidemark

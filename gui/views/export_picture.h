// What a widget shows, as a file. PNG is drawn at the widget's own pixel ratio; SVG and PDF hold
// text and shapes, on a page of the widget's size.
#pragma once

#include <string>

#include "planner/report/report.h"

class QImage;
class QWidget;

namespace tidemark {

// By the ending of `file`: .png, .svg or .pdf. Empty when done. The file is replaced as a whole or
// not at all.
Diagnostics export_picture(QWidget& widget, const std::string& file);

// With so many dots for each of the widget's points, for the clipboard.
QImage picture_of(QWidget& widget, double scale);

}  // namespace tidemark

#include "gui/views/export_picture.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QFileInfo>
#include <QImage>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QPixmap>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QWidget>

namespace tidemark {
namespace {

constexpr int kDotsPerInch = 96;

bool draw(QWidget& widget, QPaintDevice& device) {
  QPainter painter;
  if (!painter.begin(&device)) return false;
  painter.fillRect(widget.rect(), widget.palette().color(QPalette::Window));
  widget.render(&painter, {}, {}, QWidget::DrawChildren);
  return painter.end();
}

bool write_png(QWidget& widget, QIODevice& file) {
  const QImage image = picture_of(widget, widget.devicePixelRatioF());
  return !image.isNull() && image.save(&file, "PNG");
}

bool write_svg(QWidget& widget, QIODevice& file) {
  QSvgGenerator svg;
  svg.setOutputDevice(&file);
  svg.setSize(widget.size());
  svg.setViewBox(widget.rect());
  svg.setResolution(kDotsPerInch);
  svg.setTitle(widget.window()->windowTitle());
  return draw(widget, svg);
}

bool write_pdf(QWidget& widget, QIODevice& file) {
  QPdfWriter pdf(&file);
  constexpr double kPointsPerInch = 72.0;
  const QSizeF points = QSizeF(widget.size()) * kPointsPerInch / kDotsPerInch;
  pdf.setResolution(kDotsPerInch);
  pdf.setPageSize(QPageSize(points, QPageSize::Point, QString(), QPageSize::ExactMatch));
  pdf.setPageMargins(QMarginsF());
  pdf.setTitle(widget.window()->windowTitle());
  return draw(widget, pdf);
}

// Qt's SVG and PDF writers do not report a failed write, so the picture is made in memory first.
bool write_whole(QWidget& widget, bool (*write)(QWidget&, QIODevice&), QIODevice& file) {
  QBuffer picture;
  picture.open(QIODevice::WriteOnly);
  if (!write(widget, picture)) return false;
  return file.write(picture.data()) == picture.size();
}

}  // namespace

Diagnostics export_picture(QWidget& widget, const std::string& file) {
  const QString name = QString::fromStdString(file);
  const QString ending = QFileInfo(name).suffix().toLower();
  bool (*write)(QWidget&, QIODevice&) = nullptr;
  if (ending == QLatin1String("png")) write = write_png;
  if (ending == QLatin1String("svg")) write = write_svg;
  if (ending == QLatin1String("pdf")) write = write_pdf;
  if (write == nullptr) {
    return one_error(file, "is no picture the window can write", "end it in .png, .svg or .pdf");
  }
  // What changed just now is laid out when the event loop comes round.
  QCoreApplication::sendPostedEvents();
  QCoreApplication::processEvents(QEventLoop::ExcludeUserInputEvents);
  QSaveFile out(name);
  if (!out.open(QIODevice::WriteOnly) || !write_whole(widget, write, out) || !out.commit()) {
    return one_error(file, "cannot be written: " + out.errorString().toStdString());
  }
  return {};
}

QImage picture_of(QWidget& widget, double scale) {
  QImage image(widget.size() * scale, QImage::Format_RGB32);
  image.setDevicePixelRatio(scale);
  return draw(widget, image) ? image : QImage();
}

}  // namespace tidemark

// Where the words in the chart stand, and how they are drawn.
#include <QChart>
#include <QFontMetrics>
#include <QGraphicsEllipseItem>
#include <QGraphicsLineItem>
#include <QGraphicsRectItem>
#include <QGraphicsSimpleTextItem>
#include <QPen>
#include <algorithm>
#include <limits>

#include "gui/views/memory_chart.h"
#include "gui/views/theme.h"

namespace tidemark {
namespace {

constexpr double kLabelPadding = 3;
constexpr double kGap = 7;
constexpr int kTitleMargin = 40;

}  // namespace

MemoryChart::Label MemoryChart::makeLabel() {
  Label label;
  label.box = new QGraphicsRectItem(chart_);
  label.box->setPen(Qt::NoPen);
  label.box->setZValue(20);
  label.words = new QGraphicsSimpleTextItem(label.box);
  label.words->setPos(kLabelPadding, kLabelPadding);
  return label;
}

void MemoryChart::paintLabels() {
  const QColor ink = palette().color(QPalette::Text);
  const QColor limit = limit_color(palette());
  peak_->setBrush(ink);
  peak_->setPen(QPen(palette().color(QPalette::Base), 2));
  QColor box = palette().color(QPalette::Base);
  box.setAlphaF(0.85F);
  for (const Label& label : {peak_label_, limit_label_}) {
    label.box->setBrush(box);
    label.words->setFont(chart_->titleFont());
  }
  // What lies over the curve must not look like a gap in it.
  limit_label_.box->setPen(QPen(limit, 1));
  limit_label_.box->setBrush(palette().color(QPalette::Base));
  pointer_->setPen(QPen(ink, 1, Qt::DotLine));
  peak_label_.words->setBrush(ink);
  limit_label_.words->setBrush(limit);
}

// Within the plot, whatever the place.
QPointF MemoryChart::place(const Label& label, QPointF wanted) const {
  const QRectF plot = chart_->plotArea();
  const QSizeF size = label.box->rect().size();
  const double right = std::max(plot.left(), plot.right() - size.width());
  const double bottom = std::max(plot.top(), plot.bottom() - size.height());
  return {std::clamp(wanted.x(), plot.left(), right),
          std::clamp(wanted.y(), plot.top() + 1, std::max(bottom, plot.top() + 1))};
}

void MemoryChart::placeLabels() {
  const auto write = [](const Label& label, const std::optional<ChartMark>& mark) {
    label.box->setVisible(mark.has_value());
    if (!mark) return;
    label.words->setText(mark->label);
    label.box->setRect(
        label.words->boundingRect().adjusted(0, 0, 2 * kLabelPadding, 2 * kLabelPadding));
  };
  write(peak_label_, shapes_.peak);
  write(limit_label_, shapes_.limit);
  peak_->setVisible(shapes_.peak.has_value());
  if (shapes_.peak) placePeakLabel();
  if (shapes_.limit) placeLimitLabel();
  showTitle();
}

// Above the point; beside it where the chart is too low for that.
void MemoryChart::placePeakLabel() {
  const QPointF at = chart_->mapToPosition(shapes_.peak->at);
  const QSizeF size = peak_label_.box->rect().size();
  peak_->setPos(at);
  const QRectF dot = peak_->rect().translated(at);
  for (const QPointF wanted : {QPointF(at.x() - size.width() / 2, at.y() - size.height() - kGap),
                               QPointF(at.x() + kGap, at.y() - size.height() / 2),
                               QPointF(at.x() - size.width() - kGap, at.y() - size.height() / 2)}) {
    const QPointF best = place(peak_label_, wanted);
    peak_label_.box->setPos(best);
    const QRectF there(best, size);
    const QColor ink = palette().color(QPalette::Text);
    peak_label_.box->setPen(coversCurve(there) ? QPen(ink, 1) : QPen(Qt::NoPen));
    if (!there.intersects(dot)) return;
  }
}

void MemoryChart::showTitle() {
  const QFontMetrics metrics(chart_->titleFont());
  const QString title = metrics.elidedText(shapes_.title, Qt::ElideMiddle, width() - kTitleMargin);
  if (title != chart_->title()) chart_->setTitle(title);
}

QString MemoryChart::shownTitle() const { return chart_->title(); }

QRectF MemoryChart::limitLabel() const { return limit_label_.box->sceneBoundingRect(); }

// Everything below the top of the stack is the curve.
bool MemoryChart::coversCurve(const QRectF& place) const {
  if (shapes_.bands.empty()) return false;
  const double left = chart_->mapToValue(place.topLeft()).x();
  const double right = chart_->mapToValue(place.topRight()).x();
  double highest = 0;
  for (const QPointF& corner : shapes_.bands.back().upper) {
    // A level holds until the next corner.
    highest = corner.x() < left ? corner.y() : std::max(highest, corner.y());
    if (corner.x() > right) break;
  }
  return chart_->mapToPosition({0, highest}).y() < place.bottom();
}

// At an end of the line, above or below it: not over the words at the peak, nor over the line, nor
// over the curve, in this order.
void MemoryChart::placeLimitLabel() {
  const QRectF plot = chart_->plotArea();
  const double line = std::max(plot.top(), chart_->mapToPosition(shapes_.limit->at).y());
  const QSizeF size = limit_label_.box->rect().size();
  const QRectF taken = shapes_.peak ? peak_label_.box->sceneBoundingRect() : QRectF();
  QPointF best;
  int least = std::numeric_limits<int>::max();
  for (const QPointF wanted :
       {QPointF(plot.right(), line - size.height() - 1), QPointF(plot.right(), line + 2),
        QPointF(plot.left() + 2, line - size.height() - 1), QPointF(plot.left() + 2, line + 2)}) {
    const QRectF there(place(limit_label_, wanted), size);
    const bool covers_line = there.top() <= line && there.bottom() >= line;
    const int cost =
        (there.intersects(taken) ? 4 : 0) + (covers_line ? 2 : 0) + (coversCurve(there) ? 1 : 0);
    if (cost >= least) continue;
    least = cost;
    best = there.topLeft();
  }
  limit_label_.box->setPos(best);
}

}  // namespace tidemark

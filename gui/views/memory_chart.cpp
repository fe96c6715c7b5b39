#include "gui/views/memory_chart.h"

#include <QAreaSeries>
#include <QCategoryAxis>
#include <QChartView>
#include <QGraphicsEllipseItem>
#include <QGraphicsLayout>
#include <QGraphicsLineItem>
#include <QLegendMarker>
#include <QLineSeries>
#include <QMouseEvent>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/views/theme.h"

namespace tidemark {
namespace {

constexpr double kMarker = 5;

QCategoryAxis* make_axis(QChart& chart, Qt::Alignment side) {
  auto* axis = new QCategoryAxis;
  axis->setLabelsPosition(QCategoryAxis::AxisLabelsPositionOnValue);
  axis->setStartValue(0);
  axis->setRange(0, 1);
  chart.addAxis(axis, side);
  return axis;
}

}  // namespace

MemoryChart::MemoryChart(QWidget* parent)
    : QWidget(parent), view_(new QChartView(this)), chart_(view_->chart()) {
  setAccessibleName(tr("Memory curve"));
  view_->setRenderHint(QPainter::Antialiasing);
  view_->setFrameShape(QFrame::NoFrame);
  view_->setFocusPolicy(Qt::NoFocus);
  view_->viewport()->setMouseTracking(true);
  view_->viewport()->installEventFilter(this);
  chart_->setBackgroundRoundness(0);
  chart_->setMargins(QMargins(8, 4, 24, 4));
  chart_->layout()->setContentsMargins(0, 0, 0, 0);
  chart_->legend()->setAlignment(Qt::AlignBottom);
  chart_->legend()->setMarkerShape(QLegend::MarkerShapeRectangle);
  x_ = make_axis(*chart_, Qt::AlignBottom);
  y_ = make_axis(*chart_, Qt::AlignLeft);
  pointer_ = new QGraphicsLineItem(chart_);
  pointer_->setZValue(19);
  pointer_->hide();
  peak_ = new QGraphicsEllipseItem(-kMarker, -kMarker, 2 * kMarker, 2 * kMarker, chart_);
  peak_->setZValue(21);
  peak_label_ = makeLabel();
  limit_label_ = makeLabel();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(view_);
  connect(chart_, &QChart::plotAreaChanged, this, [this] { placeLabels(); });
  setMinimumHeight(kLeastHeight);
  paint();
  placeLabels();
}

MemoryChart::~MemoryChart() { view_->viewport()->removeEventFilter(this); }

void MemoryChart::setDescription(std::function<QString(double)> describe) {
  describe_ = std::move(describe);
}

void MemoryChart::setShapes(const ChartShapes& shapes) {
  const bool reuse = hasSeriesFor(shapes);
  shapes_ = shapes;
  if (!reuse) makeSeries(shapes);
  fill();
  paint();
  // The room for the labels of the axes depends on their words.
  chart_->layout()->invalidate();
  pointer_->hide();
  placeLabels();
  setAccessibleDescription(shapes.title +
                           (shapes.peak ? QStringLiteral(", ") + shapes.peak->label : QString()) +
                           (shapes.limit ? QStringLiteral(", ") + shapes.limit->label : QString()));
}

bool MemoryChart::hasSeriesFor(const ChartShapes& shapes) const {
  const bool same_bands =
      std::equal(bands_.begin(), bands_.end(), shapes.bands.begin(), shapes.bands.end(),
                 [](const Band& band, const CurveBand& other) { return band.key == other.key; });
  return same_bands && (limit_ != nullptr) == shapes.limit.has_value() &&
         (measured_ != nullptr) != shapes.measured.isEmpty();
}

void MemoryChart::attach(QAbstractSeries* series) {
  chart_->addSeries(series);
  series->attachAxis(x_);
  series->attachAxis(y_);
}

void MemoryChart::makeSeries(const ChartShapes& shapes) {
  chart_->removeAllSeries();
  bands_.clear();
  for (const CurveBand& shape : shapes.bands) {
    Band band{.key = shape.key};
    band.area = new QAreaSeries;
    // The area owns neither of its edges; its end is theirs.
    band.lower = new QLineSeries(band.area);
    band.upper = new QLineSeries(band.area);
    band.area->setLowerSeries(band.lower);
    band.area->setUpperSeries(band.upper);
    band.area->setName(shape.label);
    attach(band.area);
    for (QLegendMarker* marker : chart_->legend()->markers(band.area)) {
      connect(marker, &QLegendMarker::clicked, this,
              [this, key = band.key] { Q_EMIT partClicked(key); });
    }
    bands_.push_back(band);
  }
  limit_ = shapes.limit ? new QLineSeries : nullptr;
  measured_ = shapes.measured.isEmpty() ? nullptr : new QLineSeries;
  for (QAbstractSeries* series : std::initializer_list<QAbstractSeries*>{measured_, limit_}) {
    if (series != nullptr) attach(series);
  }
}

void MemoryChart::fillAxis(QCategoryAxis* axis, const std::vector<AxisTick>& ticks, double end) {
  for (const QString& label : axis->categoriesLabels()) axis->remove(label);
  axis->setRange(0, end);
  for (const AxisTick& tick : ticks) axis->append(tick.label, tick.at);
}

void MemoryChart::fill() {
  showTitle();
  for (QCategoryAxis* axis : {x_, y_}) axis->setVisible(!chart_->series().isEmpty());
  fillAxis(x_, shapes_.x_ticks, shapes_.right);
  fillAxis(y_, shapes_.y_ticks, shapes_.top);
  x_->setTitleText(shapes_.x_label);
  y_->setTitleText(shapes_.y_label);
  for (size_t i = 0; i < bands_.size(); ++i) {
    bands_[i].lower->replace(shapes_.bands[i].lower);
    bands_[i].upper->replace(shapes_.bands[i].upper);
  }
  if (limit_ != nullptr) {
    const double y = shapes_.limit->at.y();
    limit_->replace(QList<QPointF>{{0, y}, {shapes_.right, y}});
  }
  if (measured_ != nullptr) {
    measured_->setName(shapes_.measured_label);
    measured_->replace(shapes_.measured);
  }
}

void MemoryChart::paint() {
  const QColor ink = palette().color(QPalette::Text);
  QColor grid = ink;
  grid.setAlphaF(0.14F);
  chart_->setBackgroundBrush(palette().color(QPalette::Base));
  chart_->setTitleBrush(ink);
  QFont title = font();
  title.setBold(true);
  chart_->setTitleFont(title);
  for (QCategoryAxis* axis : {x_, y_}) {
    axis->setLabelsBrush(ink);
    axis->setTitleBrush(ink);
    axis->setLabelsFont(font());
    axis->setTitleFont(font());
    axis->setLinePen(QPen(ink, 1));
    axis->setGridLinePen(QPen(grid, 1));
    axis->setShadesVisible(false);
  }
  for (const Band& band : bands_) {
    band.area->setPen(Qt::NoPen);
    band.area->setBrush(color_of_part(band.key, palette()));
  }
  const QColor limit = limit_color(palette());
  if (limit_ != nullptr) limit_->setPen(QPen(limit, 2, Qt::DashLine));
  if (measured_ != nullptr) {
    measured_->setPen(QPen(color_of_part(QStringLiteral("measured"), palette()), 2));
  }
  paintLabels();
  paintLegend();
}

void MemoryChart::paintLegend() {
  chart_->legend()->setLabelColor(palette().color(QPalette::Text));
  chart_->legend()->setFont(font());
  if (limit_ != nullptr) {
    for (QLegendMarker* marker : chart_->legend()->markers(limit_)) marker->setVisible(false);
  }
  for (size_t i = 0; i < bands_.size(); ++i) {
    const bool hidden = shapes_.bands[i].hidden;
    const QColor ink =
        palette().color(hidden ? QPalette::Disabled : QPalette::Active, QPalette::Text);
    for (QLegendMarker* marker : chart_->legend()->markers(bands_[i].area)) {
      marker->setLabelBrush(ink);
      QColor fill = color_of_part(bands_[i].key, palette());
      if (hidden) fill.setAlphaF(0.15F);
      marker->setBrush(fill);
      marker->setPen(QPen(color_of_part(bands_[i].key, palette())));
    }
  }
}

QPoint MemoryChart::positionOf(QPointF value) const {
  const QPointF in_scene = chart_->mapToScene(chart_->mapToPosition(value));
  return view_->viewport()->mapTo(this, view_->mapFromScene(in_scene));
}

void MemoryChart::showTooltip(QPoint at) {
  const QPointF place = chart_->mapFromScene(view_->mapToScene(at));
  const bool inside = chart_->plotArea().contains(place) && !chart_->series().isEmpty();
  const QString words = inside && describe_ ? describe_(chart_->mapToValue(place).x()) : QString();
  const QRectF plot = chart_->plotArea();
  pointer_->setLine(place.x(), plot.top(), place.x(), plot.bottom());
  pointer_->setVisible(!words.isEmpty());
  QToolTip::showText(view_->viewport()->mapToGlobal(at), words, view_->viewport());
}

bool MemoryChart::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::MouseMove) {
    showTooltip(static_cast<QMouseEvent*>(event)->position().toPoint());
  } else if (event->type() == QEvent::Leave) {
    QToolTip::hideText();
    pointer_->hide();
  }
  return QWidget::eventFilter(watched, event);
}

void MemoryChart::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  const QEvent::Type type = event->type();
  if (type == QEvent::PaletteChange || type == QEvent::FontChange) paint();
}

}  // namespace tidemark

// The chart of memory over time or over steps. Every object of Qt Charts in the program is in here.
//
// Never OpenGL, which does not exist without a display. Pens and brushes are set one by one from
// the palette: a chart theme would overwrite them.
#pragma once

#include <QChart>
#include <QWidget>
#include <functional>
#include <memory>
#include <vector>

#include "gui/models/curve_series.h"

class QAreaSeries;
class QCategoryAxis;
class QChartView;
class QGraphicsEllipseItem;
class QGraphicsLineItem;
class QGraphicsRectItem;
class QGraphicsSimpleTextItem;
class QLegendMarker;
class QLineSeries;

namespace tidemark {

class MemoryChart : public QWidget {
  Q_OBJECT

 public:
  explicit MemoryChart(QWidget* parent = nullptr);
  ~MemoryChart() override;

  void setShapes(const ChartShapes& shapes);
  // As low as it can be read: the layout gives it what is left.
  QSize sizeHint() const override { return {480, kLeastHeight}; }

  // The words of the tooltip at a place of the x axis; empty = none.
  void setDescription(std::function<QString(double x)> describe);

  // The middle of the place where a point stands, for those who look there.
  QPoint positionOf(QPointF value) const;
  // The title as it is drawn: shortened in the middle where there is no room.
  QString shownTitle() const;
  // Where the words at the limit stand, in the coordinates of the chart; and whether they lie over
  // the curve.
  QRectF limitLabel() const;
  bool coversCurve(const QRectF& place) const;

 Q_SIGNALS:
  void partClicked(const QString& key);  // in the legend

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  static constexpr int kLeastHeight = 220;

  struct Band {
    QString key{};
    QLineSeries* lower = nullptr;
    QLineSeries* upper = nullptr;
    QAreaSeries* area = nullptr;
  };
  struct Label {
    QGraphicsRectItem* box = nullptr;
    QGraphicsSimpleTextItem* words = nullptr;
  };

  bool hasSeriesFor(const ChartShapes& shapes) const;
  void makeSeries(const ChartShapes& shapes);
  void attach(QAbstractSeries* series);
  void fill();
  void fillAxis(QCategoryAxis* axis, const std::vector<AxisTick>& ticks, double end);
  void paint();
  void paintLegend();
  void paintLabels();
  Label makeLabel();
  void placeLabels();
  void placePeakLabel();
  void placeLimitLabel();
  void showTitle();
  QPointF place(const Label& label, QPointF wanted) const;
  void showTooltip(QPoint at);

  QChartView* view_ = nullptr;
  QChart* chart_ = nullptr;
  QCategoryAxis* x_ = nullptr;
  QCategoryAxis* y_ = nullptr;
  std::vector<Band> bands_{};
  QLineSeries* limit_ = nullptr;
  QLineSeries* measured_ = nullptr;
  QGraphicsLineItem* pointer_ = nullptr;  // through the place that the tooltip tells of
  QGraphicsEllipseItem* peak_ = nullptr;  // an item: a point of a series is cut off at the edge
  Label peak_label_{};
  Label limit_label_{};
  ChartShapes shapes_{};
  std::function<QString(double)> describe_{};
};

}  // namespace tidemark

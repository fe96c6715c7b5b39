// Memory curves as shapes to draw: bounded in length, with nothing left to compute for whoever
// draws them.
#pragma once

#include <QList>
#include <QPointF>
#include <QString>
#include <QStringList>
#include <optional>
#include <span>
#include <vector>

#include "planner/report/report.h"

namespace tidemark {

// Two corners a step, and no shape has more.
inline constexpr size_t kMostCorners = 2000;

// Which points of a curve are kept so that its picture is the same: the first, the last, and of
// each of `columns` slices of the x axis the lowest and the highest. In order, each once.
//   2 columns; x 0 1 2 3 | 4 6 8, y 5 6 1 9 | 4 2 7  ->  points 0 2 3 5 6
//   Checked by CurveSeries.KeepsTheLowestAndHighestOfEachColumn.
std::vector<size_t> points_to_keep(std::span<const int64_t> x, std::span<const int64_t> y,
                                   int columns);

struct AxisTick {
  double at = 0;
  QString label{};
};

// One part of the stack. Points are (ns, bytes); both edges share their x.
struct CurveBand {
  QString key{};    // "kv_cache"
  QString label{};  // "KV cache"
  bool hidden = false;
  QList<QPointF> lower{};
  QList<QPointF> upper{};
};

// A value marked in the chart, with the words beside it.
struct ChartMark {
  QPointF at{};
  QString label{};
};

// What stands in a chart. A picture of a replay has no bands, a simulation no measured line.
struct ChartShapes {
  QString title{};
  QString x_label{};
  QString y_label{};
  std::vector<CurveBand> bands{};  // bottom of the stack first; parts that are never there left out
  QList<QPointF> measured{};
  QString measured_label{};
  double right = 1;  // ends of the axes, which begin at 0
  double top = 1;
  std::vector<AxisTick> x_ticks{};
  std::vector<AxisTick> y_ticks{};
  std::optional<ChartMark> limit{};  // only its y counts
  std::optional<ChartMark> peak{};
};

// The simulated curve: what changes least is lowest. Hidden parts (by key) take no room, and are
// listed so that they can be shown again. What is resident when a run is killed is drawn a little
// beyond its end: else it would have no width.
ChartShapes simulation_shapes(const SimReport& report, const QStringList& hidden = {});

// What is resident at a time of the curve, a line for each part with its bytes and share; empty
// outside the run.
QString describe_point(const SimReport& report, double time_ns);

// The corners of a step line through the points: each y holds until the next x, the last until
// `end`.
QList<QPointF> step_corners(const std::vector<QPointF>& points, double end);

// Ticks and end of the y axis for curves that reach `highest`.
void set_byte_axis(ChartShapes& shapes, Bytes highest);

}  // namespace tidemark

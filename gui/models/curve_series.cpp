#include "gui/models/curve_series.h"

#include <algorithm>
#include <array>

#include "planner/base/units.h"
#include "planner/report/chart_scale.h"
#include "planner/report/escape.h"
#include "planner/report/parts.h"
#include "planner/report/sections.h"

namespace tidemark {
namespace {

// First, last and two points a column, two corners each.
constexpr int kColumns = 499;
constexpr int kMostTicks = 8;

// The order of the picture written by `tidemark simulate --svg`: what is jagged lies on top.
constexpr std::array<std::string_view, 6> kBottomFirst{"runtime",  "output",  "recurrent_state",
                                                       "kv_cache", "compute", "weights"};

const MemoryPart& part_of(std::string_view key) {
  const auto parts = memory_parts();
  return *std::find_if(parts.begin(), parts.end(),
                       [&](const MemoryPart& part) { return part.key == key; });
}

QString text(std::string_view utf8) {
  return QString::fromUtf8(utf8.data(), static_cast<qsizetype>(utf8.size()));
}

std::vector<CurvePoint> kept_points(const SimReport& report) {
  std::vector<int64_t> times;
  std::vector<int64_t> totals;
  for (const CurvePoint& point : report.curve) {
    times.push_back(point.time.count());
    totals.push_back(point.total().count());
  }
  std::vector<CurvePoint> kept;
  for (const size_t index : points_to_keep(times, totals, kColumns)) {
    kept.push_back(report.curve[index]);
  }
  return kept;
}

Duration end_of(const SimReport& report) {
  const Duration last = report.curve.empty() ? Duration{} : report.curve.back().time;
  return std::max(report.end, last);
}

QList<QPointF> edge(const std::vector<CurvePoint>& points, const std::vector<Bytes>& level,
                    double end) {
  std::vector<QPointF> corners;
  for (size_t i = 0; i < points.size(); ++i) {
    corners.emplace_back(static_cast<double>(points[i].time.count()),
                         static_cast<double>(level[i].count()));
  }
  return step_corners(corners, end);
}

std::vector<CurveBand> stacked_bands(const SimReport& report, const QStringList& hidden,
                                     double end) {
  const std::vector<CurvePoint> points = kept_points(report);
  std::vector<Bytes> level(points.size());
  std::vector<CurveBand> bands;
  for (const std::string_view key : kBottomFirst) {
    const MemoryPart& part = part_of(key);
    const bool is_there = std::any_of(points.begin(), points.end(), [&](const CurvePoint& point) {
      return point.*part.simulated > Bytes{};
    });
    if (!is_there) continue;
    CurveBand band{.key = text(key), .label = text(part.label)};
    band.hidden = hidden.contains(band.key);
    band.lower = edge(points, level, end);
    for (size_t i = 0; i < points.size() && !band.hidden; ++i) {
      level[i] += points[i].*part.simulated;
    }
    band.upper = edge(points, level, end);
    bands.push_back(std::move(band));
  }
  return bands;
}

QString title_of(const SimReport& report) {
  const std::string quant = setting_value(report.settings, "quant");
  std::string title = one_line(report.model.name);
  if (!quant.empty()) title += " " + one_line(quant);
  title += " on " + one_line(report.device.name) + ", " + one_line(report.strategy);
  return text(title);
}

// Where the picture ends, in nanoseconds.
double right_of(const SimReport& report) {
  constexpr double kTail = 1.01;
  const auto end = static_cast<double>(end_of(report).count());
  const size_t count = report.curve.size();
  const bool ends_with_change = report.outcome == SimOutcome::kKilled && count >= 2 &&
                                report.curve.back().time == end_of(report) &&
                                report.curve[count - 2].total() != report.curve.back().total();
  return std::max(1.0, ends_with_change ? end * kTail : end);
}

void set_time_axis(ChartShapes& shapes, const SimReport& report) {
  const Duration end = end_of(report);
  shapes.x_label = QStringLiteral("time since start");
  if (report.outcome == SimOutcome::kKilled) {
    shapes.x_label += text("; killed at " + format_duration(end));
  }
  shapes.right = right_of(report);
  for (const Tick& tick : time_ticks(end, kMostTicks)) {
    shapes.x_ticks.push_back({static_cast<double>(tick.value), text(tick.label)});
  }
}

}  // namespace

std::vector<size_t> points_to_keep(std::span<const int64_t> x, std::span<const int64_t> y,
                                   int columns) {
  std::vector<size_t> kept;
  const auto keep = [&](size_t index) {
    if (kept.empty() || kept.back() < index) kept.push_back(index);
  };
  const size_t count = std::min(x.size(), y.size());
  const double width =
      count == 0 ? 0.0 : static_cast<double>(x[count - 1]) - static_cast<double>(x[0]);
  const auto column_of = [&](size_t index) {
    if (width <= 0) return 0;
    const double share = (static_cast<double>(x[index]) - static_cast<double>(x[0])) / width;
    return std::min(static_cast<int>(share * columns), columns - 1);
  };
  for (size_t begin = 0; begin < count;) {
    size_t end = begin;
    size_t low = begin;
    size_t high = begin;
    for (; end < count && column_of(end) == column_of(begin); ++end) {
      if (y[end] < y[low]) low = end;
      if (y[end] > y[high]) high = end;
    }
    if (begin == 0) keep(0);
    keep(std::min(low, high));
    keep(std::max(low, high));
    begin = end;
  }
  if (count > 0) keep(count - 1);
  return kept;
}

QList<QPointF> step_corners(const std::vector<QPointF>& points, double end) {
  QList<QPointF> corners;
  for (size_t i = 0; i < points.size(); ++i) {
    const double until = i + 1 < points.size() ? points[i + 1].x() : std::max(end, points[i].x());
    corners.push_back(points[i]);
    corners.push_back({until, points[i].y()});
  }
  return corners;
}

void set_byte_axis(ChartShapes& shapes, Bytes highest) {
  // Room above for the words at the peak and at the limit.
  shapes.top = std::max(1.0, static_cast<double>(highest.count()) * 1.18);
  for (const Tick& tick : byte_ticks(highest, kMostTicks)) {
    shapes.y_ticks.push_back({static_cast<double>(tick.value), text(tick.label)});
  }
}

ChartShapes simulation_shapes(const SimReport& report, const QStringList& hidden) {
  ChartShapes shapes{.title = title_of(report)};
  set_time_axis(shapes, report);
  shapes.y_label = QStringLiteral("resident memory");
  shapes.bands = stacked_bands(report, hidden, shapes.right);
  const Bytes limit = report.device.limit.limit;
  // A limit far above would press the curve flat: then it is named at the top instead.
  const bool on_scale = report.peak <= Bytes{} || limit / report.peak < 4;
  set_byte_axis(shapes, on_scale ? std::max(limit, report.peak) : report.peak);
  const QString words = text("limit " + format_bytes(limit)) +
                        (on_scale ? QString() : QStringLiteral(", above this scale"));
  shapes.limit = {{0, on_scale ? static_cast<double>(limit.count()) : shapes.top * 2}, words};
  if (!report.curve.empty()) {
    shapes.peak = {
        {static_cast<double>(report.peak_time.count()), static_cast<double>(report.peak.count())},
        text("peak " + format_bytes(report.peak))};
  }
  return shapes;
}

QString describe_point(const SimReport& report, double time_ns) {
  const auto after = std::upper_bound(report.curve.begin(), report.curve.end(), time_ns,
                                      [](double time, const CurvePoint& point) {
                                        return time < static_cast<double>(point.time.count());
                                      });
  const bool within = time_ns <= right_of(report);
  if (after == report.curve.begin() || !within) return {};
  const Breakdown memory = breakdown_of(*(after - 1));
  const std::vector<int64_t> shares = shares_per_mille(memory);
  const auto now = std::min(Duration::ns(static_cast<int64_t>(time_ns)), end_of(report));
  std::string lines = "at " + format_duration(now);
  for (size_t i = 0; i < shares.size(); ++i) {
    const MemoryPart& part = memory_parts()[i];
    const Bytes bytes = memory.*part.planned;
    if (bytes == Bytes{}) continue;
    lines += "\n" + std::string(part.label) + "  " + format_bytes_exact(bytes) + ", " +
             percent(shares[i]);
  }
  return text(lines + "\ntotal  " + format_bytes_exact(memory.total()));
}

}  // namespace tidemark

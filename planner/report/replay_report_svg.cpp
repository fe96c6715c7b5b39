// Predicted and measured memory of a replay, step by step: the prediction as an area, the
// measurement as a line on top of it. One panel a report, on one scale; the look is that of the
// simulator's curve (curve_svg.cpp).
//
//   title, subtitle, legend
//   +------------------------------+
//   |- - - - - limit - - - - - - - |   the line runs along the edge of the area
//   |  ___/====\_____              |   where both agree
//   +------------------------------+
#include <fmt/core.h>

#include <algorithm>

#include "planner/base/units.h"
#include "planner/report/chart_scale.h"
#include "planner/report/escape.h"
#include "planner/report/replay_labels.h"
#include "planner/report/svg.h"

namespace tidemark {
namespace {

constexpr double kWidth = 960;
constexpr double kLeft = 78;
constexpr double kRight = 936;
constexpr double kPanelTop = 94;  // below title, subtitle and legend
constexpr double kHeadingHeight = 28;
constexpr double kAxisHeight = 46;
constexpr int64_t kColumns = 640;  // of a long run

constexpr std::string_view kInk = "#1f2933";
constexpr std::string_view kFaint = "#52606d";
constexpr std::string_view kGrid = "#dde3e9";
constexpr std::string_view kAreaColor = "#3b82bd";
constexpr std::string_view kLineColor = "#b4520a";
constexpr std::string_view kLimitColor = "#c8102e";
constexpr std::string_view kGoodColor = "#0b6e4f";
constexpr svg::Stroke kLimitStroke{.color = kLimitColor, .width = 2, .dashes = "7 4"};

// Linear scales; y grows downward.
struct Plot {
  double top = 0;
  double bottom = 0;
  int64_t steps = 1;
  Bytes highest{};
  double x(int64_t step) const {
    return kLeft + (kRight - kLeft) * static_cast<double>(step) / static_cast<double>(steps);
  }
  double y(Bytes bytes) const {
    const double share = static_cast<double>(bytes.count()) / static_cast<double>(highest.count());
    return bottom - (bottom - top) * std::clamp(share, 0.0, 1.0);
  }
};

// Steps [first, end) that share a column: the most of either side among them.
struct Column {
  int64_t first = 0;
  int64_t end = 0;
  Bytes predicted{};
  Bytes measured{};
};

std::vector<Column> columns_of(const ReplayReport& report, int64_t steps) {
  const int64_t wide = std::max<int64_t>((steps + kColumns - 1) / kColumns, 1);
  std::vector<Column> columns;
  for (const ReplayStep& step : report.steps) {
    if (columns.empty() || step.step >= columns.back().first + wide) {
      columns.push_back({.first = step.step});
    }
    Column& column = columns.back();
    column.end = step.step + 1;
    column.predicted = std::max(column.predicted, step.predicted);
    column.measured = std::max(column.measured, step.measured);
  }
  return columns;
}

std::vector<svg::Point> edge(const std::vector<Column>& columns, const Plot& plot,
                             Bytes Column::*level) {
  std::vector<svg::Point> corners;
  for (const Column& column : columns) {
    const double y = level == nullptr ? plot.bottom : plot.y(column.*level);
    corners.push_back({plot.x(column.first), y});
    corners.push_back({plot.x(column.end), y});
  }
  return corners;
}

std::string path(const std::vector<svg::Point>& corners) {
  std::string out;
  for (const svg::Point& corner : corners) {
    out += fmt::format("{}{} {}", out.empty() ? "M" : "L", svg::px(corner.x), svg::px(corner.y));
  }
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"/>\n", out,
                     kLineColor);
}

std::string axes(const Plot& plot) {
  std::string out;
  for (const Tick& tick : byte_ticks(plot.highest, plot.bottom - plot.top > 250 ? 8 : 5)) {
    const double y = plot.y(Bytes::of(tick.value));
    out += svg::line({kLeft, y}, {kRight, y}, {.color = kGrid});
    out +=
        svg::text({kLeft - 8, y + 4}, tick.label, {.size = 11, .color = kFaint, .anchor = "end"});
  }
  out += svg::line({kLeft, plot.bottom}, {kRight, plot.bottom}, {.color = kFaint});
  for (const int64_t step : {int64_t{0}, plot.steps / 4, plot.steps / 2, plot.steps * 3 / 4}) {
    const double x = plot.x(step);
    out += svg::line({x, plot.bottom}, {x, plot.bottom + 5}, {.color = kFaint});
    out += svg::text({x, plot.bottom + 23}, fmt::format("step {}", step),
                     {.size = 11, .color = kFaint, .anchor = "middle"});
  }
  return out;
}

std::string heading(const ReplayReport& report, const std::string& name, double y) {
  const bool good = passed(report);
  const std::string outcome = report.end != ReplayEnd::kCompleted
                                  ? std::string(name_of(report.end))
                                  : std::string(good ? "as predicted" : "not as predicted");
  const std::string facts =
      fmt::format("predicted {}, measured {}, {} read", format_bytes(report.predicted_peak),
                  format_bytes(report.measured_peak), format_bytes(report.bytes_read));
  return fmt::format(
      "<text x=\"{}\" y=\"{}\" font-size=\"12\"><tspan font-size=\"14\" font-weight=\"bold\" "
      "fill=\"{}\">{}</tspan><tspan dx=\"12\" font-weight=\"bold\" fill=\"{}\">{}</tspan><tspan "
      "dx=\"12\" fill=\"{}\">{}</tspan></text>\n",
      svg::px(kLeft), svg::px(y), kInk, xml_text(name), good ? kGoodColor : kLimitColor,
      xml_text(outcome), kFaint, xml_text(facts));
}

std::string panel(const ReplayReport& report, const std::string& name, const Plot& plot) {
  std::string out = heading(report, name, plot.top - 10) + axes(plot);
  const std::vector<Column> columns = columns_of(report, plot.steps);
  if (!columns.empty()) {
    out += svg::step_area(edge(columns, plot, &Column::predicted), edge(columns, plot, nullptr),
                          {kAreaColor, 0.45});
    out += path(edge(columns, plot, &Column::measured));
  }
  if (report.limit && report.limit->limit <= plot.highest) {
    const double y = plot.y(report.limit->limit);
    out += svg::line({kLeft, y}, {kRight, y}, kLimitStroke);
    out += svg::plated_text({kRight - 4, y - 6}, "limit " + format_bytes(report.limit->limit),
                            {.color = kLimitColor, .anchor = "end", .bold = true});
  }
  return out;
}

std::string head(std::span<const ReplayReport> reports, std::span<const std::string> keys) {
  const bool is_of_one = std::ranges::find(keys, "model") == keys.end();
  const std::string title =
      is_of_one ? one_line("Replay of " + reports.front().model.name) : "Replays";
  std::string out = "<title>" + xml_text(title) + "</title>\n";
  out += svg::text({kLeft, 32}, svg::fitted(title, 19, kRight - kLeft), {.size = 19, .bold = true});
  out +=
      svg::text({kLeft, 53}, "Memory after each step, predicted and measured", {.color = kFaint});
  out += svg::rectangle({kLeft, 67}, {12, 12}, {kAreaColor, 0.45});
  out += svg::text({kLeft + 18, 77}, "predicted");
  out += svg::line({kLeft + 94, 73}, {kLeft + 112, 73}, {.color = kLineColor, .width = 1.6});
  return out + svg::text({kLeft + 118, 77}, "measured");
}

}  // namespace

std::string to_svg(std::span<const ReplayReport> reports) {
  const double plot_height = reports.size() <= 1 ? 330 : reports.size() == 2 ? 220 : 150;
  const double panel_height = kHeadingHeight + plot_height + kAxisHeight;
  const double height = kPanelTop + panel_height * static_cast<double>(reports.size());
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\" role=\"img\">\n",
      svg::px(kWidth), svg::px(height));
  out += svg::rectangle({0, 0}, {kWidth, height}, {"#ffffff"});
  if (reports.empty()) return out + "</svg>\n";
  Bytes highest = Bytes::of(1);
  int64_t steps = 1;
  for (const ReplayReport& report : reports) {
    highest = std::max({highest, report.predicted_peak, report.measured_peak});
    steps = std::max(steps, report.planned_steps);
  }
  const std::vector<std::string> keys = label_keys(reports);
  out += head(reports, keys);
  for (size_t i = 0; i < reports.size(); ++i) {
    const double top = kPanelTop + panel_height * static_cast<double>(i) + kHeadingHeight;
    out += panel(reports[i], row_name(reports[i], keys),
                 {.top = top,
                  .bottom = top + plot_height,
                  .steps = steps,
                  .highest = highest + highest / 12});
  }
  return out + "</svg>\n";
}

}  // namespace tidemark

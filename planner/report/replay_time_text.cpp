#include <fmt/core.h>

#include <algorithm>

#include "planner/base/units.h"
#include "planner/report/escape.h"
#include "planner/report/layout.h"
#include "planner/report/replay_report.h"

namespace tidemark {
namespace {

constexpr int64_t kMostParts = 6;

std::string error_text(Duration predicted, Duration measured) {
  return fmt::format("{:+.1f} %", time_error(predicted, measured) * 100.0);
}

std::string range(const std::vector<Duration>& runs) {
  if (runs.empty()) return "-";
  return fmt::format("{} of {} to {}", runs.size(), format_duration(runs.front()),
                     format_duration(runs.back()));
}

Table totals(std::span<const ReplayReport> reports) {
  Table table{
      .columns = {
          {"strategy", Align::kLeft}, {"predicted time"}, {"measured time"}, {"error"}, {"runs"}}};
  for (const ReplayReport& report : reports) {
    if (!report.time) continue;
    const TimeComparison& time = *report.time;
    table.rows.push_back({{one_line(report.strategy)},
                          {format_duration(time.predicted)},
                          {format_duration(time.measured)},
                          {error_text(time.predicted, time.measured)},
                          {range(time.runs)}});
  }
  return table;
}

Table parts_of(std::span<const ReplayReport> reports) {
  Table table{.columns = {{"strategy", Align::kLeft},
                          {"part", Align::kLeft},
                          {"steps"},
                          {"predicted"},
                          {"measured"},
                          {"error"}}};
  for (const ReplayReport& report : reports) {
    if (!report.time) continue;
    int64_t shown = 0;
    for (const TimePart& part : report.time->parts) {
      if (++shown > kMostParts) break;
      table.rows.push_back({{shown == 1 ? one_line(report.strategy) : ""},
                            {part.what},
                            {format_count(part.steps)},
                            {format_duration(part.predicted)},
                            {format_duration(part.measured)},
                            {error_text(part.predicted, part.measured)}});
    }
  }
  return table;
}

}  // namespace

double time_error(Duration predicted, Duration measured) {
  if (predicted == Duration{}) return 0.0;
  return static_cast<double>((measured - predicted).count()) /
         static_cast<double>(predicted.count());
}

std::string time_section(std::span<const ReplayReport> reports, TextStyle style) {
  const bool has_times = std::ranges::any_of(
      reports, [](const ReplayReport& report) { return report.time.has_value(); });
  if (!has_times) return "";
  return table_to_text(totals(reports), style) + "\n" + table_to_text(parts_of(reports), style) +
         "\n";
}

}  // namespace tidemark

#include <fmt/core.h>

#include <algorithm>

#include "planner/base/units.h"
#include "planner/report/layout.h"
#include "planner/report/replay_labels.h"

namespace tidemark {
namespace {

constexpr int64_t kMostParts = 6;

std::string error_text(Duration predicted, Duration measured) {
  return fmt::format("{:+.1f} %", time_error(predicted, measured) * 100.0);
}

std::string range(const std::vector<Duration>& runs) {
  if (runs.empty()) return "-";
  if (runs.size() == 1) return fmt::format("1 of {}", format_duration(runs.front()));
  return fmt::format("{} of {} to {}", runs.size(), format_duration(runs.front()),
                     format_duration(runs.back()));
}

Table table_of(std::span<const std::string> keys, std::initializer_list<Column> figures) {
  Table table{.columns = label_columns(keys)};
  table.columns.insert(table.columns.end(), figures.begin(), figures.end());
  return table;
}

Table totals(std::span<const ReplayReport> reports, std::span<const std::string> keys) {
  Table table = table_of(keys, {{"predicted time"}, {"measured time"}, {"error"}, {"runs"}});
  for (const ReplayReport& report : reports) {
    if (!report.time) continue;
    const TimeComparison& time = *report.time;
    std::vector<Cell> row = label_cells(report, keys);
    row.push_back({format_duration(time.predicted)});
    row.push_back({format_duration(time.measured)});
    row.push_back({error_text(time.predicted, time.measured)});
    row.push_back({range(time.runs)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

// The first part of a run has the run's name.
Table parts_of(std::span<const ReplayReport> reports, std::span<const std::string> keys) {
  Table table =
      table_of(keys, {{"part", Align::kLeft}, {"steps"}, {"predicted"}, {"measured"}, {"error"}});
  for (const ReplayReport& report : reports) {
    if (!report.time) continue;
    int64_t shown = 0;
    for (const TimePart& part : report.time->parts) {
      if (++shown > kMostParts) break;
      std::vector<Cell> row =
          shown == 1 ? label_cells(report, keys) : std::vector<Cell>(keys.size());
      row.push_back({part.what});
      row.push_back({format_count(part.steps)});
      row.push_back({format_duration(part.predicted)});
      row.push_back({format_duration(part.measured)});
      row.push_back({error_text(part.predicted, part.measured)});
      table.rows.push_back(std::move(row));
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
  const std::vector<std::string> keys = label_keys(reports);
  return table_to_text(totals(reports, keys), style) + "\n" +
         table_to_text(parts_of(reports, keys), style) + "\n";
}

}  // namespace tidemark

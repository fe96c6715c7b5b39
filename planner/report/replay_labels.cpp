#include "planner/report/replay_labels.h"

#include <algorithm>

#include "planner/report/escape.h"
#include "planner/report/parts.h"

namespace tidemark {
namespace {

constexpr int kLongestName = 28;

// As it was given; two files may hold models of one name.
std::string value_of(const ReplayReport& report, const std::string& key) {
  if (key == "strategy") return report.strategy;
  std::string given = setting_value(report.settings, key);
  if (given.empty() && key == "model") return report.model.name;
  return given;
}

// "../calibrations/quick/me.yaml" and ".../full/me.yaml" differ at their ends.
std::string shown(const std::string& value) {
  const std::string line = one_line(value);
  const size_t slash = line.find('/');
  if (slash == std::string::npos || display_width(line) <= kLongestName) {
    return shortened(line, kLongestName);
  }
  for (size_t at = slash; at != std::string::npos; at = line.find('/', at + 1)) {
    const std::string end = "..." + line.substr(at);
    if (display_width(end) <= kLongestName) return end;
  }
  return shortened("..." + line.substr(line.rfind('/')), kLongestName);
}

}  // namespace

std::vector<std::string> label_keys(std::span<const ReplayReport> reports) {
  const auto differs = [&](const std::string& key) {
    return std::ranges::any_of(reports, [&](const ReplayReport& report) {
      return value_of(report, key) != value_of(reports.front(), key);
    });
  };
  std::vector<std::string> keys;
  for (const char* key : {"model", "device", "engine"}) {
    if (differs(key)) keys.emplace_back(key);
  }
  keys.emplace_back("strategy");
  for (const ReplayReport& report : reports) {
    for (const Setting& setting : report.settings) {
      const bool has_place = setting.key == "model" || setting.key == "engine" ||
                             std::ranges::find(keys, setting.key) != keys.end();
      if (!has_place && differs(setting.key)) keys.push_back(setting.key);
    }
  }
  return keys;
}

std::vector<std::string> label_values(const ReplayReport& report,
                                      std::span<const std::string> keys) {
  std::vector<std::string> values;
  for (const std::string& key : keys) values.push_back(value_of(report, key));
  return values;
}

std::vector<Column> label_columns(std::span<const std::string> keys) {
  std::vector<Column> columns;
  for (const std::string& key : keys) columns.push_back({one_line(key), Align::kLeft});
  return columns;
}

std::vector<Cell> label_cells(const ReplayReport& report, std::span<const std::string> keys) {
  std::vector<Cell> cells;
  for (const std::string& value : label_values(report, keys)) cells.push_back({shown(value)});
  return cells;
}

std::string row_name(const ReplayReport& report, std::span<const std::string> keys) {
  std::string name;
  for (const Cell& cell : label_cells(report, keys)) {
    name += (name.empty() ? "" : ", ") + cell.text;
  }
  return name;
}

}  // namespace tidemark

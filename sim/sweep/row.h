// One scenario of a sweep as a row of cells under fixed columns:
//   every key of the settings table | status, diagnostic | the plan's terms | the simulation's |
//   tool_version
// A failed scenario keeps what is known of it; the rest is empty.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "planner/report/report.h"

namespace tidemark {

enum class ColumnKind { kSetting, kText, kInteger, kReal, kBoolean };

struct SweepColumn {
  std::string name{};
  ColumnKind kind = ColumnKind::kText;
};

const std::vector<SweepColumn>& sweep_columns();
// Position of a column that must exist.
size_t sweep_column(std::string_view name);

// Empty, an integer (booleans are 0 and 1), a real number, or text.
using SweepCell = std::variant<std::monostate, int64_t, double, std::string>;

struct SweepRow {
  std::string id{};                // 16 hex digits: the hash of `canonical`
  std::string canonical{};         // the whole content of the scenario, see scenario_id.h
  std::vector<SweepCell> cells{};  // one a column
  bool failed() const;
  std::string diagnostic() const;  // empty when it did not fail
  bool operator==(const SweepRow&) const = default;
};

// A whole number as an integer, anything else as text.
SweepCell setting_cell(std::string_view text);

// Empty cells, status ok, this program's version.
std::vector<SweepCell> blank_cells();
void set_cell(std::vector<SweepCell>& cells, std::string_view column, SweepCell value);
void set_failed(std::vector<SweepCell>& cells, const Diagnostics& diagnostics);
void set_plan(std::vector<SweepCell>& cells, const PlanReport& report);
void set_simulation(std::vector<SweepCell>& cells, const SimReport& report);

// Order of two values of a column: numbers by value, then sizes by bytes ("512 MiB" before "1
// GiB"), then other text byte by byte. Negative, 0 or positive; 0 only for the same text.
int compare_values(std::string_view a, std::string_view b);

}  // namespace tidemark

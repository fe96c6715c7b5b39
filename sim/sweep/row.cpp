#include "sim/sweep/row.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>

#include "planner/base/units.h"
#include "planner/config/settings.h"

namespace tidemark {
namespace {

// Name, kind and value of a column stand side by side, so that they cannot drift apart.
template <typename Report>
struct ReportColumn {
  std::string_view name{};
  ColumnKind kind = ColumnKind::kInteger;
  SweepCell (*read)(const Report&) = nullptr;
};

using PlanColumn = ReportColumn<PlanReport>;
using SimColumn = ReportColumn<SimReport>;

const std::vector<PlanColumn>& plan_columns() {
  using R = PlanReport;
  static const std::vector<PlanColumn> columns = {
      {"weights_bytes", ColumnKind::kInteger,
       [](const R& r) -> SweepCell { return r.memory.weights.count(); }},
      {"kv_cache_bytes", ColumnKind::kInteger,
       [](const R& r) -> SweepCell { return r.memory.kv_cache.count(); }},
      {"recurrent_state_bytes", ColumnKind::kInteger,
       [](const R& r) -> SweepCell { return r.memory.recurrent_state.count(); }},
      {"compute_bytes", ColumnKind::kInteger,
       [](const R& r) -> SweepCell { return r.memory.compute.count(); }},
      {"output_bytes", ColumnKind::kInteger,
       [](const R& r) -> SweepCell { return r.memory.output.count(); }},
      {"runtime_bytes", ColumnKind::kInteger,
       [](const R& r) -> SweepCell { return r.memory.runtime.count(); }},
      {"total_bytes", ColumnKind::kInteger,
       [](const R& r) -> SweepCell { return r.memory.total().count(); }},
      {"arena_status", ColumnKind::kText, [](const R& r) -> SweepCell { return r.arena.status; }},
      {"arena_peak_bytes", ColumnKind::kInteger,
       [](const R& r) -> SweepCell { return r.arena.peak.count(); }},
      {"arena_lower_bound_bytes", ColumnKind::kInteger,
       [](const R& r) -> SweepCell { return r.arena.lower_bound.count(); }},
      {"limit_bytes", ColumnKind::kInteger,
       [](const R& r) -> SweepCell { return r.device.limit.limit.count(); }},
      {"fits", ColumnKind::kBoolean,
       [](const R& r) -> SweepCell { return int64_t{r.verdict.fits}; }},
      {"slack_bytes", ColumnKind::kInteger,
       [](const R& r) -> SweepCell { return r.verdict.slack.count(); }},
      {"binding_term", ColumnKind::kText,
       [](const R& r) -> SweepCell { return r.verdict.binding_term; }},
  };
  return columns;
}

SweepCell optional_ns(const std::optional<Duration>& duration) {
  return duration ? SweepCell(duration->count()) : SweepCell();
}

// Of experts, or of rows, that come when a token needs them.
SweepCell read_per_token(const SimReport& report) {
  if (report.rows) return report.rows->read_per_token.count();
  const bool is_known = report.experts && report.experts->read_per_token;
  return is_known ? SweepCell(report.experts->read_per_token->count()) : SweepCell();
}

const std::vector<SimColumn>& simulation_columns() {
  using R = SimReport;
  static const std::vector<SimColumn> columns = {
      {"outcome", ColumnKind::kText,
       [](const R& r) -> SweepCell { return std::string(name_of(r.outcome)); }},
      {"peak_bytes", ColumnKind::kInteger, [](const R& r) -> SweepCell { return r.peak.count(); }},
      {"ttft_ns", ColumnKind::kInteger, [](const R& r) -> SweepCell { return r.ttft.count(); }},
      {"tpot_ns", ColumnKind::kInteger,
       [](const R& r) -> SweepCell { return optional_ns(r.tpot); }},
      {"tokens_per_second", ColumnKind::kReal,
       [](const R& r) -> SweepCell { return r.tokens_per_second; }},
      {"bytes_read", ColumnKind::kInteger,
       [](const R& r) -> SweepCell { return r.bytes_read.count(); }},
      {"stall_ns", ColumnKind::kInteger, [](const R& r) -> SweepCell { return r.stall.count(); }},
      {"cache_hits", ColumnKind::kInteger, [](const R& r) -> SweepCell { return r.cache_hits; }},
      {"cache_misses", ColumnKind::kInteger,
       [](const R& r) -> SweepCell { return r.cache_misses; }},
      {"hit_rate", ColumnKind::kReal,
       [](const R& r) -> SweepCell { return r.hit_rate ? SweepCell(*r.hit_rate) : SweepCell(); }},
      {"page_faults", ColumnKind::kInteger, [](const R& r) -> SweepCell { return r.page_faults; }},
      {"energy_total_uj", ColumnKind::kInteger,
       [](const R& r) -> SweepCell {
         return r.energy ? SweepCell(r.energy->total()) : SweepCell();
       }},
      {"read_per_token_bytes", ColumnKind::kInteger, read_per_token},
  };
  return columns;
}

std::vector<SweepColumn> all_columns() {
  std::vector<SweepColumn> columns;
  for (const SettingInfo& setting : settings_table()) {
    columns.push_back({std::string(setting.key), ColumnKind::kSetting});
  }
  columns.push_back({"status", ColumnKind::kText});
  columns.push_back({"diagnostic", ColumnKind::kText});
  for (const PlanColumn& column : plan_columns()) {
    columns.push_back({std::string(column.name), column.kind});
  }
  for (const SimColumn& column : simulation_columns()) {
    columns.push_back({std::string(column.name), column.kind});
  }
  columns.push_back({"not_planned", ColumnKind::kText});
  columns.push_back({"tool_version", ColumnKind::kText});
  return columns;
}

template <typename Report>
void set_report(std::vector<SweepCell>& cells, const std::vector<ReportColumn<Report>>& columns,
                const Report& report) {
  for (const ReportColumn<Report>& column : columns) {
    set_cell(cells, column.name, column.read(report));
  }
}

// Sorts before others of a lower rank: numbers 0, sizes 1, text 2.
struct ValueOrder {
  int rank = 2;
  double number = 0.0;
};

ValueOrder order_of(std::string_view text) {
  const bool numeric = !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
  if (!numeric) return {};
  double number = 0.0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && std::isfinite(number)) {
    if (rest == end) return {0, number};
    if (std::string_view(rest, end) == " %") return {0, number / 100};
  }
  const Parsed<Bytes> bytes = parse_bytes(text);
  if (const Bytes* size = std::get_if<Bytes>(&bytes)) {
    return {1, static_cast<double>(size->count())};
  }
  return {};
}

}  // namespace

const std::vector<SweepColumn>& sweep_columns() {
  static const std::vector<SweepColumn> columns = all_columns();
  return columns;
}

size_t sweep_column(std::string_view name) {
  const auto& columns = sweep_columns();
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const SweepColumn& column) { return column.name == name; });
  check(found != columns.end(), "a sweep has this column");
  return static_cast<size_t>(found - columns.begin());
}

bool SweepRow::failed() const { return cells.at(sweep_column("status")) == SweepCell("failed"); }

std::string SweepRow::diagnostic() const {
  const auto* text = std::get_if<std::string>(&cells.at(sweep_column("diagnostic")));
  return text == nullptr ? std::string() : *text;
}

SweepCell setting_cell(std::string_view text) {
  const Parsed<int64_t> number = parse_integer(text);
  // "-0" is a number whose text would not come back.
  const int64_t* integer = std::get_if<int64_t>(&number);
  if (integer != nullptr && std::to_string(*integer) == text) return *integer;
  return std::string(text);
}

std::vector<SweepCell> blank_cells() {
  std::vector<SweepCell> cells(sweep_columns().size());
  set_cell(cells, "status", "ok");
  set_cell(cells, "tool_version", kToolVersion);
  return cells;
}

void set_cell(std::vector<SweepCell>& cells, std::string_view column, SweepCell value) {
  cells.at(sweep_column(column)) = std::move(value);
}

void set_failed(std::vector<SweepCell>& cells, const Diagnostics& diagnostics) {
  set_cell(cells, "status", "failed");
  std::string text = to_string(diagnostics);
  while (text.ends_with('\n')) text.pop_back();
  set_cell(cells, "diagnostic", std::move(text));
}

void set_plan(std::vector<SweepCell>& cells, const PlanReport& report) {
  set_report(cells, plan_columns(), report);
}

void set_simulation(std::vector<SweepCell>& cells, const SimReport& report) {
  set_report(cells, simulation_columns(), report);
}

int compare_values(std::string_view a, std::string_view b) {
  if (a == b) return 0;
  const ValueOrder left = order_of(a);
  const ValueOrder right = order_of(b);
  return std::tuple(left.rank, left.number, a) < std::tuple(right.rank, right.number, b) ? -1 : 1;
}

}  // namespace tidemark

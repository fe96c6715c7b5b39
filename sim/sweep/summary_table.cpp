#include "sim/sweep/summary_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "planner/base/units.h"
#include "planner/report/escape.h"
#include "planner/report/sections.h"

namespace tidemark {
namespace {

constexpr int kLongestSetting = 28;
constexpr int kLongestProblem = 60;
constexpr const char* kUnknown = "-";

std::string setting_text(const SweepCell& cell) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) return std::to_string(*integer);
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return shortened(one_line(*text), kLongestSetting);
  }
  return kUnknown;
}

const int64_t* integer_in(const SweepRow& row, std::string_view column) {
  return std::get_if<int64_t>(&row.cells[sweep_column(column)]);
}

std::string text_in(const SweepRow& row, std::string_view column) {
  const auto* text = std::get_if<std::string>(&row.cells[sweep_column(column)]);
  return text == nullptr ? kUnknown : *text;
}

Cell bytes_cell(const SweepRow& row, std::string_view column) {
  const int64_t* bytes = integer_in(row, column);
  return {bytes == nullptr ? kUnknown : format_bytes(Bytes::of(*bytes))};
}

Cell slack_cell(const SweepRow& row) {
  const int64_t* bytes = integer_in(row, "slack_bytes");
  return {bytes == nullptr ? kUnknown : format_signed_bytes(Bytes::of(*bytes))};
}

Cell fits_cell(const SweepRow& row) {
  const int64_t* fits = integer_in(row, "fits");
  if (fits == nullptr) return {kUnknown};
  return *fits != 0 ? Cell{"yes", Tint::kGood} : Cell{"no", Tint::kBad};
}

Cell outcome_cell(const SweepRow& row) {
  if (row.failed()) return {"failed", Tint::kBad};
  const std::string outcome = one_line(text_in(row, "outcome"));
  return {outcome, outcome == name_of(SimOutcome::kCompleted) ? Tint::kGood : Tint::kBad};
}

Cell duration_cell(const SweepRow& row, std::string_view column) {
  const int64_t* ns = integer_in(row, column);
  return {ns == nullptr ? kUnknown : format_duration(Duration::ns(*ns))};
}

Cell rate_cell(const SweepRow& row) {
  // Below two tokens there is no rate.
  const auto* rate = std::get_if<double>(&row.cells[sweep_column("tokens_per_second")]);
  const bool known = rate != nullptr && integer_in(row, "tpot_ns") != nullptr;
  return {known ? format_rate(*rate) : kUnknown};
}

// "error: model: there is no model "x"": the first line says it, the rest stands in csv and jsonl.
Cell problem_cell(const SweepRow& row) {
  if (!row.failed()) return {""};
  const std::string text = text_in(row, "diagnostic");
  return {shortened(one_line(text.substr(0, text.find('\n'))), kLongestProblem)};
}

void add_columns(SummaryTable& table, const std::vector<bool>& varying) {
  for (size_t i = 0; i < varying.size(); ++i) {
    if (!varying[i]) continue;
    table.settings.push_back(i);
    table.columns.push_back({one_line(sweep_columns()[i].name), Align::kLeft});
  }
  for (const char* head : {"fits", "total", "slack"}) table.columns.push_back({head});
  table.columns.push_back({"outcome", Align::kLeft});
  for (const char* head : {"peak", "TTFT", "tok/s"}) table.columns.push_back({head});
  if (table.any_failed) table.columns.push_back({"problem", Align::kLeft});
}

// The value of each setting that does not vary, from the first row that has one.
void note_fixed(const SweepRow& row, const std::vector<bool>& varying,
                std::map<size_t, std::string>& fixed) {
  for (size_t i = 0; i < row.cells.size(); ++i) {
    const SweepColumn& column = sweep_columns()[i];
    const bool empty = std::holds_alternative<std::monostate>(row.cells[i]);
    if (column.kind != ColumnKind::kSetting || varying[i] || empty) continue;
    fixed.try_emplace(i, fmt::format("{} {}", column.name, setting_text(row.cells[i])));
  }
}

}  // namespace

Result<SummaryTable> summary_table(const Store& store) {
  const Result<std::vector<bool>> varying = store.varying_settings();
  if (!varying) return varying.diagnostics();
  SummaryTable table;
  std::map<size_t, std::string> fixed;
  std::set<std::string> not_planned;
  const Result<int64_t> first_pass = store.for_each([&](const SweepRow& row) {
    table.any_failed = table.any_failed || row.failed();
    note_fixed(row, *varying, fixed);
    const SweepCell& cell = row.cells[sweep_column("not_planned")];
    if (const auto* keys = std::get_if<std::string>(&cell)) not_planned.insert(one_line(*keys));
    return true;
  });
  if (!first_pass) return first_pass.diagnostics();
  add_columns(table, *varying);
  if (!not_planned.empty()) {
    table.note = fmt::format(
        "fits, total and slack are of a plan with all weights in one process; outcome and peak are "
        "of the run, with {}.",
        fmt::join(not_planned, ", or "));
  }
  for (auto& [position, text] : fixed) table.fixed.push_back(std::move(text));
  for (const Column& column : table.columns) table.widths.push_back(display_width(column.head));
  const Result<int64_t> second_pass = store.for_each([&](const SweepRow& row) {
    const std::vector<Cell> cells = summary_cells(table, row);
    for (size_t i = 0; i < cells.size(); ++i) {
      table.widths[i] = std::max(table.widths[i], display_width(cells[i].text));
    }
    return true;
  });
  if (!second_pass) return second_pass.diagnostics();
  return table;
}

std::vector<Cell> summary_cells(const SummaryTable& table, const SweepRow& row) {
  std::vector<Cell> cells;
  for (const size_t setting : table.settings) cells.push_back({setting_text(row.cells[setting])});
  cells.push_back(fits_cell(row));
  cells.push_back(bytes_cell(row, "total_bytes"));
  cells.push_back(slack_cell(row));
  cells.push_back(outcome_cell(row));
  cells.push_back(bytes_cell(row, "peak_bytes"));
  cells.push_back(duration_cell(row, "ttft_ns"));
  cells.push_back(rate_cell(row));
  if (table.any_failed) cells.push_back(problem_cell(row));
  return cells;
}

}  // namespace tidemark

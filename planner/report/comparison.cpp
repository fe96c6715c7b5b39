// Several reports side by side: what they share is said once, what differs becomes a column.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

#include "planner/base/units.h"
#include "planner/report/engine_text.h"
#include "planner/report/escape.h"
#include "planner/report/parts.h"
#include "planner/report/sections.h"
#include "planner/report/stage_text.h"
#include "planner/report/writers.h"

namespace tidemark {
namespace {

template <typename Report, typename Member>
bool all_equal(std::span<const Report> reports, Member member) {
  return std::all_of(reports.begin(), reports.end(), [&](const Report& report) {
    return member(report) == member(reports.front());
  });
}

// What names a row: always the strategy; model, device, engine and any other setting only where
// they differ.
struct RowLabels {
  bool model = false;
  bool device = false;
  bool engine = false;
  std::vector<std::string> setting_keys{};
};

template <typename Report>
RowLabels row_labels(std::span<const Report> reports) {
  RowLabels labels{.model = !all_equal(reports, [](const Report& r) { return r.model.name; }),
                   .device = !all_equal(reports, [](const Report& r) { return r.device.name; }),
                   .engine = !all_equal(reports, [](const Report& r) { return r.engine; })};
  const std::set<std::string, std::less<>> own_column{"model", "device", "engine", "strategy"};
  for (const Setting& setting : reports.front().settings) {
    if (own_column.contains(setting.key)) continue;
    const auto value = [&](const Report& r) { return setting_value(r.settings, setting.key); };
    if (!all_equal(reports, value)) labels.setting_keys.push_back(setting.key);
  }
  return labels;
}

void add_label_columns(Table& table, const RowLabels& labels) {
  if (labels.model) table.columns.push_back({"model", Align::kLeft});
  if (labels.device) table.columns.push_back({"device", Align::kLeft});
  if (labels.engine) table.columns.push_back({"engine", Align::kLeft});
  table.columns.push_back({"strategy", Align::kLeft});
  for (const std::string& key : labels.setting_keys)
    table.columns.push_back({one_line(key), Align::kLeft});
}

template <typename Report>
std::vector<Cell> label_cells(const Report& report, const RowLabels& labels) {
  constexpr int kLongestName = 28;
  std::vector<Cell> cells;
  const auto add = [&cells](const std::string& name) {
    cells.push_back({shortened(one_line(name), kLongestName)});
  };
  if (labels.model) add(report.model.name);
  if (labels.device) add(report.device.name);
  if (labels.engine) add(report.engine);
  add(report.strategy);
  for (const std::string& key : labels.setting_keys) add(setting_value(report.settings, key));
  return cells;
}

void add_columns(Table& table, std::initializer_list<const char*> heads) {
  for (const char* head : heads) table.columns.push_back({head, Align::kRight});
}

Table comparison_table(std::span<const PlanReport> reports) {
  Table table;
  const RowLabels labels = row_labels(reports);
  add_label_columns(table, labels);
  add_columns(table,
              {"fits", "total", "slack", "weights", "KV cache", "compute", "other", "arena gap"});
  for (const PlanReport& report : reports) {
    std::vector<Cell> row = label_cells(report, labels);
    const Breakdown& memory = report.memory;
    const Bytes other = memory.recurrent_state + memory.output + memory.runtime;
    row.push_back(
        {report.verdict.fits ? "yes" : "no", report.verdict.fits ? Tint::kGood : Tint::kBad});
    row.push_back({format_bytes(memory.total())});
    row.push_back({format_signed_bytes(report.verdict.slack)});
    for (const Bytes bytes : {memory.weights, memory.kv_cache, memory.compute, other}) {
      row.push_back({format_bytes(bytes)});
    }
    row.push_back({format_bytes(report.arena.peak - report.arena.lower_bound)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table comparison_table(std::span<const SimReport> reports) {
  Table table;
  const RowLabels labels = row_labels(reports);
  add_label_columns(table, labels);
  table.columns.push_back({"outcome", Align::kLeft});
  add_columns(table, {"peak"});
  table.columns.push_back({"peak at", Align::kLeft});
  add_columns(table, {"TTFT", "tok/s", "read", "stall"});
  const auto cached = [](const SimReport& r) { return r.cache_hits > 0 || r.cache_misses > 0; };
  const bool any_cached = std::any_of(reports.begin(), reports.end(), cached);
  if (any_cached) add_columns(table, {"hit/miss"});
  const auto metered = [](const SimReport& r) { return r.energy.has_value(); };
  const bool any_metered = std::any_of(reports.begin(), reports.end(), metered);
  if (any_metered) add_columns(table, {"energy"});
  for (const SimReport& report : reports) {
    std::vector<Cell> row = label_cells(report, labels);
    const bool completed = report.outcome == SimOutcome::kCompleted;
    row.push_back({std::string(name_of(report.outcome)), completed ? Tint::kGood : Tint::kBad});
    row.push_back({format_bytes(report.peak)});
    row.push_back({shortened(one_line(report.peak_at), 24)});
    row.push_back({report.ttft > Duration{} ? format_duration(report.ttft) : "-"});
    row.push_back({report.tpot ? format_rate(report.tokens_per_second) : "-"});
    row.push_back({format_bytes(report.bytes_read)});
    row.push_back({format_duration(report.stall)});
    if (any_cached) {
      row.push_back(
          {cached(report) ? fmt::format("{}/{}", report.cache_hits, report.cache_misses) : "-"});
    }
    if (any_metered) {
      row.push_back({report.energy ? format_energy(report.energy->total()) : "-"});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Settings all reports agree on; the others are columns.
template <typename Report>
std::vector<Setting> common_settings(std::span<const Report> reports) {
  std::vector<Setting> common;
  for (const Setting& setting : reports.front().settings) {
    const bool shared = std::all_of(reports.begin(), reports.end(), [&](const Report& report) {
      return std::find(report.settings.begin(), report.settings.end(), setting) !=
             report.settings.end();
    });
    if (shared) common.push_back(setting);
  }
  return common;
}

template <typename Report>
std::string head_of(std::string_view verb, std::span<const Report> reports) {
  const RowLabels labels = row_labels(reports);
  const Report& first = reports.front();
  std::string out(verb);
  if (!labels.model) out += " of " + one_line(first.model.name);
  if (!labels.device) out += " on " + one_line(first.device.name);
  out += "\n\n";
  if (!labels.model) out += model_line(first.model);
  if (!labels.device) out += device_line(first.device);
  if (!labels.engine) out += paragraph("Engine", one_line(first.engine));
  out += settings_section(common_settings(reports));
  if (!all_equal(reports, [](const Report& r) { return r.device.limit.limit; })) return out;
  return out + limit_line(first.device.limit);
}

// The first of the smallest by `key`, among those that `counts`.
template <typename Report, typename Counts, typename Key>
const Report* best_of(std::span<const Report> reports, Counts counts, Key key) {
  const Report* best = nullptr;
  for (const Report& report : reports) {
    if (counts(report) && (best == nullptr || key(report) < key(*best))) best = &report;
  }
  return best;
}

// "minicpm-2b, go-phone, resident": the cells that name the row.
std::string row_name(const SimReport& report, const RowLabels& labels) {
  std::string name;
  for (const Cell& cell : label_cells(report, labels)) {
    name += (name.empty() ? "" : ", ") + cell.text;
  }
  return name;
}

// What is to be said of every run. What only some strategies ignore, others heed.
std::string shared_notes(std::span<const SimReport> reports) {
  std::vector<std::string> shared;
  for (const std::string& note : reports.front().notes) {
    if (std::all_of(reports.begin(), reports.end(), [&](const SimReport& report) {
          return std::find(report.notes.begin(), report.notes.end(), note) != report.notes.end();
        })) {
      shared.push_back(note);
    }
  }
  return notes_section(shared);
}

std::string closing_lines(std::span<const SimReport> reports) {
  std::string out;
  const RowLabels labels = row_labels(reports);
  for (const SimReport& report : reports) {
    if (report.outcome == SimOutcome::kCompleted || report.reason.empty()) continue;
    out += paragraph(report.outcome == SimOutcome::kKilled ? "Killed" : "Over",
                     row_name(report, labels) + ": " + one_line(report.reason));
  }
  const auto completed = [](const SimReport& r) { return r.outcome == SimOutcome::kCompleted; };
  const SimReport* lowest = best_of(reports, completed, [](const SimReport& r) { return r.peak; });
  if (lowest == nullptr)
    return out + paragraph("Result", "NONE of these completes within the limit") +
           shared_notes(reports);
  std::string text =
      fmt::format("lowest peak {}: {}", format_bytes(lowest->peak), row_name(*lowest, labels));
  const auto decoded = [&](const SimReport& r) { return completed(r) && r.tpot.has_value(); };
  const SimReport* fastest = best_of(reports, decoded, [](const SimReport& r) { return *r.tpot; });
  if (fastest != nullptr) {
    text += fmt::format("; fastest decode {} tok/s: {}", format_rate(fastest->tokens_per_second),
                        row_name(*fastest, labels));
  }
  return out + paragraph("Result", text + "; among those that complete within the limit") +
         shared_notes(reports);
}

std::string closing_lines(std::span<const PlanReport> reports) {
  const auto fits = [](const PlanReport& r) { return r.verdict.fits; };
  const PlanReport* lowest =
      best_of(reports, fits, [](const PlanReport& r) { return r.memory.total(); });
  if (lowest == nullptr) return paragraph("Result", "NONE of these fits");
  const auto count = std::count_if(reports.begin(), reports.end(), fits);
  return paragraph("Result", fmt::format("{} of {} fit; lowest total {}", count, reports.size(),
                                         format_bytes(lowest->memory.total())));
}

template <typename Report>
std::string comparison(std::string_view verb, std::span<const Report> reports, TextStyle style) {
  if (reports.empty()) return "";
  std::string out =
      head_of(verb, reports) + "\n" + table_to_text(comparison_table(reports), style) + "\n";
  return out + closing_lines(reports) + estimates_line(reports.front().device);
}

template <typename Report>
std::string markdown(std::string_view verb, std::span<const Report> reports) {
  if (reports.empty()) return "";
  const RowLabels labels = row_labels(reports);
  std::string title(verb);
  if (!labels.model) title += " of " + markdown_text(reports.front().model.name);
  if (!labels.device) title += " on " + markdown_text(reports.front().device.name);
  return "**" + title + "**\n\n" + table_to_markdown(comparison_table(reports));
}

// Exact bytes of every part, one column a report.
template <typename Report, typename MemoryOf>
std::string markdown_breakdowns(std::span<const Report> reports, MemoryOf memory_of) {
  std::string out;
  for (const Report& report : reports) {
    Table table = breakdown_table(memory_of(report), {});
    table.columns.pop_back();
    table.columns.front().head += ", " + one_line(report.strategy);
    out += "\n" + table_to_markdown(table);
  }
  return out;
}

}  // namespace

std::string to_comparison(std::span<const PlanReport> reports, TextStyle style) {
  return comparison("Plans", reports, style) + engine_differences(reports);
}

std::string to_comparison(std::span<const SimReport> reports, TextStyle style) {
  return comparison("Simulations", reports, style);
}

std::string to_markdown(std::span<const PlanReport> reports) {
  return markdown("Plan", reports) +
         markdown_breakdowns(reports, [](const PlanReport& r) { return r.memory; });
}

std::string to_markdown(std::span<const SimReport> reports) {
  return markdown("Simulation", reports) + markdown_breakdowns(reports, [](const SimReport& r) {
           return breakdown_of(point_at_peak(r));
         });
}

}  // namespace tidemark

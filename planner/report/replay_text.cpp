// A replay for people, and its steps for spreadsheets.
#include <fmt/core.h>

#include <algorithm>

#include "planner/base/units.h"
#include "planner/report/escape.h"
#include "planner/report/layout.h"
#include "planner/report/replay_labels.h"
#include "planner/report/replay_report.h"
#include "planner/report/sections.h"

namespace tidemark {
namespace {

std::string signed_percent(double ratio) {
  // Not "-0.00 %".
  const double percent = std::abs(ratio) < 0.00005 ? 0.0 : ratio * 100.0;
  return fmt::format("{:+.2f} %", percent);
}

Cell match_or_differ(bool good) {
  return {good ? "match" : "differ", good ? Tint::kGood : Tint::kBad};
}

Cell result_of(const ReplayReport& report) {
  if (passed(report)) return {"pass", Tint::kGood};
  if (report.end == ReplayEnd::kCompleted) return {"FAIL", Tint::kBad};
  return {std::string(name_of(report.end)), Tint::kBad};
}

using Keys = std::vector<std::string>;

std::vector<Cell> row_of(const ReplayReport& report, const Keys& keys) {
  const ReplayStep* worst = worst_step(report);
  std::vector<Cell> row = label_cells(report, keys);
  const std::vector<Cell> figures{
      {format_bytes(report.predicted_peak)},
      {format_bytes(report.measured_peak)},
      {report.steps.empty() ? "-" : signed_percent(relative_error(report)),
       peak_is_close(report) ? Tint::kNone : Tint::kBad},
      {worst != nullptr ? format_signed_bytes(error_of(*worst)) : "-",
       steps_are_close(report) ? Tint::kNone : Tint::kBad},
      report.end == ReplayEnd::kCompleted ? match_or_differ(report.outputs_match) : Cell{"-"},
      {format_bytes(report.bytes_read)},
      {format_duration(report.wall)},
      result_of(report)};
  row.insert(row.end(), figures.begin(), figures.end());
  return row;
}

Table table_of(std::span<const ReplayReport> reports) {
  const Keys keys = label_keys(reports);
  Table table{.columns = label_columns(keys)};
  for (const char* head :
       {"predicted", "measured", "error", "worst step", "outputs", "read", "wall", "result"}) {
    table.columns.push_back({head});
  }
  for (const ReplayReport& report : reports) table.rows.push_back(row_of(report, keys));
  return table;
}

std::string token_list(const std::vector<int32_t>& tokens) {
  constexpr size_t kMostShown = 12;
  std::string text;
  for (size_t i = 0; i < std::min(tokens.size(), kMostShown); ++i) {
    text += fmt::format("{}{}", i > 0 ? " " : "", tokens[i]);
  }
  if (tokens.size() > kMostShown) text += fmt::format(" and {} more", tokens.size() - kMostShown);
  return text.empty() ? "none" : text;
}

// "while loading weights", "in prefill 0, while reading blk.3", "in prefill 0, at blk.3.q".
std::string describe_place(const std::string& place) {
  const size_t comma = place.find(", ");
  if (comma == std::string::npos) return "while " + place;
  const std::string_view what = std::string_view(place).substr(comma + 2);
  return fmt::format("in {}, {} {}", place.substr(0, comma),
                     what.starts_with("reading ") ? "while" : "at", what);
}

std::string describe_progress(const ReplayReport& report) {
  const int64_t done = std::ssize(report.steps);
  if (done == 0) return "before its first step";
  if (done == report.planned_steps) return "after its last step";
  return fmt::format("after {} of {} steps", format_count(done),
                     format_count(report.planned_steps));
}

// Where the system ended a run, and what was there.
std::string describe_end(const ReplayReport& report) {
  std::string text =
      fmt::format("{} {}, {}",
                  report.end == ReplayEnd::kKilled ? "killed by the system" : "refused more memory",
                  describe_progress(report), describe_place(one_line(report.end_place)));
  if (!report.steps.empty()) {
    text += fmt::format("; {} was resident after the last one measured",
                        format_bytes(report.steps.back().measured));
  }
  if (report.limit && report.limit->highest) {
    text += fmt::format("; the limit counted {} at most", format_bytes(*report.limit->highest));
  }
  return text + ".";
}

// What went wrong, in words; empty for a replay that passed.
std::vector<std::string> failures(const ReplayReport& report) {
  std::vector<std::string> lines;
  if (report.end != ReplayEnd::kCompleted) {
    lines.push_back(describe_end(report));
    return lines;
  }
  if (report.corruption) {
    lines.push_back(describe(*report.corruption) + ". The replay stopped there.");
    return lines;
  }
  if (!report.outputs_match)
    lines.emplace_back("the outputs differ from the run in which no memory is shared.");
  if (!peak_is_close(report)) {
    lines.push_back(fmt::format("the peak is {} off; {} is allowed.",
                                format_signed_bytes(report.measured_peak - report.predicted_peak),
                                format_bytes(peak_tolerance(report.predicted_peak))));
  }
  if (!steps_are_close(report)) {
    const ReplayStep& worst = *worst_step(report);
    lines.push_back(fmt::format("step {} ({}, {}) is {} off; {} is allowed.", worst.step,
                                worst.pass, worst.op, format_signed_bytes(error_of(worst)),
                                format_bytes(step_tolerance(worst.predicted))));
  }
  if (report.predicted_cache && report.measured_cache != report.predicted_cache) {
    const CacheCounts measured = report.measured_cache.value_or(CacheCounts{});
    lines.push_back(fmt::format(
        "the block cache had {} and {}; {} and {} were predicted.", counted(measured.hits, "hit"),
        counted(measured.misses, "miss", "misses"), format_count(report.predicted_cache->hits),
        format_count(report.predicted_cache->misses)));
  }
  return lines;
}

// What a block cache and a memory limit had to do.
std::string run_lines(std::span<const ReplayReport> reports, const Keys& keys) {
  std::string out;
  for (const ReplayReport& report : reports) {
    if (!report.measured_cache) continue;
    out += paragraph("Cache", fmt::format("{} ({}): {}, {}, {}.", row_name(report, keys),
                                          one_line(report.cache_policy),
                                          counted(report.measured_cache->hits, "hit"),
                                          counted(report.measured_cache->misses, "miss", "misses"),
                                          counted(report.measured_cache->evictions, "eviction")));
  }
  const auto limited = std::find_if(reports.begin(), reports.end(),
                                    [](const ReplayReport& report) { return !!report.limit; });
  if (limited == reports.end()) return out;
  const ReplayLimit& limit = *limited->limit;
  out += paragraph("Limit", fmt::format("{} a run, by a {}. It counts {}.",
                                        format_bytes(limit.limit), limit.mechanism, limit.counts));
  for (const ReplayReport& report : reports) {
    if (!report.limit || !report.limit->highest || report.end != ReplayEnd::kCompleted) continue;
    out += paragraph("Counted", fmt::format("{}: {} at most.", row_name(report, keys),
                                            format_bytes(*report.limit->highest)));
  }
  return out;
}

// Settings the reports share; the others are columns.
std::vector<Setting> common_settings(std::span<const ReplayReport> reports) {
  std::vector<Setting> common;
  for (const Setting& setting : reports.front().settings) {
    const bool shared =
        std::all_of(reports.begin(), reports.end(), [&](const ReplayReport& report) {
          return std::find(report.settings.begin(), report.settings.end(), setting) !=
                 report.settings.end();
        });
    if (shared) common.push_back(setting);
  }
  return common;
}

bool are_alike(std::span<const ReplayReport> reports) {
  const ReplayReport& first = reports.front();
  return std::ranges::all_of(reports, [&](const ReplayReport& report) {
    return report.planned_steps == first.planned_steps && report.arena == first.arena &&
           report.excluded_runtime == first.excluded_runtime;
  });
}

std::string explanation(std::span<const ReplayReport> reports) {
  const ReplayReport& first = reports.front();
  const bool alike = are_alike(reports);
  std::string out = paragraph(
      "Measured",
      fmt::format("after each {}: the resident pages of the arena{}, operator scratch, the KV "
                  "cache, the output buffer and the weights held at that moment.",
                  alike ? fmt::format("of {} steps", format_count(first.planned_steps)) : "step",
                  alike ? fmt::format(" ({})", format_bytes(first.arena)) : ""));
  out += paragraph(
      "Predicted",
      fmt::format("the same parts as the simulator has them; the engine's fixed {}for code and "
                  "tables is left out on both sides.",
                  alike ? format_bytes(first.excluded_runtime) + " " : "part "));
  out += paragraph("Outputs",
                   "every logit of every pass, compared bit for bit with a run in which every "
                   "tensor has memory of "
                   "its own.");
  const bool all_equal = std::ranges::any_of(reports, &ReplayReport::outputs_all_equal);
  return !all_equal ? out
                    : out + paragraph("Warning",
                                      "every logit is the same number, so that they match has "
                                      "checked nothing: are the weights all zeros?");
}

// What is said of each run by its name.
std::string lines_of_runs(std::span<const ReplayReport> reports, const Keys& keys) {
  std::string out;
  for (const ReplayReport& report : reports) {
    for (const std::string& line : failures(report)) {
      out += paragraph("Failed", row_name(report, keys) + ": " + one_line(line));
    }
  }
  const bool same_tokens = std::ranges::all_of(
      reports, [&](const ReplayReport& report) { return report.tokens == reports.front().tokens; });
  if (same_tokens) {
    out += paragraph("Tokens", token_list(reports.front().tokens));
  } else {
    for (const ReplayReport& report : reports) {
      out += paragraph("Tokens", row_name(report, keys) + ": " + token_list(report.tokens));
    }
  }
  return out + run_lines(reports, keys);
}

}  // namespace

std::string to_text(std::span<const ReplayReport> reports, TextStyle style) {
  if (reports.empty()) return "";
  const ReplayReport& first = reports.front();
  const Keys keys = label_keys(reports);
  const auto is_shared = [&](const char* key) {
    return std::ranges::find(keys, key) == keys.end();
  };
  std::string out = is_shared("model") ? "Replay of " + one_line(first.model.name) : "Replays";
  out += "\n\n";
  if (is_shared("model")) out += model_line(first.model);
  if (is_shared("engine")) out += paragraph("Engine", one_line(first.engine));
  out += settings_section(common_settings(reports));
  out += "\n" + table_to_text(table_of(reports), style) + "\n";
  out += time_section(reports, style);
  out += lines_of_runs(reports, keys);
  if (!first.weights.empty()) out += paragraph("Weights", one_line(first.weights) + ".");
  for (const std::string& what : first.not_computed) out += paragraph("Not run", one_line(what));
  out += explanation(reports);
  Bytes process;
  for (const ReplayReport& report : reports) {
    process = std::max(process, report.process_peak.value_or(Bytes{}));
  }
  if (process > Bytes{}) {
    out += paragraph("Process",
                     fmt::format("held {} at most, with its code, libraries and bookkeeping.",
                                 format_bytes(process)));
  }
  return out;
}

std::string to_markdown(std::span<const ReplayReport> reports) {
  return table_to_markdown(table_of(reports));
}

std::string to_csv(std::span<const ReplayReport> reports) {
  const Keys keys = label_keys(reports);
  const auto row_of = [](const Keys& fields) {
    std::string row;
    for (const std::string& field : fields) row += csv_field(field) + ",";
    return row;
  };
  std::string out = row_of(keys) + "step,pass,op,predicted_bytes,measured_bytes,wall_ns\n";
  for (const ReplayReport& report : reports) {
    const std::string labels = row_of(label_values(report, keys));
    for (const ReplayStep& step : report.steps) {
      out += fmt::format("{}{},{},{},{},{},{}\n", labels, step.step, csv_field(step.pass),
                         csv_field(step.op), step.predicted.count(), step.measured.count(),
                         step.wall.count());
    }
  }
  return out;
}

}  // namespace tidemark

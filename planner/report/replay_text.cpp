// A replay for people, and its steps for spreadsheets.
#include <fmt/core.h>

#include <algorithm>

#include "planner/base/units.h"
#include "planner/report/escape.h"
#include "planner/report/parts.h"
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

std::vector<Cell> row_of(const ReplayReport& report) {
  const ReplayStep* worst = worst_step(report);
  return {{one_line(report.strategy)},
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
}

Table table_of(std::span<const ReplayReport> reports) {
  Table table{.columns = {{"strategy", Align::kLeft},
                          {"predicted"},
                          {"measured"},
                          {"error"},
                          {"worst step"},
                          {"outputs"},
                          {"read"},
                          {"wall"},
                          {"result"}}};
  for (const ReplayReport& report : reports) table.rows.push_back(row_of(report));
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
        "the block cache had {} hits and {} misses; {} and {} were predicted.", measured.hits,
        measured.misses, report.predicted_cache->hits, report.predicted_cache->misses));
  }
  return lines;
}

// What a block cache and a memory limit had to do.
std::string run_lines(std::span<const ReplayReport> reports) {
  std::string out;
  for (const ReplayReport& report : reports) {
    if (!report.measured_cache) continue;
    out += paragraph("Cache", fmt::format("{} ({}): {} hits, {} misses, {} evictions.",
                                          one_line(report.strategy), one_line(report.cache_policy),
                                          format_count(report.measured_cache->hits),
                                          format_count(report.measured_cache->misses),
                                          format_count(report.measured_cache->evictions)));
  }
  const auto limited = std::find_if(reports.begin(), reports.end(),
                                    [](const ReplayReport& report) { return !!report.limit; });
  if (limited == reports.end()) return out;
  const ReplayLimit& limit = *limited->limit;
  out += paragraph("Limit", fmt::format("{} a run, by a {}. It counts {}.",
                                        format_bytes(limit.limit), limit.mechanism, limit.counts));
  for (const ReplayReport& report : reports) {
    if (!report.limit || !report.limit->highest || report.end != ReplayEnd::kCompleted) continue;
    out += paragraph("Counted", fmt::format("{}: {} at most.", one_line(report.strategy),
                                            format_bytes(*report.limit->highest)));
  }
  return out;
}

// Settings the reports of one model share; `strategy` is a column.
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

std::string explanation(const ReplayReport& first) {
  std::string out = paragraph(
      "Measured", fmt::format("after each of {} steps: the resident pages of the arena ({}), "
                              "operator scratch, the KV cache, "
                              "the output buffer and the weights held at that moment.",
                              format_count(first.planned_steps), format_bytes(first.arena)));
  out += paragraph(
      "Predicted",
      fmt::format(
          "the same parts as the simulator has them; the engine's fixed {} for code and tables "
          "is left out on both sides.",
          format_bytes(first.excluded_runtime)));
  out += paragraph("Outputs",
                   "every logit of every pass, compared bit for bit with a run in which every "
                   "tensor has memory of "
                   "its own.");
  return out;
}

}  // namespace

std::string to_text(std::span<const ReplayReport> reports, TextStyle style) {
  if (reports.empty()) return "";
  const ReplayReport& first = reports.front();
  std::string out = "Replay of " + one_line(first.model.name) + "\n\n";
  out += model_line(first.model);
  out += paragraph("Engine", one_line(first.engine));
  out += settings_section(common_settings(reports));
  out += "\n" + table_to_text(table_of(reports), style) + "\n";
  out += time_section(reports, style);
  for (const ReplayReport& report : reports) {
    for (const std::string& line : failures(report)) {
      out += paragraph("Failed", one_line(report.strategy) + ": " + one_line(line));
    }
  }
  const bool same_tokens = std::all_of(reports.begin(), reports.end(), [&](const ReplayReport& r) {
    return r.tokens == first.tokens;
  });
  if (same_tokens) {
    out += paragraph("Tokens", token_list(first.tokens));
  } else {
    for (const ReplayReport& report : reports) {
      out += paragraph("Tokens", one_line(report.strategy) + ": " + token_list(report.tokens));
    }
  }
  out += run_lines(reports);
  if (!first.weights.empty()) out += paragraph("Weights", one_line(first.weights) + ".");
  out += explanation(first);
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
  std::string out = "strategy,step,pass,op,predicted_bytes,measured_bytes,wall_ns\n";
  for (const ReplayReport& report : reports) {
    for (const ReplayStep& step : report.steps) {
      out += fmt::format("{},{},{},{},{},{},{}\n", csv_field(report.strategy), step.step,
                         csv_field(step.pass), csv_field(step.op), step.predicted.count(),
                         step.measured.count(), step.wall.count());
    }
  }
  return out;
}

}  // namespace tidemark

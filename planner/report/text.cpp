// One report as text. The order answers a stranger's questions: what was asked, how much, does it
// fit, and where the number comes from.
#include <fmt/core.h>

#include <algorithm>

#include "planner/base/units.h"
#include "planner/report/arena_text.h"
#include "planner/report/engine_text.h"
#include "planner/report/escape.h"
#include "planner/report/parts.h"
#include "planner/report/residency_text.h"
#include "planner/report/sections.h"
#include "planner/report/stage_text.h"
#include "planner/report/writers.h"

namespace tidemark {
namespace {

std::string engine_line(const std::string& engine, const std::string& strategy,
                        const std::string& policy) {
  std::string text = fmt::format("{}, strategy {}", one_line(engine), one_line(strategy));
  if (!policy.empty()) text += " with policy " + one_line(policy);
  return paragraph("Engine", text);
}

std::string joined(const std::string& first, const std::string& second) {
  if (first.empty() || second.empty()) return first + second;
  return first + "; " + second;
}

std::string weights_note(const WeightParts& parts) {
  if (parts.embedding == Bytes{}) return "";
  std::string note = fmt::format("embedding {}{}", format_bytes(parts.embedding),
                                 parts.in_flash > Bytes{} ? " in flash" : "");
  if (parts.head > Bytes{}) note += fmt::format(", head {}", format_bytes(parts.head));
  return note;
}

std::string kv_note(const PlanReport& report) {
  if (report.kv_per_token == Bytes{} || report.memory.kv_cache == Bytes{}) return "";
  const StateParts& parts = report.state_parts;
  const Bytes cells = parts.full + parts.window + parts.cross;
  if (cells > Bytes{} && cells < report.memory.kv_cache) {
    return fmt::format("cells {} + workspace of up to {}", format_bytes(cells),
                       format_bytes(report.memory.kv_cache - cells));
  }
  if (parts.cross > Bytes{}) {
    return fmt::format("self {} + cross {}", format_bytes(parts.full + parts.window),
                       format_bytes(parts.cross));
  }
  if (parts.window > Bytes{}) {
    return fmt::format("full {} + window {}, {} cells", format_bytes(parts.full),
                       format_bytes(parts.window), format_count(parts.window_cells));
  }
  const std::string each = format_bytes(report.kv_per_token) + " per token";
  if (report.kv_per_token * (report.memory.kv_cache / report.kv_per_token) !=
      report.memory.kv_cache)
    return each;
  return fmt::format("{} tokens x {}", format_count(report.memory.kv_cache / report.kv_per_token),
                     format_bytes(report.kv_per_token));
}

// One note a part, in the order of memory_parts().
std::vector<std::string> plan_part_notes(const PlanReport& report) {
  const std::string weights = report.strategy == "resident" || report.strategy.empty()
                                  ? weights_note(report.weight_parts)
                                  : "most at once under " + one_line(report.strategy);
  const std::string compute =
      report.memory.compute == Bytes{}
          ? ""
          : fmt::format("activations {} + scratch {}", format_bytes(report.activations),
                        format_bytes(report.scratch));
  std::vector<std::string> notes{weights, kv_note(report), "", compute, "", ""};
  const auto parts = memory_parts();
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].key == report.verdict.binding_term) notes[i] = joined("largest", notes[i]);
  }
  return notes;
}

std::string verdict_line(const PlanReport& report, TextStyle style) {
  const Bytes total = report.memory.total();
  const std::vector<int64_t> shares = shares_per_mille(report.memory);
  const auto parts = memory_parts();
  std::string largest;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].key != report.verdict.binding_term) continue;
    largest =
        fmt::format(" Largest term: {}, {} of the total.", parts[i].label, percent(shares[i]));
  }
  const std::string fits =
      report.verdict.fits ? fmt::format("{} needed, within the limit of {}", format_bytes(total),
                                        format_bytes(report.device.limit.limit))
                          : fmt::format("{} needed, over the limit of {}", format_bytes(total),
                                        format_bytes(report.device.limit.limit));
  // The word is tinted after wrapping: escape codes have no width.
  const std::string word = report.verdict.fits ? "FITS" : "DOES NOT FIT";
  std::string text =
      paragraph("Verdict", fmt::format("{}: {}, slack {}.{}", word, fits,
                                       format_signed_bytes(report.verdict.slack), largest));
  return text.replace(kLabelWidth, word.size(),
                      tinted(word, report.verdict.fits ? Tint::kGood : Tint::kBad, style));
}

std::string cost_text(const Relief& relief) {
  if (relief.kind == ReliefKind::kSpill) {
    return fmt::format("{} moved a pass", format_bytes(relief.moved));
  }
  std::string cost = fmt::format("{} operations more a pass", format_count(relief.operations));
  if (relief.weights_read > Bytes{}) {
    cost += fmt::format(", {} of weights read again", format_bytes(relief.weights_read));
  }
  return cost;
}

std::string relief_line(const Relief& relief) {
  const size_t tensors = relief.absences.size();
  return fmt::format(
      "{} {} ({}{}) between {} and {}: load {}, saves {}; {}",
      relief.kind == ReliefKind::kSpill ? "move out" : "recompute", one_line(relief.tensor),
      tensors > 1 ? fmt::format("{} x ", format_count(static_cast<int64_t>(tensors))) : "",
      format_bytes(relief.bytes), one_line(relief.last_op), one_line(relief.next_op),
      format_bytes(relief.new_peak), format_bytes(relief.saves), cost_text(relief));
}

std::string relief_section(const std::optional<ReliefFacts>& facts) {
  if (!facts) return "";
  std::string out = paragraph(
      "Relief", fmt::format("the load of {} is reached at {}, which itself reads and writes {}",
                            format_bytes(facts->peak), one_line(facts->peak_op),
                            format_bytes(facts->in_use)));
  if (facts->reliefs.empty()) {
    return out + paragraph("", "no tensor moved out or made again would lower it");
  }
  for (const Relief& relief : facts->reliefs) out += paragraph("", relief_line(relief));
  return out;
}

std::string textbook_value(const TextbookRow& row) {
  if (row.textbook) return format_bytes(*row.textbook);
  if (row.textbook_count) return format_count(*row.textbook_count);
  return "none";
}

std::string indented(std::string_view text, int indent) {
  std::string out;
  for (const std::string& line : wrap_words(text, kPageWidth - indent)) {
    out += std::string(static_cast<size_t>(indent), ' ') + line + "\n";
  }
  return out;
}

// The table cannot hold a sentence, so the formula and the reason stand below each row.
std::string textbook_section(const std::vector<TextbookRow>& rows) {
  if (rows.empty()) return "";
  Table table{
      .columns = {
          {"Textbook against plan", Align::kLeft}, {"textbook"}, {"planned"}, {"difference"}}};
  for (const TextbookRow& row : rows) {
    const bool both = row.textbook && row.planned;
    table.rows.push_back({{one_line(row.term)},
                          {textbook_value(row)},
                          {row.planned ? format_bytes(*row.planned) : "-"},
                          {both ? format_signed_bytes(*row.planned - *row.textbook) : "-"}});
  }
  const std::string text = table_to_text(table, {});
  size_t line_start = text.find('\n') + 1;
  std::string out = "\n" + text.substr(0, line_start);
  for (const TextbookRow& row : rows) {
    const size_t line_end = text.find('\n', line_start) + 1;
    out += text.substr(line_start, line_end - line_start);
    out += indented(one_line(row.formula), 6) + indented(one_line(row.why), 6);
    line_start = line_end;
  }
  return out;
}

std::string outcome_line(const SimReport& report, TextStyle style) {
  const Bytes limit = report.device.limit.limit;
  const std::string slack = format_signed_bytes(limit - report.peak);
  std::string word = "COMPLETED";
  std::string rest = fmt::format("peak {} within the limit of {}, slack {}",
                                 format_bytes(report.peak), format_bytes(limit), slack);
  if (report.outcome != SimOutcome::kCompleted) {
    word = report.outcome == SimOutcome::kKilled ? "KILLED" : "OVER THE LIMIT";
    rest = report.reason.empty()
               ? fmt::format("peak {} over the limit of {}, slack {}", format_bytes(report.peak),
                             format_bytes(limit), slack)
               : one_line(report.reason);
  }
  std::string text = paragraph("Outcome", word + ": " + rest);
  const Tint tint = report.outcome == SimOutcome::kCompleted ? Tint::kGood : Tint::kBad;
  return text.replace(kLabelWidth, word.size(), tinted(word, tint, style));
}

// States of memory and actions, as they came.
std::string event_lines(const SimReport& report) {
  constexpr size_t kMostEvents = 20;
  std::string out;
  size_t shown = 0;
  size_t left = 0;
  for (const SimEvent& event : report.events) {
    if (event.what == kProgress) continue;
    if (shown == kMostEvents) {
      ++left;
      continue;
    }
    if (shown++ == 0) out = "\nEvents\n";
    out += fmt::format("  {:>10}  {}: {}\n", format_duration(event.time), event.what,
                       one_line(event.detail));
  }
  if (left > 0) out += fmt::format("  and {} more; --json lists them all\n", left);
  return out;
}

std::string time_lines(const SimReport& report) {
  std::string out =
      paragraph("Peak", fmt::format("{} at {}, {} (step {})", format_bytes_exact(report.peak),
                                    format_duration(report.peak_time), one_line(report.peak_at),
                                    format_count(report.peak_step)));
  const std::string per_token =
      report.tpot ? fmt::format("then {} per token ({} tok/s)", format_duration(*report.tpot),
                                format_rate(report.tokens_per_second))
                  : "no time per token below two tokens";
  const std::string tokens =
      report.ttft > Duration{}
          ? fmt::format("first token after {}, {}", format_duration(report.ttft), per_token)
          : "no token";
  out += paragraph("Time", fmt::format("{}, end at {}", tokens, format_duration(report.end)));
  const double whole = static_cast<double>(report.end.count());
  const double waited = whole > 0 ? 100.0 * static_cast<double>(report.stall.count()) / whole : 0.0;
  out += paragraph(
      "Read", fmt::format("{} of weights; compute waited for them {} ({:.1f} % of the run)",
                          format_bytes(report.bytes_read), format_duration(report.stall), waited));
  return out + stage_line(report) + energy_line(report);
}

std::string cache_line(const SimReport& report) {
  if (report.cache_hits > 0 || report.cache_misses > 0) {
    return paragraph(
        "Cache", fmt::format("{} hits, {} misses, hit rate {}, {} evictions{}",
                             format_count(report.cache_hits), format_count(report.cache_misses),
                             format_hit_rate(report.hit_rate), format_count(report.cache_evictions),
                             prefetch_words(report)));
  }
  if (report.page_faults == 0 && report.minor_faults == 0) return "";
  return paragraph(
      "Pages", fmt::format("{} faults that waited for a read, {} that did not",
                           format_count(report.page_faults), format_count(report.minor_faults)));
}

}  // namespace

std::string to_text(const PlanReport& report, TextStyle style) {
  std::string out = "Plan of " + subject(report.model, report.device) + "\n\n";
  out += model_line(report.model);
  out += device_line(report.device);
  out += engine_line(report.engine, report.strategy, "");
  out += settings_section(report.settings);
  out += "\n" + table_to_text(breakdown_table(report.memory, plan_part_notes(report)), {});
  out += "\n" + limit_line(report.device.limit);
  out += verdict_line(report, style);
  out += interval_section(report);
  out += llama_section(report);
  out += arena_section(report);
  out += relief_section(report.relief);
  out += estimates_line(report.device);
  out += notes_section(report.notes);
  return out + textbook_section(report.textbook);
}

std::string to_text(const SimReport& report, TextStyle style) {
  std::string out = "Simulation of " + subject(report.model, report.device) + "\n\n";
  out += model_line(report.model);
  out += device_line(report.device);
  out += engine_line(report.engine, report.strategy, report.cache_policy);
  out += settings_section(report.settings);
  if (!report.curve.empty()) {
    Table table = breakdown_table(breakdown_of(point_at_peak(report)), {});
    table.columns.front().head = "At the peak";
    out += "\n" + table_to_text(table, {});
  }
  out += "\n" + limit_line(report.device.limit);
  out += outcome_line(report, style);
  out += time_lines(report);
  out += cache_line(report);
  out += residency_section(report);
  if (report.serving) out += serving_section(*report.serving);
  out += event_lines(report);
  out += estimates_line(report.device);
  return out + notes_section(report.notes);
}

}  // namespace tidemark

#include "planner/report/compare_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "planner/base/units.h"
#include "planner/report/escape.h"
#include "planner/report/layout.h"
#include "planner/report/tables.h"

namespace tidemark {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;

// As engines print them: MiB with two places.
std::string shown(TermKind kind, int64_t value) {
  if (counts_something(kind)) return format_count(value);
  return fmt::format("{:.2f} MiB", static_cast<double>(value) / kMiB);
}

std::string shown_difference(const ComparedTerm& term) {
  if (!term.predicted) return "-";
  const int64_t off = term.difference();
  if (off == 0) return "0";
  if (counts_something(term.kind)) return fmt::format("{:+}", off);
  return fmt::format("{:+.2f} MiB", static_cast<double>(off) / kMiB);
}

std::string shown_percent(const ComparedTerm& term) {
  if (!term.predicted || term.logged.value == 0) return "";
  return fmt::format("{:+.2f} %", 100.0 * static_cast<double>(term.difference()) /
                                      static_cast<double>(term.logged.value));
}

std::string_view judgement(const ComparedTerm& term) {
  if (!term.predicted) return "not predicted";
  if (!term.judged) return "not judged";
  return term.over ? "off" : "ok";
}

std::string percent(int64_t per_mille) {
  return per_mille % 10 == 0 ? fmt::format("{} %", per_mille / 10)
                             : fmt::format("{}.{} %", per_mille / 10, per_mille % 10);
}

std::string settings_text(const Comparison& run) {
  std::string text;
  for (const ComparedSetting& setting : run.settings) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", setting.key, one_line(setting.value));
    if (setting.origin != "log") text += fmt::format(" ({})", setting.origin);
  }
  return text;
}

Table terms_table(const Comparison& run) {
  Table table{.columns = {{"Term", Align::kLeft},
                          {"device", Align::kLeft},
                          {"logged"},
                          {"predicted"},
                          {"difference"},
                          {""},
                          {"", Align::kLeft}}};
  for (const ComparedTerm& term : run.terms) {
    const Tint tint = term.over                       ? Tint::kBad
                      : term.predicted && term.judged ? Tint::kGood
                                                      : Tint::kNone;
    table.rows.push_back({{std::string(name_of(term.kind))},
                          {shortened(one_line(term.device), 24)},
                          {shown(term.kind, term.logged.value)},
                          {term.predicted ? shown(term.kind, *term.predicted) : "-"},
                          {shown_difference(term)},
                          {shown_percent(term)},
                          {std::string(judgement(term)), tint}});
  }
  return table;
}

// Reasons, each once, with the terms it is of.
std::string reasons_text(const Comparison& run) {
  std::string text;
  std::vector<std::string> done;
  for (const ComparedTerm& term : run.terms) {
    if (term.reason.empty() || std::ranges::find(done, term.reason) != done.end()) continue;
    done.push_back(term.reason);
    std::string of;
    for (const ComparedTerm& other : run.terms) {
      if (other.reason != term.reason) continue;
      if (!of.empty()) of += "; ";
      of += name_of(other.kind);
      if (!other.device.empty()) of += " " + one_line(other.device);
    }
    text += paragraph("Reason", fmt::format("{}: {}", of, one_line(term.reason)));
  }
  return text;
}

std::string answer(const Comparison& run, int64_t tolerance) {
  const int64_t compared = run.compared();
  const int64_t over = std::ranges::count_if(run.terms, &ComparedTerm::over);
  if (compared == 0) return "nothing that could be judged";
  if (over == 0) {
    return fmt::format("all {} terms that could be judged are within {}", compared,
                       percent(tolerance));
  }
  return fmt::format("{} of {} terms are off by more than {}", over, compared, percent(tolerance));
}

std::string run_text(const Comparison& run, int64_t tolerance, TextStyle style) {
  std::string out;
  const std::string age = run.age.empty() ? "" : ", " + run.age;
  out += paragraph("Engine", fmt::format("{}{}", name_of(run.engine), age));
  out += paragraph("Model", fmt::format("{}: {}", one_line(run.model), run.model_origin));
  if (!run.weights_origin.empty()) out += paragraph("Weights", run.weights_origin);
  if (!run.settings.empty()) out += paragraph("Settings", settings_text(run));
  std::string missing;
  for (const std::string& key : run.missing) missing += (missing.empty() ? "" : ", ") + key;
  if (!missing.empty()) out += paragraph("Missing", missing + ": not in the log, not guessed");
  out += "\n" + table_to_text(terms_table(run), style) + "\n";
  out += reasons_text(run);
  for (const std::string& note : run.notes) out += paragraph("Note", one_line(note));
  const std::string said = answer(run, tolerance);
  const Tint tint = run.any_over() ? Tint::kBad : run.compared() > 0 ? Tint::kGood : Tint::kNone;
  std::string last = paragraph("Answer", said);
  if (last.find(said) != std::string::npos) {
    last.replace(last.find(said), said.size(), tinted(said, tint, style));
  }
  return out + last;
}

Listing listing_of(const CompareReport& report) {
  Listing listing{.columns = {"run", "engine", "model", "term", "device", "line", "logged",
                              "rounding", "predicted", "difference", "unit", "judgement",
                              "reason"}};
  int64_t number = 0;
  for (const Comparison& run : report.runs) {
    ++number;
    for (const ComparedTerm& term : run.terms) {
      listing.rows.push_back({std::to_string(number), std::string(name_of(run.engine)), run.model,
                              std::string(key_of(term.kind)), term.device,
                              std::to_string(term.line), std::to_string(term.logged.value),
                              std::to_string(term.logged.rounding),
                              term.predicted ? std::to_string(*term.predicted) : "",
                              term.predicted ? std::to_string(term.difference()) : "",
                              counts_something(term.kind) ? "count" : "bytes",
                              std::string(judgement(term)), term.reason});
    }
  }
  return listing;
}

}  // namespace

bool any_over(const CompareReport& report) {
  return std::ranges::any_of(report.runs, &Comparison::any_over);
}

std::string to_text(const CompareReport& report, TextStyle style) {
  std::string out = fmt::format("{} against the prediction, tolerance {} of what is logged\n",
                                one_line(report.file), percent(report.tolerance_per_mille));
  for (const Comparison& run : report.runs) {
    out += "\n" + run_text(run, report.tolerance_per_mille, style);
  }
  for (const std::string& note : report.notes) out += paragraph("Note", one_line(note));
  return out;
}

std::string to_csv(const CompareReport& report) { return to_csv(listing_of(report)); }
std::string to_markdown(const CompareReport& report) { return to_markdown(listing_of(report)); }

}  // namespace tidemark

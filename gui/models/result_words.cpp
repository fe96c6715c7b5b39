#include "gui/models/result_words.h"

#include <algorithm>

#include "gui/models/scenario_settings.h"
#include "planner/base/units.h"
#include "planner/report/escape.h"
#include "planner/report/parts.h"
#include "planner/report/sections.h"

namespace tidemark {
namespace {

constexpr size_t kLongestHint = 60;

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

std::string verdict_words(const PlanReport& plan) {
  const bool fits = plan.verdict.fits;
  return std::string(fits ? "FITS: " : "DOES NOT FIT: ") + format_bytes(plan.memory.total()) +
         " needed, " + (fits ? "within" : "over") + " the limit of " +
         format_bytes(plan.device.limit.limit) + ", slack " +
         format_signed_bytes(plan.verdict.slack);
}

std::string largest_words(const PlanReport& plan) {
  const std::vector<int64_t> shares = shares_per_mille(plan.memory);
  for (size_t i = 0; i < shares.size(); ++i) {
    const MemoryPart& part = memory_parts()[i];
    if (part.key != plan.verdict.binding_term) continue;
    return "Largest term: " + std::string(part.label) + ", " + percent(shares[i]) +
           " of the total.";
  }
  return "";
}

std::string outcome_words(const SimReport& report) {
  const bool completed = report.outcome == SimOutcome::kCompleted;
  if (!completed && !report.reason.empty()) {
    const bool killed = report.outcome == SimOutcome::kKilled;
    return std::string(killed ? "Simulated: killed, " : "Simulated: over the limit, ") +
           one_line(report.reason);
  }
  return "Simulated: peak " + format_bytes(report.peak) + " at " +
         format_duration(report.peak_time) + ", " + one_line(report.peak_at);
}

// A trace of accesses gives no token.
std::string time_words(const SimReport& report) {
  if (report.ttft == Duration{}) return "End at " + format_duration(report.end) + ".";
  std::string words = "First token after " + format_duration(report.ttft);
  if (report.tpot) {
    words += ", then " + format_duration(*report.tpot) + " per token (" +
             format_rate(report.tokens_per_second) + " tok/s)";
  }
  return words + ", end at " + format_duration(report.end) + ".";
}

std::string words_of(std::string status) {
  std::replace(status.begin(), status.end(), '_', ' ');
  return status;
}

}  // namespace

Banner banner_of(const RunResult& result) {
  if (!result.plan) {
    const bool one = result.problems.size() == 1;
    return {.mood = Mood::kProblem,
            .headline = one ? QStringLiteral("This setting cannot be used")
                            : QStringLiteral("These settings cannot be used"),
            .details = problem_words(result.problems)};
  }
  Banner banner{.headline = text(verdict_words(*result.plan))};
  if (!result.simulation) {
    banner.details = problem_words(result.problems);
    return banner;
  }
  const SimReport& simulation = *result.simulation;
  const bool good = result.plan->verdict.fits && simulation.outcome == SimOutcome::kCompleted;
  banner.mood = good ? Mood::kGood : Mood::kBad;
  banner.details = text(largest_words(*result.plan) + " " + outcome_words(simulation) + ".\n" +
                        time_words(simulation));
  return banner;
}

QString subject_of(const RunResult& result) {
  return result.plan ? text(subject(result.plan->model, result.plan->device)) : QString();
}

QString arena_words(const PlanReport& plan) {
  const ArenaFacts& arena = plan.arena;
  if (arena.buffers == 0) return QStringLiteral("Arena: no activations to place");
  return text("Arena: " + one_line(arena.phase) + " placed by " + one_line(arena.planner) + ": " +
              format_bytes(arena.peak) + " in " + format_count(arena.buffers) + " buffers over " +
              format_count(arena.steps) + " steps; lower bound " + format_bytes(arena.lower_bound) +
              ", gap " + format_bytes(arena.peak - arena.lower_bound) + ": " +
              words_of(one_line(arena.status)) + "; " + format_bytes(arena.no_reuse) +
              " without reuse");
}

QString note_words(const PlanReport& plan) {
  std::string words;
  for (const std::string& estimate : plan.device.estimates) {
    words += (words.empty() ? "Estimates of the device: " : ", ") + one_line(estimate);
  }
  for (const std::string& note : plan.notes) {
    words += (words.empty() ? "" : "\n") + one_line(note);
  }
  return text(words);
}

QString problem_words(const Diagnostics& problems) { return text(to_string(problems)).trimmed(); }

QString problem_of_setting(const Diagnostics& problems, std::string_view key) {
  const std::string origin = flag_origin(key);
  const std::string flag = origin.substr(origin.find(' ') + 1);
  for (const Diagnostic& problem : problems) {
    if (problem.path == key || problem.path == flag) {
      const bool is_short = !problem.hint.empty() && problem.hint.size() <= kLongestHint;
      const std::string hint = is_short ? "; " + problem.hint : "";
      return text(problem.message + hint);
    }
  }
  return {};
}

}  // namespace tidemark

#include "planner/report/pack_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "planner/base/units.h"
#include "planner/report/escape.h"
#include "planner/report/layout.h"

namespace tidemark {
namespace {

struct Change {
  int64_t instant = 0;
  int64_t size = 0;
};

// Every begin and end of what is live, in order of time; at one instant ends come first.
std::vector<Change> changes_of(const Problem& problem, size_t left_out) {
  std::vector<Change> changes;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (i == left_out || !is_ever_live(problem.buffers[i])) continue;
    const int64_t size = problem.buffers[i].size.count();
    for (const Interval<int64_t>& part : occupied_intervals(problem.buffers[i])) {
      changes.push_back({part.lower, size});
      changes.push_back({part.upper, -size});
    }
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::pair(a.instant, a.size) < std::pair(b.instant, b.size);
  });
  return changes;
}

// The highest load and the first instant that has it.
std::pair<int64_t, int64_t> highest(const std::vector<Change>& changes) {
  int64_t load = 0;
  int64_t most = 0;
  int64_t instant = 0;
  for (const Change& change : changes) {
    load += change.size;
    if (load > most) std::tie(most, instant) = std::pair(load, change.instant);
  }
  return {most, instant};
}

bool is_live_at(const Buffer& buffer, int64_t instant) {
  const std::vector<Interval<int64_t>> parts = occupied_intervals(buffer);
  return buffer.size > Bytes{} && std::any_of(parts.begin(), parts.end(), [&](const auto& part) {
           return part.lower <= instant && instant < part.upper;
         });
}

int64_t length_of(const Buffer& buffer) { return buffer.lifetime.upper - buffer.lifetime.lower; }

std::optional<PeakHole> hole_at(const Problem& problem, const Plan& plan,
                                std::vector<size_t> live) {
  if (plan.offsets.empty()) return std::nullopt;
  std::sort(live.begin(), live.end(),
            [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; });
  PeakHole largest;
  Bytes top;
  for (const size_t id : live) {
    if (plan.offsets[id] - top > largest.size) {
      largest = {.offset = top,
                 .size = plan.offsets[id] - top,
                 .above = problem.buffers[id].name,
                 .above_lifetime = length_of(problem.buffers[id])};
    }
    top = std::max(top, plan.offsets[id] + problem.buffers[id].size);
  }
  if (plan.peak - top > largest.size) largest = {.offset = top, .size = plan.peak - top};
  if (largest.size == Bytes{}) return std::nullopt;
  return largest;
}

void explain(const Problem& problem, PackReport& report) {
  const auto [load, instant] = highest(changes_of(problem, problem.buffers.size()));
  report.peak_instant = instant;
  std::vector<size_t> live;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (is_live_at(problem.buffers[i], instant)) live.push_back(i);
  }
  report.peak_buffers = static_cast<int64_t>(live.size());
  report.hole = hole_at(problem, report.plan, live);
  std::stable_sort(live.begin(), live.end(), [&](size_t a, size_t b) {
    return problem.buffers[a].size > problem.buffers[b].size;
  });
  live.resize(std::min(live.size(), kPeakRows));
  for (const size_t id : live) {
    const Buffer& buffer = problem.buffers[id];
    report.largest.push_back(
        {.name = buffer.name,
         .offset = report.plan.offsets.empty() ? Bytes{} : report.plan.offsets[id],
         .size = buffer.size,
         .lifetime = length_of(buffer),
         .saves = Bytes::of(load - highest(changes_of(problem, id)).first)});
  }
}

std::string status_words(PlanStatus status) {
  std::string words(name_of(status));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string peak_line(const PackReport& report) {
  const Plan& plan = report.plan;
  if (!has_plan(report)) {
    return fmt::format("no plan; at least {} needed", format_bytes_exact(plan.lower_bound));
  }
  const Bytes gap = plan.peak - plan.lower_bound;
  return fmt::format("{}, {} above the lower bound of {}", format_bytes_exact(plan.peak),
                     format_bytes(gap), format_bytes_exact(plan.lower_bound));
}

std::string peak_table(const PackReport& report) {
  Table table{.columns = {{"Live at the peak", Align::kLeft},
                          {"offset"},
                          {"size"},
                          {"instants"},
                          {"moved away, saves"}}};
  for (const PeakBuffer& buffer : report.largest) {
    table.rows.push_back({{shortened(one_line(buffer.name), 40)},
                          {report.plan.offsets.empty() ? "-" : format_bytes(buffer.offset)},
                          {format_bytes(buffer.size)},
                          {format_count(buffer.lifetime)},
                          {format_bytes(buffer.saves)}});
  }
  return table_to_text(table, {});
}

std::string hole_text(const PeakHole& hole) {
  const std::string where =
      fmt::format("{} free from {}", format_bytes(hole.size), format_bytes(hole.offset));
  if (hole.above.empty()) return where + ", up to the peak";
  return fmt::format("{}, below {}, which lives for {} instants", where, one_line(hole.above),
                     format_count(hole.above_lifetime));
}

}  // namespace

PackReport make_pack_report(std::string instance, const Problem& problem, Plan plan) {
  PackReport report{.instance = std::move(instance),
                    .buffers = static_cast<int64_t>(problem.buffers.size()),
                    .plan = std::move(plan),
                    .load = peak_load(problem),
                    .no_reuse = no_reuse_bytes(problem)};
  explain(problem, report);
  return report;
}

ArenaFacts map_of(const Problem& problem, const Plan& plan) {
  ArenaFacts facts{.planner = plan.planner,
                   .phase = "packed",
                   .peak = plan.peak,
                   .lower_bound = plan.lower_bound};
  if (plan.offsets.empty()) return facts;
  std::vector<int64_t> instants;
  for (const Buffer& buffer : problem.buffers) {
    if (!is_ever_live(buffer)) continue;
    instants.insert(instants.end(), {buffer.lifetime.lower, buffer.lifetime.upper});
  }
  std::sort(instants.begin(), instants.end());
  instants.erase(std::unique(instants.begin(), instants.end()), instants.end());
  const auto rank = [&](int64_t instant) {
    return StepIndex::of(std::lower_bound(instants.begin(), instants.end(), instant) -
                         instants.begin());
  };
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (!is_ever_live(buffer)) continue;
    facts.rows.push_back({.name = buffer.name,
                          .offset = plan.offsets[i],
                          .size = buffer.size,
                          .lifetime = {rank(buffer.lifetime.lower), rank(buffer.lifetime.upper)}});
  }
  facts.steps = std::max<int64_t>(static_cast<int64_t>(instants.size()) - 1, 0);
  facts.buffers = static_cast<int64_t>(facts.rows.size());
  facts.peak_step = rank(highest(changes_of(problem, problem.buffers.size())).second).value();
  return facts;
}

std::string to_text(const PackReport& report, TextStyle style) {
  std::string out = fmt::format("Packing of {}\n\n", one_line(report.instance));
  out +=
      paragraph("Buffers", fmt::format("{}, {} if each stood apart", format_count(report.buffers),
                                       format_bytes_exact(report.no_reuse)));
  out += paragraph("Load", format_bytes_exact(report.load));
  if (report.capacity) out += paragraph("Capacity", format_bytes_exact(*report.capacity));
  out += paragraph("Peak", peak_line(report));
  const bool good = has_plan(report);
  const std::string status = status_words(report.plan.status);
  std::string verdict = paragraph(
      "Status", fmt::format("{}{}", status,
                            good ? fmt::format(", by {}", one_line(report.plan.planner)) : ""));
  out += verdict.replace(kLabelWidth, status.size(),
                         tinted(status, good ? Tint::kGood : Tint::kBad, style));
  if (report.plan.nodes > 0) {
    out += paragraph("Search", fmt::format("{} nodes", format_count(report.plan.nodes)));
  }
  if (!report.largest.empty()) {
    out += fmt::format("\n{}\n", peak_table(report));
    out += paragraph("Instant", fmt::format("{}, the first of the highest load; {} buffers live",
                                            format_count(report.peak_instant),
                                            format_count(report.peak_buffers)));
  }
  if (report.hole) out += paragraph("Hole", hole_text(*report.hole));
  for (const std::string& note : report.notes) out += paragraph("Note", one_line(note));
  return out;
}

}  // namespace tidemark

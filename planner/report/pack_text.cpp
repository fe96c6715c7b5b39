#include <fmt/core.h>

#include <algorithm>

#include "planner/base/units.h"
#include "planner/report/escape.h"
#include "planner/report/layout.h"
#include "planner/report/pack_report.h"

namespace tidemark {
namespace {

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
  return fmt::format("{}{}, {} above the lower bound of {}", format_bytes_exact(plan.peak),
                     report.pools.size() > 1 ? " in all" : "", format_bytes(gap),
                     format_bytes_exact(plan.lower_bound));
}

std::string names_line(const std::vector<std::string>& names, size_t all) {
  std::string line;
  for (size_t i = 0; i < std::min(names.size(), kPeakRows); ++i) {
    line += (line.empty() ? "" : ", ") + shortened(one_line(names[i]), 40);
  }
  if (all > kPeakRows)
    line += fmt::format(" and {} more", format_count(static_cast<int64_t>(all - kPeakRows)));
  return line;
}

std::string pool_table(const PackReport& report) {
  Table table{.columns = {{"Pool", Align::kLeft},
                          {"capacity"},
                          {"peak"},
                          {"lower bound"},
                          {"buffers"},
                          {"status", Align::kLeft}}};
  const bool planned = has_plan(report);
  for (const PackPool& pool : report.pools) {
    table.rows.push_back({{shortened(one_line(pool.name), 40)},
                          {pool.capacity ? format_bytes(*pool.capacity) : "none"},
                          {planned ? format_bytes(pool.plan.peak) : "-"},
                          {planned ? format_bytes(pool.plan.lower_bound) : "-"},
                          {planned ? format_count(pool.buffers) : "-"},
                          {planned ? status_words(pool.plan.status) : "-"}});
  }
  return table_to_text(table, {});
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

// A short search: what it does not find may be there.
std::string falls(Bytes saves) {
  return saves == Bytes{} ? "is no lower" : "falls by " + format_bytes(saves) + " at least";
}

std::string hole_text(const PeakHole& hole) {
  std::string text =
      fmt::format("{} free from {} at instant {}, below {}, which lives for {} instants",
                  format_bytes(hole.size), format_bytes(hole.offset), format_count(hole.instant),
                  one_line(hole.above), format_count(hole.above_lifetime));
  if (hole.saves_moved) text += "; without it the peak " + falls(*hole.saves_moved);
  if (hole.saves_split && *hole.saves_split > Bytes{}) {
    text += fmt::format("; when it moves at instant {}, the peak {}", format_count(hole.split_at),
                        falls(*hole.saves_split));
  } else if (hole.saves_split) {
    text += "; when it moves on the way, the peak is no lower";
  }
  return text;
}

std::string bound_text(const PackBound& bound) {
  const std::string names = names_line(bound.names, static_cast<size_t>(bound.buffers));
  if (bound.kind == "load") return "live at one instant: " + names;
  if (bound.kind == "padding") return "live at one instant, each but one padded: " + names;
  if (bound.kind == "fixed") return "the fixed end of " + names;
  return "by search, no lower place for all of " + names;
}

std::string conflict_text(const PackConflict& conflict) {
  const std::string names = names_line(conflict.names, static_cast<size_t>(conflict.buffers));
  return names + (conflict.irreducible
                      ? " do not fit together; without any one of them the rest does"
                      : " do not fit together");
}

std::string counts_line(const PackReport& report) {
  std::string line = fmt::format("{}, {} if each stood apart", format_count(report.buffers),
                                 format_bytes_exact(report.no_reuse));
  if (report.groups > 0) line += "; " + counted(report.groups, "group");
  if (report.apart > 0) {
    line += "; " + counted(report.apart, "pair") + " kept apart";
    if (report.bank > Bytes::of(1)) line += " in banks of " + format_bytes(report.bank);
  }
  return line;
}

std::string status_line(const PackReport& report, TextStyle style) {
  const bool good = has_plan(report);
  const std::string status = status_words(report.plan.status);
  std::string line = paragraph(
      "Status", fmt::format("{}{}", status,
                            good ? fmt::format(", by {}", one_line(report.plan.planner)) : ""));
  return line.replace(kLabelWidth, status.size(),
                      tinted(status, good ? Tint::kGood : Tint::kBad, style));
}

}  // namespace

std::string to_text(const PackReport& report, TextStyle style) {
  std::string out = fmt::format("Packing of {}\n\n", one_line(report.instance));
  out += paragraph("Buffers", counts_line(report));
  out += paragraph("Load", format_bytes_exact(report.load));
  if (report.capacity) out += paragraph("Capacity", format_bytes_exact(*report.capacity));
  out += paragraph(report.pools.size() > 1 ? "Peaks" : "Peak", peak_line(report));
  // What is live at the peak stands below.
  if (report.bound && report.bound->kind != "load")
    out += paragraph("Bound", bound_text(*report.bound));
  out += status_line(report, style);
  if (report.plan.nodes > 0) {
    out += paragraph("Search", fmt::format("{} nodes", format_count(report.plan.nodes)));
  }
  if (report.hints > 0) {
    out += paragraph("Hints", fmt::format("{} of {} met", format_count(report.hints_met),
                                          format_count(report.hints)));
  }
  if (!report.unplaced.empty()) {
    out += paragraph("No room", names_line(report.unplaced, report.unplaced.size()));
  }
  if (report.conflict) out += paragraph("Conflict", conflict_text(*report.conflict));
  if (report.spilled > 0) {
    out += paragraph("Spilled", fmt::format("{} {}, {}; that less would do is not ruled out",
                                            format_count(report.spilled),
                                            report.spilled == 1 ? "buffer" : "buffers",
                                            format_bytes_exact(report.spilled_bytes)));
  }
  if (!report.pools.empty()) out += "\n" + pool_table(report);
  if (!report.largest.empty()) {
    out += fmt::format("\n{}\n", peak_table(report));
    out += paragraph(
        "Instant", fmt::format("{}, the first of the highest load{}; {} buffers live",
                               format_count(report.peak_instant),
                               report.explained.empty() ? "" : " in " + one_line(report.explained),
                               format_count(report.peak_buffers)));
  }
  if (report.hole) out += paragraph("Hole", hole_text(*report.hole));
  for (const std::string& note : report.notes) out += paragraph("Note", one_line(note));
  return out;
}

}  // namespace tidemark

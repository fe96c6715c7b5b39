#include "planner/report/engine_text.h"

#include <fmt/core.h>

#include "planner/base/units.h"
#include "planner/report/escape.h"
#include "planner/report/layout.h"
#include "planner/report/parts.h"

namespace tidemark {
namespace {

std::string column_table(const LlamaFacts& facts) {
  Table table{
      .columns = {
          {"llama.cpp's columns", Align::kLeft}, {"model"}, {"context"}, {"compute"}, {"self"}}};
  LlamaColumns all{.where = "all"};
  const auto add = [&](const LlamaColumns& row) {
    const std::string part =
        row.part == LlamaPart::kModel ? "" : fmt::format(", {}", name_of(row.part));
    table.rows.push_back({{one_line(row.where) + part},
                          {format_bytes(row.model)},
                          {format_bytes(row.context)},
                          {format_bytes(row.compute)},
                          {format_bytes(row.self())}});
  };
  for (const LlamaColumns& row : facts.columns) {
    add(row);
    all.model += row.model;
    all.context += row.context;
    all.compute += row.compute;
  }
  if (facts.columns.size() > 1) {
    table.rows.emplace_back();
    add(all);
  }
  return table_to_text(table, {});
}

// Of the model; a draft model and a projector are not what is changed.
Bytes compute_of_model(const LlamaFacts& facts) {
  Bytes compute;
  for (const LlamaColumns& row : facts.columns) {
    if (row.part == LlamaPart::kModel) compute += row.compute;
  }
  return compute;
}

std::string scaling_text(const LlamaFacts& facts, Bytes compute) {
  std::string text;
  for (const LlamaScaling& scaling : facts.scalings) {
    text +=
        fmt::format("{}{}: {} ({})", text.empty() ? "" : "; ", one_line(scaling.change),
                    format_bytes(scaling.compute), format_signed_bytes(scaling.compute - compute));
  }
  return text;
}

std::string saving_text(Bytes compute, Bytes own) {
  return compute >= own ? fmt::format("saves {}", format_bytes(compute - own))
                        : fmt::format("takes {} more", format_bytes(own - compute));
}

// Ours is placed in one arena. Over several devices the engine's sum is of another graph, so what
// is saved is told from the one that all stays with the CPU.
std::string our_graph(const LlamaFacts& facts) {
  if (compute_of_model(facts) == facts.compute) return "the same graph";
  return fmt::format("the graph all on the CPU, where llama.cpp takes {},",
                     format_bytes(facts.compute));
}

}  // namespace

std::string llama_section(const PlanReport& report) {
  if (!report.llama) return "";
  const LlamaFacts& facts = *report.llama;
  std::string out = "\n" + column_table(facts);
  out += "\n" + paragraph("Slack", fmt::format("{} left of the limit by these columns, which count "
                                               "neither the output nor the process",
                                               format_signed_bytes(facts.slack)));
  out += paragraph("Compute",
                   fmt::format("set by {} ({}, {}) of a graph of {} nodes; one token needs {}",
                               one_line(facts.peak.name), one_line(facts.peak.op),
                               format_bytes(facts.peak.bytes), format_count(facts.nodes),
                               format_bytes(facts.compute_generation)));
  if (!facts.scalings.empty()) {
    out += paragraph("", scaling_text(facts, compute_of_model(facts)));
  }
  if (facts.own_plan) {
    out += paragraph(
        "Ours", fmt::format("{} placed by {}: {}, {}; lower bound {}", our_graph(facts),
                            one_line(facts.own_plan->planner), format_bytes(facts.own_plan->peak),
                            saving_text(facts.compute, facts.own_plan->peak),
                            format_bytes(facts.own_plan->lower_bound)));
  }
  out += paragraph(
      facts.own_plan ? "" : "Ours",
      fmt::format("our own graph of the model, arena and scratch: {}, {}",
                  format_bytes(facts.own_arena), saving_text(facts.compute, facts.own_arena)));
  return out;
}

std::string interval_section(const PlanReport& report) {
  if (!report.interval) return "";
  const MemoryInterval& interval = *report.interval;
  const Bytes limit = report.device.limit.limit;
  std::string text = fmt::format("{} to {}; most uncertain is {}: {}", format_bytes(interval.least),
                                 format_bytes(interval.most), label_of_part(interval.term),
                                 one_line(interval.what));
  if (interval.most > limit && interval.least <= limit) text += "; at its lower end it fits";
  return paragraph("Interval", text);
}

namespace {

std::string how_of(const PlanReport& report, std::string_view term) {
  if (!report.kinds) return "the textbook's rule";
  for (const TermKinds& kind : report.kinds->terms) {
    if (kind.term == term) return one_line(kind.how);
  }
  return "";
}

// Models, devices and choices are the same; what an engine sets by default may not be.
bool differ_in_engine_alone(std::span<const PlanReport> reports) {
  if (reports.size() < 2) return false;
  const PlanReport& first = reports.front();
  for (const PlanReport& report : reports.subspan(1)) {
    if (report.engine == first.engine || report.model.name != first.model.name ||
        report.device.name != first.device.name || report.strategy != first.strategy) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string engine_differences(std::span<const PlanReport> reports) {
  if (!differ_in_engine_alone(reports)) return "";
  const PlanReport& first = reports.front();
  std::string out;
  for (const PlanReport& report : reports.subspan(1)) {
    out += fmt::format("\n{} against {}: {}\n", one_line(report.engine), one_line(first.engine),
                       format_signed_bytes(report.memory.total() - first.memory.total()));
    for (const MemoryPart& part : memory_parts()) {
      const Bytes difference = report.memory.*part.planned - first.memory.*part.planned;
      if (difference == Bytes{}) continue;
      out += paragraph(
          shortened(part.label, kLabelWidth - 1),
          fmt::format("{}: {}; {}: {}", format_signed_bytes(difference), how_of(report, part.key),
                      one_line(first.engine), how_of(first, part.key)));
    }
  }
  return out;
}

std::string kinds_text(const std::optional<MemoryKinds>& kinds) {
  if (!kinds) return "The textbook has no process: nothing is resident, dirty or droppable.\n";
  Table table{.columns = {{"Memory", Align::kLeft},
                          {"reserved"},
                          {"resident"},
                          {"droppable"},
                          {"dirty"},
                          {"device"},
                          {"needed"}}};
  TermKinds all{.term = "total"};
  const auto add = [&](const TermKinds& term) {
    table.rows.push_back({{std::string(label_of_part(term.term))},
                          {format_bytes(term.reserved)},
                          {format_bytes(term.resident)},
                          {format_bytes(term.file_backed)},
                          {format_bytes(term.dirty)},
                          {format_bytes(term.device)},
                          {format_bytes(term.needed)}});
  };
  for (const TermKinds& term : kinds->terms) {
    add(term);
    all.reserved += term.reserved;
    all.resident += term.resident;
    all.file_backed += term.file_backed;
    all.dirty += term.dirty;
    all.device += term.device;
    all.needed += term.needed;
  }
  table.rows.emplace_back();
  add(all);
  std::string out = table_to_text(table, {}) + "\n";
  out += paragraph("Default", fmt::format("{}: {}", format_bytes(kinds->default_total),
                                          one_line(kinds->default_why)));
  out += paragraph("Loading", fmt::format("{} at most: {}", format_bytes(kinds->loading),
                                          one_line(kinds->loading_why)));
  return out +
         paragraph("Peak", fmt::format("{} with loading, {} in steady state",
                                       format_bytes(kinds->load_peak), format_bytes(all.reserved)));
}

}  // namespace tidemark

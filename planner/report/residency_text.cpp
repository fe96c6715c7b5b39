#include "planner/report/residency_text.h"

#include <fmt/format.h>

#include <vector>

#include "planner/base/units.h"
#include "planner/report/layout.h"
#include "planner/report/sections.h"

namespace tidemark {
namespace {

// "25 % of the weights after 100 ms, all weights after 400 ms". The first layer and the first token
// have a place of their own.
std::string progress_line(const SimReport& report) {
  std::vector<std::string> words;
  for (const SimEvent& event : report.events) {
    if (event.what != kProgress || event.detail.starts_with("first")) continue;
    words.push_back(fmt::format("{} after {}", event.detail, format_duration(event.time)));
  }
  return words.empty() ? "" : paragraph("Loading", fmt::format("{}", fmt::join(words, ", ")));
}

std::string process_lines(const SimReport& report) {
  if (report.processes.empty()) return "";
  Table table{.columns = {{"Process", Align::kLeft},
                          {"starts"},
                          {"TTFT"},
                          {"read"},
                          {"faults"},
                          {"own"},
                          {"RSS"},
                          {"PSS"}}};
  Bytes pss;
  for (size_t i = 0; i < report.processes.size(); ++i) {
    const ProcessFacts& process = report.processes[i];
    pss += process.pss;
    table.rows.push_back({{fmt::format("{}", i + 1)},
                          {format_duration(process.start)},
                          {format_duration(process.ttft)},
                          {format_bytes(process.bytes_read)},
                          {format_count(process.page_faults + process.minor_faults)},
                          {format_bytes(process.own)},
                          {format_bytes(process.rss)},
                          {format_bytes(process.pss)}});
  }
  return "\n" + table_to_text(table, {}) +
         fmt::format(
             "  RSS counts each page of the file once a process, PSS shares it out: {} in "
             "all.\n",
             format_bytes(pss));
}

std::string expert_line(const SimReport& report) {
  if (!report.experts) return "";
  const ExpertFacts& facts = *report.experts;
  std::string text = fmt::format(
      "{} of {} in {} layers, {} used by a token; ", format_count(facts.experts * facts.layers),
      format_bytes(facts.expert), format_count(facts.layers), format_count(facts.used));
  text += facts.slots > 0 ? fmt::format("{} kept of each layer, {}", format_count(facts.slots),
                                        format_bytes(facts.capacity))
                          : fmt::format("{} kept of all layers", format_bytes(facts.capacity));
  if (facts.read_per_token) {
    text += fmt::format("; {} read per token, {} hits and {} misses while decoding",
                        format_bytes(*facts.read_per_token), format_count(facts.hits),
                        format_count(facts.misses));
  }
  return paragraph("Experts", text);
}

std::string row_line(const SimReport& report) {
  if (!report.rows) return "";
  const ColdRowFacts& facts = *report.rows;
  return paragraph(
      "Rows", fmt::format("{} of {} feed-forward neurons kept, {} of the others in storage; {} "
                          "read per token in {} requests of up to {}",
                          format_count(facts.kept), format_count(facts.neurons),
                          format_bytes(facts.cold), format_bytes(facts.read_per_token),
                          format_count(facts.requests_per_token), format_bytes(facts.request)));
}

}  // namespace

std::string prefetch_words(const SimReport& report) {
  if (!report.prefetch) return "";
  return fmt::format("; {} prefetched, {} of them late, {} lost",
                     format_count(report.prefetch->begun), format_count(report.prefetch->late),
                     format_count(report.prefetch->lost));
}

std::string residency_section(const SimReport& report) {
  return progress_line(report) + expert_line(report) + row_line(report) + process_lines(report);
}

}  // namespace tidemark

// Rows for spreadsheets and scripts: exact integers, the JSON contract's names as column heads
// (nested keys joined by "_"), fields quoted by RFC 4180, lines ended by LF. An undefined value is
// an empty field.
#include <fmt/core.h>

#include <optional>
#include <utility>
#include <vector>

#include "planner/report/escape.h"
#include "planner/report/parts.h"
#include "planner/report/writers.h"

namespace tidemark {
namespace {

struct Field {
  std::string head{};
  std::string value{};
};
using Fields = std::vector<Field>;

std::string exact(int64_t value) { return fmt::format("{}", value); }
std::string exact(Bytes value) { return exact(value.count()); }
std::string exact(Duration value) { return exact(value.count()); }

template <typename Report>
Fields identity_fields(const Report& report) {
  return {{"model", report.model.name},
          {"architecture", report.model.architecture},
          {"parameters", exact(report.model.parameters)},
          {"active_parameters", exact(report.model.active_parameters)},
          {"layers", exact(report.model.layers)},
          {"tensor_bytes", exact(report.model.tensor_bytes)},
          {"device", report.device.name},
          {"engine", report.engine},
          {"strategy", report.strategy},
          {"quant", setting_value(report.settings, "quant")},
          {"ctx_size", setting_value(report.settings, "ctx_size")}};
}

void add_device(Fields& fields, const DeviceLimit& limit) {
  fields.push_back({"device_total_bytes", exact(limit.total)});
  fields.push_back({"os_bytes", exact(limit.os)});
  fields.push_back({"available_bytes", exact(limit.available)});
  fields.push_back({"margin_bytes", exact(limit.margin)});
  fields.push_back({"limit_bytes", exact(limit.limit)});
}

Fields fields_of(const PlanReport& report) {
  Fields fields = identity_fields(report);
  for (const MemoryPart& part : memory_parts()) {
    fields.push_back({std::string(part.bytes_key), exact(report.memory.*part.planned)});
  }
  fields.push_back({"total_bytes", exact(report.memory.total())});
  fields.push_back({"embedding_bytes", exact(report.weight_parts.embedding)});
  fields.push_back({"head_bytes", exact(report.weight_parts.head)});
  fields.push_back({"kv_window_bytes", exact(report.state_parts.window)});
  fields.push_back({"activation_bytes", exact(report.activations)});
  fields.push_back({"scratch_bytes", exact(report.scratch)});
  fields.push_back({"kv_bytes_per_token", exact(report.kv_per_token)});
  fields.push_back({"arena_planner", report.arena.planner});
  fields.push_back({"arena_status", report.arena.status});
  fields.push_back({"arena_peak_bytes", exact(report.arena.peak)});
  fields.push_back({"arena_lower_bound_bytes", exact(report.arena.lower_bound)});
  fields.push_back({"arena_no_reuse_bytes", exact(report.arena.no_reuse)});
  fields.push_back({"arena_buffers", exact(report.arena.buffers)});
  add_device(fields, report.device.limit);
  fields.push_back({"fits", report.verdict.fits ? "true" : "false"});
  fields.push_back({"slack_bytes", exact(report.verdict.slack)});
  fields.push_back({"binding_term", report.verdict.binding_term});
  return fields;
}

// A field of each head; those of facts that a run does not have are empty.
template <typename Facts, typename Read>
void add_facts(Fields& fields, const std::optional<Facts>& facts, Read read) {
  Fields more = read(facts.value_or(Facts{}));
  for (Field& field : more) {
    if (!facts) field.value.clear();
    fields.push_back(std::move(field));
  }
}

Fields energy_fields(const EnergyFacts& energy) {
  return {{"energy_total_uj", exact(energy.total())},
          {"energy_compute_uj", exact(energy.compute_microjoules)},
          {"energy_memory_uj", exact(energy.memory_microjoules)},
          {"energy_storage_uj", exact(energy.storage_microjoules)},
          {"energy_idle_uj", exact(energy.idle_microjoules)}};
}

Fields prefetch_fields(const PrefetchFacts& prefetch) {
  return {{"prefetch_begun", exact(prefetch.begun)},
          {"prefetch_late", exact(prefetch.late)},
          {"prefetch_lost", exact(prefetch.lost)}};
}

Fields expert_fields(const ExpertFacts& facts) {
  const auto read = facts.read_per_token;
  return {{"experts_layers", exact(facts.layers)},
          {"experts_experts", exact(facts.experts)},
          {"experts_used", exact(facts.used)},
          {"experts_expert_bytes", exact(facts.expert)},
          {"experts_slots", facts.slots > 0 ? exact(facts.slots) : ""},
          {"experts_capacity_bytes", exact(facts.capacity)},
          {"experts_decode_hits", exact(facts.hits)},
          {"experts_decode_misses", exact(facts.misses)},
          {"experts_read_per_token_bytes", read ? exact(*read) : ""}};
}

Fields row_fields(const ColdRowFacts& facts) {
  return {{"rows_neurons", exact(facts.neurons)},
          {"rows_kept", exact(facts.kept)},
          {"rows_cold_bytes", exact(facts.cold)},
          {"rows_request_bytes", exact(facts.request)},
          {"rows_requests_per_token", exact(facts.requests_per_token)},
          {"rows_read_per_token_bytes", exact(facts.read_per_token)}};
}

// How many, and what they have together. A run of one process has none.
void add_processes(Fields& fields, const std::vector<ProcessFacts>& processes) {
  Bytes own;
  Bytes pss;
  for (const ProcessFacts& process : processes) {
    own += process.own;
    pss += process.pss;
  }
  const bool any = !processes.empty();
  fields.push_back({"processes", any ? exact(std::ssize(processes)) : ""});
  fields.push_back({"processes_own_bytes", any ? exact(own) : ""});
  fields.push_back({"processes_pss_bytes", any ? exact(pss) : ""});
  fields.push_back({"processes_last_ttft_ns", any ? exact(processes.back().ttft) : ""});
}

Fields fields_of(const SimReport& report) {
  Fields fields = identity_fields(report);
  fields.push_back({"cache_policy", report.cache_policy});
  fields.push_back({"outcome", std::string(name_of(report.outcome))});
  fields.push_back({"reason", report.reason});
  fields.push_back({"peak_bytes", exact(report.peak)});
  fields.push_back({"peak_time_ns", exact(report.peak_time)});
  fields.push_back({"peak_step", exact(report.peak_step)});
  fields.push_back({"peak_at", report.peak_at});
  fields.push_back({"ttft_ns", exact(report.ttft)});
  fields.push_back({"tpot_ns", report.tpot ? exact(*report.tpot) : ""});
  fields.push_back({"end_ns", exact(report.end)});
  fields.push_back({"tokens_per_second", fmt::format("{}", report.tokens_per_second)});
  fields.push_back({"bytes_read", exact(report.bytes_read)});
  fields.push_back({"page_faults", exact(report.page_faults)});
  fields.push_back({"cache_hits", exact(report.cache_hits)});
  fields.push_back({"cache_misses", exact(report.cache_misses)});
  fields.push_back({"cache_evictions", exact(report.cache_evictions)});
  fields.push_back({"hit_rate", report.hit_rate ? fmt::format("{}", *report.hit_rate) : ""});
  fields.push_back({"stall_ns", exact(report.stall)});
  const IntervalFacts intervals = report.intervals.value_or(IntervalFacts{});
  const auto interval = [&](Duration time) { return report.intervals ? exact(time) : ""; };
  fields.push_back({"interval_p50_ns", interval(intervals.p50)});
  fields.push_back({"interval_p99_ns", interval(intervals.p99)});
  fields.push_back({"limited_by", report.stages.limited_by});
  add_device(fields, report.device.limit);
  fields.push_back({"minor_faults", exact(report.minor_faults)});
  add_facts(fields, report.energy, energy_fields);
  add_facts(fields, report.prefetch, prefetch_fields);
  add_facts(fields, report.experts, expert_fields);
  add_facts(fields, report.rows, row_fields);
  add_processes(fields, report.processes);
  return fields;
}

// Heads and values come from the same list, so they cannot drift apart.
template <typename Member>
std::string row_of(const Fields& fields, Member member) {
  std::string row;
  for (const Field& field : fields) row += csv_field(field.*member) + ",";
  row.back() = '\n';
  return row;
}

template <typename Report>
std::string csv(std::span<const Report> reports) {
  std::string out = row_of(fields_of(reports.empty() ? Report{} : reports.front()), &Field::head);
  for (const Report& report : reports) out += row_of(fields_of(report), &Field::value);
  return out;
}

}  // namespace

std::string to_csv(std::span<const PlanReport> reports) { return csv(reports); }
std::string to_csv(std::span<const SimReport> reports) { return csv(reports); }

std::string curve_to_csv(const SimReport& report) {
  std::string out = "t_ns";
  for (const MemoryPart& part : memory_parts()) out += "," + std::string(part.bytes_key);
  out += ",total_bytes,file_backed_bytes,committed_bytes\n";
  for (const CurvePoint& point : report.curve) {
    out += exact(point.time);
    for (const MemoryPart& part : memory_parts()) out += "," + exact(point.*part.simulated);
    out += "," + exact(point.total()) + "," + exact(point.file_backed) + "," +
           exact(point.total() - point.file_backed) + "\n";
  }
  return out;
}

}  // namespace tidemark

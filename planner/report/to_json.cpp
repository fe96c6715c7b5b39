// The JSON contract (docs/reference/json.md). Key order is the order of insertion; integers are
// exact; the unit is in the key.
#include <fmt/core.h>

#include "planner/report/engine_json.h"
#include "planner/report/import_report.h"
#include "planner/report/json_document.h"
#include "planner/report/parts.h"
#include "planner/report/replay_report.h"
#include "planner/report/residency_json.h"
#include "planner/report/stage_json.h"
#include "planner/report/tables.h"
#include "planner/report/writers.h"

namespace tidemark {
namespace {

Json settings_json(const std::vector<Setting>& settings) {
  Json json = Json::object();
  for (const Setting& setting : settings) {
    json[setting.key] = Json{{"value", setting.value}, {"origin", setting.origin}};
  }
  return json;
}

Json model_json(const ModelFacts& model) {
  return Json{{"name", model.name},
              {"architecture", model.architecture},
              {"parameters", model.parameters},
              {"active_parameters", model.active_parameters},
              {"layers", model.layers},
              {"tensor_bytes", model.tensor_bytes.count()}};
}

Json memory_json(const Breakdown& memory) {
  Json json = Json::object();
  for (const MemoryPart& part : memory_parts()) {
    json[std::string(part.bytes_key)] = (memory.*part.planned).count();
  }
  json["total_bytes"] = memory.total().count();
  return json;
}

Json phases_json(const std::vector<PhaseFacts>& phases) {
  Json json = Json::array();
  for (const PhaseFacts& phase : phases) {
    json.push_back(Json{{"phase", phase.name},
                        {"input", phase.input},
                        {"status", phase.status},
                        {"peak_bytes", phase.peak.count()},
                        {"lower_bound_bytes", phase.lower_bound.count()},
                        {"scratch_bytes", phase.scratch.count()}});
  }
  return json;
}

Json arena_json(const ArenaFacts& arena) {
  Json json = Json{{"planner", arena.planner},
                   {"status", arena.status},
                   {"peak_bytes", arena.peak.count()},
                   {"lower_bound_bytes", arena.lower_bound.count()},
                   {"no_reuse_bytes", arena.no_reuse.count()},
                   {"buffers", arena.buffers},
                   {"phase", arena.phase},
                   {"steps", arena.steps},
                   {"peak_step", arena.peak_step},
                   {"peak_op", arena.peak_op}};
  if (arena.largest) {
    json["largest_tensor"] = Json{{"name", arena.largest->name},
                                  {"bytes", arena.largest->bytes.count()},
                                  {"shape", arena.largest->shape}};
  }
  json["phases"] = phases_json(arena.phases);
  json["scaling"] = Json::array();
  for (const ArenaScaling& scaling : arena.scalings) {
    json["scaling"].push_back(Json{{"change", scaling.change},
                                   {"compute_bytes", scaling.compute.count()},
                                   {"output_bytes", scaling.output.count()}});
  }
  if (arena.order) {
    json["op_order"] = "memory";
    json["load_program_order_bytes"] = arena.order->program_load.count();
    json["load_bytes"] = arena.order->load.count();
    json["load_lower_bound_bytes"] = arena.order->lower_bound.count();
    json["order_status"] = arena.order->is_optimal ? "proved_optimal" : "feasible";
    json["order_states"] = arena.order->states;
  }
  return json;
}

Json relief_json(const ReliefFacts& facts) {
  Json json = Json{{"peak_load_bytes", facts.peak.count()},
                   {"peak_step", facts.peak_step.value()},
                   {"peak_op", facts.peak_op},
                   {"in_use_bytes", facts.in_use.count()},
                   {"suggestions", Json::array()}};
  for (const Relief& relief : facts.reliefs) {
    json["suggestions"].push_back(Json{{"kind", name_of(relief.kind)},
                                       {"tensor", relief.tensor},
                                       {"tensors", relief.absences.size()},
                                       {"tensor_bytes", relief.bytes.count()},
                                       {"new_peak_load_bytes", relief.new_peak.count()},
                                       {"saves_bytes", relief.saves.count()},
                                       {"moved_bytes", relief.moved.count()},
                                       {"operations", relief.operations},
                                       {"weights_read_bytes", relief.weights_read.count()},
                                       {"last_op", relief.last_op},
                                       {"next_op", relief.next_op}});
  }
  return json;
}

Json device_json(const DeviceFacts& device) {
  return Json{{"name", device.name},
              {"total_bytes", device.limit.total.count()},
              {"os_bytes", device.limit.os.count()},
              {"available_bytes", device.limit.available.count()},
              {"margin_bytes", device.limit.margin.count()},
              {"limit_bytes", device.limit.limit.count()},
              {"limit_rule", device.limit.rule},
              {"estimates", device.estimates}};
}

Json textbook_json(const std::vector<TextbookRow>& rows) {
  Json json = Json::array();
  for (const TextbookRow& row : rows) {
    json.push_back(Json{{"term", row.term},
                        {"formula", row.formula},
                        {"textbook_bytes", or_null(row.textbook)},
                        {"textbook_count", or_null(row.textbook_count)},
                        {"planned_bytes", or_null(row.planned)},
                        {"why", row.why}});
  }
  return json;
}

Json curve_json(const std::vector<CurvePoint>& curve) {
  Json json = Json::array();
  for (const CurvePoint& point : curve) {
    Json row = Json::object();
    row["t_ns"] = point.time.count();
    row.update(memory_json(breakdown_of(point)));
    row["file_backed_bytes"] = point.file_backed.count();
    row["committed_bytes"] = (point.total() - point.file_backed).count();
    json.push_back(std::move(row));
  }
  return json;
}

Json intervals_json(const std::optional<IntervalFacts>& intervals) {
  if (!intervals) return nullptr;
  return Json{{"p50_ns", intervals->p50.count()},
              {"p90_ns", intervals->p90.count()},
              {"p99_ns", intervals->p99.count()},
              {"longest_ns", intervals->longest.count()}};
}

Json serving_json(const ServingFacts& serving) {
  return Json{{"requests", serving.requests},
              {"completed", serving.completed},
              {"most_running", serving.most_running},
              {"prefill_passes", serving.prefill_passes},
              {"decode_passes", serving.decode_passes},
              {"generated_tokens", serving.generated_tokens},
              {"prefilled_tokens", serving.prefilled_tokens},
              {"prefix_tokens", serving.prefix_tokens},
              {"preemptions", serving.preemptions},
              {"lost_tokens", serving.lost_tokens},
              {"first_token", intervals_json(serving.first_token)},
              {"between_tokens", intervals_json(serving.between_tokens)},
              {"end_to_end", intervals_json(serving.end_to_end)},
              {"requests_per_second", serving.requests_per_second},
              {"block_tokens", serving.block_tokens},
              {"block_bytes", serving.block.count()},
              {"pool_blocks", serving.pool_blocks},
              {"peak_blocks", serving.peak_blocks},
              {"mean_held_bytes", serving.mean_held.count()},
              {"mean_used_bytes", serving.mean_used.count()},
              {"waste_per_mille", serving.waste_per_mille}};
}

Json events_json(const std::vector<SimEvent>& events) {
  Json json = Json::array();
  for (const SimEvent& event : events) {
    json.push_back(
        Json{{"t_ns", event.time.count()}, {"what", event.what}, {"detail", event.detail}});
  }
  return json;
}

// What both kinds of document begin with.
template <typename Report>
Json head_json(const char* schema, const Report& report) {
  return Json{{"schema", schema},
              {"tool_version", kToolVersion},
              {"settings", settings_json(report.settings)},
              {"engine", report.engine},
              {"strategy", report.strategy},
              {"model", model_json(report.model)}};
}

constexpr const char* kPlanSchema = "tidemark.plan/1";
constexpr const char* kSimulateSchema = "tidemark.simulate/1";
constexpr const char* kReplaySchema = "tidemark.replay/1";

Json weight_parts_json(const WeightParts& parts) {
  return Json{
      {"embedding_bytes", parts.embedding.count()}, {"head_bytes", parts.head.count()},
      {"layer_bytes", parts.layers.count()},        {"stack_bytes", parts.stacks.count()},
      {"other_bytes", parts.other.count()},         {"in_flash_bytes", parts.in_flash.count()}};
}

Json stored_json(const StoredSize& stored) {
  Json differences = Json::array();
  for (const StoredDifference& difference : stored.differences) {
    differences.push_back(Json{{"what", difference.what},
                               {"elements", difference.elements},
                               {"bytes", difference.bytes.count()}});
  }
  return Json{{"elements", stored.elements},
              {"bytes", stored.bytes.count()},
              {"stated_bytes", or_null(stored.stated_bytes)},
              {"differences", differences}};
}

Json document(const PlanReport& report) {
  Json json = head_json(kPlanSchema, report);
  json["memory"] = memory_json(report.memory);
  json["weights"] = weight_parts_json(report.weight_parts);
  json["kv_cache"] = Json{{"full_bytes", report.state_parts.full.count()},
                          {"window_bytes", report.state_parts.window.count()},
                          {"window_cells", report.state_parts.window_cells},
                          {"cross_bytes", report.state_parts.cross.count()}};
  json["compute"] = Json{{"activation_bytes", report.activations.count()},
                         {"scratch_bytes", report.scratch.count()}};
  json["kv_bytes_per_token"] = report.kv_per_token.count();
  json["arena"] = arena_json(report.arena);
  add_engine_json(report, json);
  if (report.relief) json["relief"] = relief_json(*report.relief);
  json["device"] = device_json(report.device);
  json["verdict"] = Json{{"fits", report.verdict.fits},
                         {"slack_bytes", report.verdict.slack.count()},
                         {"binding_term", report.verdict.binding_term}};
  if (!report.textbook.empty()) json["textbook"] = textbook_json(report.textbook);
  if (!report.notes.empty()) json["notes"] = report.notes;
  return json;
}

Json document(const SimReport& report) {
  Json json = head_json(kSimulateSchema, report);
  json["device"] = device_json(report.device);
  if (!report.cache_policy.empty()) json["cache_policy"] = report.cache_policy;
  json["outcome"] = name_of(report.outcome);
  json["reason"] = report.reason;
  json["peak_bytes"] = report.peak.count();
  json["peak_time_ns"] = report.peak_time.count();
  json["peak_step"] = report.peak_step;
  json["peak_at"] = report.peak_at;
  json["ttft_ns"] = report.ttft.count();
  json["tpot_ns"] = or_null(report.tpot);
  json["end_ns"] = report.end.count();
  json["tokens_per_second"] = report.tokens_per_second;
  json["bytes_read"] = report.bytes_read.count();
  json["page_faults"] = report.page_faults;
  json["cache_hits"] = report.cache_hits;
  json["cache_misses"] = report.cache_misses;
  json["cache_evictions"] = report.cache_evictions;
  json["hit_rate"] = or_null(report.hit_rate);
  json["minor_faults"] = report.minor_faults;
  json["stall_ns"] = report.stall.count();
  json["stalls"] = Json{{"loading_ns", report.stalls.loading.count()},
                        {"weights_ns", report.stalls.weights.count()},
                        {"kv_cache_ns", report.stalls.kv_cache.count()}};
  json["stages"] = stages_json(report.stages);
  if (report.energy) json["energy"] = energy_json(*report.energy);
  json["token_intervals"] = intervals_json(report.intervals);
  add_residency_json(report, json);
  if (report.serving) json["serving"] = serving_json(*report.serving);
  json["events"] = events_json(report.events);
  if (!report.notes.empty()) json["notes"] = report.notes;
  json["curve"] = curve_json(report.curve);
  return json;
}

Json steps_json(const std::vector<ReplayStep>& steps) {
  Json json = Json::array();
  for (const ReplayStep& step : steps) {
    json.push_back(Json{{"step", step.step},
                        {"pass", step.pass},
                        {"op", step.op},
                        {"predicted_bytes", step.predicted.count()},
                        {"measured_bytes", step.measured.count()},
                        {"wall_ns", step.wall.count()}});
    if (step.predicted_wall) json.back()["predicted_ns"] = step.predicted_wall->count();
  }
  return json;
}

Json time_json(const TimeComparison& time) {
  Json runs = Json::array();
  for (const Duration run : time.runs) runs.push_back(run.count());
  Json parts = Json::array();
  for (const TimePart& part : time.parts) {
    parts.push_back(Json{{"part", part.what},
                         {"steps", part.steps},
                         {"predicted_ns", part.predicted.count()},
                         {"measured_ns", part.measured.count()}});
  }
  return Json{{"predicted_ns", time.predicted.count()},
              {"measured_ns", time.measured.count()},
              {"runs_ns", runs},
              {"parts", parts}};
}

Json corruption_json(const std::optional<Corruption>& corruption) {
  if (!corruption) return nullptr;
  return Json{{"pass", corruption->pass},
              {"tensor", corruption->tensor},
              {"reader", corruption->reader},
              {"writer", corruption->writer}};
}

Json limit_json(const std::optional<ReplayLimit>& limit) {
  if (!limit) return nullptr;
  return Json{{"limit_bytes", limit->limit.count()},
              {"mechanism", limit->mechanism},
              {"counts", limit->counts},
              {"highest_bytes", or_null(limit->highest)}};
}

Json cache_json(const std::optional<CacheCounts>& cache) {
  if (!cache) return nullptr;
  return Json{{"hits", cache->hits}, {"misses", cache->misses}, {"evictions", cache->evictions}};
}

Json document(const ReplayReport& report) {
  const ReplayStep* worst = worst_step(report);
  const int64_t error = worst != nullptr ? error_of(*worst).count() : 0;
  Json json = head_json(kReplaySchema, report);
  json["predicted_peak_bytes"] = report.predicted_peak.count();
  json["measured_peak_bytes"] = report.measured_peak.count();
  json["relative_error"] = relative_error(report);
  json["max_step_error_bytes"] = error < 0 ? -error : error;
  json["max_error_step"] = worst != nullptr ? Json(worst->step) : Json(nullptr);
  json["outputs_match"] = report.outputs_match;
  json["outputs_all_equal"] = report.outputs_all_equal;
  json["passed"] = passed(report);
  json["end"] = name_of(report.end);
  json["end_place"] = report.end_place;
  json["limit"] = limit_json(report.limit);
  json["weights"] = report.weights;
  json["not_computed"] = report.not_computed;
  json["predicted_cache"] = cache_json(report.predicted_cache);
  json["measured_cache"] = cache_json(report.measured_cache);
  json["corruption"] = corruption_json(report.corruption);
  json["tokens"] = report.tokens;
  json["arena_bytes"] = report.arena.count();
  json["excluded_runtime_bytes"] = report.excluded_runtime.count();
  json["process_peak_bytes"] = or_null(report.process_peak);
  json["bytes_read"] = report.bytes_read.count();
  json["run_wall_ns"] = report.wall.count();
  json["planned_steps"] = report.planned_steps;
  if (report.time) json["time"] = time_json(*report.time);
  json["steps"] = steps_json(report.steps);
  return json;
}

template <typename Report>
std::string print_documents(const char* schema, std::span<const Report> reports) {
  if (reports.size() == 1) return printed(document(reports.front()));
  Json json = Json::object();
  json["schema"] = schema;
  json["tool_version"] = kToolVersion;
  json["results"] = Json::array();
  for (const Report& report : reports) json["results"].push_back(document(report));
  return printed(json);
}

}  // namespace

std::string to_json(std::span<const PlanReport> reports) {
  return print_documents(kPlanSchema, reports);
}
std::string to_json(std::span<const SimReport> reports) {
  return print_documents(kSimulateSchema, reports);
}

std::string to_json(std::span<const ReplayReport> reports) {
  return print_documents(kReplaySchema, reports);
}

std::string to_json(const ImportReport& report) {
  Json json = Json{{"schema", "tidemark.import/1"},
                   {"tool_version", kToolVersion},
                   {"model", model_json(report.model)},
                   {"format", report.format},
                   {"stored_as", report.stored_as},
                   {"tensors", report.tensors},
                   {"elements", report.elements},
                   {"context_trained", report.context_trained},
                   {"weights", weight_parts_json(report.weight_parts)},
                   {"kv_bytes_per_token", report.kv_per_token.count()},
                   {"kv_full_bytes_per_token", report.kv_full_per_token.count()},
                   {"recurrent_state_bytes", report.recurrent_per_sequence.count()},
                   {"cross_kv_bytes", report.cross_per_sequence.count()},
                   {"stacks", report.towers},
                   {"stored", nullptr},
                   {"defaults", Json::array()},
                   {"warnings", report.warnings}};
  if (report.stored) json["stored"] = stored_json(*report.stored);
  for (const AppliedDefault& applied : report.defaults) {
    json["defaults"].push_back(
        Json{{"key", applied.key}, {"value", applied.value}, {"why", applied.why}});
  }
  return printed(json);
}

std::string to_json(const Listing& listing, const std::string& what) {
  Json rows = Json::array();
  for (const auto& row : listing.rows) {
    Json object = Json::object();
    for (size_t i = 0; i < row.size(); ++i) object[listing.columns[i]] = row[i];
    rows.push_back(std::move(object));
  }
  return printed(Json{{"schema", "tidemark.list/1"},
                      {"tool_version", kToolVersion},
                      {"list", what},
                      {"rows", rows}});
}

}  // namespace tidemark

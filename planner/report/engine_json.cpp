#include "planner/report/engine_json.h"

namespace tidemark {
namespace {

Json kinds_json(const MemoryKinds& kinds) {
  Json terms = Json::object();
  for (const TermKinds& term : kinds.terms) {
    terms[term.term] = Json{{"reserved_bytes", term.reserved.count()},
                            {"resident_bytes", term.resident.count()},
                            {"file_backed_bytes", term.file_backed.count()},
                            {"dirty_bytes", term.dirty.count()},
                            {"device_bytes", term.device.count()},
                            {"needed_bytes", term.needed.count()},
                            {"how", term.how}};
  }
  return Json{
      {"terms", std::move(terms)},        {"default_total_bytes", kinds.default_total.count()},
      {"default_why", kinds.default_why}, {"loading_bytes", kinds.loading.count()},
      {"loading_why", kinds.loading_why}, {"load_peak_bytes", kinds.load_peak.count()}};
}

Json llama_json(const LlamaFacts& facts) {
  Json columns = Json::array();
  for (const LlamaColumns& row : facts.columns) {
    columns.push_back(Json{{"where", row.where},
                           {"part", name_of(row.part)},
                           {"model_bytes", row.model.count()},
                           {"context_bytes", row.context.count()},
                           {"compute_bytes", row.compute.count()},
                           {"self_bytes", row.self().count()}});
  }
  Json scalings = Json::array();
  for (const LlamaScaling& scaling : facts.scalings) {
    scalings.push_back(
        Json{{"change", scaling.change}, {"compute_bytes", scaling.compute.count()}});
  }
  Json json = Json{{"columns", std::move(columns)},
                   {"slack_bytes", facts.slack.count()},
                   {"compute_bytes", facts.compute.count()},
                   {"compute_generation_bytes", facts.compute_generation.count()},
                   {"peak_tensor", facts.peak.name},
                   {"peak_tensor_op", facts.peak.op},
                   {"peak_tensor_bytes", facts.peak.bytes.count()},
                   {"graph_nodes", facts.nodes},
                   {"scaling", std::move(scalings)},
                   {"own_arena_bytes", facts.own_arena.count()},
                   {"is_exact", facts.is_exact}};
  if (facts.own_plan) {
    json["replanned_bytes"] = facts.own_plan->peak.count();
    json["replanned_lower_bound_bytes"] = facts.own_plan->lower_bound.count();
    json["replanned_saves_bytes"] = (facts.compute - facts.own_plan->peak).count();
  }
  return json;
}

}  // namespace

void add_engine_json(const PlanReport& report, Json& json) {
  if (report.llama) json["llama_cpp"] = llama_json(*report.llama);
  if (report.kinds) json["memory_kinds"] = kinds_json(*report.kinds);
  if (report.interval) {
    json["memory_interval"] = Json{{"least_bytes", report.interval->least.count()},
                                   {"most_bytes", report.interval->most.count()},
                                   {"uncertain_term", report.interval->term},
                                   {"uncertain_what", report.interval->what}};
  }
}

}  // namespace tidemark

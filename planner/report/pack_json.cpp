#include "planner/report/json_document.h"
#include "planner/report/pack_report.h"

namespace tidemark {
namespace {

Json pack_pools_json(const PackReport& report) {
  Json pools = Json::array();
  for (const PackPool& pool : report.pools) {
    const bool placed = has_plan(report);
    pools.push_back(Json{{"name", pool.name},
                         {"capacity", or_null(pool.capacity)},
                         {"status", placed ? Json(name_of(pool.plan.status)) : Json(nullptr)},
                         {"planner", pool.plan.planner},
                         {"peak_bytes", placed ? Json(pool.plan.peak.count()) : Json(nullptr)},
                         {"lower_bound_bytes", pool.plan.lower_bound.count()},
                         {"buffers", pool.buffers}});
  }
  return pools;
}

// Why the peak is where it is, and what proves the bound or the refusal.
void add_explanation(Json& json, const PackReport& report) {
  const bool placed = has_plan(report);
  if (report.conflict) {
    json["conflict"] = Json{{"buffers", report.conflict->buffers},
                            {"names", report.conflict->names},
                            {"irreducible", report.conflict->irreducible}};
  }
  if (report.bound) {
    json["bound"] = Json{{"kind", report.bound->kind},
                         {"buffers", report.bound->buffers},
                         {"names", report.bound->names}};
  }
  for (const PeakBuffer& buffer : report.largest) {
    json["largest"].push_back(Json{{"name", buffer.name},
                                   {"offset", placed ? Json(buffer.offset.count()) : Json(nullptr)},
                                   {"size_bytes", buffer.size.count()},
                                   {"instants", buffer.lifetime},
                                   {"saves_bytes", buffer.saves.count()}});
  }
  if (report.hole) {
    json["hole"] = Json{{"offset", report.hole->offset.count()},
                        {"size_bytes", report.hole->size.count()},
                        {"above", report.hole->above},
                        {"above_instants", report.hole->above_lifetime},
                        {"instant", report.hole->instant},
                        {"saves_moved_bytes", or_null(report.hole->saves_moved)},
                        {"saves_split_bytes", or_null(report.hole->saves_split)},
                        {"split_at", report.hole->split_at}};
  }
}

}  // namespace

std::string to_json(const PackReport& report) {
  const Plan& plan = report.plan;
  const bool placed = has_plan(report);
  Json json =
      Json{{"schema", "tidemark.pack/1"},
           {"tool_version", kToolVersion},
           {"instance", report.instance},
           {"buffers", report.buffers},
           {"capacity", or_null(report.capacity)},
           {"planner", plan.planner},
           {"status", name_of(plan.status)},
           {"peak_bytes", placed ? Json(plan.peak.count()) : Json(nullptr)},
           {"lower_bound_bytes", plan.lower_bound.count()},
           {"load_bytes", report.load.count()},
           {"no_reuse_bytes", report.no_reuse.count()},
           {"nodes", plan.nodes},
           {"solve_wall_ns", report.solve_wall.count()},
           {"limited_by_time", report.limited_by_time},
           {"peak_instant", report.peak_instant},
           {"peak_buffers", report.peak_buffers},
           {"largest", Json::array()},
           {"hole", nullptr},
           {"groups", report.groups},
           {"apart", report.apart},
           {"bank_bytes", report.bank.count()},
           {"hints", report.hints},
           {"hints_met", report.hints_met},
           {"explained_pool", report.explained.empty() ? Json(nullptr) : Json(report.explained)},
           {"bound", nullptr},
           {"pools", pack_pools_json(report)},
           {"spilled", report.spilled},
           {"spilled_bytes", report.spilled_bytes.count()},
           {"conflict", nullptr},
           {"unplaced", report.unplaced},
           {"notes", report.notes}};
  add_explanation(json, report);
  return printed(json);
}

}  // namespace tidemark

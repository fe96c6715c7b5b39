#include "planner/report/residency_json.h"

namespace tidemark {
namespace {

Json process_json(const ProcessFacts& process) {
  Json curve = Json::array();
  for (const ProcessPoint& point : process.curve) {
    curve.push_back(Json{{"t_ns", point.time.count()},
                         {"rss_bytes", point.rss.count()},
                         {"pss_bytes", point.pss.count()}});
  }
  return Json{{"start_ns", process.start.count()},        {"ttft_ns", process.ttft.count()},
              {"tpot_ns", or_null(process.tpot)},         {"own_bytes", process.own.count()},
              {"rss_bytes", process.rss.count()},         {"pss_bytes", process.pss.count()},
              {"bytes_read", process.bytes_read.count()}, {"page_faults", process.page_faults},
              {"minor_faults", process.minor_faults},     {"curve", curve}};
}

Json expert_json(const ExpertFacts& facts) {
  return Json{{"layers", facts.layers},
              {"experts", facts.experts},
              {"used", facts.used},
              {"expert_bytes", facts.expert.count()},
              {"slots", facts.slots > 0 ? Json(facts.slots) : Json(nullptr)},
              {"capacity_bytes", facts.capacity.count()},
              {"decode_hits", facts.hits},
              {"decode_misses", facts.misses},
              {"read_per_token_bytes", or_null(facts.read_per_token)}};
}

Json row_json(const ColdRowFacts& facts) {
  return Json{{"neurons", facts.neurons},
              {"kept", facts.kept},
              {"cold_bytes", facts.cold.count()},
              {"request_bytes", facts.request.count()},
              {"requests_per_token", facts.requests_per_token},
              {"read_per_token_bytes", facts.read_per_token.count()}};
}

}  // namespace

void add_residency_json(const SimReport& report, Json& json) {
  if (report.prefetch) {
    json["prefetch"] = Json{{"begun", report.prefetch->begun},
                            {"late", report.prefetch->late},
                            {"lost", report.prefetch->lost}};
  }
  if (report.experts) json["experts"] = expert_json(*report.experts);
  if (report.rows) json["rows"] = row_json(*report.rows);
  if (report.processes.empty()) return;
  json["processes"] = Json::array();
  for (const ProcessFacts& process : report.processes) {
    json["processes"].push_back(process_json(process));
  }
}

}  // namespace tidemark

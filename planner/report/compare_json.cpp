#include "planner/report/compare_report.h"
#include "planner/report/json_document.h"

namespace tidemark {
namespace {

// Counts and bytes have keys of their own.
Json term_json(const ComparedTerm& term) {
  const std::string unit = counts_something(term.kind) ? "_count" : "_bytes";
  Json json = Json{{"term", key_of(term.kind)}, {"device", term.device}, {"line", term.line}};
  json["logged" + unit] = term.logged.value;
  json["rounding" + unit] = term.logged.rounding;
  json["predicted" + unit] = or_null(term.predicted);
  json["difference" + unit] = term.predicted ? Json(term.difference()) : Json(nullptr);
  json["judged"] = term.judged && term.predicted.has_value();
  json["over"] = term.over;
  json["reason"] = term.reason.empty() ? Json(nullptr) : Json(term.reason);
  return json;
}

Json run_json(const Comparison& run) {
  Json json = Json{{"engine", name_of(run.engine)},
                   {"age", run.age},
                   {"model", run.model},
                   {"model_origin", run.model_origin},
                   {"weights_origin", run.weights_origin},
                   {"settings", Json::array()},
                   {"missing", run.missing},
                   {"terms", Json::array()},
                   {"notes", run.notes},
                   {"compared", run.compared()},
                   {"within_tolerance", !run.any_over()}};
  for (const ComparedSetting& setting : run.settings) {
    json["settings"].push_back(
        Json{{"key", setting.key}, {"value", setting.value}, {"origin", setting.origin}});
  }
  for (const ComparedTerm& term : run.terms) json["terms"].push_back(term_json(term));
  return json;
}

}  // namespace

std::string to_json(const CompareReport& report) {
  Json json = Json{{"schema", "tidemark.compare/1"},
                   {"tool_version", kToolVersion},
                   {"file", report.file},
                   {"tolerance", static_cast<double>(report.tolerance_per_mille) / 1000},
                   {"within_tolerance", !any_over(report)},
                   {"runs", Json::array()},
                   {"notes", report.notes}};
  for (const Comparison& run : report.runs) json["runs"].push_back(run_json(run));
  return printed(json);
}

}  // namespace tidemark

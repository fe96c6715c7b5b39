#include <cmath>

#include "planner/report/json_document.h"
#include "planner/report/quant_report.h"

namespace tidemark {
namespace {

// What is not measured, or infinite, is null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json outcome_json(const std::string& format, const QuantOutcome& outcome) {
  const bool measured = !outcome.as_stored;
  return Json{{"format", format},
              {"bytes", outcome.bytes.count()},
              {"as_stored", outcome.as_stored},
              {"exact", measured && std::isinf(outcome.sqnr_db) && outcome.sqnr_db > 0},
              {"sqnr_db", measured ? number(outcome.sqnr_db) : Json(nullptr)},
              {"max_error", measured ? number(outcome.largest_error) : Json(nullptr)},
              {"rms_error", measured ? number(outcome.rms_error) : Json(nullptr)},
              {"cosine", measured && outcome.cosine ? number(*outcome.cosine) : Json(nullptr)}};
}

Json tensor_json(const QuantReport& report, const QuantTensor& tensor) {
  Json outcomes = Json::array();
  for (size_t i = 0; i < tensor.outcomes.size(); ++i) {
    outcomes.push_back(outcome_json(report.formats[i], tensor.outcomes[i]));
  }
  return Json{{"name", tensor.name},
              {"shape", tensor.shape},
              {"type", tensor.type},
              {"bytes", tensor.bytes.count()},
              {"outcomes", outcomes}};
}

Json kept_json(const KeptTensor& kept) {
  return Json{{"name", kept.name},
              {"shape", kept.shape},
              {"type", kept.type},
              {"bytes", kept.bytes.count()},
              {"reason", kept.reason}};
}

Json total_json(const QuantReport& report, const QuantTotal& total) {
  const auto stored = static_cast<double>(report.stored.count());
  return Json{{"format", total.format},
              {"bytes", total.bytes.count()},
              {"size_ratio", stored > 0 ? Json(static_cast<double>(total.bytes.count()) / stored)
                                        : Json(nullptr)},
              {"quantized", total.quantized},
              {"exact", total.exact},
              {"mean_sqnr_db", or_null(total.mean_sqnr_db)},
              {"worst_sqnr_db", or_null(total.worst_sqnr_db)},
              {"worst_tensor", total.worst_sqnr_db ? Json(total.worst_tensor) : Json(nullptr)}};
}

}  // namespace

std::string to_json(const QuantReport& report) {
  const auto or_none = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  Json json = Json{{"schema", "tidemark.quant/1"},
                   {"tool_version", kToolVersion},
                   {"file", report.file},
                   {"file_format", report.file_format},
                   {"granularity", or_none(report.granularity)},
                   {"range", or_none(report.range)},
                   {"asymmetric", report.asymmetric},
                   {"stored_bytes", report.stored.count()},
                   {"left_out", report.left_out},
                   {"totals", Json::array()},
                   {"tensors", Json::array()},
                   {"kept", Json::array()},
                   {"notes", report.notes}};
  for (const QuantTotal& total : report.totals) json["totals"].push_back(total_json(report, total));
  const auto shown = shown_tensors(report);
  const std::vector<JsonRows> rows{
      {.key = "tensors",
       .count = shown.size(),
       .row = [&](size_t i) { return tensor_json(report, report.tensors[shown[i]]); }},
      {.key = "kept", .count = report.kept.size(), .row = [&](size_t i) {
         return kept_json(report.kept[i]);
       }}};
  return printed(json, rows);
}

}  // namespace tidemark

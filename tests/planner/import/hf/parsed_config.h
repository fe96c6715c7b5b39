// A config.json given as text, read, and what its model counts.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/import/hf/hf_config.h"
#include "planner/model/weights.h"

namespace tidemark::testing {

// Nothing but a failed test when the text is refused.
inline ImportedModel parsed(std::string_view json) {
  const Result<ImportedModel> model = parse_hf_config("config.json", json, {});
  EXPECT_TRUE(model.ok()) << to_string(model.diagnostics());
  return model.ok() ? *model : ImportedModel{};
}

inline int64_t parameters_of(std::string_view json) {
  const ImportedModel imported = parsed(json);
  return imported.format.empty() ? -1 : parameter_count(imported.model);
}

// All messages of a refused text; empty when it is accepted.
inline std::string refusal_of(std::string_view json) {
  const Result<ImportedModel> model = parse_hf_config("config.json", json, {});
  return model.ok() ? std::string() : to_string(model.diagnostics());
}

// A published model: the keys of its config.json that matter, its total and where that stands.
struct PublishedConfig {
  const char* name = "";
  const char* json = "";
  int64_t parameters = 0;
  const char* source = "";
};

inline void expect_published(const PublishedConfig& row) {
  SCOPED_TRACE(std::string(row.name) + ": " + row.source);
  const int64_t counted = parameters_of(row.json);
  EXPECT_EQ(counted, row.parameters) << "off by " << counted - row.parameters;
}

// `json` with one of its numbers or switches replaced by something that does not belong there.
inline std::string with_one_wrong_value(std::string json) {
  std::vector<std::pair<size_t, size_t>> values;  // where each begins, and how long it is
  for (size_t i = 0; i + 1 < json.size(); ++i) {
    const bool begins = json[i] == ' ' || json[i] == '[';
    if (!begins || !std::isalnum(static_cast<unsigned char>(json[i + 1]))) continue;
    const size_t end = json.find_first_of(",}] \n", i + 1);
    if (end != std::string::npos) values.emplace_back(i + 1, end - i - 1);
  }
  const auto [at, size] = *rc::gen::elementOf(values);
  const std::string wrong = *rc::gen::element<std::string>(
      "0", "-1", "1", "3", "7", "1000", "65535", "65536", "16777216", "67108864",
      "9223372036854775807", "1e300", "0.001", "null", "true", "\"x\"", "[]", "[1]", "{}");
  return json.replace(at, size, wrong);
}

// Two wrong values: a spec that can be counted, or a refusal that says why.
inline void judge_wrong_values(const char* json) {
  const std::string wrong = with_one_wrong_value(with_one_wrong_value(json));
  const Result<ImportedModel> model = parse_hf_config("config.json", wrong, {});
  if (model.ok()) {
    RC_ASSERT(parameter_count(model->model) > 0);
  } else {
    RC_ASSERT(!to_string(model.diagnostics()).empty());
  }
}

}  // namespace tidemark::testing

// A config.json given as text, read, and what its model counts.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

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

}  // namespace tidemark::testing

#include "planner/report/engine_listing.h"

#include <fmt/core.h>

#include <algorithm>

#include "planner/report/escape.h"
#include "planner/report/json_document.h"
#include "planner/report/layout.h"
#include "planner/report/report.h"

namespace tidemark {
namespace {

// Numbers from 1, in the order of first use.
class Sources {
 public:
  size_t number_of(const std::string& source) {
    const auto known = std::find(sources_.begin(), sources_.end(), source);
    const auto index = static_cast<size_t>(known - sources_.begin());
    if (known == sources_.end()) sources_.push_back(source);
    return index + 1;
  }

  std::string text() const {
    std::string out;
    for (size_t i = 0; i < sources_.size(); ++i) {
      out +=
          paragraph(i == 0 ? "Sources" : "", fmt::format("[{}] {}", i + 1, one_line(sources_[i])));
    }
    return out;
  }

 private:
  std::vector<std::string> sources_{};
};

std::string runtime_text(const ListedEngine& engine, const RuntimeFeatures& runtime,
                         Sources& sources) {
  std::string out =
      fmt::format("\n{} (profile {})\n", one_line(runtime.runtime), one_line(engine.name));
  for (const FeatureKey& key : feature_keys()) {
    const EngineFeature& cell = runtime.*key.cell;
    out += paragraph(key.label,
                     fmt::format("{} [{}]", one_line(cell.value), sources.number_of(cell.source)));
  }
  return out;
}

std::vector<std::string> runtime_row(const ListedEngine& engine, const RuntimeFeatures* runtime) {
  std::vector<std::string> row{engine.name, engine.version, engine.summary,
                               runtime == nullptr ? "" : runtime->runtime};
  for (const FeatureKey& key : feature_keys()) {
    row.push_back(runtime == nullptr ? "" : (runtime->*key.cell).value);
    row.push_back(runtime == nullptr ? "" : (runtime->*key.cell).source);
  }
  return row;
}

}  // namespace

std::string engines_to_text(std::span<const ListedEngine> engines) {
  std::string out;
  for (const ListedEngine& engine : engines) {
    const std::string version = engine.version.empty() ? "" : one_line(engine.version) + ": ";
    out += paragraph(one_line(engine.name), version + one_line(engine.summary));
  }
  Sources sources;
  std::string runtimes;
  for (const ListedEngine& engine : engines) {
    for (const RuntimeFeatures& runtime : engine.features) {
      runtimes += runtime_text(engine, runtime, sources);
    }
  }
  if (runtimes.empty()) return out;
  return out + runtimes + "\n" + sources.text();
}

Listing engine_rows(std::span<const ListedEngine> engines) {
  Listing listing{.columns = {"engine", "version", "summary", "runtime"}};
  for (const FeatureKey& key : feature_keys()) {
    listing.columns.emplace_back(key.key);
    listing.columns.push_back(std::string(key.key) + "_source");
  }
  for (const ListedEngine& engine : engines) {
    if (engine.features.empty()) listing.rows.push_back(runtime_row(engine, nullptr));
    for (const RuntimeFeatures& runtime : engine.features) {
      listing.rows.push_back(runtime_row(engine, &runtime));
    }
  }
  return listing;
}

std::string engines_to_json(std::span<const ListedEngine> engines) {
  Json rows = Json::array();
  Json features = Json::array();
  for (const ListedEngine& engine : engines) {
    rows.push_back(
        Json{{"engine", engine.name}, {"version", engine.version}, {"summary", engine.summary}});
    for (const RuntimeFeatures& runtime : engine.features) {
      Json cells{{"engine", engine.name}, {"runtime", runtime.runtime}};
      for (const FeatureKey& key : feature_keys()) {
        const EngineFeature& cell = runtime.*key.cell;
        cells[std::string(key.key)] = Json{{"value", cell.value}, {"source", cell.source}};
      }
      features.push_back(std::move(cells));
    }
  }
  return printed(Json{{"schema", "tidemark.list/1"},
                      {"tool_version", kToolVersion},
                      {"list", "engines"},
                      {"rows", std::move(rows)},
                      {"features", std::move(features)}});
}

}  // namespace tidemark

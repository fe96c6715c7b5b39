// tidemark list WHAT: what there is, one line each.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "options.h"
#include "planner/alloc/planners.h"
#include "planner/base/units.h"
#include "planner/config/load.h"
#include "planner/config/yaml_reader.h"
#include "planner/model/quantized_weights.h"
#include "planner/model/weights.h"
#include "planner/report/engine_listing.h"
#include "planner/report/tables.h"
#include "render.h"

namespace tidemark::cli {
namespace {

// One line about each shipped file; a broken one is listed with its first problem instead of being
// hidden.
template <typename Spec>
Listing list_files(ConfigKind kind, Listing listing, Result<Spec> (*load)(std::string_view),
                   const std::function<std::vector<std::string>(const Spec&)>& cells) {
  for (const std::string& name : list_configs(kind)) {
    std::vector<std::string> row = {name};
    const Result<Spec> spec = load(name);
    if (spec) {
      for (std::string& cell : cells(*spec)) row.push_back(std::move(cell));
    } else {
      row.push_back("cannot be read: " + spec.diagnostics().front().message);
      row.resize(listing.columns.size());
    }
    listing.rows.push_back(std::move(row));
  }
  return listing;
}

Listing list_models() {
  return list_files<ModelSpec>(
      ConfigKind::kModel,
      {.columns = {"model", "architecture", "layers", "parameters", "stored_as"}}, &load_model,
      [](const ModelSpec& model) -> std::vector<std::string> {
        const Result<WeightsInventory> stored = quantized_weights(model, Quantization{});
        const WeightsInventory weights = stored ? *stored : WeightsInventory{};
        const bool sized = model.layer_list() != nullptr;
        return {model.architecture, std::to_string(model.n_layer()),
                sized ? format_bytes(weights.bytes) : format_count(weights.parameters),
                std::string(stored_name(model))};
      });
}

Listing list_devices() {
  return list_files<DeviceSpec>(
      ConfigKind::kDevice,
      {.columns = {"device", "memory", "for_apps", "flash_read", "description"}}, &load_device,
      [](const DeviceSpec& device) -> std::vector<std::string> {
        return {format_bytes(device.ram_total), format_bytes(device.app_available),
                format_bandwidth(device.flash_read), device.description};
      });
}

// A broken profile is listed with its first problem.
std::vector<ListedEngine> listed_engines() {
  std::vector<ListedEngine> engines;
  for (const std::string& name : list_configs(ConfigKind::kEngine)) {
    const Result<EngineProfile> profile = load_engine(name);
    if (profile) {
      engines.push_back({.name = name,
                         .version = profile->version,
                         .summary = profile->summary,
                         .features = profile->features});
    } else {
      engines.push_back(
          {.name = name, .summary = "cannot be read: " + profile.diagnostics().front().message});
    }
  }
  return engines;
}

// Wider than a table: text of its own, and more in JSON.
int run_list_engines(const OutputOptions& output) {
  const std::vector<ListedEngine> engines = listed_engines();
  switch (output.format) {
    case OutputFormat::kJson:
      return emit(output, engines_to_json(engines), kYes);
    case OutputFormat::kCsv:
      return emit(output, to_csv(engine_rows(engines)), kYes);
    case OutputFormat::kMarkdown:
      return emit(output, to_markdown(engine_rows(engines)), kYes);
    case OutputFormat::kTable:
      break;
  }
  return emit(output, engines_to_text(engines), kYes);
}

Listing list_scenarios() {
  Listing listing{.columns = {"scenario"}};
  for (const std::string& name : list_configs(ConfigKind::kScenario))
    listing.rows.push_back({name});
  return listing;
}

Listing list_sweeps() {
  Listing listing{.columns = {"sweep"}};
  for (const std::string& name : list_configs(ConfigKind::kSweep)) listing.rows.push_back({name});
  return listing;
}

Listing list_strategies() {
  return {
      .columns = {"strategy", "resident", "reads"},
      .rows = {
          {"resident", "all weights", "once, before the first token"},
          {"layerwise", "one weight unit at a time", "every unit, every pass, not overlapped"},
          {"double-buffer", "two units in slots that alternate",
           "the next unit while this one computes"},
          {"chunked", "two chunks: --chunk layers, or parts of a layer",
           "the next chunk while this one computes"},
          {"mmap", "pages of the mapped file that the page cache keeps", "on a page fault, ahead"},
          {"block-cache", "what the cache policy keeps", "on a miss"}}};
}

std::string kind_word(QuantKind kind) {
  if (kind == QuantKind::kAsStored) return "as stored";
  return kind == QuantKind::kFileType ? "GGUF file type" : "format";
}

Listing list_quants() {
  Listing listing{.columns = {"quant", "kind", "bits_per_weight", "summary"}};
  for (const QuantizationInfo& info : quantizations()) {
    const bool is_known = info.bits_per_weight > 0;
    listing.rows.push_back({info.name, kind_word(info.kind),
                            is_known ? fmt::format("{:.2f}", info.bits_per_weight) : "-",
                            info.summary});
  }
  return listing;
}

Listing list_planners() {
  Listing listing{.columns = {"planner", "summary"}};
  for (const PlannerInfo& planner : planners()) {
    listing.rows.push_back({std::string(planner.name), std::string(planner.summary)});
  }
  return listing;
}

Listing list_settings() {
  Listing listing{.columns = {"key", "flags", "default", "meaning"}};
  for (const SettingInfo& setting : settings_table()) {
    listing.rows.push_back({std::string(setting.key), std::string(setting.flags),
                            std::string(setting.fallback), std::string(setting.help)});
  }
  return listing;
}

struct Topic {
  const char* name;
  Listing (*make)();  // nullptr: run_list_engines
};

constexpr Topic kTopics[] = {
    {"models", &list_models},       {"devices", &list_devices},   {"engines", nullptr},
    {"scenarios", &list_scenarios}, {"sweeps", &list_sweeps},     {"strategies", &list_strategies},
    {"quants", &list_quants},       {"planners", &list_planners}, {"settings", &list_settings}};

Diagnostics unknown_topic(const std::string& what) {
  std::vector<std::string> names;
  std::string all;
  for (const Topic& topic : kTopics) {
    names.emplace_back(topic.name);
    all += (all.empty() ? "" : ", ") + names.back();
  }
  const std::optional<std::string> near = did_you_mean(what, names);
  return one_error("list", fmt::format("there is no list of '{}'", what),
                   near ? fmt::format("did you mean {}?", *near) : "one of " + all);
}

}  // namespace

int run_list(const ListOptions& options) {
  const auto* topic =
      std::find_if(std::begin(kTopics), std::end(kTopics),
                   [&](const Topic& candidate) { return options.what == candidate.name; });
  if (topic == std::end(kTopics)) return fail(unknown_topic(options.what));
  if (topic->make == nullptr) return run_list_engines(options.output);
  const Listing listing = topic->make();
  return emit(options.output, render(listing, options.what, options.output), kYes);
}

}  // namespace tidemark::cli

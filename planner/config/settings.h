// The settings table: every choice a run takes, by one name everywhere (flag --ctx-size,
// environment TIDEMARK_CTX_SIZE, YAML key ctx_size, JSON settings.ctx_size). Precedence: flag >
// environment > scenario file > engine profile > default.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/result.h"
#include "planner/capacity/scenario.h"

namespace tidemark {

struct SettingInfo {
  std::string_view key{};  // "ctx_size"
  std::string_view
      flags{};  // "-c,--ctx-size"; empty = no flag of its own (the MODEL argument, --set only)
  std::string_view value{};  // how help writes the value: "N", "SIZE", "NAME"; empty = on or off
  std::string_view
      fallback{};           // shown default; empty = none, or taken from the model or the engine
  std::string_view help{};  // one line
  bool takes_list = false;  // several values, with commas, make several runs
};

std::span<const SettingInfo> settings_table();

// A value as the user wrote it.
struct SettingText {
  std::string text{};
  std::string origin{};  // "flag --ctx-size", "environment TIDEMARK_CTX_SIZE", "scenario x.yaml:3"
  SourcePos where{};     // only when it came from a file
};

// Key -> value. Stronger layers overwrite weaker ones with merge().
using SettingMap = std::map<std::string, SettingText, std::less<>>;

// nullptr for an unknown key.
const SettingInfo* find_setting(std::string_view key);
std::vector<std::string> setting_keys();
// Hint for a key that is no setting.
std::string setting_hint(std::string_view wrong_key);

// TIDEMARK_<KEY> for every key of the table; empty variables count as unset.
SettingMap settings_from_environment();

// A scenario file: `schema: scenario/1`, an optional `description`, then settings by key; a YAML
// list is joined by commas. Unknown keys are diagnostics. A relative path of a model, device or
// engine counts from the file's folder.
Result<SettingMap> load_scenario_file(std::string_view name_or_path);
Result<SettingMap> parse_scenario(const std::string& file, std::string_view text);

// A problem with a setting, placed where its text came from: a file, a flag or an environment
// variable.
Diagnostic setting_problem(std::string_view key, const SettingText& setting, std::string message,
                           std::string hint = "");

// `--set key=value`.
Result<SettingMap> setting_from_assignment(std::string_view assignment);

// Entries of `stronger` win.
SettingMap merge(SettingMap weaker, const SettingMap& stronger);

// Loads model, device and engine, parses and checks every value, applies defaults, records origins.
// All problems at once. Feeding Scenario::settings back gives the same scenario.
Result<Scenario> resolve_scenario(const SettingMap& settings);

// Values given as lists ("resident,layerwise") -> one map per combination, in order, the last key
// fastest. Only keys that allow it (model, device, engine, quant, strategy, planner, op_order,
// cache_policy); at most 1000 maps.
Result<std::vector<SettingMap>> expand_lists(const SettingMap& settings);

}  // namespace tidemark

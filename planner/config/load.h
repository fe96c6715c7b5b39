// YAML files -> specs. All problems of a file come back at once.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/result.h"
#include "planner/capacity/device_spec.h"
#include "planner/engine/engine_profile.h"
#include "planner/model/model_spec.h"

namespace tidemark {

enum class ConfigKind { kModel, kDevice, kEngine, kScenario, kSweep };
std::string_view name_of(ConfigKind kind);    // "model", "device", ...
std::string_view folder_of(ConfigKind kind);  // "models", "devices", ...

// `file` is only used in positions.
Result<ModelSpec> parse_model(const std::string& file, std::string_view text);
Result<DeviceSpec> parse_device(const std::string& file, std::string_view text);
Result<EngineProfile> parse_engine(const std::string& file, std::string_view text);

Result<ModelSpec> load_model(std::string_view name_or_path);
Result<DeviceSpec> load_device(std::string_view name_or_path);
Result<EngineProfile> load_engine(std::string_view name_or_path);

// Is the text a path (contains '/' or ends in .yaml, .gguf, .safetensors or .json) rather than a
// name?
bool is_config_path(std::string_view name_or_path);

// A name ("minicpm-2b") or a path -> an existing file. Names are looked up in TIDEMARK_CONFIG_PATH
// (colon-separated), then beside the source tree, then in the installed share folder; the first
// that has the file wins. An unknown name lists what there is, nearest first.
Result<std::filesystem::path> find_config(ConfigKind kind, std::string_view name_or_path);

// The text of a configuration file, bounded.
Result<std::string> read_config(const std::filesystem::path& path);

// Names of all files of a kind on the search path, sorted, each once.
std::vector<std::string> list_configs(ConfigKind kind);

}  // namespace tidemark

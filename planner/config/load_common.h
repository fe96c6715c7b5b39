// What the loaders of models, devices, engines and settings share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/units.h"
#include "planner/config/load.h"
#include "planner/config/yaml_reader.h"
#include "planner/model/dtype.h"

namespace tidemark {

// Reads `schema`. False when the file says it is something else; then reading on would only add
// noise.
bool is_schema(YamlMap& map, std::string_view schema);

// Where a number format is used decides which formats are sensible there.
enum class DTypeUse {
  kWeights,
  kStoredWeights,  // also what only some matrices of a file have: Q5_0 where rows are short
  kCache,
  kActivations
};

// The named format, or why it cannot be used there, listing those that can.
Parsed<DType> parse_dtype_for(DTypeUse use, std::string_view text);

// The same for a required key of a mapping.
std::optional<DType> read_dtype(YamlMap& map, std::string_view key, DTypeUse use);

// "a, b,c" -> a b c; nullopt when an entry is empty.
std::optional<std::vector<std::string>> split_list(std::string_view text);

// name_or_path -> text of the file -> parse(file, text).
template <typename T>
Result<T> load_with(ConfigKind kind, std::string_view name_or_path,
                    Result<T> (*parse)(const std::string&, std::string_view)) {
  const Result<std::filesystem::path> path = find_config(kind, name_or_path);
  if (!path) return path.diagnostics();
  const Result<std::string> text = read_config(*path);
  if (!text) return text.diagnostics();
  return parse(path->string(), *text);
}

}  // namespace tidemark

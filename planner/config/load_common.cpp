#include "planner/config/load_common.h"

#include <fmt/core.h>

#include <algorithm>

namespace tidemark {
namespace {

bool is_sensible(DTypeUse use, const Format& format) {
  switch (use) {
    case DTypeUse::kWeights:
      return format.selectable;
    case DTypeUse::kStoredWeights:
      return format.selectable || format.ggml_id >= 0;
    case DTypeUse::kCache:
      return format.cache;
    case DTypeUse::kActivations:  // int8 is what the replay's kernels compute in
      return format.dtype == DType::kInt8 || (!format.quantized && format.selectable);
  }
  return false;
}

std::string_view noun(DTypeUse use) {
  if (use == DTypeUse::kCache) return "a KV cache type";
  return use == DTypeUse::kActivations ? "an activation type" : "a weight format";
}

}  // namespace

bool is_schema(YamlMap& map, std::string_view schema) {
  const std::optional<std::string> stated = map.text("schema");
  if (!stated || *stated == schema) return true;
  map.error("schema", fmt::format("{} is not {}", in_quotes(*stated), in_quotes(schema)),
            "this file is read as another kind or another version than it says");
  return false;
}

Parsed<DType> parse_dtype_for(DTypeUse use, std::string_view text) {
  const std::optional<DType> dtype = parse_dtype(text);
  if (dtype && is_sensible(use, format_of(*dtype))) return *dtype;
  std::vector<std::string> names;
  const DTypeUse listed = use == DTypeUse::kStoredWeights ? DTypeUse::kWeights : use;
  for (const Format& format : formats()) {
    if (is_sensible(listed, format)) names.emplace_back(format.name);
  }
  return UnitError{fmt::format("{} is not {}", in_quotes(text), noun(use)),
                   suggestion(text, "there are", names)};
}

std::optional<DType> read_dtype(YamlMap& map, std::string_view key, DTypeUse use) {
  const std::optional<std::string> text = map.text(key);
  if (!text) return std::nullopt;
  const Parsed<DType> parsed = parse_dtype_for(use, *text);
  if (const auto* error = std::get_if<UnitError>(&parsed)) {
    map.error(key, error->message, error->hint);
    return std::nullopt;
  }
  return std::get<DType>(parsed);
}

std::optional<std::vector<std::string>> split_list(std::string_view text) {
  std::vector<std::string> entries;
  while (true) {
    const size_t end = std::min(text.find(','), text.size());
    std::string_view entry = text.substr(0, end);
    entry.remove_prefix(std::min(entry.find_first_not_of(' '), entry.size()));
    entry = entry.substr(0, entry.find_last_not_of(' ') + 1);
    if (entry.empty()) return std::nullopt;
    entries.emplace_back(entry);
    if (end == text.size()) return entries;
    text.remove_prefix(end + 1);
  }
}

}  // namespace tidemark

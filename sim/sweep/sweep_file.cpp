#include "sim/sweep/sweep_file.h"

#include <fmt/core.h>

#include <algorithm>

#include "planner/config/load.h"
#include "planner/config/yaml_reader.h"

namespace tidemark {
namespace {

constexpr std::string_view kSchema = "sweep/1";

void read_schema(YamlMap& root) {
  const auto schema = root.text("schema");
  if (schema && *schema != kSchema) {
    root.error("schema", fmt::format("{} is no sweep file", in_quotes(*schema)),
               fmt::format("a sweep file begins with `schema: {}`", kSchema));
  }
}

// One of the two mappings; both may be left out.
GridTexts read_texts(YamlMap& root, const std::string& file, std::string_view name) {
  GridTexts texts;
  if (!root.has(name)) return texts;
  std::optional<YamlMap> map = root.map(name);
  if (!map) return texts;
  for (auto& [key, value] : map->all_texts()) {
    texts.emplace_back(key,
                       SettingText{.text = std::move(value.text),
                                   .origin = fmt::format("sweep {}:{}", file, value.where.line),
                                   .where = value.where});
  }
  map->finish();
  return texts;
}

bool contains(const GridTexts& texts, const std::string& key) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const auto& entry) { return entry.first == key; });
}

// What the two mappings together must satisfy.
void check_texts(const GridTexts& settings, const GridTexts& axes, Diagnostics& problems) {
  const Result<Grid> fixed = make_grid(settings);
  if (fixed) {
    for (const GridAxis& axis : fixed->axes) {
      problems.push_back(grid_error(
          axis.key, axis.source,
          {"a fixed setting has one value", fmt::format("move {} to axes to vary it", axis.key)}));
    }
  }
  for (const auto& [key, text] : axes) {
    if (!contains(settings, key)) continue;
    problems.push_back(grid_error(
        key, text, {fmt::format("{} stands in settings and in axes", key), "keep one of the two"}));
  }
  for (const Result<Grid>& part : {fixed, make_grid(axes)}) {
    problems.insert(problems.end(), part.diagnostics().begin(), part.diagnostics().end());
  }
}

bool by_position(const Diagnostic& a, const Diagnostic& b) {
  return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
}

}  // namespace

Result<GridTexts> parse_sweep(const std::string& file, std::string_view text) {
  YamlDocument document(file, text);
  Diagnostics problems;
  GridTexts texts;
  if (std::optional<YamlMap> root = document.root()) {
    read_schema(*root);
    if (root->has("description")) root->text("description");
    texts = read_texts(*root, file, "settings");
    const GridTexts axes = read_texts(*root, file, "axes");
    root->finish();
    check_texts(texts, axes, problems);
    texts.insert(texts.end(), axes.begin(), axes.end());
  }
  problems.insert(problems.begin(), document.diagnostics().begin(), document.diagnostics().end());
  std::stable_sort(problems.begin(), problems.end(), by_position);
  if (has_errors(problems)) return problems;
  return texts;
}

Result<GridTexts> load_sweep(std::string_view name_or_path) {
  const Result<std::filesystem::path> path = find_config(ConfigKind::kSweep, name_or_path);
  if (!path) return path.diagnostics();
  const Result<std::string> text = read_config(*path);
  if (!text) return text.diagnostics();
  return parse_sweep(path->string(), *text);
}

}  // namespace tidemark

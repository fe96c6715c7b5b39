#include "sim/sweep/grid.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "planner/base/checked.h"
#include "planner/config/did_you_mean.h"

namespace tidemark {
namespace {

UnitError unknown_key(const std::string& key) {
  const auto near = did_you_mean(key, setting_keys());
  return {fmt::format("there is no setting {}", in_quotes(key)),
          near ? fmt::format("did you mean {}?", *near) : "see `tidemark list settings`"};
}

void add(Grid& grid, const std::string& key, const SettingText& text,
         std::vector<std::string> values) {
  if (values.size() > 1) {
    grid.axes.push_back({.key = key, .values = std::move(values), .source = text});
    return;
  }
  SettingText single = text;
  single.text = std::move(values.front());
  grid.fixed.emplace(key, std::move(single));
}

// The product of the axes, or what makes it too large. No axis is empty.
std::optional<Diagnostic> too_many(const Grid& grid) {
  int64_t product = 1;
  std::string factors;
  for (const GridAxis& axis : grid.axes) {
    const int64_t size = std::ssize(axis.values);
    factors += fmt::format("{}{} {}", factors.empty() ? "" : " x ", axis.key, size);
    product = product > kMostScenarios ? product : checked_mul(product, size);
  }
  if (product <= kMostScenarios) return std::nullopt;
  return Diagnostic{.path = "sweep",
                    .message = fmt::format("{} makes more than {} scenarios", factors,
                                           format_count(kMostScenarios)),
                    .hint = "split the sweep, or take larger steps"};
}

}  // namespace

AxisKind axis_kind(const SettingInfo& setting) {
  if (setting.value == "N" || setting.value == "N|1/N") return AxisKind::kNumber;
  if (setting.value == "N|SIZE") return AxisKind::kCountOrSize;
  if (setting.value == "SIZE") return AxisKind::kSize;
  // "UNIT,...": the commas belong to the value.
  if (setting.value.find(',') != std::string_view::npos) return AxisKind::kWhole;
  return AxisKind::kName;
}

Diagnostic grid_error(const std::string& key, const SettingText& text, const UnitError& error) {
  return setting_problem(key, text, error.message, error.hint);
}

GridTexts overlay(GridTexts weaker, const SettingMap& stronger) {
  std::set<std::string, std::less<>> replaced;
  for (auto& [key, text] : weaker) {
    const auto found = stronger.find(key);
    if (found == stronger.end()) continue;
    text = found->second;
    replaced.insert(key);
  }
  for (const SettingInfo& setting : settings_table()) {
    const auto found = stronger.find(setting.key);
    if (found != stronger.end() && !replaced.contains(setting.key)) weaker.push_back(*found);
  }
  return weaker;
}

Result<Grid> make_grid(const GridTexts& texts) {
  Grid grid;
  Diagnostics problems;
  for (const auto& [key, text] : texts) {
    const SettingInfo* setting = find_setting(key);
    if (setting == nullptr) {
      problems.push_back(grid_error(key, text, unknown_key(key)));
      continue;
    }
    Parsed<std::vector<std::string>> values = axis_values(axis_kind(*setting), text.text);
    if (const auto* error = std::get_if<UnitError>(&values)) {
      problems.push_back(grid_error(key, text, *error));
      continue;
    }
    add(grid, key, text, std::get<std::vector<std::string>>(std::move(values)));
  }
  if (const auto problem = too_many(grid)) problems.push_back(*problem);
  if (!problems.empty()) return problems;
  return grid;
}

int64_t Grid::count() const {
  int64_t product = 1;
  for (const GridAxis& axis : axes) product = checked_mul(product, std::ssize(axis.values));
  return product;
}

SettingMap Grid::at(int64_t index) const {
  check(index >= 0 && index < count(), "a grid point lies inside the grid");
  SettingMap settings = fixed;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    const int64_t size = std::ssize(axis->values);
    SettingText text = axis->source;
    text.text = axis->values[static_cast<size_t>(index % size)];
    settings.insert_or_assign(axis->key, std::move(text));
    index /= size;
  }
  return settings;
}

}  // namespace tidemark

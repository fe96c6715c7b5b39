#include "planner/import/hf/config_reader.h"

#include <fmt/core.h>

#include <utility>

#include "planner/import/problems.h"

namespace tidemark {

ConfigReader::ConfigReader(ConfigNotes& notes, const ConfigValue& object, std::string path,
                           std::string config_class)
    : notes_(&notes), object_(&object), path_(std::move(path)), class_(std::move(config_class)) {}

std::string ConfigReader::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

bool ConfigReader::has(ConfigKeys keys) const {
  for (const std::string_view key : keys) {
    const ConfigValue* value = object_->find(key);
    if (value != nullptr && value->kind != ConfigKind::kNull) return true;
  }
  return false;
}

const ConfigValue* ConfigReader::take(ConfigKeys keys, std::string_view* found) {
  const ConfigValue* first = nullptr;
  for (const std::string_view key : keys) {
    notes_->read.insert(path_of(key));
    const ConfigValue* value = object_->find(key);
    if (first != nullptr || value == nullptr || value->kind == ConfigKind::kNull) continue;
    first = value;
    if (found != nullptr) *found = key;
  }
  return first;
}

void ConfigReader::problem(std::string_view key, const ConfigValue& at, std::string message,
                           std::string hint) {
  if (std::ssize(notes_->problems) >= kMostProblems) return;
  notes_->problems.push_back({.where = position_of(notes_->file, notes_->text, at.byte),
                              .path = printable(path_of(key)),
                              .message = std::move(message),
                              .hint = std::move(hint)});
}

int64_t ConfigReader::checked(std::string_view key, const ConfigValue& value, IntegerRange range) {
  if (value.kind == ConfigKind::kInteger && value.integer >= range.least &&
      value.integer <= range.most) {
    return value.integer;
  }
  problem(key, value, fmt::format("must be an integer from {} to {}", range.least, range.most));
  return range.least;
}

int64_t ConfigReader::integer(ConfigKeys keys, IntegerRange range) {
  std::string_view key = *keys.begin();
  const ConfigValue* value = take(keys, &key);
  if (value != nullptr) return checked(key, *value, range);
  problem(key, *object_, "is missing");
  return range.least;
}

int64_t ConfigReader::integer(ConfigKeys keys, IntegerRange range, int64_t otherwise,
                              std::string_view why) {
  std::string_view key = *keys.begin();
  const ConfigValue* value = take(keys, &key);
  if (value != nullptr) return checked(key, *value, range);
  record(key, fmt::format("{}", otherwise), why);
  return otherwise;
}

std::optional<int64_t> ConfigReader::optional_integer(ConfigKeys keys, IntegerRange range) {
  std::string_view key = *keys.begin();
  const ConfigValue* value = take(keys, &key);
  if (value == nullptr) return std::nullopt;
  return checked(key, *value, range);
}

std::optional<bool> ConfigReader::optional_boolean(ConfigKeys keys) {
  std::string_view key = *keys.begin();
  const ConfigValue* value = take(keys, &key);
  if (value == nullptr) return std::nullopt;
  if (value->kind == ConfigKind::kBoolean) return value->boolean;
  problem(key, *value, "must be true or false");
  return false;
}

bool ConfigReader::boolean(ConfigKeys keys, bool otherwise, std::string_view why) {
  const std::optional<bool> value = optional_boolean(keys);
  if (value) return *value;
  record(*keys.begin(), otherwise ? "true" : "false", why);
  return otherwise;
}

std::optional<std::string> ConfigReader::optional_text(ConfigKeys keys) {
  std::string_view key = *keys.begin();
  const ConfigValue* value = take(keys, &key);
  if (value == nullptr) return std::nullopt;
  if (value->kind == ConfigKind::kText) return value->text;
  problem(key, *value, "must be a text");
  return std::string();
}

std::string ConfigReader::text(ConfigKeys keys, std::string_view otherwise, std::string_view why) {
  const std::optional<std::string> value = optional_text(keys);
  if (value) return *value;
  record(*keys.begin(), std::string(otherwise), why);
  return std::string(otherwise);
}

std::optional<double> ConfigReader::optional_number(ConfigKeys keys) {
  std::string_view key = *keys.begin();
  const ConfigValue* value = take(keys, &key);
  if (value == nullptr) return std::nullopt;
  if (value->kind == ConfigKind::kInteger || value->kind == ConfigKind::kReal) return value->real;
  problem(key, *value, "must be a number");
  return 0;
}

std::vector<int64_t> ConfigReader::integers(std::string_view key, IntegerRange range) {
  const ConfigValue* value = take({key});
  if (value == nullptr) return {};
  if (value->kind != ConfigKind::kList || std::ssize(value->items) > kLayers.most) {
    problem(key, *value, fmt::format("must be a list of at most {} integers", kLayers.most));
    return {};
  }
  std::vector<int64_t> list;
  for (const ConfigValue& item : value->items) list.push_back(checked(key, item, range));
  return list;
}

std::vector<std::string> ConfigReader::texts(std::string_view key) {
  const ConfigValue* value = take({key});
  if (value == nullptr) return {};
  if (value->kind != ConfigKind::kList || std::ssize(value->items) > kLayers.most) {
    problem(key, *value, fmt::format("must be a list of at most {} texts", kLayers.most));
    return {};
  }
  std::vector<std::string> list;
  for (const ConfigValue& item : value->items) {
    if (item.kind != ConfigKind::kText) problem(key, item, "must hold texts");
    list.push_back(item.text);
  }
  return list;
}

std::optional<ConfigReader> ConfigReader::object(std::string_view key) {
  const ConfigValue* value = take({key});
  if (value == nullptr) return std::nullopt;
  if (value->kind != ConfigKind::kObject) {
    problem(key, *value, "must be an object");
    return std::nullopt;
  }
  ConfigReader nested(*notes_, *value, path_of(key), class_);
  nested.set_parent(this);
  return nested;
}

void ConfigReader::pass_over(ConfigKeys keys) {
  for (const std::string_view key : keys) notes_->read.insert(path_of(key));
}

void ConfigReader::refuse(std::string_view key, std::string message, std::string hint) {
  const ConfigValue* value = object_->find(key);
  problem(key, value == nullptr ? *object_ : *value, std::move(message), std::move(hint));
}

void ConfigReader::record(std::string_view key, std::string value, std::string_view why) {
  notes_->defaults.push_back(
      {.key = path_of(key),
       .value = std::move(value),
       .why = why.empty() ? fmt::format("{}'s default", class_) : std::string(why)});
}

}  // namespace tidemark

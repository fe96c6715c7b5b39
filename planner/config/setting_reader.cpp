#include "planner/config/setting_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

namespace tidemark {

const SettingText* SettingReader::stated(std::string_view key) const {
  const auto found = settings_.find(key);
  return found == settings_.end() ? nullptr : &found->second;
}

template <typename T>
std::optional<T> SettingReader::accept(std::string_view key, const Parsed<T>& parsed) {
  if (const T* good = std::get_if<T>(&parsed)) return *good;
  const UnitError& error = std::get<UnitError>(parsed);
  problem(key, error.message, error.hint);
  return std::nullopt;
}

int64_t SettingReader::number(std::string_view key, const NumberRule& rule) {
  const SettingText* setting = stated(key);
  int64_t value = rule.fallback;
  std::string origin = "default";
  if (setting != nullptr) {
    value = accept(key, parse_integer(setting->text)).value_or(rule.fallback);
    origin = setting->origin;
    if (value < rule.least || value > rule.most) {
      problem(key, fmt::format("{} is out of range", value),
              fmt::format("from {} to {}", rule.least, rule.most));
      value = rule.fallback;
    }
  }
  if (rule.held_to && value > *rule.held_to) {
    value = *rule.held_to;
    if (setting != nullptr) origin += fmt::format(", held to {}", rule.holder);
  }
  record(key, std::to_string(value), origin);
  return value;
}

DType SettingReader::dtype(std::string_view key, const DTypeRule& rule) {
  const SettingText* setting = stated(key);
  DType value = rule.fallback;
  if (setting != nullptr)
    value = accept(key, parse_dtype_for(rule.use, setting->text)).value_or(value);
  record(key, std::string(name_of(value)),
         setting != nullptr ? setting->origin : rule.fallback_origin);
  return value;
}

std::optional<Bytes> SettingReader::size(std::string_view key, Bytes least) {
  const SettingText* setting = stated(key);
  if (setting == nullptr) return std::nullopt;
  record(key, setting->text, setting->origin);
  const std::optional<Bytes> value = accept(key, parse_bytes(setting->text));
  if (value && (*value < least || *value > kMostBytes)) {
    problem(key, fmt::format("{} is out of range", setting->text),
            fmt::format("from {} to {}", format_bytes(least), format_bytes(kMostBytes)));
  }
  return value;
}

std::optional<BytesPerSecond> SettingReader::bandwidth(std::string_view key) {
  const SettingText* setting = stated(key);
  if (setting == nullptr) return std::nullopt;
  record(key, setting->text, setting->origin);
  return accept(key, parse_bandwidth(setting->text));
}

std::optional<double> SettingReader::ratio_up_to_one(std::string_view key, double least) {
  const SettingText* setting = stated(key);
  if (setting == nullptr) return std::nullopt;
  record(key, setting->text, setting->origin);
  const std::optional<double> value = accept(key, parse_ratio(setting->text));
  if (!value || (*value >= least && *value <= 1.0)) return value;
  problem(key, fmt::format("{} is out of range", in_quotes(setting->text)),
          fmt::format("from {} to 1", least));
  return std::nullopt;
}

double SettingReader::ratio_below_one(std::string_view key, std::string_view fallback) {
  const SettingText* setting = stated(key);
  const std::string text(setting != nullptr ? setting->text : fallback);
  record(key, text, setting != nullptr ? setting->origin : "default");
  const double value = accept(key, parse_ratio(text)).value_or(0.0);
  if (value >= 1.0) problem(key, fmt::format("{} leaves nothing", text), "stay below 100 %");
  return value;
}

std::vector<std::string> SettingReader::list(std::string_view key) {
  const SettingText* setting = stated(key);
  if (setting == nullptr) return {};
  record(key, setting->text, setting->origin);
  const std::optional<std::vector<std::string>> entries = split_list(setting->text);
  if (!entries) {
    problem(key, fmt::format("{} has an empty entry", in_quotes(setting->text)),
            "separate the names by single commas");
  }
  return entries.value_or(std::vector<std::string>{});
}

bool SettingReader::is_on(std::string_view key) {
  const SettingText* setting = stated(key);
  if (setting == nullptr) return false;
  const bool on = setting->text == "on" || setting->text == "true";
  if (!on && setting->text != "off" && setting->text != "false") {
    problem(key, fmt::format("{} is neither on nor off", in_quotes(setting->text)));
  }
  record(key, on ? "on" : "off", setting->origin);
  return on;
}

std::string SettingReader::choice(std::string_view key, const std::vector<std::string>& names,
                                  std::string_view fallback) {
  const SettingText* setting = stated(key);
  const std::string text(setting != nullptr ? setting->text : fallback);
  record(key, text, setting != nullptr ? setting->origin : "default");
  if (std::find(names.begin(), names.end(), text) != names.end()) return text;
  problem(key, fmt::format("{} is not known", in_quotes(text)),
          suggestion(text, "there are", names));
  return std::string(fallback);
}

void SettingReader::record(std::string_view key, std::string value, std::string origin) {
  resolved_.push_back({std::string(key), std::move(value), std::move(origin)});
}

void SettingReader::problem(std::string_view key, std::string message, std::string hint) {
  const SettingText* setting = stated(key);
  problems_.push_back(setting_problem(key, setting != nullptr ? *setting : SettingText{},
                                      std::move(message), std::move(hint)));
}

// A relative path in a scenario file counts from that file.
SettingText SettingReader::located(std::string_view key, std::string_view fallback) const {
  const SettingText* setting = stated(key);
  if (setting == nullptr) return {.text = std::string(fallback), .origin = "default"};
  SettingText located = *setting;
  const std::filesystem::path path(located.text);
  if (!located.where.file.empty() && is_config_path(located.text) && path.is_relative()) {
    located.text = (std::filesystem::path(located.where.file).parent_path() / path).string();
  }
  return located;
}

void SettingReader::add_file_problems(std::string_view key, const SettingText& setting,
                                      const Diagnostics& problems) {
  for (const Diagnostic& found : problems) {
    // Nothing was opened: the name itself is at fault, where it was stated.
    const bool is_name = found.where.file.empty();
    problems_.push_back(is_name ? setting_problem(key, setting, found.message, found.hint) : found);
  }
}

}  // namespace tidemark

// Reads settings one by one: takes the stated value or the fallback, records where it came from,
// and collects every problem at the place of its cause.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/units.h"
#include "planner/config/load_common.h"
#include "planner/config/settings.h"

namespace tidemark {

struct NumberRule {
  int64_t least = 0;
  int64_t most = 0;
  int64_t fallback = 0;
  std::optional<int64_t>
      held_to{};              // a larger value is lowered to this one, and the origin says so
  std::string_view holder{};  // the setting that holds it
};

struct DTypeRule {
  DTypeUse use = DTypeUse::kWeights;
  DType fallback = DType::kF16;
  std::string fallback_origin{};
};

class SettingReader {
 public:
  explicit SettingReader(const SettingMap& settings) : settings_(settings) {}

  // As the user stated it; nullptr = not stated.
  const SettingText* stated(std::string_view key) const;

  int64_t number(std::string_view key, const NumberRule& rule);
  DType dtype(std::string_view key, const DTypeRule& rule);
  std::optional<Bytes> size(std::string_view key, Bytes least);
  std::optional<BytesPerSecond> bandwidth(std::string_view key);
  // `least` to 1; nothing is recorded when it is not stated.
  std::optional<double> ratio_up_to_one(std::string_view key, double least);
  double ratio_below_one(std::string_view key, std::string_view fallback);
  std::vector<std::string> list(std::string_view key);
  // on or true, off or false; off when it is not stated, and then nothing is recorded.
  bool is_on(std::string_view key);

  // One of `names`; the index of `fallback` when the text is none of them.
  std::string choice(std::string_view key, const std::vector<std::string>& names,
                     std::string_view fallback);

  // Loads a file by name or path; the fallback name when nothing is stated.
  template <typename T>
  std::optional<T> file(std::string_view key, Result<T> (*load)(std::string_view),
                        std::string_view fallback) {
    const SettingText setting = located(key, fallback);
    Result<T> loaded = load(setting.text);
    record(key, setting.text, setting.origin);
    if (loaded) return std::move(loaded).value();
    add_file_problems(key, setting, loaded.diagnostics());
    return std::nullopt;
  }

  void record(std::string_view key, std::string value, std::string origin);
  // Placed at the stated value; at the bare key when it is not stated.
  void problem(std::string_view key, std::string message, std::string hint = "");

  const Diagnostics& problems() const { return problems_; }
  const std::vector<Setting>& resolved() const { return resolved_; }

 private:
  SettingText located(std::string_view key, std::string_view fallback) const;
  void add_file_problems(std::string_view key, const SettingText& setting,
                         const Diagnostics& problems);
  template <typename T>
  std::optional<T> accept(std::string_view key, const Parsed<T>& parsed);

  const SettingMap& settings_;
  Diagnostics problems_{};
  std::vector<Setting> resolved_{};
};

}  // namespace tidemark

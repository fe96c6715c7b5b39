// A config.json as a tree, with the place of every value: small, since config files are.
//
//   {"hidden_size": 64, "rope": null}   kObject, keys {"hidden_size", "rope"},
//                                       items {kInteger 64, kNull}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/result.h"

namespace tidemark {

enum class ConfigKind { kNull, kBoolean, kInteger, kReal, kText, kList, kObject };

struct ConfigValue {
  ConfigKind kind = ConfigKind::kNull;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0;
  std::string text{};                // also a kReal as it was written
  std::vector<std::string> keys{};   // of an object: keys[i] names items[i], each once
  std::vector<ConfigValue> items{};  // of an object or a list
  int64_t byte = 0;                  // where it ends (a list or an object: where it begins)

  const ConfigValue* find(std::string_view key) const;  // nullptr: no such member
  // Null, false, 0, an empty text, list or object: as good as not said.
  bool is_off() const;
};

inline constexpr int64_t kMostConfigBytes = 8 * 1024 * 1024;
inline constexpr int64_t kMostConfigValues = 200'000;

// `text` is the whole file, `file` its name in messages. Errors: larger than kMostConfigBytes, more
// than kMostConfigValues values, no JSON, a key twice in one object, nested more than kDeepestJson
// deep, no object.
Result<ConfigValue> parse_config_value(const std::string& file, std::string_view text);

// Line and column of a byte of `text`, both from 1.
SourcePos position_of(const std::string& file, std::string_view text, int64_t byte);

}  // namespace tidemark

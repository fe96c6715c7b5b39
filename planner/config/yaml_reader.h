// The strict YAML reader: the only code that sees yaml-cpp. It walks a document once, hands out values with their
// positions, and collects every problem instead of stopping at the first.
//
// Refused, each with position and hint: duplicate and unknown keys (did-you-mean), wrong types, octal, hexadecimal
// and underscored numbers, yes/no/on/off for booleans, a missing key (at its parent's position), a second document,
// invalid UTF-8, aliases and merge keys, nesting past 50, files past 4 MiB, NUL bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/diagnostic.h"
#include "planner/base/quantity.h"

namespace tidemark {

// A scalar with its place.
struct YamlText {
  std::string text{};
  SourcePos where{};
};

// One mapping of a document. Reads record what was asked for; finish() reports keys nobody asked for.
// A reader whose value is missing or wrong adds a diagnostic and returns nullopt (or the fallback).
class YamlMap {
 public:
  YamlMap(YamlMap&&) noexcept;
  YamlMap& operator=(YamlMap&&) noexcept;
  ~YamlMap();

  bool has(std::string_view key) const;
  SourcePos where() const;                       // of the mapping itself
  SourcePos where(std::string_view key) const;   // of the value; of the mapping when missing
  std::string path(std::string_view key) const;  // "memory.bandwidth"

  // Required values.
  std::optional<std::string> text(std::string_view key);
  std::optional<int64_t> integer(std::string_view key, int64_t least, int64_t most);
  std::optional<bool> boolean(std::string_view key);
  std::optional<Bytes> bytes(std::string_view key);
  std::optional<BytesPerSecond> bandwidth(std::string_view key);
  std::optional<OpsPerSecond> compute_rate(std::string_view key);
  std::optional<Duration> duration(std::string_view key);
  std::optional<double> ratio(std::string_view key);
  std::optional<std::vector<YamlText>> text_list(std::string_view key);
  std::optional<YamlMap> map(std::string_view key);
  std::vector<YamlMap> map_list(std::string_view key);  // empty on error

  // Every key with its scalar value or list of scalars joined by commas, for free-form settings. Marks all as read.
  std::vector<std::pair<std::string, YamlText>> all_texts();

  // A problem found by the caller, at a value of this mapping.
  void error(std::string_view key, std::string message, std::string hint = "");

  // Unknown keys -> diagnostics. Call once, last.
  void finish();

 private:
  friend class YamlDocument;
  struct State;
  explicit YamlMap(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

class YamlDocument {
 public:
  // `file` is only used in positions.
  YamlDocument(std::string file, std::string_view text);
  ~YamlDocument();
  YamlDocument(const YamlDocument&) = delete;
  YamlDocument& operator=(const YamlDocument&) = delete;

  // The top-level mapping; nullopt when the text is not one (diagnostics say why).
  std::optional<YamlMap> root();
  const Diagnostics& diagnostics() const;  // in order of position

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The candidate closest to `word` if it is close enough to be a slip (edit distance <= 2 and < half the length).
std::optional<std::string> did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tidemark

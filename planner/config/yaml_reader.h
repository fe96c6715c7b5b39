// The strict YAML reader: the only code that sees yaml-cpp. It walks a document once, hands out
// values with their positions, and collects every problem instead of stopping at the first.
//
// Refused, each with position and hint: duplicate and unknown keys (did-you-mean), wrong types,
// octal, hexadecimal, exponent and underscored numbers, quoted numbers, yes/no/on/off for booleans,
// a missing key (at its parent's position), a second document, invalid UTF-8, NUL and control
// characters, anchors, aliases, merge keys, tags, nesting past 50, more than a million values,
// files past 8 MiB. After 100 problems the rest is not listed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/diagnostic.h"
#include "planner/base/quantity.h"
#include "planner/config/did_you_mean.h"

namespace tidemark {

// The largest size a file may state: sums of a few of them stay within 63 bits.
inline constexpr Bytes kMostBytes = Bytes::of(int64_t{1} << 60);
// The largest file that is read.
inline constexpr Bytes kMostConfigBytes = Bytes::of(8 * 1024 * 1024);

// A scalar with its place.
struct YamlText {
  std::string text{};
  SourcePos where{};
};

// One mapping of a document. Reads record what was asked for; finish() reports keys nobody asked
// for. A reader whose value is missing or wrong adds a diagnostic and returns nullopt. Valid as
// long as its document.
//
//   if (auto n = map.integer("n_layer", 1, 10000)) ...     required
//   if (map.has("n_ctx_train")) ...                        optional: ask first
class YamlMap {
 public:
  YamlMap(YamlMap&&) noexcept;
  YamlMap& operator=(YamlMap&&) noexcept;
  ~YamlMap();

  bool has(std::string_view key) const;
  SourcePos where() const;                          // of the mapping itself
  SourcePos where(std::string_view key) const;      // of the value; of the mapping when missing
  SourcePos where_key(std::string_view key) const;  // of the key itself
  std::string path(std::string_view key) const;     // "memory.bandwidth"

  // Required values; numbers within [least, most].
  std::optional<std::string> text(std::string_view key);  // not empty, at most 1000 bytes
  std::optional<int64_t> integer(std::string_view key, int64_t least, int64_t most);
  std::optional<bool> boolean(std::string_view key);
  std::optional<Bytes> bytes(std::string_view key, Bytes least = Bytes{}, Bytes most = kMostBytes);
  std::optional<BytesPerSecond> bandwidth(std::string_view key);
  std::optional<OpsPerSecond> compute_rate(std::string_view key);
  std::optional<Duration> duration(std::string_view key);
  std::optional<double> ratio(std::string_view key);
  std::optional<std::vector<YamlText>> text_list(std::string_view key);
  std::optional<YamlMap> map(std::string_view key);
  std::vector<YamlMap> map_list(std::string_view key);  // not empty; empty on error

  // Every key with its scalar value or list of scalars joined by commas, for free-form settings.
  // Marks all as read.
  std::vector<std::pair<std::string, YamlText>> all_texts();
  // All keys of the mapping, in order.
  std::vector<std::string> keys() const;

  // A problem found by the caller: at a value of this mapping, or at a place the reader handed out.
  void error(std::string_view key, std::string message, std::string hint = "");
  void error_at(const SourcePos& where, std::string path, std::string message,
                std::string hint = "");

  // Unknown keys -> diagnostics. Call once, last.
  void finish();

 private:
  friend class YamlDocument;
  struct State;
  explicit YamlMap(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
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

  struct Impl;  // yaml_node.h, for the reader's own files

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark

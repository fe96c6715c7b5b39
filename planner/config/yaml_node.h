// A YAML document as plain data, between the parser (yaml_reader.cpp) and typed access
// (yaml_map.cpp).
#pragma once

#include <string>
#include <vector>

#include "planner/base/diagnostic.h"
#include "planner/config/yaml_reader.h"

namespace tidemark {

struct YamlEntry;

struct YamlNode {
  enum class Kind {
    kNull,
    kText,
    kList,
    kMap,
    kRefused,  // already reported: reading it says nothing more
  };
  Kind kind = Kind::kNull;
  int line = 0;  // 1-based
  int column = 0;
  bool is_quoted = false;
  std::string text{};
  std::vector<YamlNode> items{};     // kList
  std::vector<YamlEntry> entries{};  // kMap, in order
};

struct YamlEntry {
  std::string key{};
  int line = 0;
  int column = 0;
  YamlNode value{};
};

// The document's file name, its tree and its problems.
struct YamlDocument::Impl {
  std::string file{};
  YamlNode root{};
  bool has_root = false;
  Diagnostics problems{};
  bool overflowed = false;

  SourcePos at(int line, int column) const { return {file, line, column}; }
  void add(const SourcePos& where, std::string path, std::string message, std::string hint = "");
};

// Records the first NUL byte or byte sequence that is not UTF-8. True when there is one.
bool refuse_bytes(YamlDocument::Impl& document, std::string_view text);
// Records the first directive, document end marker or second document. True when there is one.
bool refuse_markers(YamlDocument::Impl& document, std::string_view text);

// What to look for when the parser stops with this message; "" for one that says it all.
std::string_view hint_of_syntax(std::string_view message);

// "a.b" for a key b below path a; control characters of the key are escaped.
std::string yaml_path(const std::string& prefix, std::string_view key);

}  // namespace tidemark

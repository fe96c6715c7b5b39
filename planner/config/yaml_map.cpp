// Typed access to one mapping of a document.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "planner/base/units.h"
#include "planner/config/yaml_node.h"
#include "planner/config/yaml_reader.h"

namespace tidemark {

struct YamlMap::State {
  YamlDocument::Impl* document = nullptr;
  const YamlNode* node = nullptr;
  std::string prefix{};
  mutable std::vector<std::string> asked{};

  // Records that the key is known.
  const YamlEntry* find(std::string_view key) const {
    if (std::find(asked.begin(), asked.end(), key) == asked.end()) asked.emplace_back(key);
    return lookup(key);
  }
  const YamlEntry* lookup(std::string_view key) const {
    const auto found = std::find_if(node->entries.begin(), node->entries.end(),
                                    [&](const YamlEntry& entry) { return entry.key == key; });
    return found == node->entries.end() ? nullptr : &*found;
  }
  SourcePos position(const YamlNode& value) const { return document->at(value.line, value.column); }
  void add(const YamlNode& value, std::string path, std::string message,
           std::string hint = "") const {
    document->add(position(value), std::move(path), std::move(message), std::move(hint));
  }

  // The value of a required key that has the wished kind; nullptr once the problem is reported.
  const YamlNode* require(std::string_view key, YamlNode::Kind kind, std::string_view wished) const;
  bool is_kind(const YamlNode& value, const std::string& path, YamlNode::Kind kind,
               std::string_view wished) const;
  // The same for a scalar that must stand without quotes.
  const YamlNode* require_plain(std::string_view key, std::string_view wished) const;
  template <typename T>
  std::optional<T> accept(std::string_view key, const YamlNode& value,
                          const Parsed<T>& parsed) const;
};

namespace {

constexpr size_t kMostText = 1000;

std::string_view kind_name(YamlNode::Kind kind) {
  if (kind == YamlNode::Kind::kMap) return "a mapping";
  return kind == YamlNode::Kind::kList ? "a list" : "text";
}

}  // namespace

bool YamlMap::State::is_kind(const YamlNode& value, const std::string& value_path,
                             YamlNode::Kind kind, std::string_view wished) const {
  if (value.kind == kind) return true;
  if (value.kind == YamlNode::Kind::kNull) {
    add(value, value_path, "has no value", fmt::format("expected {}", wished));
  } else if (value.kind != YamlNode::Kind::kRefused) {
    add(value, value_path, fmt::format("expected {}, found {}", wished, kind_name(value.kind)));
  }
  return false;
}

const YamlNode* YamlMap::State::require(std::string_view key, YamlNode::Kind kind,
                                        std::string_view wished) const {
  const YamlEntry* entry = find(key);
  const std::string value_path = yaml_path(prefix, key);
  if (entry == nullptr) {
    add(*node, value_path, "is missing", fmt::format("expected {}", wished));
    return nullptr;
  }
  return is_kind(entry->value, value_path, kind, wished) ? &entry->value : nullptr;
}

const YamlNode* YamlMap::State::require_plain(std::string_view key, std::string_view wished) const {
  const YamlNode* value = require(key, YamlNode::Kind::kText, wished);
  if (value == nullptr || !value->is_quoted) return value;
  add(*value, yaml_path(prefix, key), fmt::format("expected {}, found quoted text", wished),
      "remove the quotes");
  return nullptr;
}

template <typename T>
std::optional<T> YamlMap::State::accept(std::string_view key, const YamlNode& value,
                                        const Parsed<T>& parsed) const {
  if (const T* good = std::get_if<T>(&parsed)) return *good;
  const UnitError& error = std::get<UnitError>(parsed);
  add(value, yaml_path(prefix, key), error.message, error.hint);
  return std::nullopt;
}

YamlMap::YamlMap(std::unique_ptr<State> state) : state_(std::move(state)) {}
YamlMap::YamlMap(YamlMap&&) noexcept = default;
YamlMap& YamlMap::operator=(YamlMap&&) noexcept = default;
YamlMap::~YamlMap() = default;

bool YamlMap::has(std::string_view key) const { return state_->find(key) != nullptr; }

SourcePos YamlMap::where() const { return state_->position(*state_->node); }

SourcePos YamlMap::where(std::string_view key) const {
  const YamlEntry* entry = state_->lookup(key);
  return entry == nullptr ? where() : state_->position(entry->value);
}

SourcePos YamlMap::where_key(std::string_view key) const {
  const YamlEntry* entry = state_->lookup(key);
  return entry == nullptr ? where() : state_->document->at(entry->line, entry->column);
}

std::string YamlMap::path(std::string_view key) const { return yaml_path(state_->prefix, key); }

std::optional<std::string> YamlMap::text(std::string_view key) {
  const YamlNode* value = state_->require(key, YamlNode::Kind::kText, "text");
  if (value == nullptr) return std::nullopt;
  if (value->text.empty()) {
    error(key, "is empty");
    return std::nullopt;
  }
  if (value->text.size() > kMostText) {
    error(key, fmt::format("is longer than {} bytes", kMostText));
    return std::nullopt;
  }
  return value->text;
}

std::optional<int64_t> YamlMap::integer(std::string_view key, int64_t least, int64_t most) {
  const YamlNode* value = state_->require_plain(key, "a whole number");
  if (value == nullptr) return std::nullopt;
  const auto number = state_->accept(key, *value, parse_integer(value->text));
  if (number && (*number < least || *number > most)) {
    error(key, fmt::format("{} is out of range", *number),
          fmt::format("from {} to {}", least, most));
    return std::nullopt;
  }
  return number;
}

std::optional<bool> YamlMap::boolean(std::string_view key) {
  const YamlNode* value = state_->require_plain(key, "true or false");
  if (value == nullptr) return std::nullopt;
  if (value->text == "true") return true;
  if (value->text == "false") return false;
  error(key, fmt::format("expected true or false, found {}", in_quotes(value->text)),
        "only true and false are read, not yes, no, on or off");
  return std::nullopt;
}

std::optional<Bytes> YamlMap::bytes(std::string_view key, Bytes least, Bytes most) {
  const YamlNode* value = state_->require(key, YamlNode::Kind::kText, "a size such as 512 MiB");
  if (value == nullptr) return std::nullopt;
  const auto size = state_->accept(key, *value, parse_bytes(value->text));
  if (size && (*size < least || *size > most)) {
    error(key, fmt::format("{} is out of range", value->text),
          fmt::format("from {} to {}", format_bytes(least), format_bytes(most)));
    return std::nullopt;
  }
  return size;
}

std::optional<BytesPerSecond> YamlMap::bandwidth(std::string_view key) {
  const YamlNode* value = state_->require(key, YamlNode::Kind::kText, "a rate such as 4 GB/s");
  if (value == nullptr) return std::nullopt;
  return state_->accept(key, *value, parse_bandwidth(value->text));
}

std::optional<OpsPerSecond> YamlMap::compute_rate(std::string_view key) {
  const YamlNode* value = state_->require(key, YamlNode::Kind::kText, "a rate such as 1339 GOPS");
  if (value == nullptr) return std::nullopt;
  return state_->accept(key, *value, parse_compute_rate(value->text));
}

std::optional<Duration> YamlMap::duration(std::string_view key) {
  const YamlNode* value = state_->require(key, YamlNode::Kind::kText, "a time such as 170 us");
  if (value == nullptr) return std::nullopt;
  return state_->accept(key, *value, parse_duration(value->text));
}

std::optional<double> YamlMap::ratio(std::string_view key) {
  const YamlNode* value = state_->require_plain(key, "a ratio such as 10 %");
  if (value == nullptr) return std::nullopt;
  return state_->accept(key, *value, parse_ratio(value->text));
}

std::optional<std::vector<YamlText>> YamlMap::text_list(std::string_view key) {
  const YamlNode* list = state_->require(key, YamlNode::Kind::kList, "a list");
  if (list == nullptr) return std::nullopt;
  std::vector<YamlText> texts;
  for (const YamlNode& item : list->items) {
    const std::string item_path = fmt::format("{}[{}]", path(key), &item - list->items.data());
    if (!state_->is_kind(item, item_path, YamlNode::Kind::kText, "text")) continue;
    texts.push_back({item.text, state_->position(item)});
  }
  if (texts.size() != list->items.size()) return std::nullopt;
  return texts;
}

std::optional<YamlMap> YamlMap::map(std::string_view key) {
  const YamlNode* value = state_->require(key, YamlNode::Kind::kMap, "a mapping");
  if (value == nullptr) return std::nullopt;
  return YamlMap(std::make_unique<State>(State{state_->document, value, path(key), {}}));
}

std::vector<YamlMap> YamlMap::map_list(std::string_view key) {
  std::vector<YamlMap> maps;
  const YamlNode* list = state_->require(key, YamlNode::Kind::kList, "a list of mappings");
  if (list == nullptr) return maps;
  if (list->items.empty()) error(key, "is empty");
  for (const YamlNode& item : list->items) {
    const std::string item_path = fmt::format("{}[{}]", path(key), &item - list->items.data());
    if (!state_->is_kind(item, item_path, YamlNode::Kind::kMap, "a mapping")) continue;
    maps.push_back(YamlMap(std::make_unique<State>(State{state_->document, &item, item_path, {}})));
  }
  return maps;
}

std::vector<std::pair<std::string, YamlText>> YamlMap::all_texts() {
  std::vector<std::pair<std::string, YamlText>> texts;
  for (const YamlEntry& entry : state_->node->entries) {
    YamlText text{entry.value.text, state_->position(entry.value)};
    if (entry.value.kind == YamlNode::Kind::kList) {
      const auto items = text_list(entry.key);
      if (!items) continue;
      for (const YamlText& item : *items) text.text += (text.text.empty() ? "" : ",") + item.text;
    } else if (state_->require(entry.key, YamlNode::Kind::kText, "a value or a list") == nullptr) {
      continue;
    }
    if (text.text.empty()) {
      error(entry.key, "is empty");
      continue;
    }
    texts.emplace_back(entry.key, std::move(text));
  }
  return texts;
}

std::vector<std::string> YamlMap::keys() const {
  std::vector<std::string> keys;
  for (const YamlEntry& entry : state_->node->entries) keys.push_back(entry.key);
  return keys;
}

void YamlMap::error(std::string_view key, std::string message, std::string hint) {
  error_at(where(key), path(key), std::move(message), std::move(hint));
}

void YamlMap::error_at(const SourcePos& where, std::string path, std::string message,
                       std::string hint) {
  state_->document->add(where, std::move(path), std::move(message), std::move(hint));
}

void YamlMap::finish() {
  const std::vector<std::string> known = state_->asked;
  for (const YamlEntry& entry : state_->node->entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    if (state_->document->overflowed)
      break;  // a near word for each of a million keys takes minutes
    error_at(state_->document->at(entry.line, entry.column), path(entry.key), "unknown key",
             suggestion(entry.key, "known keys", known));
  }
}

std::optional<YamlMap> YamlDocument::root() {
  if (!impl_->has_root) return std::nullopt;
  const YamlNode& root = impl_->root;
  if (root.kind != YamlNode::Kind::kMap) {
    if (root.kind != YamlNode::Kind::kRefused) {
      impl_->add(impl_->at(root.line, root.column), "", "expected a mapping of keys to values");
    }
    return std::nullopt;
  }
  return YamlMap(std::make_unique<YamlMap::State>(YamlMap::State{impl_.get(), &root, "", {}}));
}

}  // namespace tidemark

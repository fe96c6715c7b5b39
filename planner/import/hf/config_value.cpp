#include "planner/import/hf/config_value.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "planner/import/json_events.h"
#include "planner/import/problems.h"

namespace tidemark {
namespace {

class TreeHandler : public JsonHandler {
 public:
  TreeHandler(std::string_view text, Problems& problems) : text_(text), problems_(problems) {}

  ConfigValue root{};

  void on(const JsonEvent& event, const JsonPath& path) override {
    if (event.kind == JsonKind::kEndObject || event.kind == JsonKind::kEndArray) {
      if (n_skipped_ > 0) {
        --n_skipped_;
      } else {
        open_.pop_back();
      }
      return;
    }
    const bool opens = event.kind == JsonKind::kBeginObject || event.kind == JsonKind::kBeginArray;
    if (n_skipped_ > 0 || ++n_values_ > kMostConfigValues) {
      if (n_values_ == kMostConfigValues + 1 && n_skipped_ == 0) {
        problems_.add("", event.byte, fmt::format("holds more than {} values", kMostConfigValues));
      }
      if (opens) ++n_skipped_;
      return;
    }
    ConfigValue& value = place(path);
    fill(value, event);
    if (opens) open_.push_back(&value);
  }

 private:
  // Only the last item of each open container is open itself, so the pointers stay good.
  ConfigValue& place(const JsonPath& path) {
    if (open_.empty()) return root;
    ConfigValue& parent = *open_.back();
    if (parent.kind == ConfigKind::kObject) parent.keys.push_back(path.back());
    return parent.items.emplace_back();
  }

  void fill(ConfigValue& value, const JsonEvent& event) {
    value.byte = event.byte;
    switch (event.kind) {
      case JsonKind::kBeginObject:
        value.kind = ConfigKind::kObject;
        return;
      case JsonKind::kBeginArray:
        value.kind = ConfigKind::kList;
        return;
      case JsonKind::kText:
        value.kind = ConfigKind::kText;
        value.text = event.text;
        return;
      case JsonKind::kInteger:
        value.kind = ConfigKind::kInteger;
        value.integer = event.integer;
        value.real = static_cast<double>(event.integer);
        return;
      case JsonKind::kReal:
        value.kind = ConfigKind::kReal;
        value.real = event.real;
        value.text = event.text;
        return;
      default:
        fill_literal(value, event.byte);
    }
  }

  // true, false or null: the event stands at its last letter.
  void fill_literal(ConfigValue& value, int64_t last) {
    const auto letter = [&](int64_t byte) {
      return byte >= 0 && byte < std::ssize(text_) ? text_[static_cast<size_t>(byte)] : '\0';
    };
    if (letter(last) != 'e') return;
    value.kind = ConfigKind::kBoolean;
    value.boolean = letter(last - 1) == 'u';
  }

  std::string_view text_;
  Problems& problems_;
  std::vector<ConfigValue*> open_{};
  int64_t n_values_ = 0;
  int64_t n_skipped_ = 0;  // containers that are open and not kept
};

}  // namespace

const ConfigValue* ConfigValue::find(std::string_view key) const {
  const auto found = std::ranges::find(keys, key);
  return found == keys.end() ? nullptr : &items.at(static_cast<size_t>(found - keys.begin()));
}

bool ConfigValue::is_off() const {
  switch (kind) {
    case ConfigKind::kNull:
      return true;
    case ConfigKind::kBoolean:
      return !boolean;
    case ConfigKind::kInteger:
      return integer == 0;
    case ConfigKind::kReal:
      return false;
    case ConfigKind::kText:
      return text.empty();
    default:
      return items.empty();
  }
}

Result<ConfigValue> parse_config_value(const std::string& file, std::string_view text) {
  Problems problems(file);
  if (std::ssize(text) > kMostConfigBytes) {
    problems.add("", fmt::format("{} bytes are no config.json: at most {} are read", text.size(),
                                 kMostConfigBytes));
    return problems.take();
  }
  TreeHandler handler(text, problems);
  const bool parsed = parse_json(text, 0, handler, problems);
  if (parsed && handler.root.kind != ConfigKind::kObject) {
    problems.add("", 0, "a config.json holds one object");
  }
  if (!problems.empty()) return problems.take();
  return std::move(handler.root);
}

SourcePos position_of(const std::string& file, std::string_view text, int64_t byte) {
  const std::string_view before =
      text.substr(0, static_cast<size_t>(std::clamp<int64_t>(byte, 0, std::ssize(text))));
  const size_t line_end = before.rfind('\n');
  const size_t in_line =
      line_end == std::string_view::npos ? before.size() + 1 : before.size() - line_end;
  return {.file = file,
          .line = static_cast<int>(std::ranges::count(before, '\n')) + 1,
          .column = static_cast<int>(in_line)};
}

}  // namespace tidemark

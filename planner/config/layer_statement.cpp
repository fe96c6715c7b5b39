#include "planner/config/layer_statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "planner/config/layer_keys.h"

namespace tidemark {
namespace {

std::string_view yes_or_no(bool value) { return value ? "true" : "false"; }

// The text of every key, in the order of layer_keys.h.
struct KeyTexts {
  std::vector<KeyText> entries{};
  void number(std::string_view key, int64_t& value, int64_t, int64_t = 0) {
    add(key, std::to_string(value));
  }
  void flag(std::string_view key, bool& value) { add(key, yes_or_no(value)); }
  void norm(std::string_view key, NormKind& value) { add(key, name_of(value)); }
  void qk_norm(std::string_view key, QkNormKind& value) { add(key, name_of(value)); }
  void projections(std::string_view key, AttentionBias& value) {
    const auto [q, k, v, out] = value;
    std::string list;
    const auto name = [&](bool is_there, std::string_view text) {
      if (is_there) list += fmt::format("{}{}", list.empty() ? "" : ", ", text);
    };
    name(q, "q");
    name(k, "k");
    name(v, "v");
    name(out, "out");
    add(key, fmt::format("[{}]", list));
  }
  void add(std::string_view key, std::string_view text) {
    entries.push_back({.key = std::string(key), .text = std::string(text)});
  }
};

// The keys in which two of the same type differ, as the first has them.
template <typename Spec>
void add_stated(std::vector<KeyText>& out, Spec spec, Spec defaults) {
  KeyTexts stated;
  KeyTexts plain;
  visit_keys(stated, spec);
  visit_keys(plain, defaults);
  for (size_t i = 0; i < stated.entries.size(); ++i) {
    if (stated.entries[i] != plain.entries[i]) out.push_back(std::move(stated.entries[i]));
  }
}

template <typename Spec>
std::vector<KeyText> stated_keys(const Spec& spec, int64_t) {
  std::vector<KeyText> keys;
  add_stated(keys, spec, Spec{});
  return keys;
}

// What the reader derives is left out.
std::vector<KeyText> stated_keys(AttentionSpec spec, int64_t n_embd) {
  const bool follows = spec.n_head > 0 && n_embd % spec.n_head == 0;
  if (follows && spec.head_dim == n_embd / spec.n_head) spec.head_dim = 0;
  if (spec.n_head_kv == spec.n_head) spec.n_head_kv = 0;
  std::vector<KeyText> keys;
  add_stated(keys, spec, AttentionSpec{});
  return keys;
}

std::string cross_mapping(CrossAttentionSpec cross) {
  if (cross.attention.n_head_kv == cross.attention.n_head) cross.attention.n_head_kv = 0;
  std::vector<KeyText> keys;
  add_stated(keys, cross, CrossAttentionSpec{});
  return flow_mapping(keys);
}

std::vector<KeyText> common_keys(const LayerSpec& layer) {
  const auto& [mixer, cross, feed_forward, moe, norms, is_parallel, extras] = layer;
  std::vector<KeyText> keys;
  if (must_state_n_ff(layer) && feed_forward.n_ff == 0)
    keys.push_back({.key = "n_ff", .text = "0"});
  add_stated(keys, feed_forward, FeedForwardSpec{});
  add_stated(keys, moe, MoeSpec{});
  add_stated(keys, norms, default_norms(layer));
  if (is_parallel) keys.push_back({.key = "parallel", .text = "true"});
  if (cross != CrossAttentionSpec{}) {
    keys.push_back({.key = "cross_attention", .text = cross_mapping(cross)});
  }
  if (!extras.empty()) keys.push_back({.key = "layer_extras", .items = extras_items(extras)});
  return keys;
}

// Characters that mean nothing to YAML, wherever they stand.
bool is_plain(char c) {
  constexpr std::string_view kHarmless = " ._/+()";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         kHarmless.find(c) != std::string_view::npos;
}

}  // namespace

LayerStatement state_layer(const LayerSpec& layer, int64_t n_embd) {
  return {.mixer = std::string(mixer_name(layer.mixer)),
          .of_mixer =
              std::visit([&](const auto& spec) { return stated_keys(spec, n_embd); }, layer.mixer),
          .common = common_keys(layer)};
}

std::string yaml_text(std::string_view text) {
  constexpr std::array<std::string_view, 3> kNulls = {"null", "Null", "NULL"};
  const auto is_word = [](char c) { return is_plain(c) && c != ' ' && c != '-' && c != '.'; };
  const bool plain = !text.empty() && is_word(text.front()) && is_word(text.back()) &&
                     std::ranges::all_of(text, is_plain) &&
                     std::ranges::find(kNulls, text) == kNulls.end();
  if (plain) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += fmt::format("\\{}", c);
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += ' ';  // the reader takes none, however written
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string flow_mapping(const std::vector<KeyText>& entries) {
  std::string text;
  for (const KeyText& entry : entries) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", entry.key, entry.text);
  }
  return "{" + text + "}";
}

std::vector<std::string> extras_items(const std::vector<ExtraWeight>& extras) {
  std::vector<std::string> items;
  for (const auto& [name, columns, rows, count, is_parameter] : extras) {
    std::string item = fmt::format("{{name: {}, columns: {}", yaml_text(name), columns);
    if (rows != 1) item += fmt::format(", rows: {}", rows);
    if (count != 1) item += fmt::format(", count: {}", count);
    if (!is_parameter) item += ", is_parameter: false";
    items.push_back(item + "}");
  }
  return items;
}

std::string image_mapping(const ImageSpec& image) {
  std::vector<KeyText> keys;
  add_stated(keys, image, ImageSpec{});
  return flow_mapping(keys);
}

}  // namespace tidemark

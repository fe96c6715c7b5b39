#include "planner/config/layer_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace tidemark {
namespace {

// What a kind is in one respect; "" says nothing.
using Aspect = std::string_view (*)(const LayerSpec&);

std::string_view mixer_word(const LayerSpec& layer) {
  const AttentionSpec* attention = layer.attention();
  if (attention != nullptr && attention->window > 0) return "sliding";
  if (attention != nullptr && attention->chunk > 0) return "chunked";
  return std::holds_alternative<NoMixer>(layer.mixer) ? "" : mixer_name(layer.mixer);
}

std::string_view sharing_word(const LayerSpec& layer) {
  const AttentionSpec* attention = layer.attention();
  return attention != nullptr && attention->shares_kv_with >= 0 ? "shared" : "";
}

std::string_view feed_forward_word(const LayerSpec& layer) {
  if (layer.moe.n_expert > 0) return "moe";
  return layer.feed_forward.n_ff > 0 ? "dense" : "";
}

std::string_view cross_word(const LayerSpec& layer) {
  return layer.cross.attention.n_head > 0 ? "cross" : "";
}

bool differs(const std::vector<LayerSpec>& kinds, Aspect aspect) {
  return std::ranges::any_of(
      kinds, [&](const LayerSpec& kind) { return aspect(kind) != aspect(kinds.front()); });
}

// Attention that sees all is "full" only beside some that does not.
std::string_view full_or(std::string_view word, const std::vector<LayerSpec>& kinds) {
  const bool beside_window = std::ranges::any_of(kinds, [](const LayerSpec& kind) {
    return mixer_word(kind) == "sliding" || mixer_word(kind) == "chunked";
  });
  return word == "attention" && beside_window ? "full" : word;
}

std::vector<std::string> name_kinds(const std::vector<LayerSpec>& kinds) {
  constexpr std::array<Aspect, 4> kAspects = {mixer_word, sharing_word, feed_forward_word,
                                              cross_word};
  std::vector<std::string> names(kinds.size());
  for (const Aspect aspect : kAspects) {
    if (!differs(kinds, aspect)) continue;
    for (size_t i = 0; i < kinds.size(); ++i) {
      const std::string_view word = full_or(aspect(kinds[i]), kinds);
      if (!word.empty()) names[i] += fmt::format("{}{}", names[i].empty() ? "" : "-", word);
    }
  }
  std::set<std::string> taken;
  for (std::string& name : names) {
    if (name.empty()) name = "layer";
    const std::string word = name;
    for (int number = 2; !taken.insert(name).second; ++number) {
      name = fmt::format("{}-{}", word, number);
    }
  }
  return names;
}

// The least p with order[i] = order[i % p] for all i.
size_t period_of(const std::vector<size_t>& order) {
  size_t period = 1;
  while (period < order.size() && !std::equal(order.begin() + static_cast<std::ptrdiff_t>(period),
                                              order.end(), order.begin())) {
    ++period;
  }
  return period;
}

}  // namespace

LayerKinds group_layers(const std::vector<LayerSpec>& layers) {
  LayerKinds groups;
  for (const LayerSpec& layer : layers) {
    const auto found = std::ranges::find(groups.kinds, layer);
    groups.order.push_back(static_cast<size_t>(found - groups.kinds.begin()));
    if (found == groups.kinds.end()) groups.kinds.push_back(layer);
  }
  if (!groups.kinds.empty()) groups.names = name_kinds(groups.kinds);
  return groups;
}

std::string order_text(const LayerKinds& kinds) {
  const size_t period = period_of(kinds.order);
  std::string text;
  size_t begin = 0;
  while (begin < period) {
    size_t end = begin + 1;
    while (end < period && kinds.order[end] == kinds.order[begin]) ++end;
    const std::string count = end - begin > 1 ? fmt::format("{} ", end - begin) : "";
    text +=
        fmt::format("{}{}{}", text.empty() ? "" : ", ", count, kinds.names.at(kinds.order[begin]));
    begin = end;
  }
  return "[" + text + "]";
}

}  // namespace tidemark

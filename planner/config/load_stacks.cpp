// Layers besides the main ones: each entry of `stacks` has the keys of a layer, its own n_embd and
// n_layer, and takes over nothing from the model around it.
#include <fmt/core.h>

#include <array>

#include "planner/base/diagnostic.h"
#include "planner/config/load_layers.h"

namespace tidemark {
namespace {

StackRole read_role(YamlMap& map) {
  constexpr std::array kRoles = {StackRole::kEncoder, StackRole::kVision, StackRole::kAudio,
                                 StackRole::kDraft};
  const std::optional<std::string> text = map.text("role");
  std::vector<std::string> names;
  for (const StackRole role : kRoles) {
    if (text && name_of(role) == *text) return role;
    names.emplace_back(name_of(role));
  }
  if (text) {
    map.error("role", fmt::format("{} is no role of a stack", in_quotes(*text)),
              suggestion(*text, "there are", names));
  }
  return StackRole::kEncoder;
}

StackSpec read_stack(YamlMap& map) {
  StackSpec stack;
  stack.role = read_role(map);
  stack.n_embd = map.integer("n_embd", 1, kMostWidth).value_or(0);
  // 0: a projector alone.
  const int64_t n_layer = map.integer("n_layer", 0, kMostLayers).value_or(0);
  stack.final_norm = read_norm(map, "final_norm", stack.final_norm);
  stack.extras = read_extras(map, "extras", kMostExtras);
  if (map.has("image")) stack.image = read_image(map);
  if (map.has("n_tokens")) {
    stack.n_tokens = Tokens(map.integer("n_tokens", 0, kMostContext).value_or(0));
  }
  if (map.has("is_counted")) stack.is_counted = map.boolean("is_counted").value_or(true);
  if (n_layer > 0) {
    stack.layers = read_layers(map, {.n_embd = stack.n_embd, .n_layer = n_layer, .rotates = false});
  }
  map.finish();
  return stack;
}

}  // namespace

std::vector<StackSpec> read_stacks(YamlMap& map) {
  std::vector<StackSpec> stacks;
  if (!map.has("stacks")) return stacks;
  std::vector<YamlMap> entries = map.map_list("stacks");
  if (std::ssize(entries) > kMostStacks) {
    map.error("stacks", fmt::format("has {} entries", entries.size()),
              fmt::format("at most {} are read", kMostStacks));
    return stacks;
  }
  for (YamlMap& entry : entries) stacks.push_back(read_stack(entry));
  return stacks;
}

}  // namespace tidemark

#include "planner/config/load_layers.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>

#include "planner/base/diagnostic.h"
#include "planner/base/units.h"
#include "planner/config/layer_reader.h"

namespace tidemark {
namespace {

struct Kind {
  std::string name{};
  LayerSpec layer{};
  bool is_used = false;
};

bool is_kind_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_part = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  return !name.empty() && is_letter(name.front()) && std::ranges::all_of(name, is_part);
}

Kind read_kind(YamlMap& kinds, const std::string& name, YamlMap& around, const LayerSpec& defaults,
               const LayerContext& context, std::set<std::string>& reported) {
  Kind kind{.name = name, .layer = defaults};
  if (!is_kind_name(name)) {
    kinds.error_at(kinds.where_key(name), kinds.path(name), "is no name of a kind",
                   "a letter first, then letters, digits, '-', '_' and '.'");
  }
  std::optional<YamlMap> map = kinds.map(name);
  if (!map) return kind;
  read_layer_keys(*map, kind.layer);
  const bool inherits_mixer = kind.layer.mixer.index() == defaults.mixer.index();
  complete_layer(LayerKeys(*map, &around, reported), inherits_mixer, context, kind.layer);
  map->finish();
  return kind;
}

std::vector<Kind> read_kinds(YamlMap& map, const LayerSpec& defaults, const LayerContext& context) {
  std::vector<Kind> read;
  std::optional<YamlMap> kinds = map.map("kinds");
  if (!kinds) return read;
  const std::vector<std::string> names = kinds->keys();
  if (names.empty() || std::ssize(names) > kMostLayers) {
    map.error("kinds", fmt::format("has {} kinds", names.size()),
              fmt::format("from 1 to {}", kMostLayers));
    return read;
  }
  std::set<std::string> reported;
  for (const std::string& name : names) {
    read.push_back(read_kind(*kinds, name, map, defaults, context, reported));
  }
  return read;
}

// "5 sliding" -> 5, "sliding"; "full" -> 1, "full".
struct Run {
  int64_t count = 1;
  std::string kind{};
};

std::optional<Run> parse_run(const std::string& text) {
  const size_t space = text.find(' ');
  if (space == std::string::npos) return Run{.kind = text};
  const Parsed<int64_t> count = parse_integer(text.substr(0, space));
  const int64_t* number = std::get_if<int64_t>(&count);
  if (number == nullptr || *number < 1 || *number > kMostLayers) return std::nullopt;
  return Run{.count = *number, .kind = text.substr(space + 1)};
}

std::optional<size_t> find_kind(const std::vector<Kind>& kinds, std::string_view name) {
  const auto found = std::ranges::find(kinds, name, &Kind::name);
  if (found == kinds.end()) return std::nullopt;
  return static_cast<size_t>(found - kinds.begin());
}

std::vector<std::string> names_of(const std::vector<Kind>& kinds) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds) names.push_back(kind.name);
  return names;
}

// The pattern, written out; empty when it is wrong.
std::vector<size_t> read_order(YamlMap& map, std::vector<Kind>& kinds, int64_t n_layer) {
  std::vector<size_t> order;
  const auto texts = map.text_list("layer_order");
  if (!texts || kinds.empty()) return order;
  const std::string path = map.path("layer_order");
  bool is_known = !texts->empty();
  if (!is_known) map.error("layer_order", "is empty");
  for (const YamlText& text : *texts) {
    const std::optional<Run> run = parse_run(text.text);
    const std::optional<size_t> kind = run ? find_kind(kinds, run->kind) : std::nullopt;
    if (!run) {
      map.error_at(text.where, path, fmt::format("{} is no run of layers", in_quotes(text.text)),
                   "a kind, or a number and a kind: 5 sliding");
    } else if (!kind) {
      map.error_at(text.where, path, fmt::format("there is no kind {}", in_quotes(run->kind)),
                   suggestion(run->kind, "there are", names_of(kinds)));
    } else if (std::ssize(order) <= kMostLayers) {
      kinds[*kind].is_used = true;
      order.insert(order.end(), static_cast<size_t>(run->count), *kind);
    }
    is_known = is_known && kind;
  }
  if (!is_known) return {};
  if (n_layer > 0 && std::ssize(order) > n_layer) {
    map.error("layer_order", fmt::format("has more than {} layers", n_layer),
              "it is repeated until n_layer is reached, and may not pass it");
    return {};
  }
  return order;
}

// A layer reads the cache of an earlier one, which must have one.
void check_sharing(YamlMap& map, const std::vector<LayerSpec>& layers,
                   const std::vector<std::string>& kinds) {
  std::set<std::string> reported;
  for (size_t i = 0; i < layers.size(); ++i) {
    const AttentionSpec* attention = layers[i].attention();
    if (attention == nullptr || attention->shares_kv_with < 0) continue;
    const auto with = static_cast<size_t>(attention->shares_kv_with);
    const AttentionSpec* source = with < i ? layers[with].attention() : nullptr;
    const bool has_cache = source != nullptr && source->shares_kv_with < 0;
    if (has_cache && source->n_head_kv == attention->n_head_kv &&
        source->head_dim == attention->head_dim && source->value_dim() == attention->value_dim()) {
      continue;
    }
    if (!reported.insert(kinds.empty() ? "" : kinds[i]).second) continue;
    const std::string message =
        has_cache
            ? fmt::format("layer {} has a cache of another shape than layer {}", with, i)
            : fmt::format("layer {} is no earlier layer than {} with a cache of its own", with, i);
    std::optional<YamlMap> own;
    if (!kinds.empty()) own = map.map("kinds")->map(kinds[i]);
    YamlMap& place = own && own->has("shares_kv_with") ? *own : map;
    place.error("shares_kv_with", message,
                "layers are counted from 0; K and V of an earlier attention layer are read");
  }
}

std::vector<LayerSpec> read_mixed(YamlMap& map, const LayerSpec& defaults,
                                  const LayerContext& context) {
  std::vector<Kind> kinds = read_kinds(map, defaults, context);
  const std::vector<size_t> order = read_order(map, kinds, context.n_layer);
  if (order.empty()) return {};
  std::vector<LayerSpec> layers;
  std::vector<std::string> names;
  std::ranges::for_each(kinds, [](Kind& kind) { kind.is_used = false; });
  for (size_t i = 0; std::ssize(layers) < context.n_layer; ++i) {
    Kind& kind = kinds[order[i % order.size()]];
    kind.is_used = true;
    layers.push_back(kind.layer);
    names.push_back(kind.name);
  }
  for (const Kind& kind : kinds) {
    if (kind.is_used || context.n_layer == 0) continue;
    std::optional<YamlMap> all = map.map("kinds");
    map.error_at(all->where_key(kind.name), all->path(kind.name), "is used by no layer",
                 "name it in layer_order or remove it");
  }
  check_sharing(map, layers, names);
  return layers;
}

}  // namespace

std::vector<LayerSpec> read_layers(YamlMap& map, const LayerContext& context) {
  LayerSpec layer;
  read_layer_keys(map, layer);
  if (map.has("kinds") || map.has("layer_order")) return read_mixed(map, layer, context);
  std::set<std::string> reported;
  complete_layer(LayerKeys(map, nullptr, reported), true, context, layer);
  const std::vector<LayerSpec> layers(static_cast<size_t>(context.n_layer), layer);
  check_sharing(map, layers, {});
  return layers;
}

}  // namespace tidemark

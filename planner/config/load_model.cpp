// schema: model/1. Two spellings: a uniform decoder-only transformer, one number for each
// dimension, or a plain list of layers with the bytes of their weights and activations.
#include <fmt/core.h>

#include <set>

#include "planner/config/load_common.h"

namespace tidemark {
namespace {

constexpr int64_t kMostLayers = 1000;
constexpr int64_t kMostWidth = int64_t{1} << 24;
constexpr int64_t kMostVocabulary = int64_t{1} << 26;
constexpr int64_t kMostContext = int64_t{1} << 30;
constexpr size_t kMostListedLayers = 10000;

// The numbers of a uniform transformer; 0 = missing or wrong, already reported.
struct Dimensions {
  int64_t n_layer = 0;
  int64_t n_embd = 0;
  int64_t n_head = 0;
  int64_t n_head_kv = 0;
  int64_t head_dim = 0;
  int64_t n_ff = 0;
};

int64_t read_head_dim(YamlMap& map, const Dimensions& dims) {
  if (map.has("head_dim")) return map.integer("head_dim", 1, kMostWidth).value_or(0);
  if (dims.n_embd == 0 || dims.n_head == 0) return 0;
  if (dims.n_embd % dims.n_head == 0) return dims.n_embd / dims.n_head;
  map.error("n_head", fmt::format("{} does not divide n_embd {}", dims.n_head, dims.n_embd),
            "state head_dim when it is not n_embd / n_head");
  return 0;
}

Dimensions read_dimensions(YamlMap& map) {
  Dimensions dims;
  dims.n_layer = map.integer("n_layer", 1, kMostLayers).value_or(0);
  dims.n_embd = map.integer("n_embd", 1, kMostWidth).value_or(0);
  dims.n_head = map.integer("n_head", 1, kMostWidth).value_or(0);
  dims.n_head_kv =
      map.has("n_head_kv") ? map.integer("n_head_kv", 1, kMostWidth).value_or(0) : dims.n_head;
  dims.head_dim = read_head_dim(map, dims);
  dims.n_ff = map.integer("n_ff", 1, kMostWidth).value_or(0);
  if (dims.n_head > 0 && dims.n_head_kv > 0 && dims.n_head % dims.n_head_kv != 0) {
    map.error("n_head_kv", fmt::format("{} does not divide n_head {}", dims.n_head_kv, dims.n_head),
              "grouped-query attention needs n_head to be a multiple of n_head_kv");
  }
  if (dims.head_dim % 2 != 0) {
    const bool stated = map.has("head_dim");
    map.error(stated ? "head_dim" : "n_embd",
              stated ? fmt::format("{} is odd", dims.head_dim)
                     : fmt::format("{} / n_head {} gives an odd head_dim of {}", dims.n_embd,
                                   dims.n_head, dims.head_dim),
              "rotary position embedding turns pairs of values");
  }
  return dims;
}

TransformerSpec read_transformer(YamlMap& map) {
  const Dimensions dims = read_dimensions(map);
  TransformerSpec spec;
  spec.n_embd = dims.n_embd;
  spec.n_vocab = map.integer("n_vocab", 1, kMostVocabulary).value_or(0);
  if (map.has("n_ctx_train")) {
    spec.n_ctx_train = Tokens(map.integer("n_ctx_train", 1, kMostContext).value_or(0));
  }
  spec.tied_embeddings = map.boolean("tied_embeddings").value_or(false);
  const LayerSpec layer{.mixer = AttentionSpec{.n_head = dims.n_head,
                                               .n_head_kv = dims.n_head_kv,
                                               .head_dim = dims.head_dim},
                        .feed_forward = {.n_ff = dims.n_ff}};
  spec.layers.assign(static_cast<size_t>(dims.n_layer), layer);
  return spec;
}

PlainLayer read_layer(YamlMap& map) {
  PlainLayer layer;
  layer.name = map.text("name").value_or("");
  if (layer.name.find_first_of(", ") != std::string::npos) {
    map.error("name", fmt::format("{} contains a comma or a space", in_quotes(layer.name)),
              "lists of layers are written with commas");
  }
  layer.weights = map.bytes("weights").value_or(Bytes{});
  layer.activation = map.bytes("activation").value_or(Bytes{});
  map.finish();
  return layer;
}

LayerListSpec read_layer_list(YamlMap& map) {
  LayerListSpec spec;
  std::vector<YamlMap> layers = map.map_list("layers");
  if (layers.size() > kMostListedLayers) {
    map.error("layers", fmt::format("has {} layers", layers.size()),
              fmt::format("at most {} are read", kMostListedLayers));
    return spec;
  }
  std::set<std::string> names;
  Bytes total;
  for (YamlMap& entry : layers) {
    const PlainLayer& layer = spec.layers.emplace_back(read_layer(entry));
    if (!layer.name.empty() && !names.insert(layer.name).second) {
      entry.error("name", fmt::format("{} names an earlier layer too", in_quotes(layer.name)),
                  "give every layer a name of its own");
    }
    const Bytes bytes = layer.weights + layer.activation;
    if (bytes > kMostBytes - total) {
      entry.error("weights", "takes the sum of all layers past 1048576 TiB");
      return spec;
    }
    total += bytes;
  }
  return spec;
}

}  // namespace

Result<ModelSpec> parse_model(const std::string& file, std::string_view text) {
  YamlDocument document(file, text);
  std::optional<YamlMap> map = document.root();
  if (!map || !is_schema(*map, "model/1")) return document.diagnostics();
  ModelSpec model;
  model.name = map->text("name").value_or("");
  model.source = map->text("source").value_or("");
  if (map->has("layers")) {
    model.architecture = "layer-list";
    model.dims = read_layer_list(*map);
  } else {
    model.architecture = map->text("architecture").value_or("");
    model.dtype = read_dtype(*map, "dtype", DTypeUse::kWeights).value_or(DType::kF16);
    model.dims = read_transformer(*map);
  }
  map->finish();
  if (has_errors(document.diagnostics())) return document.diagnostics();
  return model;
}

Result<ModelSpec> load_model(std::string_view name_or_path) {
  return load_with(ConfigKind::kModel, name_or_path, parse_model);
}

}  // namespace tidemark

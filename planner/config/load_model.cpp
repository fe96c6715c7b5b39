// schema: model/1. Two spellings: a transformer, one number for each dimension and for what differs
// between its layers, or a plain list of layers with the bytes of their weights and activations.
#include <fmt/core.h>

#include <set>
#include <stdexcept>

#include "planner/base/checked.h"
#include "planner/config/load_common.h"
#include "planner/config/load_layers.h"
#include "planner/model/weights.h"

namespace tidemark {
namespace {

constexpr size_t kMostListedLayers = 10000;
constexpr int64_t kMostOperations = 1'000'000'000'000'000;
// Eight bytes for each are still within kMostBytes.
constexpr int64_t kMostElements = int64_t{1} << 57;

void read_embedding(YamlMap& map, TransformerSpec& spec) {
  spec.n_vocab = map.integer("n_vocab", 1, kMostVocabulary).value_or(0);
  if (map.has("n_ctx_train")) {
    spec.n_ctx_train = Tokens(map.integer("n_ctx_train", 1, kMostContext).value_or(0));
  }
  if (map.has("has_head")) spec.has_head = map.boolean("has_head").value_or(true);
  if (spec.has_head || map.has("tied_embeddings")) {
    spec.tied_embeddings = map.boolean("tied_embeddings").value_or(false);
  }
  if (map.has("head_bias")) spec.head_bias = map.boolean("head_bias").value_or(false);
  if (map.has("is_causal")) spec.is_causal = map.boolean("is_causal").value_or(true);
  if (map.has("n_position")) {
    spec.n_position = map.integer("n_position", 0, kMostContext).value_or(0);
  }
  if (map.has("n_token_type")) {
    spec.n_token_type = map.integer("n_token_type", 0, kMostWidth).value_or(0);
  }
  spec.embedding_norm = read_norm(map, "embedding_norm", spec.embedding_norm);
  spec.final_norm = read_norm(map, "final_norm", spec.final_norm);
}

TransformerSpec read_transformer(YamlMap& map) {
  TransformerSpec spec;
  const int64_t n_layer = map.integer("n_layer", 1, kMostLayers).value_or(0);
  spec.n_embd = map.integer("n_embd", 1, kMostWidth).value_or(0);
  read_embedding(map, spec);
  // Learned positions are added, not turned.
  spec.layers = read_layers(
      map, {.n_embd = spec.n_embd, .n_layer = n_layer, .rotates = spec.n_position == 0});
  spec.stacks = read_stacks(map);
  spec.extras = read_extras(map, "extras", kMostExtras);
  return spec;
}

Quantization read_stored_as(YamlMap& map) {
  if (!map.has("stored_as")) return {};
  const std::optional<std::string> text = map.text("stored_as");
  if (!text) return {};
  const std::optional<Quantization> parsed = parse_quantization(*text);
  if (!parsed) {
    map.error("stored_as", fmt::format("{} is no quantization", in_quotes(*text)),
              suggestion(*text, "there are", quantization_names()));
  }
  return parsed.value_or(Quantization{});
}

// Widths within their bounds may still multiply to more than any file holds.
void check_size(YamlMap& map, const ModelSpec& model) {
  try {
    int64_t elements = 0;
    for (const WeightTensor& tensor : weight_tensors(model)) {
      elements = checked_add(elements, tensor.elements());
    }
    if (elements <= kMostElements) return;
  } catch (const std::overflow_error&) {  // said below
  }
  map.error_at(map.where(), "", "the weights together have more than 2^57 values");
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
  if (map.has("operations")) {
    layer.operations = map.integer("operations", 0, kMostOperations).value_or(0);
  }
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
    model.dtype = read_dtype(*map, "dtype", DTypeUse::kStoredWeights).value_or(DType::kF16);
    model.stored_as = read_stored_as(*map);
    model.dims = read_transformer(*map);
  }
  map->finish();
  if (!has_errors(document.diagnostics()) && model.transformer() != nullptr) {
    check_size(*map, model);
  }
  if (has_errors(document.diagnostics())) return document.diagnostics();
  return model;
}

Result<ModelSpec> load_model(std::string_view name_or_path) {
  return load_with(ConfigKind::kModel, name_or_path, parse_model);
}

}  // namespace tidemark

#include "planner/capacity/textbook.h"

#include "planner/model/quantized_weights.h"

#include <algorithm>

namespace tidemark {
namespace {

constexpr int64_t kBytesPerActivation = 4;  // the textbook's activations are always f32

}  // namespace

Bytes textbook_layer_activation(int64_t batch, int64_t tokens, int64_t width) {
  return Bytes::of(kBytesPerActivation) * batch * tokens * width;
}

Bytes textbook_quantized(Bytes at_16_bits, int64_t bits) {
  return Bytes::of(ceil_div((at_16_bits * bits).count(), 16));
}

Bytes textbook_runtime(Bytes weights, Bytes activations, double ratio) {
  return share_of(weights + activations, ratio);
}

std::optional<int64_t> textbook_slices(int64_t layers, Bytes layer, Bytes budget) {
  if (budget < layer || budget < Bytes{}) return std::nullopt;
  // Layers without weights all fit into one slice.
  const int64_t per_slice = layer == Bytes{} ? layers : budget / layer;
  return layers == 0 ? 0 : ceil_div(layers, per_slice);
}

std::optional<int64_t> textbook_max_tokens(Bytes layer, int64_t batch, int64_t width, Bytes limit) {
  if (limit < layer) return std::nullopt;
  return (limit - layer) / textbook_layer_activation(batch, 1, width);
}

int64_t textbook_crossover_tokens(Bytes layer, int64_t batch, int64_t width) {
  return layer / textbook_layer_activation(batch, 1, width) + 1;
}

Bytes textbook_least_read(Bytes weights, Bytes resident) {
  return std::max(weights - std::max(resident, Bytes{}), Bytes{});
}

Bytes textbook_kv_per_token(const TransformerSpec& spec, DType type_k, DType type_v) {
  int64_t elements = 0;  // of K; V has as many
  for (const LayerSpec& layer : spec.layers) {
    const AttentionSpec* attention = layer.attention();
    if (attention == nullptr) continue;
    elements = checked_add(elements, checked_mul(attention->n_head_kv, attention->head_dim));
  }
  return textbook_weight_bytes(elements, type_k) + textbook_weight_bytes(elements, type_v);
}

Bytes textbook_weights(const Scenario& scenario) {
  const WeightsInventory inventory = weights_inventory(scenario.model, DType::kF16);
  return scenario.model.layer_list()
             ? inventory.bytes
             : textbook_weight_bytes(inventory.parameters,
                                     nominal_format(scenario.model, scenario.quant));
}

std::vector<TextbookLayer> textbook_layers(const Scenario& scenario) {
  std::vector<TextbookLayer> layers;
  if (const LayerListSpec* list = scenario.model.layer_list()) {
    for (const PlainLayer& layer : list->layers) {
      layers.push_back({layer.weights, layer.activation});
    }
    return layers;
  }
  const int64_t n_layer = scenario.model.n_layer();
  const Bytes activation = textbook_layer_activation(scenario.n_seq, scenario.cells_per_sequence(),
                                                     scenario.model.transformer()->n_embd);
  layers.assign(static_cast<size_t>(n_layer), {textbook_weights(scenario) / n_layer, activation});
  return layers;
}

Bytes textbook_activations(const std::vector<TextbookLayer>& layers) {
  Bytes sum;
  for (const TextbookLayer& layer : layers) sum += layer.activation;
  return sum;
}

Breakdown textbook_breakdown(const Scenario& scenario) {
  const Bytes weights = textbook_weights(scenario);
  const Bytes activations = textbook_activations(textbook_layers(scenario));
  return {.weights = weights,
          .compute = activations,
          .runtime = textbook_runtime(weights, activations, scenario.engine.runtime_ratio)};
}

}  // namespace tidemark

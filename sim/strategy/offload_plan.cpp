#include "sim/strategy/offload_plan.h"

#include <fmt/core.h>

#include <algorithm>

namespace tidemark {
namespace {

// Rounded up.
Bytes part(Bytes bytes, int64_t percent) {
  return Bytes::of(ceil_div(checked_mul(bytes.count(), percent), 100));
}

int64_t part(int64_t amount, int64_t percent) {
  return ceil_div(checked_mul(amount, percent), 100);
}

Bytes cells_of(const OffloadLayer& layer, const Scenario& scenario) {
  const int64_t sequences = checked_mul(scenario.n_seq, scenario.offload->batches);
  return layer.cache_per_cell *
         checked_mul(sequences, checked_add(scenario.prompt.count(), scenario.generate.count()));
}

Bytes hidden_of(const OffloadLayer& layer, const Scenario& scenario) {
  const int64_t sequences = checked_mul(scenario.n_seq, scenario.offload->batches);
  return layer.hidden * checked_mul(sequences, std::max<int64_t>(scenario.prompt.count(), 1));
}

// Of two layers that follow one another, the second being fetched while the first computes.
Bytes in_flight(const std::vector<OffloadLayer>& layers, int64_t percent) {
  Bytes most;
  for (size_t i = 0; i < layers.size(); ++i) {
    const Bytes next = i + 1 < layers.size() ? layers[i + 1].weights : Bytes{};
    most = std::max(most, part(layers[i].weights + next, percent));
  }
  return most;
}

}  // namespace

Result<std::vector<OffloadLayer>> offload_layers(const Scenario& scenario, const MemoryPlan& plan) {
  const TransformerSpec* spec = scenario.model.transformer();
  if (spec == nullptr || !spec->is_causal || !spec->stacks.empty()) {
    return one_error("offload", fmt::format("{} is not a plain decoder", scenario.model.name),
                     "name a model that is one stack of attention layers");
  }
  std::vector<OffloadLayer> layers;
  for (const LayerSpec& layer : spec->layers) {
    const AttentionSpec* attention = layer.attention();
    if (attention == nullptr) {
      return one_error("offload",
                       fmt::format("{} has layers without attention", scenario.model.name),
                       "name a model that is one stack of attention layers");
    }
    const int64_t keys = checked_mul(attention->n_head, attention->head_dim);
    const int64_t values = checked_mul(attention->n_head, attention->value_dim());
    layers.push_back({.operations_per_cell = checked_mul(2, checked_add(keys, values)),
                      .cache_per_cell =
                          row_bytes(scenario.type_k, attention->n_head_kv * attention->head_dim) +
                          row_bytes(scenario.type_v, attention->n_head_kv * attention->value_dim()),
                      .hidden = row_bytes(scenario.type_act, spec->n_embd)});
  }
  for (const WeightTensor& tensor : plan.weights.tensors) {
    if (tensor.layer < 0) continue;
    OffloadLayer& layer = layers.at(static_cast<size_t>(tensor.layer));
    layer.weights += tensor.bytes;
    if (tensor.rows > 1) layer.parameters = checked_add(layer.parameters, tensor.elements());
  }
  return layers;
}

LayerMoves moves_of(const OffloadLayer& layer, const OffloadPass& pass,
                    const OffloadChoices& choices, const Accelerator& device) {
  const auto& [weights, kv_cache, hidden, batches] = choices;
  const int64_t tokens = checked_mul(pass.sequences, pass.tokens);
  const Bytes states = layer.hidden * tokens;
  const Bytes made = layer.cache_per_cell * tokens;
  const Bytes attended = layer.cache_per_cell * checked_mul(pass.sequences, pass.cells);
  LayerMoves moves;
  moves.to_device =
      transfer_time(part(layer.weights, weights.off_device()) + part(states, hidden.off_device()),
                    device.to_device);
  moves.from_device = transfer_time(part(made, kv_cache.off_device()), device.cache_to_host) +
                      transfer_time(part(states, hidden.off_device()), device.hidden_to_host);
  moves.read = part(layer.weights, weights.in_storage()) + part(states, hidden.in_storage());
  if (!pass.is_prefill) moves.read += part(attended, kv_cache.in_storage());
  moves.from_storage = transfer_time(moves.read, device.from_storage);
  const Bytes cache_out = part(made, kv_cache.in_storage());
  const Bytes hidden_out = part(states, hidden.in_storage());
  moves.written = cache_out + hidden_out;
  moves.to_storage = transfer_time(cache_out, device.cache_to_storage) +
                     transfer_time(hidden_out, device.hidden_to_storage);
  const int64_t products = checked_mul(checked_mul(2, layer.parameters), tokens);
  const int64_t attention = checked_mul(checked_mul(layer.operations_per_cell, pass.cells), tokens);
  if (pass.is_prefill) {
    moves.products = compute_time(products, device.prefill_products) +
                     compute_time(attention, device.prefill_attention);
    return moves;
  }
  moves.products = compute_time(products, device.decode_products) +
                   compute_time(part(attention, kv_cache.on_device), device.decode_attention);
  moves.host = compute_time(part(attention, kv_cache.off_device()), device.host_attention);
  return moves;
}

Bytes offload_device_bytes(const std::vector<OffloadLayer>& layers, const Scenario& scenario) {
  const auto& [weights, kv_cache, hidden, batches] = *scenario.offload;
  Bytes held = in_flight(layers, weights.off_device());
  for (const OffloadLayer& layer : layers) {
    held += part(layer.weights, weights.on_device);
    held += part(cells_of(layer, scenario), kv_cache.on_device);
  }
  return held + part(hidden_of(layers.front(), scenario), hidden.on_device);
}

Breakdown offload_memory(const std::vector<OffloadLayer>& layers, const Scenario& scenario,
                         const MemoryPlan& plan) {
  const auto& [weights, kv_cache, hidden, batches] = *scenario.offload;
  Breakdown memory{.runtime = plan.breakdown.runtime};
  memory.weights = in_flight(layers, weights.in_storage());
  Bytes read_ahead;  // the cache of the layer that is read
  for (const OffloadLayer& layer : layers) {
    const Bytes cells = cells_of(layer, scenario);
    memory.weights += part(layer.weights, weights.in_memory);
    memory.kv_cache += part(cells, kv_cache.in_memory);
    read_ahead = std::max(read_ahead, part(cells, kv_cache.in_storage()));
  }
  memory.kv_cache += read_ahead;
  memory.compute = part(hidden_of(layers.front(), scenario), hidden.in_memory);
  return memory;
}

}  // namespace tidemark

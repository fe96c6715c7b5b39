#include "planner/engine/llama_cpp/llama_memory.h"

#include <algorithm>

#include "planner/engine/ggml_alloc.h"

namespace tidemark {
namespace {

// Without flash attention every layer's values are as wide as the widest layer's.
void widen_values(const TransformerSpec& spec, LlamaMemory& memory) {
  const LlamaContext& context = memory.context;
  if (context.flash) return;
  Bytes widest;
  for (const LayerSpec& layer : spec.layers) {
    widest = std::max(widest, value_bytes_per_cell(layer, context.type_v));
  }
  const StateOptions options = state_options(context);
  for (const LayerSpec& layer : spec.layers) {
    const Bytes own = value_bytes_per_cell(layer, context.type_v);
    if (own == Bytes{}) continue;
    const int64_t cells = checked_mul(cells_of(layer, options), context.n_stream);
    const AttentionSpec* attention = layer.attention();
    const bool window = attention != nullptr && (attention->window > 0 || attention->chunk > 0);
    (window ? memory.kv_window : memory.kv_full) += (widest - own) * cells;
  }
}

void set_states(const ModelSpec& model, LlamaMemory& memory) {
  const TransformerSpec& spec = *model.transformer();
  const StateSizes sizes = state_sizes(model, state_options(memory.context));
  memory.kv_full = sizes.kv_full;
  memory.kv_window = sizes.kv_window;
  memory.recurrent = sizes.recurrent;
  widen_values(spec, memory);
  memory.output = row_bytes(DType::kF32, checked_mul(spec.n_vocab, memory.context.n_seq));
}

void set_high_water(const GgmlGraph& graph, const GgmlReservation& reservation,
                    LlamaMemory& memory) {
  if (!reservation.high_water) return;
  const GgmlTensor& tensor = graph[*reservation.high_water];
  memory.high_water = {.name = tensor.name, .op = tensor.op, .bytes = tensor.bytes};
}

}  // namespace

Result<LlamaMemory> llama_memory(const ModelSpec& published, const WeightsInventory& weights,
                                 const LlamaSettings& settings, LlamaRepack repack) {
  const ModelSpec model = as_llama_cpp_sees(published);
  if (model.transformer() == nullptr) return one_error("model", "a list of sizes has no graph");
  LlamaMemory memory{.context = llama_context(model, settings),
                     .model = llama_model_buffers(model, weights, repack)};
  if (!memory.context.rejection.empty()) return memory;

  const Result<LlamaGraph> prompt =
      llama_graph(model, weights, memory.context, prompt_run(memory.context));
  if (!prompt) return prompt.diagnostics();
  const Result<LlamaGraph> generation =
      llama_graph(model, weights, memory.context, generation_run(memory.context));
  if (!generation) return generation.diagnostics();
  set_states(model, memory);
  const GgmlReservation reservation = reserve(prompt->graph);
  memory.compute_generation = reserve(generation->graph).reserved;
  memory.compute = std::max(reservation.reserved, memory.compute_generation);
  memory.n_nodes_prompt = prompt->n_nodes;
  memory.n_nodes_generation = generation->n_nodes;
  memory.exact_for_architecture = prompt->exact_for_architecture;
  set_high_water(prompt->graph, reservation, memory);
  return memory;
}

}  // namespace tidemark

#include "planner/engine/llama_cpp/llama_offload.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "planner/base/check.h"
#include "planner/engine/ggml_alloc.h"
#include "planner/engine/llama_cpp/device_split.h"
#include "planner/engine/llama_cpp/llama_model_buffers.h"

namespace tidemark {
namespace {

constexpr int64_t kOffloadBatch = 32;  // rows from which a product is worth the copy of its weight
constexpr Alignment kCpuAlignment = Alignment::of(32);

// The number behind `prefix`: "blk.12.attn_q.weight" -> 12; none if the name begins otherwise.
std::optional<int64_t> number_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

class Places {
 public:
  Places(const TransformerSpec& spec, const WeightsInventory& weights, const LlamaOffload& offload)
      : offload_(offload),
        layers_(llama_devices_of_layers(std::ssize(spec.layers), offload)),
        head_(layers_.back()) {
    for (const LlamaOverride& override : offload.overrides) {
      check(!override.device || *override.device < cpu(), "an override names a device there is");
    }
    for (const WeightTensor& tensor : weights.tensors) {
      if (tensor.stack < 0) homes_.emplace(tensor.name, chosen(tensor.name));
    }
    // A tied head is the table under its own name, for another purpose.
    if (spec.tied_embeddings) head_ = by_hand("token_embd.weight").value_or(layers_.back());
  }

  size_t cpu() const { return offload_.devices.size(); }
  size_t n_devices() const { return offload_.devices.size() + 1; }
  size_t of_layer(int64_t layer) const {
    const auto i = static_cast<size_t>(std::max<int64_t>(layer, 0));
    return i < layers_.size() ? layers_[i] : cpu();
  }
  size_t of_table() const { return of_weight("token_embd.weight"); }
  size_t of_tied_head() const { return head_; }
  size_t of_cache(int64_t layer) const { return offload_.kv_with_layers ? of_layer(layer) : cpu(); }
  bool is_all_offloaded() const { return of_layer(0) != cpu() && layers_.back() != cpu(); }

  size_t of_weight(std::string_view name) const {
    const auto found = homes_.find(name);
    if (found != homes_.end()) return found->second;
    return name == "output.weight" ? head_ : chosen(name);
  }

  // A cache or a weight, by the name of its leaf.
  size_t of_leaf(std::string_view name) const {
    for (const std::string_view cache : {"cache_k_l", "cache_v_l", "cache_r_l", "cache_s_l"}) {
      if (const auto layer = number_after(name, cache)) return of_cache(*layer);
    }
    return of_weight(name);
  }

 private:
  std::optional<size_t> by_hand(std::string_view name) const {
    for (const LlamaOverride& override : offload_.overrides) {
      if (override.pattern.found_in(name)) return override.device.value_or(cpu());
    }
    const auto layer = number_after(name, "blk.");
    if (layer && *layer < offload_.n_cpu_moe && is_of_experts(name)) return cpu();
    return std::nullopt;
  }

  size_t chosen(std::string_view name) const {
    if (const auto place = by_hand(name)) return *place;
    if (const auto layer = number_after(name, "blk.")) return of_layer(*layer);
    if (name.starts_with("output")) return layers_.back();
    return name.starts_with("rope_") ? of_layer(0) : cpu();
  }

  const LlamaOffload& offload_;
  std::vector<size_t> layers_;
  size_t head_;
  std::map<std::string_view, size_t> homes_{};  // of every weight, by name
};

DeviceRequest request_of(const GgmlGraph& graph, const Places& places, const LlamaOffload& offload,
                         const LlamaRun& run) {
  const size_t n = graph.tensors.size();
  DeviceRequest request{.n_devices = places.n_devices(),
                        .home = std::vector<std::optional<size_t>>(n),
                        .is_weight = std::vector<bool>(n, false),
                        .wish = std::vector<std::optional<size_t>>(n),
                        .offload_batch = offload.offload_products ? kOffloadBatch : 0,
                        .n_copies = offload.n_copies};
  if (offload.devices.empty()) request.offload_batch = 0;
  const bool norms_stay = run.n_tokens < kOffloadBatch || places.is_all_offloaded();
  for (size_t i = 0; i < n; ++i) {
    const GgmlTensor& tensor = graph.tensors[i];
    if (tensor.leaf && tensor.external) {
      request.home[i] = places.of_leaf(tensor.name);
      request.is_weight[i] = !tensor.name.starts_with("cache_");
    }
    const auto norm = number_after(tensor.name, "norm-");
    if (norm && norms_stay) request.wish[i] = places.of_layer(*norm);
  }
  return request;
}

Bytes stored_bytes(const WeightTensor& tensor, const LlamaDevice* device) {
  if (device == nullptr) return align_up(tensor.bytes, kCpuAlignment);
  Bytes bytes = tensor.bytes;
  const int64_t over = tensor.columns % device->row_multiple;
  if (format_of(tensor.dtype).quantized && over != 0) {
    bytes += row_bytes(tensor.dtype, device->row_multiple - over);
  }
  return align_up(bytes, Alignment::of(device->alignment));
}

void add_model(const ModelSpec& model, const WeightsInventory& weights, const Places& places,
               const LlamaOffload& offload, LlamaOffloadedMemory& memory) {
  const auto put = [&](const WeightTensor& tensor, size_t device) {
    const LlamaDevice* at = device < offload.devices.size() ? &offload.devices[device] : nullptr;
    memory.devices[device].model += stored_bytes(tensor, at);
  };
  const bool is_tied = model.transformer()->tied_embeddings;
  for (const WeightTensor& tensor : weights.tensors) {
    if (tensor.stack >= 0) continue;
    const size_t home = places.of_weight(tensor.name);
    put(tensor, home);
    const bool is_table = tensor.role == WeightRole::kTokenEmbedding && !tensor.is_bias;
    if (is_table && is_tied && places.of_tied_head() != home) {
      put(tensor, places.of_tied_head());
    }
  }
  if (!offload.mapped) return;
  memory.devices[places.cpu()].model =
      llama_mapped_span(model, weights, [&](const WeightTensor& tensor) {
        return tensor.stack < 0 && places.of_weight(tensor.name) == places.cpu();
      });
}

void add_states(const TransformerSpec& spec, const Places& places, LlamaOffloadedMemory& memory) {
  const LlamaContext& context = memory.context;
  const StateOptions options = state_options(context);
  Bytes widest;
  for (const LayerSpec& layer : spec.layers) {
    widest = std::max(widest, value_bytes_per_cell(layer, context.type_v));
  }
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const LayerSpec& layer = spec.layers[i];
    LlamaDeviceMemory& device = memory.devices[places.of_cache(static_cast<int64_t>(i))];
    const Bytes own = value_bytes_per_cell(layer, context.type_v);
    const Bytes values = own == Bytes{} || context.flash ? own : widest;
    const int64_t cells = checked_mul(cells_of(layer, options), context.n_stream);
    device.kv += (key_bytes_per_cell(layer, context.type_k) + values) * cells;
    device.recurrent += recurrent_state_of(layer, spec.n_embd).total() * context.n_seq;
    ++memory.devices[places.of_layer(static_cast<int64_t>(i))].n_layers;
  }
}

// Offsets of a device with a larger alignment stay multiples of it when all sizes are.
Bytes reserved_on(GgmlGraph graph, int64_t alignment) {
  for (GgmlTensor& tensor : graph.tensors) {
    if (needs_memory(tensor)) tensor.bytes = align_up(tensor.bytes, Alignment::of(alignment));
  }
  return reserve(graph).reserved;
}

std::optional<Diagnostics> add_compute(const ModelSpec& model, const WeightsInventory& weights,
                                       const Places& places, const LlamaOffload& offload,
                                       LlamaOffloadedMemory& memory) {
  for (LlamaRun run : {prompt_run(memory.context), generation_run(memory.context)}) {
    run.own_head = places.of_tied_head() != places.of_table();
    const Result<LlamaGraph> graph = llama_graph(model, weights, memory.context, run);
    if (!graph) return graph.diagnostics();
    const DeviceSplit split =
        split_devices(graph->graph, request_of(graph->graph, places, offload, run));
    for (size_t i = 0; i < memory.devices.size(); ++i) {
      const int64_t alignment =
          i < offload.devices.size() ? offload.devices[i].alignment : kCpuAlignment.count();
      Bytes& compute = memory.devices[i].compute;
      compute = std::max(compute, reserved_on(split.graphs[i], alignment));
    }
    memory.n_splits = std::max(memory.n_splits, split.n_splits);
    memory.exact_for_architecture = graph->exact_for_architecture;
  }
  return std::nullopt;
}

}  // namespace

int64_t copies_in_flight(int64_t n_layer, const LlamaOffload& offload) {
  constexpr int64_t kInFlight = 4;
  const bool all = offload.n_gpu_layers > n_layer && offload.kv_with_layers;
  const bool by_hand = !offload.overrides.empty() || offload.n_cpu_moe > 0;
  return offload.devices.size() > 1 && all && !by_hand ? kInFlight : 1;
}

std::vector<size_t> llama_devices_of_layers(int64_t n_layer, const LlamaOffload& offload) {
  const size_t cpu = offload.devices.size();
  // Single precision, as that engine compares them: a place may fall on either side of a border.
  std::vector<float> borders;
  float total = 0;
  for (const LlamaDevice& device : offload.devices) {
    check(device.share >= 0, "no device has less than no share");
    borders.push_back(total += device.share);
  }
  check(cpu == 0 || total > 0, "some device has a share");
  for (float& border : borders) border /= total;
  const int64_t first = std::max<int64_t>(n_layer + 1 - offload.n_gpu_layers, 0);
  const int64_t count = cpu == 0 ? 0 : std::min(offload.n_gpu_layers, n_layer + 1);
  std::vector<size_t> devices;
  for (int64_t i = 0; i <= n_layer; ++i) {
    if (i < first || i - first >= count) {
      devices.push_back(cpu);
      continue;
    }
    const float place = static_cast<float>(i - first) / static_cast<float>(count);
    const auto at = std::ranges::upper_bound(borders, place);
    devices.push_back(std::min(static_cast<size_t>(at - borders.begin()), cpu - 1));
  }
  return devices;
}

Result<LlamaOffloadedMemory> llama_offloaded_memory(const ModelSpec& published,
                                                    const WeightsInventory& weights,
                                                    const LlamaSettings& settings,
                                                    const LlamaOffload& offload) {
  const ModelSpec model = as_llama_cpp_sees(published);
  const TransformerSpec* spec = model.transformer();
  if (spec == nullptr) return one_error("model", "a list of sizes has no graph");
  LlamaOffloadedMemory memory{.context = llama_context(model, settings)};
  if (!memory.context.rejection.empty()) return memory;
  for (const LlamaDevice& device : offload.devices) memory.devices.push_back({.name = device.name});
  memory.devices.push_back({.name = "CPU"});

  const Places places(*spec, weights, offload);
  if (auto refused = add_compute(model, weights, places, offload, memory)) return *refused;
  add_model(model, weights, places, offload, memory);
  add_states(*spec, places, memory);
  memory.output = row_bytes(DType::kF32, checked_mul(spec->n_vocab, memory.context.n_seq));
  return memory;
}

}  // namespace tidemark

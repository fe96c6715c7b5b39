// Every struct is taken apart by structured bindings, all members by name: a new member does not
// compile here until it is said whether results depend on it.
#include "sim/sweep/scenario_id.h"

#include <fmt/core.h>

#include <map>

#include "planner/config/model_yaml.h"
#include "planner/report/report.h"

namespace tidemark {
namespace {

// One value a line whatever it holds: a\nb is one line with a backslash.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

class CanonicalText {
 public:
  void add(std::string_view key, std::string_view value) {
    text_ += fmt::format("{}={}\n", key, escaped(value));
  }
  void add(std::string_view key, int64_t value) { text_ += fmt::format("{}={}\n", key, value); }
  void add(std::string_view key, Bytes value) { add(key, value.count()); }
  // Shortest text that reads back as the same number.
  void add(std::string_view key, double value) { text_ += fmt::format("{}={}\n", key, value); }
  std::string take() && { return std::move(text_); }

 private:
  std::string text_{};
};

// One line of the model file to a line.
void add_lines(CanonicalText& text, std::string_view key, std::string_view lines) {
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    text.add(key, lines.substr(0, end));
    lines.remove_prefix(end + 1);
  }
}

// "blk.12.attn_q.weight" -> 12, "blk.*.attn_q.weight"; "-" of a tensor outside the layers.
struct LayerTensor {
  std::string layer{"-"};
  std::string name{};
};

LayerTensor split_layer(const std::string& name) {
  constexpr std::string_view kBlock = "blk.";
  const size_t block = name.find(kBlock);
  if (block == std::string::npos) return {.name = name};
  const size_t begin = block + kBlock.size();
  const size_t end = name.find_first_not_of("0123456789", begin);
  if (end == std::string::npos || end == begin || name[end] != '.') return {.name = name};
  return {.layer = name.substr(begin, end - begin),
          .name = name.substr(0, begin) + "*" + name.substr(end)};
}

// Tensors of like layers are one line, and another says which layers are like which: a file of 32
// layers in two mixes takes four lines, not 291. The length of a name comes before it, so that no
// name can pass for two.
void add_stored(CanonicalText& text, const std::vector<StoredTensor>& stored) {
  std::map<std::string, size_t> runs;
  std::string order;
  for (size_t i = 0; i < stored.size();) {
    const std::string run_layer = split_layer(stored[i].name).layer;
    std::string run;
    for (; i < stored.size(); ++i) {
      const auto& [name, dtype, columns, rows, count] = stored[i];
      const LayerTensor tensor = split_layer(name);
      if (tensor.layer != run_layer) break;
      run += fmt::format("{} {} {} {} {} {};", name_of(dtype), columns, rows, count,
                         tensor.name.size(), tensor.name);
    }
    const auto [found, is_new] = runs.emplace(std::move(run), runs.size());
    if (is_new) text.add("model.stored.tensors", found->first);
    order += fmt::format("{} {}@{}", order.empty() ? "" : ",", found->second, run_layer);
  }
  if (!stored.empty()) text.add("model.stored.order", order);
}

void add_quantization(CanonicalText& text, std::string_view key, const Quantization& quantization) {
  const auto& [kind, file_type, format, pure, importance_matrix, overrides] = quantization;
  text.add(key, name_of(quantization));
  text.add(fmt::format("{}.kind", key), static_cast<int64_t>(kind));
  text.add(fmt::format("{}.pure", key), int64_t{pure});
  text.add(fmt::format("{}.importance_matrix", key), int64_t{importance_matrix});
  for (const auto& [pattern, dtype] : overrides) {
    text.add(fmt::format("{}.override", key), fmt::format("{} {}", pattern.text(), name_of(dtype)));
  }
}

void add_model(CanonicalText& text, const ModelSpec& model) {
  const auto& [name, architecture, source, dtype, stored_as, dims, stored] = model;
  add_lines(text, "model", model_dims_to_yaml(model));
  add_quantization(text, "model.stored_as", stored_as);
  add_stored(text, stored);
}

void add_accelerator(CanonicalText& text, const Accelerator& accelerator) {
  const auto& [memory, prefill_products, prefill_attention, decode_products, decode_attention,
               host_attention, to_device, cache_to_host, hidden_to_host, from_storage,
               cache_to_storage, hidden_to_storage] = accelerator;
  text.add("accelerator.memory", memory);
  for (const OpsPerSecond rate :
       {prefill_products, prefill_attention, decode_products, decode_attention, host_attention}) {
    text.add("accelerator.compute", rate.count());
  }
  for (const BytesPerSecond rate : {to_device, cache_to_host, hidden_to_host, from_storage,
                                    cache_to_storage, hidden_to_storage}) {
    text.add("accelerator.link", rate.count());
  }
}

void add_offload(CanonicalText& text, const OffloadChoices& offload) {
  const auto& [weights, kv_cache, hidden, batches] = offload;
  for (const OffloadShare& share : {weights, kv_cache, hidden}) {
    text.add("offload.on_device", share.on_device);
    text.add("offload.in_memory", share.in_memory);
  }
  text.add("offload.batches", batches);
}

void add_zram(CanonicalText& text, const ZramRatios& zram) {
  const auto& [other_apps, weights, kv_cache] = zram;
  for (const int64_t ratio : {other_apps, weights, kv_cache}) text.add("device.zram", ratio);
}

void add_energy(CanonicalText& text, const DeviceEnergy& energy) {
  const auto& [operations, memory, storage, computing, idle] = energy;
  for (const auto& [type, femtojoules] : operations) {
    text.add("device.energy.operation", fmt::format("{} {}", name_of(type), femtojoules));
  }
  for (const int64_t figure : {memory, storage, computing, idle}) {
    text.add("device.energy", figure);
  }
}

void add_device(CanonicalText& text, const DeviceSpec& device) {
  const auto& [name, description, source, ram_total, app_available, app_hard_limit,
               memory_bandwidth, flash_read, flash_latency, storage, compute, compute_rates,
               op_overhead, cores, page_size, page_fault, cached_read, mapped_read, fresh_memory,
               reused_memory, op_rates, isa, os, swap, zram, energy, accelerator, estimates] =
      device;
  text.add("device.ram_total", ram_total);
  text.add("device.app_available", app_available);
  if (app_hard_limit) text.add("device.app_hard_limit", *app_hard_limit);
  text.add("device.memory_bandwidth", memory_bandwidth.count());
  text.add("device.flash_read", flash_read.count());
  text.add("device.flash_latency", flash_latency.count());
  for (const auto& [order, request, depth, rate] : storage) {
    text.add("device.storage.order", static_cast<int64_t>(order));
    text.add("device.storage.request", request);
    text.add("device.storage.depth", depth);
    text.add("device.storage.rate", rate.count());
  }
  if (os != SystemKind::kLinux) text.add("device.os", name_of(os));
  if (page_fault > Duration{}) text.add("device.page_fault", page_fault.count());
  if (cached_read) text.add("device.cached_read", cached_read->count());
  if (mapped_read) text.add("device.mapped_read", mapped_read->count());
  if (fresh_memory) text.add("device.fresh_memory", fresh_memory->count());
  if (reused_memory) text.add("device.reused_memory", reused_memory->count());
  for (const auto& [kind, tokens, rate, output_rate, overhead] : op_rates) {
    text.add("device.op_rate", fmt::format("{} {} {} {} {}", name_of(kind), tokens, rate.count(),
                                           output_rate.count(), overhead.count()));
  }
  if (swap > Bytes{}) text.add("device.swap", swap);
  if (accelerator) add_accelerator(text, *accelerator);
  text.add("device.compute", compute.count());
  // Of the cores what the run uses is in the rates.
  for (const auto& [op, type, rate, is_estimate] : compute_rates) {
    text.add("device.compute_rate",
             fmt::format("{} {} {}", name_of(op), name_of(type), rate.count()));
  }
  if (op_overhead > Duration{}) text.add("device.op_overhead", op_overhead.count());
  if (zram) add_zram(text, *zram);
  if (energy) add_energy(text, *energy);
  text.add("device.page_size", page_size);
  // Rows kept from before it was there are of devices that do not state it.
  if (isa == DeviceIsa::kX86) text.add("device.isa", "x86");
}

void add_engine(CanonicalText& text, const EngineProfile& engine) {
  const auto& [name, version, summary, source, policy, activations, weights_in, embedding_in_flash,
               kv_spill, features, runtime_fixed, runtime_file, runtime_ratio, alignment,
               kv_cell_multiple, kv_block, memory_share, free_share, context_as_trained, batch_size,
               ubatch_size, flash_attention, type_k, type_v, type_act, uncertain, not_modelled] =
      engine;
  text.add("engine.kv_cell_multiple", kv_cell_multiple);
  text.add("engine.policy", static_cast<int64_t>(policy));
  text.add("engine.activations", static_cast<int64_t>(activations));
  text.add("engine.runtime_fixed", runtime_fixed);
  text.add("engine.runtime_ratio", runtime_ratio);
  text.add("engine.alignment", alignment.count());
  text.add("engine.flash_attention", int64_t{flash_attention});
  text.add("engine.type_k", name_of(type_k));
  text.add("engine.type_v", name_of(type_v));
  text.add("engine.type_act", name_of(type_act));
  // Rows kept from before these were there are of engines without them.
  if (kv_block != 1) text.add("engine.kv_block", kv_block);
  for (const auto& [term, what, least, most, from] : uncertain) {
    text.add("engine.uncertain", fmt::format("{} {} {}", term, least.count(), most.count()));
  }
}

void add_draft(CanonicalText& text, const LlamaDraft& draft) {
  const auto& [model, quant, n_ctx, type_k, type_v, n_gpu_layers] = draft;
  add_model(text, model);
  add_quantization(text, "llama.draft.quant", quant);
  text.add("llama.draft.n_ctx", n_ctx.count());
  text.add("llama.draft.type_k", name_of(type_k));
  text.add("llama.draft.type_v", name_of(type_v));
  text.add("llama.draft.n_gpu_layers", n_gpu_layers);
}

// Rows kept from before these were there are of runs without them.
void add_places(CanonicalText& text, const LlamaChoices& llama) {
  for (const auto& [pattern, device] : llama.overrides) {
    text.add("llama.override",
             fmt::format("{} {}", pattern.text(), device ? std::to_string(*device) : "CPU"));
  }
  if (llama.n_cpu_moe > 0) text.add("llama.n_cpu_moe", llama.n_cpu_moe);
  for (const float share : llama.shares) text.add("llama.share", fmt::format("{}", share));
  if (llama.split_mode == LlamaSplitMode::kNone) text.add("llama.main_gpu", llama.main_gpu);
  if (!llama.offload_products) text.add("llama.offload_products", int64_t{0});
  if (llama.projector) text.add("llama.projector_on_device", int64_t{llama.projector_on_device});
  if (llama.projector_file) {
    text.add("llama.projector_file", llama.projector_file->whole);
  }
}

void add_llama(CanonicalText& text, const LlamaChoices& llama) {
  const auto& [n_gpu_layers, mapped, locked, repack, overrides, n_cpu_moe, shares, split_mode,
               main_gpu, offload_products, projector, projector_file, projector_on_device, draft] =
      llama;
  if (llama == LlamaChoices{}) return;
  text.add("llama.n_gpu_layers", n_gpu_layers);
  text.add("llama.mapped", int64_t{mapped});
  text.add("llama.locked", int64_t{locked});
  text.add("llama.repack", static_cast<int64_t>(repack));
  add_places(text, llama);
  if (draft) add_draft(text, *draft);
}

void add_cache(CanonicalText& text, const CacheChoices& cache) {
  const auto& [capacity, policy, pinned] = cache;
  text.add("cache.capacity", capacity);
  text.add("cache.policy", name_of(policy));
  for (const std::string& unit : pinned) text.add("cache.pinned", unit);
}

// Rows kept from before these were there are of runs without them.
void add_load(CanonicalText& text, const LoadChoices& load) {
  const auto& [read_size, read_depth, read_order, initialise, overlaps, is_cached, prefetch,
               chunk_layers, chunk_parts] = load;
  if (load == LoadChoices{}) return;
  text.add("load.read_size", read_size);
  text.add("load.read_depth", read_depth);
  text.add("load.read_order", name_of(read_order));
  text.add("load.initialise", initialise.count());
  text.add("load.overlaps", int64_t{overlaps});
  text.add("load.is_cached", int64_t{is_cached});
  text.add("load.prefetch", prefetch);
  text.add("load.chunk_layers", chunk_layers);
  text.add("load.chunk_parts", chunk_parts);
}

// Rows kept from before these were there are of runs without them.
void add_residency(CanonicalText& text, const ResidencyChoices& residency) {
  const auto& [split_files, split_size, processes, expert_slots, expert_bytes, rows] = residency;
  if (split_files > 0) text.add("residency.split_files", split_files);
  if (split_size > Bytes{}) text.add("residency.split_size", split_size);
  if (processes > 1) text.add("residency.processes", processes);
  if (expert_slots > 0) text.add("residency.expert_slots", expert_slots);
  if (expert_bytes > Bytes{}) text.add("residency.expert_bytes", expert_bytes);
  if (!rows) return;
  const auto& [kept_ppm, read_ppm, bundled] = *rows;
  text.add("residency.rows.kept", kept_ppm);
  text.add("residency.rows.read", read_ppm);
  text.add("residency.rows.bundled", int64_t{bundled});
}

// Where a trace was read does not matter, what it says does.
void add_serving(CanonicalText& text, const ServingChoices& serving) {
  const auto& [file, trace, count, per_million_seconds, kv_pool] = serving;
  if (!serving.any()) return;
  text.add("requests", trace);
  text.add("requests.count", count);
  text.add("requests.rate", per_million_seconds);
  if (kv_pool) text.add("kv_pool", *kv_pool);
}

}  // namespace

uint64_t fnv1a_64(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3u;
  }
  return hash;
}

std::string hex_id(uint64_t hash) { return fmt::format("{:016x}", hash); }

std::string canonical_text(const Scenario& scenario) {
  const auto& [model, device, engine, quant, embedding_in_flash, n_ctx, n_batch, n_ubatch, n_seq,
               n_outputs, type_k, type_v, kv_resident, kv_in_blocks, kv_block, type_act,
               flash_attention, kv_unified, swa_full, llama, planner, op_order, strategy, load,
               offload, cache, residency, trace, margin_ratio, budget, enforce, adapt, serving,
               prompt, generate, seed, model_warnings, settings] = scenario;
  CanonicalText text;
  text.add("scenario", "1");
  text.add("tool_version", kToolVersion);
  add_model(text, model);
  add_device(text, device);
  add_engine(text, engine);
  add_quantization(text, "quant", quant);
  text.add("embedding_in_flash", int64_t{embedding_in_flash});
  text.add("n_ctx", n_ctx.count());
  text.add("n_batch", n_batch.count());
  text.add("n_ubatch", n_ubatch.count());
  text.add("n_seq", n_seq);
  text.add("n_outputs", n_outputs);
  text.add("type_k", name_of(type_k));
  text.add("type_v", name_of(type_v));
  if (kv_resident) text.add("kv_resident", *kv_resident);
  text.add("type_act", name_of(type_act));
  text.add("flash_attention", int64_t{flash_attention});
  text.add("kv_unified", int64_t{kv_unified});
  text.add("swa_full", int64_t{swa_full});
  add_llama(text, llama);
  text.add("planner", name_of(planner));
  // Rows kept from before the choice was there are of the program's order.
  if (op_order != OpOrder::kProgram) text.add("op_order", name_of(op_order));
  text.add("strategy", name_of(strategy));
  add_load(text, load);
  if (offload) add_offload(text, *offload);
  if (kv_in_blocks) text.add("kv_block", kv_block);
  if (enforce) text.add("enforce", int64_t{1});
  for (const AdaptAction action : adapt) text.add("adapt", name_of(action));
  add_serving(text, serving);
  add_cache(text, cache);
  add_residency(text, residency);
  for (const std::string& unit : trace) text.add("trace", unit);
  text.add("margin_ratio", margin_ratio);
  if (budget) text.add("budget", *budget);
  text.add("prompt", prompt.count());
  text.add("generate", generate.count());
  text.add("seed", std::to_string(seed));
  // As shown in the row: two spellings of one value are two rows.
  for (const auto& [key, value, origin] : settings) {
    text.add(fmt::format("settings.{}", key), value);
  }
  return std::move(text).take();
}

std::string unresolved_text(const SettingMap& settings) {
  CanonicalText text;
  text.add("unresolved", "1");
  text.add("tool_version", kToolVersion);
  for (const auto& [key, value] : settings) text.add(fmt::format("settings.{}", key), value.text);
  return std::move(text).take();
}

}  // namespace tidemark

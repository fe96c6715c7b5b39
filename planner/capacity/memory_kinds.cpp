#include "planner/capacity/memory_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "planner/base/units.h"
#include "planner/capacity/verdict.h"

namespace tidemark {
namespace {

// Cells of one sequence that this run fills.
int64_t used_cells(const Scenario& scenario) {
  const int64_t used = checked_add(scenario.prompt.count(), scenario.generate.count());
  return std::clamp<int64_t>(used, 1, std::max<int64_t>(scenario.cells_per_sequence(), 1));
}

Bytes used_cache(const Scenario& scenario, Bytes reserved) {
  StateOptions options = state_options(scenario);
  options.n_cells = used_cells(scenario);
  if (scenario.kv_unified) options.n_cells = checked_mul(options.n_cells, scenario.n_seq);
  return std::min(state_sizes(scenario.model, options).kv_cache(), reserved);
}

// All of a term is of one kind, wherever the weights of this engine lie.
TermKinds of_one_kind(std::string term, Bytes reserved, const EngineProfile& engine) {
  TermKinds kinds{
      .term = std::move(term), .reserved = reserved, .resident = reserved, .needed = reserved};
  (engine.weights_in == WeightsIn::kDevice ? kinds.device : kinds.dirty) = reserved;
  return kinds;
}

TermKinds weights_kinds(const Scenario& scenario, const MemoryPlan& plan) {
  TermKinds kinds = of_one_kind("weights", plan.breakdown.weights, scenario.engine);
  if (scenario.strategy == StrategyKind::kResident &&
      scenario.engine.weights_in == WeightsIn::kFile && !plan.llama) {
    std::swap(kinds.file_backed, kinds.dirty);
  }
  if (!plan.llama || scenario.strategy != StrategyKind::kResident) return kinds;
  kinds.dirty = kinds.device = {};
  for (const LlamaColumns& row : plan.llama->columns) {
    const bool from_file = row.is_host_file() && scenario.llama.mapped && !scenario.llama.locked;
    const bool on_device = row.is_on_device();
    (from_file ? kinds.file_backed : on_device ? kinds.device : kinds.dirty) += row.model;
  }
  kinds.needed = std::min(kinds.reserved, plan.llama->memory.model.whole);
  return kinds;
}

bool spills(const Scenario& scenario) {
  return scenario.kv_resident && scenario.engine.kv_spill == KvSpill::kMappedFile;
}

// One token reads all that its layer has cached: the largest layer counts.
Bytes used_cache_of_a_layer(const Scenario& scenario) {
  const TransformerSpec* spec = scenario.model.transformer();
  if (spec == nullptr) return {};
  StateOptions options = state_options(scenario);
  options.n_cells = used_cells(scenario);
  if (scenario.kv_unified) options.n_cells = checked_mul(options.n_cells, scenario.n_seq);
  Bytes largest;
  for (const LayerSpec& layer : spec->layers) {
    const Bytes cell =
        key_bytes_per_cell(layer, options.type_k) + value_bytes_per_cell(layer, options.type_v);
    largest = std::max(largest, cell * cells_of(layer, options) * scenario.n_stream());
  }
  return largest;
}

// What is beyond the limit lies in a mapped file; of that one layer is needed at a time.
void spill(const Scenario& scenario, TermKinds& kinds) {
  const Bytes kept = std::min(*scenario.kv_resident, kinds.dirty);
  kinds.file_backed = kinds.dirty - kept;
  kinds.dirty = kept;
  kinds.needed = std::min(kinds.needed, kept + used_cache_of_a_layer(scenario));
}

// Anonymous pages come when they are written; an engine that clears its cache has written all.
TermKinds cache_kinds(const Scenario& scenario, const MemoryPlan& plan) {
  TermKinds kinds = of_one_kind("kv_cache", plan.breakdown.kv_cache, scenario.engine);
  kinds.needed = used_cache(scenario, kinds.reserved);
  const bool comes_as_written = !plan.llama && scenario.engine.weights_in != WeightsIn::kDevice;
  if (comes_as_written) kinds.resident = kinds.dirty = kinds.needed;
  if (spills(scenario)) spill(scenario, kinds);
  return kinds;
}

TermKinds compute_kinds(const Scenario& scenario, const MemoryPlan& plan) {
  TermKinds kinds = of_one_kind("compute", plan.breakdown.compute, scenario.engine);
  kinds.needed = std::min(kinds.reserved,
                          activation_bytes(plan, ActivationPolicy::kLive) + scratch_bytes(plan));
  if (plan.llama && scenario.llama.n_gpu_layers == 0) {
    kinds.resident = kinds.dirty = std::min(kinds.reserved, plan.llama->resident.touched);
  }
  return kinds;
}

TermKinds runtime_kinds(const Scenario& scenario, const MemoryPlan& plan) {
  const Bytes reserved = plan.breakdown.runtime;
  const Bytes file = std::min(reserved, scenario.engine.runtime_file);
  return {.term = "runtime",
          .reserved = reserved,
          .resident = reserved,
          .file_backed = file,
          .dirty = reserved - file,
          .needed = reserved};
}

// Caches and compute of layers on a device are there; the columns say how much.
void move_to_device(const MemoryPlan& plan, TermKinds& cache, TermKinds& compute) {
  if (!plan.llama) return;
  for (const LlamaColumns& row : plan.llama->columns) {
    if (!row.is_on_device()) continue;
    const Bytes of_cache = std::min(row.context, cache.dirty);
    cache.device += of_cache;
    cache.dirty -= of_cache;
    const Bytes of_compute = std::min(row.compute, compute.dirty);
    compute.device += of_compute;
    compute.dirty -= of_compute;
  }
}

std::string how_of_weights(const Scenario& scenario, const MemoryPlan& plan) {
  if (scenario.strategy != StrategyKind::kResident) {
    return fmt::format("most at once under {}", name_of(scenario.strategy));
  }
  if (plan.llama) {
    if (scenario.llama.n_gpu_layers > 0) return "on each device, a tied table on two of them";
    const bool is_repacked = plan.llama->memory.model.repacked > Bytes{};
    return std::string(scenario.llama.mapped ? "the mapped file" : "read from the file") +
           (is_repacked ? ", and matrices repacked for the processor in a buffer of their own"
                        : "");
  }
  const bool in_flash = scenario.embedding_in_flash && scenario.model.transformer() != nullptr &&
                        !scenario.model.transformer()->tied_embeddings;
  const std::string rows = in_flash ? ", the embedding row by row from flash" : "";
  switch (scenario.engine.weights_in) {
    case WeightsIn::kFile:
      return "the mapped file" + rows;
    case WeightsIn::kDevice:
      return "on the device" + rows;
    case WeightsIn::kPrivate:
      break;
  }
  return "read into memory of the process" + rows;
}

std::string how_of_cache(const Scenario& scenario, const MemoryPlan& plan) {
  const std::string types =
      fmt::format("{} and {}", name_of(scenario.type_k), name_of(scenario.type_v));
  if (plan.llama) {
    return fmt::format("{}, {} cells a sequence, a multiple of 256", types,
                       format_count(plan.llama->memory.context.cells));
  }
  if (scenario.engine.kv_block > 1) {
    return fmt::format("{}, the context in whole blocks of {} tokens", types,
                       scenario.engine.kv_block);
  }
  if (spills(scenario)) {
    return fmt::format("{}, the whole context, all but {} of it in a mapped file", types,
                       format_bytes(*scenario.kv_resident));
  }
  return types + ", the whole context";
}

std::string how_of_compute(const Scenario& scenario, const MemoryPlan& plan) {
  if (plan.llama) return "the graph of a full prompt batch, placed by its own allocator";
  const bool is_arena = scenario.engine.activations == ActivationPolicy::kArena;
  const char* attention = scenario.model.layer_list() != nullptr ? ""
                          : scenario.flash_attention             ? "flash attention, "
                                                                 : "a tensor of scores, ";
  return fmt::format("activations in {}, {}{}", name_of(scenario.type_act), attention,
                     is_arena ? "one planned arena" : "only what is live");
}

std::string uncertain_in(const EngineProfile& engine, std::string_view term) {
  std::string list;
  for (const UncertainAmount& amount : engine.uncertain) {
    if (amount.term != term) continue;
    list += fmt::format("{}up to {} of {}", list.empty() ? "" : ", ", format_bytes(amount.most),
                        amount.what);
  }
  return list;
}

void say_how(const Scenario& scenario, const MemoryPlan& plan, MemoryKinds& kinds) {
  for (TermKinds& kind : kinds.terms) {
    if (kind.term == "weights") kind.how = how_of_weights(scenario, plan);
    if (kind.term == "kv_cache") kind.how = how_of_cache(scenario, plan);
    if (kind.term == "recurrent_state") kind.how = "a state of each sequence";
    if (kind.term == "compute") kind.how = how_of_compute(scenario, plan);
    if (kind.term == "output") kind.how = "rows of logits";
    if (kind.term == "runtime") {
      kind.how = plan.llama ? "program, tokenizer, metadata, scratch of the kernels: measured"
                 : scenario.engine.runtime_fixed > Bytes{} ? "the process, measured"
                                                           : "";
    }
    const std::string more = uncertain_in(scenario.engine, kind.term);
    if (!more.empty()) kind.how += (kind.how.empty() ? "" : ", ") + more;
    if (kind.how.empty()) kind.how = "nothing is known, so nothing counted";
  }
}

void set_trained_default(const Scenario& scenario, const MemoryPlan& plan, int64_t n_ctx_train,
                         MemoryKinds& kinds) {
  Scenario trained = scenario;
  trained.n_ctx = Tokens(checked_mul(n_ctx_train, scenario.n_seq));
  Bytes cache = state_sizes(trained).kv_cache();
  Bytes compute = plan.breakdown.compute;
  if (plan.llama) {
    const Result<LlamaMemory> memory =
        llama_memory(trained.model, plan.weights, llama_settings(trained), trained.llama.repack);
    if (!memory) return;
    cache = memory->kv() + plan.llama->beside_kv;
    if (!scenario.llama.uses_devices()) compute = memory->compute + plan.llama->beside_compute;
  }
  // What is uncertain of the cache comes on top of it, whatever the context.
  for (const UncertainAmount& amount : scenario.engine.uncertain) {
    if (amount.term == "kv_cache") cache += amount.most;
  }
  kinds.default_total += cache - plan.breakdown.kv_cache + compute - plan.breakdown.compute;
  kinds.default_why =
      fmt::format("a context as long as trained, {} tokens", format_count(n_ctx_train));
}

void set_default(const Scenario& scenario, const MemoryPlan& plan, MemoryKinds& kinds) {
  const EngineProfile& engine = scenario.engine;
  kinds.default_total = plan.breakdown.total();
  kinds.default_why = "it takes what it is asked for";
  const TransformerSpec* spec = scenario.model.transformer();
  if (engine.memory_share > 0) {
    kinds.default_total =
        std::max(kinds.default_total, share_of(scenario.device.ram_total, engine.memory_share));
    kinds.default_why =
        fmt::format("{:.0f} % of the device's memory: what the rest leaves becomes cache",
                    100 * engine.memory_share);
    return;
  }
  if (engine.free_share > 0) {
    const Bytes others = plan.breakdown.total() - plan.breakdown.kv_cache;
    const Bytes left = std::max(scenario.device.ram_total - others, Bytes{});
    kinds.default_total = std::max(kinds.default_total, others + share_of(left, engine.free_share));
    kinds.default_why =
        fmt::format("{:.0f} % of the memory that is left becomes cache", 100 * engine.free_share);
    return;
  }
  if (!engine.context_as_trained || spec == nullptr || spec->n_ctx_train.count() == 0) return;
  try {
    set_trained_default(scenario, plan, spec->n_ctx_train.count(), kinds);
  } catch (const std::overflow_error&) {
    kinds.default_why = "a context as long as trained, which is out of range";
  }
}

Bytes largest_tensor(const WeightsInventory& weights) {
  Bytes largest;
  for (const WeightTensor& tensor : weights.tensors) largest = std::max(largest, tensor.bytes);
  return largest;
}

void set_loading(const Scenario& scenario, const MemoryPlan& plan, MemoryKinds& kinds) {
  kinds.loading = plan.breakdown.weights + plan.breakdown.runtime;
  kinds.loading_why = "weights are read into their place";
  if (plan.llama) {
    const LlamaModelBuffers& model = plan.llama->memory.model;
    if (scenario.llama.mapped) {
      kinds.loading = model.whole + plan.breakdown.runtime;
      kinds.loading_why = "the whole file is mapped";
      if (scenario.llama.n_gpu_layers > 0) {
        for (const LlamaColumns& row : plan.llama->columns) {
          if (row.where != "host") kinds.loading += row.model;
        }
        kinds.loading_why += " until what went to the device is unmapped";
      } else if (model.repacked > Bytes{}) {
        kinds.loading += model.repacked;
        kinds.loading_why += ", and matrices are copied as they are repacked";
      }
    } else if (model.repacked > Bytes{}) {
      kinds.loading += largest_tensor(plan.weights);
      kinds.loading_why = "a matrix is read before it is repacked; the largest counts";
    }
  } else if (scenario.engine.weights_in == WeightsIn::kDevice) {
    kinds.loading += largest_tensor(plan.weights);
    kinds.loading_why = "at least one tensor lies in host memory before it is copied";
  } else if (scenario.engine.weights_in == WeightsIn::kFile) {
    kinds.loading_why = "the file is mapped";
  }
  kinds.load_peak = std::max(kinds.loading, plan.breakdown.total());
}

MemoryKinds kinds_of(const Scenario& scenario, const MemoryPlan& plan) {
  TermKinds cache = cache_kinds(scenario, plan);
  TermKinds compute = compute_kinds(scenario, plan);
  move_to_device(plan, cache, compute);
  MemoryKinds kinds;
  kinds.terms = {weights_kinds(scenario, plan),
                 std::move(cache),
                 of_one_kind("recurrent_state", plan.breakdown.recurrent_state, scenario.engine),
                 std::move(compute),
                 of_one_kind("output", plan.breakdown.output, scenario.engine),
                 runtime_kinds(scenario, plan)};
  say_how(scenario, plan, kinds);
  set_default(scenario, plan, kinds);
  set_loading(scenario, plan, kinds);
  return kinds;
}

}  // namespace

std::optional<MemoryKinds> memory_kinds(const Scenario& scenario, const MemoryPlan& plan) {
  if (scenario.engine.policy == EnginePolicy::kTextbook) return std::nullopt;
  try {
    return kinds_of(scenario, plan);
  } catch (const std::overflow_error&) {
    return std::nullopt;
  }
}

std::optional<MemoryInterval> memory_interval(const Scenario& scenario, const MemoryPlan& plan) {
  const auto& uncertain = scenario.engine.uncertain;
  if (uncertain.empty() || scenario.engine.policy == EnginePolicy::kTextbook) return std::nullopt;
  MemoryInterval interval{.least = plan.breakdown.total(), .most = plan.breakdown.total()};
  Bytes widest;
  for (const UncertainAmount& amount : uncertain) {
    const Bytes width = amount.most - amount.least;
    interval.least -= width;
    if (width < widest) continue;
    widest = width;
    interval.term = amount.term;
    interval.what = amount.what;
  }
  return interval;
}

}  // namespace tidemark

// Everything one run needs, resolved: no defaults are applied after this.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/alloc/planners.h"
#include "planner/base/ids.h"
#include "planner/capacity/device_spec.h"
#include "planner/capacity/offload_choices.h"
#include "planner/capacity/residency_choices.h"
#include "planner/capacity/run_choices.h"
#include "planner/engine/engine_profile.h"
#include "planner/engine/llama_cpp/llama_model_buffers.h"
#include "planner/engine/llama_cpp/llama_override.h"
#include "planner/engine/llama_cpp/llama_projector.h"
#include "planner/model/model_spec.h"
#include "planner/model/quantization.h"

namespace tidemark {

enum class StrategyKind { kResident, kLayerwise, kDoubleBuffer, kChunked, kMmap, kBlockCache };
std::span<const StrategyKind> strategies();  // in the order they are listed
// "resident", "layerwise", "double-buffer", "chunked", "mmap", "block-cache"
std::string_view name_of(StrategyKind kind);
std::optional<StrategyKind> parse_strategy(std::string_view name);
// Does it keep of the weights what there is room for: mmap, block-cache?
bool keeps_what_fits(StrategyKind kind);

// Whom a block cache evicts; what each does stands in sim/memory/eviction_policy.h.
enum class CachePolicy { kLru, kMru, kPinned, kNextUse, kFifo, kClock, kLfu, kRandom };
// "lru", "mru", "pinned", "next-use", "fifo", "clock", "lfu", "random"
std::string_view name_of(CachePolicy policy);
std::optional<CachePolicy> parse_cache_policy(std::string_view name);

// In which order the ops of a pass run.
enum class OpOrder {
  kProgram,  // as the graph is written
  kMemory,   // the order that needs least (planner/lifetime/operator_order.h)
};
std::string_view name_of(OpOrder order);  // "program", "memory"
std::optional<OpOrder> parse_op_order(std::string_view name);

// How the block cache is run. Blocks are weight units.
struct CacheChoices {
  Bytes capacity{};  // 0 = what is left of the limit after everything else
  CachePolicy policy = CachePolicy::kLru;
  std::vector<std::string> pinned{};  // unit names; they stay once loaded
};

// How weights come from storage, whatever the strategy.
struct LoadChoices {
  Bytes read_size{};       // of one request; 0 = a whole weight unit
  int64_t read_depth = 1;  // requests kept in flight
  ReadOrder read_order = ReadOrder::kSequential;
  BytesPerSecond initialise{};  // parse, checksum, dequantize, repack what was read; 0 = no time
  bool overlaps = true;         // the next read begins while the last one is initialised
  bool is_cached = false;       // the file lies in the page cache when the run begins
  int64_t prefetch = 0;         // mmap, block-cache: units asked for ahead of the one that computes
  int64_t chunk_layers = 1;     // chunked: layers of a chunk
  int64_t chunk_parts = 1;      // or parts of a layer; one of the two is 1
  bool operator==(const LoadChoices&) const = default;
};

// How layers are shared out over several devices.
enum class LlamaSplitMode { kNone, kLayer };  // one device, or each layer on one of them

// A model that guesses tokens ahead, with a context of its own.
struct LlamaDraft {
  ModelSpec model{};
  Quantization quant{};
  Tokens n_ctx{0};  // resolved
  DType type_k = DType::kF16;
  DType type_v = DType::kF16;
  int64_t n_gpu_layers = 0;
  bool operator==(const LlamaDraft&) const = default;
};

// What only an engine with policy llama_cpp heeds.
struct LlamaChoices {
  int64_t n_gpu_layers = 0;                // of n_layer + 1: the output is one more
  bool mapped = true;                      // the file is mapped, not read
  bool locked = false;                     // and its pages may not be dropped
  LlamaRepack repack = LlamaRepack::kArm;  // kernels of the device's processor
  std::vector<LlamaOverride> overrides{};  // weights placed by hand
  int64_t n_cpu_moe = 0;        // experts of so many layers from the front stay with the CPU
  std::vector<float> shares{};  // of the layers, by device; empty = one device
  LlamaSplitMode split_mode = LlamaSplitMode::kLayer;
  int64_t main_gpu = 0;          // the device of split mode none
  bool offload_products = true;  // large batches of the CPU's layers go to a device
  bool projector = false;        // the towers are loaded as well
  std::optional<LlamaProjectorFile> projector_file{};  // their weights, if a file was named
  bool projector_on_device = true;                     // if any layer is
  std::optional<LlamaDraft> draft{};
  bool operator==(const LlamaChoices&) const = default;

  size_t n_devices() const { return shares.empty() ? 1 : shares.size(); }
  bool uses_devices() const;  // some layer, or a weight placed by hand, is on one
};

// A resolved input and where it came from: "flag --ctx-size", "environment TIDEMARK_CTX_SIZE",
// "scenario FILE:LINE", "engine profile NAME", "default".
struct Setting {
  std::string key{};
  std::string value{};
  std::string origin{};
  bool operator==(const Setting&) const = default;
};

struct Scenario {
  ModelSpec model{};
  DeviceSpec device{};
  EngineProfile engine{};
  Quantization quant{};             // of the weight matrices
  bool embedding_in_flash = false;  // rows of the token embedding are read as they are needed
  Tokens n_ctx{4096};               // in total over all sequences, as llama.cpp's -c
  Tokens n_batch{2048};
  Tokens n_ubatch{512};
  int64_t n_seq = 1;
  int64_t n_outputs = 1;  // rows of logits kept per pass; resolved, never 0
  DType type_k = DType::kF16;
  DType type_v = DType::kF16;
  std::optional<Bytes> kv_resident{};  // of the cache; the rest in a file, if the engine can
  bool kv_in_blocks = false;           // a run's cache grows by blocks as tokens come
  int64_t kv_block = 16;               // tokens of one
  DType type_act = DType::kF32;
  bool flash_attention = true;
  bool kv_unified = false;  // one cache for all sequences instead of one each
  bool swa_full = false;    // sliding-window layers keep the whole context
  LlamaChoices llama{};
  PlannerKind planner = PlannerKind::kBestOf;
  OpOrder op_order = OpOrder::kProgram;
  StrategyKind strategy = StrategyKind::kResident;
  LoadChoices load{};
  std::optional<OffloadChoices> offload{};  // instead of a strategy
  CacheChoices cache{};
  ResidencyChoices residency{};
  std::vector<std::string>
      trace{};                // unit names to access in order, instead of the model's own passes
  double margin_ratio = 0.1;  // of what is available
  std::optional<Bytes> budget{};     // replaces the device limit
  bool enforce = false;              // the system ends a run that holds too much
  std::vector<AdaptAction> adapt{};  // given up in this order when memory nears the limit
  ServingChoices serving{};          // several requests instead of one prompt
  Tokens prompt{128};
  Tokens generate{32};
  uint64_t seed = 0;
  std::vector<std::string> model_warnings{};  // of its importer; sentences for the reader
  std::vector<Setting> settings{};  // what was resolved, in the order of the settings table

  // Context cells that one sequence may fill: ceil(n_ctx / n_seq), or all of a unified cache.
  int64_t cells_per_sequence() const;
  // Caches side by side: one for each sequence, or a single one.
  int64_t n_stream() const { return kv_unified ? 1 : n_seq; }
};

}  // namespace tidemark

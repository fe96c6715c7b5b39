// What a runtime reserves for the same graph. Data, not code: configs/engines/*.yaml names one of
// the few policies below and gives the numbers, each with its source.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/model/dtype.h"

namespace tidemark {

enum class ActivationPolicy {
  kArena,  // one arena at the planned peak, reserved for the whole run
  kLive,   // allocated and freed tensor by tensor: only what is live counts
};

enum class EnginePolicy {
  kPlanned,   // our own graph, lifetimes and arena
  kTextbook,  // weights + activations + a ratio, nothing else
  kLlamaCpp,  // that engine's own graph, allocator and buffers (planner/engine/llama_cpp)
};

// Where the weights lie once they are loaded.
enum class WeightsIn {
  kPrivate,  // read into memory of the process
  kFile,     // pages of the mapped file: clean, and dropped under pressure
  kDevice,   // memory of a device, or shared with it
};
std::string_view name_of(WeightsIn place);  // "private", "file", "device"

// What becomes of the KV cache beyond what is to stay in memory (setting kv_resident).
enum class KvSpill {
  kNone,        // nothing: all of it is memory of its own
  kMappedFile,  // it lies in a mapped file: its pages may be written back and dropped, and come
                // back a layer at a time, as attention reads them
  kReadAhead,   // it lies in a file; a layer's part is read back while the layer before computes
};

// What is known of an engine only as an interval: measured, not derived. The breakdown counts
// `most`, so that what is said to fit does.
struct UncertainAmount {
  std::string term{};  // of the breakdown: "runtime", "compute", ...
  std::string what{};
  Bytes least{};
  Bytes most{};
  std::string source{};
};

// One cell of the feature matrix. Nothing is said without the place where it stands; of what was
// not found, the places that were searched.
struct EngineFeature {
  std::string value{};
  std::string source{};
};

// What a runtime can do by its own documentation and source. A profile may stand for several.
struct RuntimeFeatures {
  std::string runtime{};      // "ExecuTorch"
  EngineFeature weights{};    // formats
  EngineFeature kv_types{};   // of the KV cache
  EngineFeature mmap{};       // are weights pages of a mapped file?
  EngineFeature paging{};     // is the KV cache cut in blocks?
  EngineFeature spill{};      // what may leave memory, and where to
  EngineFeature platforms{};  // systems and processors
};

struct FeatureKey {
  std::string_view key{};    // of the file: "kv_types"
  std::string_view label{};  // for people: "KV types"
  EngineFeature RuntimeFeatures::*cell = nullptr;
};
std::span<const FeatureKey> feature_keys();  // in the order of the members

struct EngineProfile {
  std::string name{};
  std::string version{};
  std::string summary{};
  std::string source{};
  EnginePolicy policy = EnginePolicy::kPlanned;
  ActivationPolicy activations = ActivationPolicy::kArena;
  WeightsIn weights_in = WeightsIn::kPrivate;
  bool embedding_in_flash = false;  // unless the settings say otherwise
  KvSpill kv_spill = KvSpill::kNone;
  // Of each runtime it stands for; none: it is our own.
  std::vector<RuntimeFeatures> features{};
  Bytes runtime_fixed{};            // process, libraries, tables
  Bytes runtime_file{};             // of it: clean pages of program and libraries
  double runtime_ratio = 0.0;       // of weights + activations; textbook only
  Alignment alignment{};            // of arena offsets
  int64_t kv_cell_multiple = 1;     // cells of a window layer's cache are rounded up to it
  int64_t kv_block = 1;             // tokens of a block of the cache: contexts are whole blocks
  double memory_share = 0.0;        // of a device's memory, taken by default; 0 = what is asked for
  double free_share = 0.0;          // likewise, of what the rest leaves for the cache
  bool context_as_trained = false;  // the default of ctx_size; else at most the usual 4,096
  int64_t batch_size = 2048;        // defaults of the settings
  int64_t ubatch_size = 512;
  bool flash_attention = true;  // what "auto" means
  DType type_k = DType::kF16;   // defaults of the KV cache
  DType type_v = DType::kF16;
  DType type_act = DType::kF32;  // activations
  std::vector<UncertainAmount> uncertain{};
  std::vector<std::string> not_modelled{};  // what it may hold besides; sentences
};

}  // namespace tidemark

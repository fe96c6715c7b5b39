// What a runtime reserves for the same graph. Data, not code: configs/engines/*.yaml names one of
// the few policies below and gives the numbers, each with its source.
#pragma once

#include <string>

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
};

struct EngineProfile {
  std::string name{};
  std::string version{};
  std::string summary{};
  std::string source{};
  EnginePolicy policy = EnginePolicy::kPlanned;
  ActivationPolicy activations = ActivationPolicy::kArena;
  Bytes runtime_fixed{};         // process, libraries, tables
  double runtime_ratio = 0.0;    // of weights + activations; textbook only
  Alignment alignment{};         // of arena offsets
  int64_t kv_cell_multiple = 1;  // cells of a window layer's cache are rounded up to it
  bool flash_attention = true;   // what "auto" means
  DType type_k = DType::kF16;    // defaults of the KV cache
  DType type_v = DType::kF16;
  DType type_act = DType::kF32;  // activations
};

}  // namespace tidemark

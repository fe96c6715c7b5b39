// A scenario under an engine with policy llama_cpp: that engine's buffers for the scenario's
// settings, its own graph placed by our planner, and what its compute buffer grows with.
//
//   TinyLlama at Q4_0, context 2,048, one row of logits, flash attention, mapped, AVX2:
//     weights = 629,501,952 mapped + 544,997,376 repacked, kv_cache 46,137,344, output 128,000,
//     compute 53,489,696: rows host (mapped, KV, compute) and CPU_REPACK (repacked)
//   Checked by LlamaPlanTest.WorkedInTheHeader.
#pragma once

#include <string>
#include <vector>

#include "planner/alloc/problem.h"
#include "planner/capacity/scenario.h"
#include "planner/engine/llama_cpp/llama_resident.h"

namespace tidemark {

// One row of its own table of memory. What no column counts: the output and the process.
struct LlamaColumns {
  std::string where{};  // "host", "CPU_REPACK", "GPU"
  Bytes model{};
  Bytes context{};  // KV cache and recurrent state
  Bytes compute{};
  Bytes self() const { return model + context + compute; }
};

struct LlamaPlan {
  LlamaMemory memory{};      // with all layers on the CPU
  LlamaResident resident{};  // likewise
  std::vector<LlamaColumns> columns{};
  Bytes output{};
  Bytes runtime{};  // process, tokenizer, metadata and the kernels' scratch, as measured
  bool exact_for_architecture = false;
};

LlamaSettings llama_settings(const Scenario& scenario);

// Refused, in that engine's own words, when it would refuse. Throws std::overflow_error when a
// size leaves 63 bits.
Result<LlamaPlan> plan_llama(const Scenario& scenario, const WeightsInventory& weights);

// Its compute buffers, all devices together, when one thing is changed.
struct LlamaScaling {
  std::string change{};  // "ctx_size x 2"
  Bytes compute{};
};
// Twice the context, twice the ubatch, logits of every token; what cannot be is left out.
std::vector<LlamaScaling> llama_scaling(const Scenario& scenario, const WeightsInventory& weights);

// The graph it reserves for, all of it on the CPU, placed by the scenario's planner. Refused when
// it has more than 20,000 tensors.
Result<Plan> plan_llama_graph(const Scenario& scenario, const WeightsInventory& weights);

}  // namespace tidemark

// A scenario under an engine with policy llama_cpp: that engine's buffers for the scenario's
// settings, its own graph placed by our planner, and what its compute buffer grows with.
//
//   TinyLlama at Q4_0, context 2,048, one row of logits, flash attention, mapped, AVX2:
//     weights = 629,501,952 mapped + 544,997,376 repacked, kv_cache 46,137,344, output 128,000,
//     compute 53,489,696: rows host (mapped, KV, compute) and CPU_REPACK (repacked)
//   Checked by LlamaPlanTest.WorkedInTheHeader.
//
// Of a device nothing is known but its share of the layers; its tensors are aligned to 128 bytes.
// A draft model is planned as the model is, with a context of its own; a projector adds its weights
// and the buffer of its first image, where its graph is known.
#pragma once

#include <string>
#include <vector>

#include "planner/alloc/problem.h"
#include "planner/capacity/scenario.h"
#include "planner/engine/llama_cpp/llama_resident.h"

namespace tidemark {

// What a row of its table is of.
enum class LlamaPart { kModel, kDraft, kProjector };
std::string_view name_of(LlamaPart part);  // "model", "draft", "projector"

// One row of its own table of memory. What no column counts: the output and the process.
struct LlamaColumns {
  std::string where{};  // "host", "CPU_REPACK", "GPU"; of several devices "GPU0", "GPU1"
  LlamaPart part = LlamaPart::kModel;
  Bytes model{};
  Bytes context{};  // KV cache and recurrent state
  Bytes compute{};
  Bytes self() const { return model + context + compute; }
  bool is_on_device() const { return where != "host" && where != "CPU_REPACK"; }
  // A projector's file is read, never mapped.
  bool is_host_file() const { return where == "host" && part != LlamaPart::kProjector; }
};

struct LlamaPlan {
  // With all layers on the CPU. Caches, states, and of the model's buffers `whole` and `repacked`
  // count what is loaded beside it as well: a draft model and a projector.
  LlamaMemory memory{};
  LlamaResident resident{};  // likewise, of the model alone
  std::vector<LlamaColumns> columns{};
  Bytes output{};          // and a draft model's
  Bytes runtime{};         // process, tokenizer, metadata and the kernels' scratch, as measured
  Bytes beside_kv{};       // of memory.kv(): the draft model's
  Bytes beside_compute{};  // of the columns' compute: the draft model's and the projector's
  bool exact_for_architecture = false;
  int64_t n_splits = 1;              // runs of nodes on one device, of the larger graph
  std::vector<std::string> notes{};  // what the reader must know, whole sentences
};

LlamaSettings llama_settings(const Scenario& scenario);

// Refused, in that engine's own words, when it would refuse. Throws std::overflow_error when a
// size leaves 63 bits.
Result<LlamaPlan> plan_llama(const Scenario& scenario, const WeightsInventory& weights);

// The compute buffers of the model, all devices together, when one thing is changed.
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

// How much of what llama.cpp reserves is resident, stage by stage, on Linux: what its own counter
// of resident pages shows.
//
//   SmolLM2-135M at Q4_K_M, mapped, context 2,048, ubatch 128, prompt 256, 4 tokens generated:
//     base       6.6 MiB of program and libraries
//     loaded     + 1.1 MiB + 40 B x 49,152 tokens + 103,668,480 B of file pages
//     context    + 47,185,920 B of KV + 8 B x 49,152 + metadata of graph and cells
//     prompt     + the pages of the compute buffer that were written, + the work buffer
//   Checked by LlamaResidentTest.WorkedInTheHeader.
//
// The compute buffer is not cleared: placed as reserved, the tensors of a smaller run touch less of
// it. This is replayed, not estimated. Constants are measured: llamacpp-memory's 57 runs on x86-64,
// GCC 12, glibc.
// Source: llama.cpp at 3f545bec, ggml/src/ggml-cpu/ggml-cpu.c (work size), src/llama-context.cpp.
#pragma once

#include "planner/engine/llama_cpp/llama_memory.h"

namespace tidemark {

enum class LlamaTokenizer { kNone, kSentencePiece, kBytePairs };

struct LlamaProcess {
  bool mapped = true;
  LlamaRepack repack = LlamaRepack::kNone;
  LlamaTokenizer tokenizer = LlamaTokenizer::kBytePairs;
  int64_t prompt = 128;
  int64_t generate = 32;
  int64_t n_threads = 4;
};

// Each stage holds what the stages before it hold.
struct LlamaResident {
  Bytes base{};        // before loading
  Bytes loaded{};      // the model is there
  Bytes context{};     // caches and buffers are there
  Bytes prompt{};      // the prompt was evaluated
  Bytes generation{};  // the tokens were generated
  Bytes file_pages{};  // of them: the mapped model, clean; may be dropped under pressure
  Bytes touched{};     // of them: pages of the compute buffer
  Bytes work{};        // of them: scratch of the kernels
};

// Refused as llama_memory refuses, and when that engine rejects the settings (in its words).
Result<LlamaResident> llama_resident(const ModelSpec& model, const WeightsInventory& weights,
                                     const LlamaSettings& settings, const LlamaProcess& process);

// Scratch that the kernels of a graph want at most.
Bytes llama_work_bytes(const GgmlGraph& graph, int64_t n_threads);

}  // namespace tidemark

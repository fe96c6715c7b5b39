// Everything llama.cpp reserves on a CPU for a model under given settings, in its own terms.
//
//   TinyLlama at Q4_0, context 2,048, one row of logits, flash attention:
//     model    635,990,016 B   KV 2 x 22 x 4 x 64 x 2 B x 2,048 = 46,137,344 B
//     output   4 x 32,000 = 128,000 B
//     compute  53,489,696 B: 688 nodes; the mark is set by ffn_swiglu, 4 x 5,632 x 512 B
//   Checked by LlamaMemoryTest.WorkedInTheHeader.
//
// Source: llama.cpp at 3f545bec, src/llama-context.cpp (output_reserve, sched_reserve).
#pragma once

#include "planner/engine/llama_cpp/llama_graph.h"
#include "planner/engine/llama_cpp/llama_model_buffers.h"

namespace tidemark {

// The tensor that last raised the end of the compute buffer.
struct LlamaHighWater {
  std::string name{};
  std::string op{};
  Bytes bytes{};
};

struct LlamaMemory {
  LlamaContext context{};  // if it is rejected, only `model` below counts
  LlamaModelBuffers model{};
  Bytes kv_full{};
  Bytes kv_window{};
  Bytes recurrent{};
  Bytes output{};  // right after creation: one row of logits for each sequence
  Bytes compute{};
  Bytes compute_generation{};  // of the graph of one token; never more in any run measured
  int64_t n_nodes_prompt = 0;
  int64_t n_nodes_generation = 0;
  LlamaHighWater high_water{};
  bool exact_for_architecture = false;

  Bytes kv() const { return kv_full + kv_window; }
};

// `model` as it is published; `weights` of it. Refused as llama_graph refuses. Throws
// std::overflow_error when a size leaves 63 bits.
Result<LlamaMemory> llama_memory(const ModelSpec& model, const WeightsInventory& weights,
                                 const LlamaSettings& settings, LlamaRepack repack);

}  // namespace tidemark

// The graph that llama.cpp reserves its compute buffer for: every tensor of the evaluation of a
// full prompt batch over full caches, in that engine's own order.
//
//   Llama-3.2-1B, context 4,096, 512 tokens, logits of all of them, no flash attention:
//     GET_ROWS, then 16 layers of RMS_NORM, MUL, MUL_MAT q, ... ADD, then RMS_NORM, MUL, MUL_MAT:
//     582 nodes behind 186 leaves; reserve() makes 299,902,976 B of it
//     the largest tensor is one layer's kq: 4 x 4,096 x 512 x 32 = 268,435,456 B
//   Checked by LlamaGraphTest.WorkedInTheHeader.
//
// A layer is built from what it is (layer_spec.h). Architectures whose graphs were held against
// dumps, tensor by tensor: llama, qwen2, qwen3, qwen3moe, minicpm, minicpm3, gemma2, gemma3, phi3,
// deepseek2, mamba, jamba, granitehybrid. Others are built as the nearest of their kind, and
// `exact_for_architecture` is false.
// Source: llama.cpp at 3f545bec, src/llama-graph.cpp, src/models/*.cpp; data of those dumps.
#pragma once

#include "planner/base/result.h"
#include "planner/engine/ggml_graph.h"
#include "planner/engine/llama_cpp/llama_context.h"
#include "planner/model/weights.h"

namespace tidemark {

// One evaluation.
struct LlamaRun {
  int64_t n_tokens = 1;
  int64_t n_outputs = 1;    // rows of logits
  int64_t n_kv = 0;         // cells that are read; 0 = all
  int64_t n_kv_window = 0;  // likewise in layers that see a window
  bool own_head = false;    // a tied head is a tensor of its own: on another device than the table
};

// What it reserves for: a full batch of a prompt, and one token of each sequence.
LlamaRun prompt_run(const LlamaContext& context);
LlamaRun generation_run(const LlamaContext& context);

struct LlamaGraph {
  GgmlGraph graph{};
  int64_t n_nodes = 0;
  int64_t n_leaves = 0;
  bool exact_for_architecture = false;
};

// `model` as_llama_cpp_sees it, `weights` of it (their types; a missing tensor counts as f16).
// run.n_tokens is a multiple of context.n_seq. Refused: a list of sizes, and a model that the
// engine's decoder has no graph for (encoders, no layers). Throws std::overflow_error when a size
// leaves the range of a tensor.
Result<LlamaGraph> llama_graph(const ModelSpec& model, const WeightsInventory& weights,
                               const LlamaContext& context, const LlamaRun& run);

}  // namespace tidemark

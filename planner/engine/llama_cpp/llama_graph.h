// The graph that llama.cpp reserves its compute buffer for: every tensor of the evaluation of a
// full prompt batch over full caches, in that engine's own order.
//
//   Llama-3.2-1B, context 4,096, 512 tokens, flash attention, logits of all tokens:
//     GET_ROWS, then 16 layers of RMS_NORM, MUL, MUL_MAT q, ... ADD, then RMS_NORM, MUL, MUL_MAT
//     550 nodes and 186 leaves; reserve() makes 299,902,976 B of the same run without flash
//     attention the largest tensor is result_output: 4 x 128,256 x 512 = 262,668,288 B
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

enum class LlamaPhase {
  kPrompt,      // context.n_tokens tokens, context.n_outputs rows of logits
  kGeneration,  // one token and one row of logits of each sequence
};

struct LlamaGraph {
  GgmlGraph graph{};
  int64_t n_nodes = 0;
  int64_t n_leaves = 0;
  bool exact_for_architecture = false;
};

// `model` as_llama_cpp_sees it, `weights` of it (their types; a missing tensor counts as f16).
// Refused: a list of sizes, and a model that the engine's decoder has no graph for (encoders, no
// layers). Throws std::overflow_error when a size leaves the range of a tensor.
Result<LlamaGraph> llama_graph(const ModelSpec& model, const WeightsInventory& weights,
                               const LlamaContext& context, LlamaPhase phase);

}  // namespace tidemark

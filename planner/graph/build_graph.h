// From dimensions to ops, for one phase. A layer of a dense decoder, T tokens, E = n_embd, H, K
// heads, D = head_dim, F = n_ff, C = cells per sequence:
//
//   x [E,T] -> attn_norm -> q [H*D,T], k [K*D,T], v [K*D,T] -> rope(q), rope(k) -> store k, v
//     flash attention: attention(q, K, V) -> context [H*D,T]
//     otherwise:       scores [C,T,H] -> softmax (in place) -> context [H*D,T]
//   -> attn_out [E,T] -> add x -> ffn_norm -> gate [F,T], up [F,T] -> silu(gate) -> mul -> down
//   [E,T] -> add
// Then: select the rows whose logits are wanted [E,O] -> output_norm -> logits [V,O].
//
// The other kinds of layer are drawn where they are built: attention_graph.cpp, mla_graph.cpp,
// feed_forward_graph.cpp, recurrent_graph.cpp, rwkv_graph.cpp. A part of a tensor that is read by
// itself (Q of a fused QKV, the gate behind Q) is a view and takes no memory of its own; an op then
// lists the whole tensor. Recurrent state is written by the op that also read it: it is listed as
// that op's output. Stacks have graphs of their own (stack_graph.h); what a tower made of an image
// comes in as rows that take the place of those of its tokens. Left out: draft heads.
#pragma once

#include "planner/graph/graph.h"
#include "planner/model/model_spec.h"
#include "planner/model/state.h"
#include "planner/model/weights.h"

namespace tidemark {

enum class Phase { kPrefill, kDecode, kEncode };  // encode: a stack, before the prompt

std::string_view name_of(Phase phase);

struct GraphOptions {
  int64_t n_tokens = 1;   // in this pass, over all sequences
  int64_t n_outputs = 1;  // rows of logits
  int64_t n_cells = 1;  // KV cells per sequence (of all of them, if unified) that scores must hold
  int64_t n_seq = 1;
  int64_t n_ubatch = 0;  // tokens of the largest pass, which windows make room for; 0 = n_tokens
  int64_t n_source = 0;  // encoder states of one sequence; 0 = cross-attention is skipped
  // Rows of a tower that wait for their tokens, n_embd x (1 + n_deep_rows) values each: of an
  // image, all that are left of it, also those beyond this pass.
  int64_t n_tower_rows = 0;
  int64_t n_deep_rows = 0;  // layers that add a part of their own (DeepStack)
  bool unified = false;     // as in StateOptions
  bool swa_full = false;
  int64_t cell_multiple = 1;
  DType type_act = DType::kF32;
  DType type_k = DType::kF16;
  DType type_v = DType::kF16;
  bool flash_attention = true;
};

// The same choices for planner/model/state.h: the kState tensors of the graph add up to its sizes.
StateOptions state_options(const GraphOptions& options);

// Throws std::overflow_error when a size leaves 63 bits. `weights` is the inventory of the same
// model. CHECKs that a layer which shares another's KV cache stands behind it.
Graph build_graph(const ModelSpec& model, const WeightsInventory& weights,
                  const GraphOptions& options);

// No graph that build_graph makes of the model has more ops, known before one is built: 19 a layer
// of a dense decoder, and one more a layer where a tower adds to them.
int64_t most_ops(const ModelSpec& model);

// Scratch of a matrix product whose weights are quantized and whose activations are floats: the
// input rows, each as int8 with one f32 scale. Zero otherwise.
Bytes matmul_scratch(DType weight_type, DType type_act, int64_t columns, int64_t n_tokens);

// Scratch of flash attention: one head at a time, f32 accumulator (of the values), running maximum
// and sum, and a tile of kFlashTile scores.
inline constexpr int64_t kFlashTile = 32;
Bytes flash_attention_scratch(int64_t head_dim);

// Scratch of attention over cached rows that no kernel multiplies as they stand: kFlashTile rows of
// one head as f32, of K and of V apart. Zero for floats and for int8 with one scale a row.
//   q8_0, head_dim 128: 32 x 128 x 4 = 16,384 B for K, and as much for V.
//   Checked by AttentionScratchTest.OfEachCacheType.
// Source: flash attention in tiles on the CPU, which expands a tile of K and of V before it
// multiplies them (ggml-cpu, flash_attn_ext).
Bytes expanded_rows_scratch(DType cache_type, int64_t head_dim);

}  // namespace tidemark

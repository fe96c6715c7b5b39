// What a model keeps between tokens: KV cache and recurrent state, layer by layer.
//
//   attention  K: row_bytes(type_k, head_dim x n_head_kv), V: row_bytes(type_v, head_dim_v x
//   n_head_kv)
//              a cell; cells = the context, or what the window leaves of it
//   MLA        one row of kv_lora + qk_rope values a cell and no V, if the cache is latent
//   Mamba      (d_conv - 1) x d_inner + d_state x d_inner values of f32 a sequence, whatever the
//              context (Mamba-2: d_inner + 2 n_group d_state in the convolution)
//
//   MiniCPM-2B at f16: 40 x 36 x 64 x 2 x 2 B = 368,640 B a token; 4,096 tokens -> 1,509,949,440 B.
//   Gemma-3-1B, 32,768 cells, ubatch 512: 22 layers keep 512 + 512 = 1,024 cells, 4 keep all.
//   Checked by StateTest.MiniCpm and StateTest.SlidingWindow.
//
// Source: llama.cpp's cache layout (unified and per-sequence streams, window cells).
#pragma once

#include "planner/model/model_spec.h"

namespace tidemark {

struct StateOptions {
  int64_t n_cells = 1;  // context of one sequence; with unified cells, of all of them together
  int64_t n_seq = 1;
  int64_t n_ubatch = 1;  // a window must hold the tokens of one ubatch besides itself
  int64_t n_source = 0;  // encoder states that cross-attention reads, of one sequence
  DType type_k = DType::kF16;
  DType type_v = DType::kF16;
  bool unified = false;       // one cache for all sequences instead of one each
  bool swa_full = false;      // window layers keep every cell
  int64_t cell_multiple = 1;  // window cells are rounded up to it
};

// One layer, one cell (token) of one sequence.
Bytes key_bytes_per_cell(const LayerSpec& layer, DType type_k);
Bytes value_bytes_per_cell(const LayerSpec& layer, DType type_v);

// Cells of one stream (all sequences if unified, else one): n_cells, or fewer in a layer that sees
// a window or a chunk; 0 in a layer without a cache of its own.
int64_t cells_of(const LayerSpec& layer, const StateOptions& options);

// One layer, one sequence, f32: the window of the convolution and the state behind it.
struct RecurrentState {
  Bytes convolution{};  // of RWKV: the shifted token
  Bytes state{};
  Bytes total() const { return convolution + state; }
};
RecurrentState recurrent_state_of(const LayerSpec& layer, int64_t n_embd);

struct StateSizes {
  Bytes kv_full{};    // layers that see the whole context
  Bytes kv_window{};  // layers that see a window
  Bytes cross{};      // K and V of the encoder's states
  Bytes recurrent{};
  int64_t window_cells = 0;  // of one stream, in the widest window layer; 0 without one
  Bytes kv_cache() const { return kv_full + kv_window + cross; }
};

// All layers, all sequences. Zero for a layer list and for a model that is not causal. Throws
// std::overflow_error when a size leaves 63 bits.
StateSizes state_sizes(const ModelSpec& model, const StateOptions& options);

// Encoder states that cross-attention reads: the encoder's fixed length, or what the model was
// trained for. 0 without an encoder.
int64_t source_tokens(const ModelSpec& model);

// All layers, one cell; for models without windows the slope of the KV cache.
Bytes kv_bytes_per_token(const ModelSpec& model, DType type_k, DType type_v);

}  // namespace tidemark

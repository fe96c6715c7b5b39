// Bytes of the attention KV cache.
//   K + V = sum over layers of row_bytes(type_k, head_dim x n_head_kv) + row_bytes(type_v, head_dim
//   x n_head_kv), per cell; cells = context per sequence x sequences. MiniCPM-2B at f16: 40 x 36 x
//   64 x 2 x 2 B = 368,640 B per token; 4,096 tokens -> 1,509,949,440 B. Checked by
//   KvCacheTest.MiniCpm.
#pragma once

#include "planner/model/model_spec.h"

namespace tidemark {

// One layer, one cell (token) of one sequence.
Bytes kv_bytes_per_cell(const LayerSpec& layer, DType type_k, DType type_v);

// All layers, one cell. Zero for a layer list.
Bytes kv_bytes_per_token(const ModelSpec& model, DType type_k, DType type_v);

}  // namespace tidemark

#include "planner/model/kv_cache.h"

namespace tidemark {

Bytes kv_bytes_per_cell(const LayerSpec& layer, DType type_k, DType type_v) {
  const int64_t width = checked_mul(layer.attention.head_dim, layer.attention.n_head_kv);
  return row_bytes(type_k, width) + row_bytes(type_v, width);
}

Bytes kv_bytes_per_token(const ModelSpec& model, DType type_k, DType type_v) {
  Bytes total;
  if (const TransformerSpec* spec = model.transformer()) {
    for (const LayerSpec& layer : spec->layers) total += kv_bytes_per_cell(layer, type_k, type_v);
  }
  return total;
}

}  // namespace tidemark

// Scratch of that engine's CPU kernels: the largest over the nodes of a graph.
#include <algorithm>
#include <optional>

#include "planner/engine/llama_cpp/llama_resident.h"

namespace tidemark {
namespace {

constexpr int64_t kCacheLine = 64;
constexpr int64_t kTile = 64;  // rows of queries and of keys that flash attention takes at once

// What the activations are quantized to before a product with a matrix of this type.
DType product_type(DType weights) {
  const Format& format = format_of(weights);
  if (!format.quantized) return weights;
  if (format.block_elements == 256) return DType::kQ8K;
  const bool has_minimum = weights == DType::kQ4_1 || weights == DType::kQ5_1;
  return has_minimum ? DType::kQ8_1 : DType::kQ8_0;
}

DType type_of(const GgmlTensor& tensor) { return parse_dtype(tensor.type).value_or(DType::kF32); }

int64_t rows_of(const GgmlTensor& tensor) {
  return checked_mul(checked_mul(tensor.ne[1], tensor.ne[2]), tensor.ne[3]);
}

Bytes converted(const GgmlTensor& weights, const GgmlTensor& x) {
  const DType type = product_type(type_of(weights));
  if (type == type_of(x)) return {};
  return row_bytes(type, x.ne[0]) * rows_of(x);
}

Bytes row_maps(const GgmlTensor& weights, const GgmlTensor& ids) {
  const int64_t n_expert = weights.ne[2];
  const int64_t chosen = checked_mul(ids.ne[0], ids.ne[1]);
  return Bytes::of(checked_mul(n_expert, 8 + kCacheLine)) +
         Bytes::of(checked_mul(checked_mul(n_expert, chosen), 8));
}

// Of one thread: a tile of queries, scores twice, and keys and values at f32.
Bytes tile(const GgmlTensor& q, const GgmlTensor& out) {
  const int64_t width = checked_add(checked_mul(2, q.ne[0]), checked_mul(2, out.ne[0]));
  return Bytes::of(checked_mul(checked_mul(kTile, checked_add(width, 2 * kTile)), 4));
}

Bytes work_of(const GgmlGraph& graph, const GgmlTensor& node, int64_t n_threads) {
  if (node.sources.size() < 2) return {};
  const GgmlTensor& first = graph[node.sources[0]];
  const GgmlTensor& second = graph[node.sources[1]];
  if (node.op == "MUL_MAT") return converted(first, second);
  if (node.op == "MUL_MAT_ID" && node.sources.size() > 2) {
    return converted(first, second) + row_maps(first, graph[node.sources[2]]);
  }
  if (node.op == "FLASH_ATTN_EXT") return tile(first, node) * n_threads;
  if (node.op == "SOFT_MAX" || node.op == "ROPE") {
    return row_bytes(DType::kF32, node.ne[0]) * n_threads;
  }
  return {};
}

}  // namespace

Bytes llama_work_bytes(const GgmlGraph& graph, int64_t n_threads) {
  Bytes most;
  for (const GgmlTensor& tensor : graph.tensors) {
    most = std::max(most, work_of(graph, tensor, n_threads));
  }
  return most == Bytes{} ? most : most + Bytes::of(checked_mul(kCacheLine, n_threads));
}

}  // namespace tidemark

// The tensor graph: ops in program order and the tensors they read and write. An edge of the graph
// is a tensor that flows from the op that writes it to an op that reads it; Boost.Graph holds
// vertices and edges (graph.cpp).
//
//     embed --x0--> attn_norm --n0--> q, k, v        A Graph is immutable; GraphBuilder makes one.
//        \---------------x0---------------> add
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/ids.h"
#include "planner/model/dtype.h"

namespace tidemark {

enum class TensorKind {
  kInput,       // written before step 0 (token ids, positions); in the arena
  kActivation,  // in the arena
  kState,       // KV cache, recurrent state; owns its own memory, outside the arena
  kOutput,      // logits or embeddings; in the output buffer, outside the arena
};

struct Tensor {
  TensorId id{};
  std::string name{};
  TensorKind kind = TensorKind::kActivation;
  DType dtype = DType::kF32;
  std::array<int64_t, 4> shape{1, 1, 1, 1};  // innermost first, as ggml: {n_embd, n_tokens, 1, 1}
  Bytes bytes{};
};

// What an op computes. Where a spec leaves a function open (SiLU or GELU), sizes do not depend on
// it.
enum class OpKind {
  kEmbed,           // in: ids of rows; weight: the table they are looked up in
  kRmsNorm,         // in: x; weight: gain
  kLayerNorm,       // in: x; weights: gain and shift, or none
  kMatMul,          // in: x; weight: matrix, or one for each head; the output's bias may follow it
  kExpertMatMul,    // in: x, chosen experts; weight: every expert's matrix; a row each chosen one
  kAddBias,         // in: x; weight: vector; in place
  kRope,            // in: x, positions; in place
  kStoreKv,         // in: k, v; out: state K, state V
  kFlashAttention,  // in: q, state K, state V (or this pass's own k and v)
  kScores,          // in: q, state K -> [n_kv, n_tokens, n_head]
  kSoftmax,         // in: scores; weight: sinks; in place
  kContext,         // in: probabilities, state V
  kAdd,             // in: a, b; in place on either
  kSilu,            // in: gate; in place
  kActivation,      // any other function of one value (GELU, tanh, squared ReLU); in place
  kSigmoid,         // in: gate; in place
  kMul,             // in: a, b; in place on either
  kGlu,             // in: gate and up in one tensor -> act(gate) * up, half as wide
  kMix,             // in: x, what is mixed into it; weight: by how much; in place on x
  kConcat,          // in: a, b -> one behind the other in each head's row
  kPrepend,         // in: x; weight: rows that go before it (a class token)
  kUnfold,          // in: image, frames or rows; the window of each output row side by side
  kTopK,            // in: probabilities; weight: bias of the choice; out: weights, chosen experts
  kSumRows,         // in: rows of the chosen experts -> their sum
  kConv,            // in: x; weights: kernel, bias; out: y, state (the last d_conv - 1 tokens)
  kTokenShift,      // in: x; weight: mix with the token before; out: mixed, state (that token)
  kScan,            // in: what a recurrence reads; out: y, state: decayed, added to, read
  kDeltaRule,       // as kScan; the state is read once more, for what the update takes back
  kSelectRows,      // in: x; keeps the rows whose logits are wanted
  kExtra,           // in: x; weights: what no width describes; in place
  kPlainLayer,      // one layer of a layer list
};

std::string_view name_of(OpKind kind);

// May the op write its output over one of its inputs?
bool allows_in_place(OpKind kind);

struct Op {
  OpId id{};
  std::string name{};
  OpKind kind = OpKind::kPlainLayer;
  int64_t layer = -1;              // -1 = outside the layers
  std::vector<TensorId> inputs{};  // in the order OpKind lists them
  std::vector<TensorId> outputs{};
  std::vector<WeightId> weights{};
  Bytes weights_read{};    // embedding: only the rows looked up
  Bytes scratch{};         // operator scratch while it runs, outside the arena
  int64_t operations = 0;  // multiply-add = 2; the part that does not depend on the context
  int64_t operations_per_cell = 0;  // times the KV cells attended
  Bytes state_read_per_cell{};      // KV bytes read for each cell attended
  int64_t most_cells = 0;           // attended, whatever the context: the window; 0 = all of them
  // Read or written once a pass, whatever the context: recurrent state, cached encoder states.
  Bytes state_moved{};
};

class Graph {
 public:
  Graph();
  std::span<const Op> ops() const&;          // indexed by OpId
  std::span<const Tensor> tensors() const&;  // indexed by TensorId
  // A span of a temporary graph would outlive it in `for (const Op& op : build_graph(...).ops())`.
  std::span<const Op> ops() const&& = delete;
  std::span<const Tensor> tensors() const&& = delete;
  const Op& op(OpId id) const;
  const Tensor& tensor(TensorId id) const;

  std::optional<OpId> producer(
      TensorId id) const;  // none for inputs; for kState, the op that stores, if one does
  std::vector<OpId> consumers(TensorId id) const;  // ascending
  std::vector<OpId> predecessors(OpId id) const;   // ascending, each once
  std::vector<OpId> successors(OpId id) const;

 private:
  friend class GraphBuilder;
  struct Impl;
  explicit Graph(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

class GraphBuilder {
 public:
  GraphBuilder();
  // bytes = shape[1]*shape[2]*shape[3] rows of row_bytes(dtype, shape[0]).
  TensorId add_tensor(std::string name, TensorKind kind, DType dtype, std::array<int64_t, 4> shape);
  // A tensor of a stated size (layer lists).
  TensorId add_sized_tensor(std::string name, TensorKind kind, Bytes bytes);
  // `op.id` is assigned. CHECKs that inputs exist and that no output has a producer yet.
  OpId add_op(Op op);
  // CHECKs that the graph has no cycle.
  Graph build() &&;

 private:
  std::shared_ptr<Graph::Impl> impl_;
};

// Graphviz text, ops as boxes and tensors as labelled edges.
std::string to_dot(const Graph& graph);

}  // namespace tidemark

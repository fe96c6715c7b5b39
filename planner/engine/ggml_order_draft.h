// The ops of a GgmlOrderGraph before they are made, and what decides which there are. Used by
// ggml_order*.cpp alone; the idea is in ggml_order_graph.h.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "planner/engine/ggml_problem.h"

namespace tidemark {

// RESHAPE, VIEW, PERMUTE, TRANSPOSE: another shape for memory, which it neither reads nor writes.
bool is_mere_view(const GgmlGraph& graph, TensorId id);

// What decides about memory, tensor by tensor; the same rules as packing_problem's.
class GgmlOrderFacts {
 public:
  GgmlOrderFacts(const GgmlGraph& graph, const GgmlPackingOptions& packing)
      : graph_(graph),
        packing_(packing),
        seen_(graph.tensors.size()),
        read_(graph.tensors.size()),
        output_(graph.tensors.size()) {
    for (size_t i = 0; i < graph.tensors.size(); ++i) {
      const TensorId id = TensorId::of(i);
      for (const TensorId source : graph[id].sources) {
        seen_[root_of(graph, source).index()] = true;
        if (!is_mere_view(graph, id)) read_[root_of(graph, source).index()] = true;
      }
      if (graph[id].output) output_[root_of(graph, id).index()] = true;
    }
  }

  bool in_arena(TensorId root) const {
    const GgmlTensor& tensor = graph_[root];
    const bool dropped =
        packing_.drop_idle_inputs && tensor.leaf && is_kept(root) && !is_output(root);
    return needs_memory(tensor) && !dropped;
  }
  bool is_output(TensorId root) const { return output_[root.index()]; }
  bool is_kept(TensorId root) const { return is_output(root) || !seen_[root.index()]; }
  // By views that nobody reads, and by nothing else.
  bool is_only_viewed(TensorId root) const { return !is_kept(root) && !read_[root.index()]; }
  bool is_given(TensorId root) const { return graph_[root].leaf || graph_[root].input; }
  bool is_written(TensorId node) const { return needs_memory(graph_[node]) && !is_given(node); }

  // May `node` write over this memory, if nobody reads it later?
  bool may_overwrite(TensorId node, TensorId root) const {
    const GgmlTensor& writer = graph_[node];
    if (packing_.in_place == GgmlInPlace::kNone || is_kept(root)) return false;
    const bool with_glu = packing_.in_place == GgmlInPlace::kWithGlu;
    if (!(with_glu ? can_run_in_place(writer.op) : engine_runs_in_place(writer.op))) return false;
    int uses = 0;
    bool fits = false;
    for (const TensorId source : writer.sources) {
      if (root_of(graph_, source) != root) continue;
      ++uses;
      fits = same_layout(writer, graph_[source]) && graph_[source].bytes == graph_[root].bytes;
    }
    return uses == 1 && fits;
  }

 private:
  const GgmlGraph& graph_;
  const GgmlPackingOptions& packing_;
  std::vector<bool> seen_{};  // by root: read, by views too
  std::vector<bool> read_{};  // by other than mere views
  std::vector<bool> output_{};
};

inline constexpr size_t kGivenOp = 0;  // writes the leaves

// An op to be, with tensors by their ids in the ggml graph.
struct OpDraft {
  std::optional<TensorId> node{};
  std::vector<TensorId> reads{};     // memory of the arena, each once
  std::vector<size_t> waits_for{};   // ops, by their tokens
  std::optional<TensorId> writes{};  // memory of the arena; none: a token
};

// Given, the nodes in their order, each with its tick, and the end; ticks made late stand before
// it.
std::vector<OpDraft> draft_ops(const GgmlGraph& graph, const GgmlOrderFacts& facts);

}  // namespace tidemark

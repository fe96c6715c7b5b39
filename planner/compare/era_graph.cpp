#include "planner/compare/era_graph.h"

#include <optional>
#include <utility>
#include <vector>

namespace tidemark {
namespace {

using Places = std::vector<std::optional<TensorId>>;  // by old TensorId

// The graph without some leaves, and with a 32-bit mask made narrow where it is first read.
class Rewriter {
 public:
  Rewriter(const GgmlGraph& graph, const LlamaEra& era)
      : graph_(graph), era_(era), places_(graph.tensors.size()), narrow_(places_.size()) {}

  GgmlGraph rewrite() && {
    const std::vector<bool> dropped = dropped_leaves();
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      if (!dropped[i]) place(i, dropped);
    }
    return std::move(made_);
  }

 private:
  std::vector<bool> dropped_leaves() const {
    std::vector<bool> dropped(graph_.tensors.size());
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      const GgmlTensor& tensor = graph_.tensors[i];
      if (!era_.unused_embeddings && tensor.leaf && tensor.name == "inp_embd") dropped[i] = true;
      if (era_.indexed_rows || tensor.op != "SET_ROWS" || tensor.sources.size() < 2) continue;
      dropped[tensor.sources[1].index()] = graph_[tensor.sources[1]].leaf;
    }
    return dropped;
  }

  bool is_wide_mask(const GgmlTensor& tensor) const {
    return era_.wide_mask && tensor.leaf && tensor.type == "f16" &&
           tensor.name.starts_with("attn_inp_kq_mask");
  }

  void place(size_t i, const std::vector<bool>& dropped) {
    GgmlTensor tensor = graph_.tensors[i];
    if (is_wide_mask(tensor)) {
      tensor.type = "f32";
      tensor.bytes = tensor.bytes * 2;
    }
    std::vector<TensorId> sources;
    for (const TensorId source : tensor.sources) {
      if (!dropped[source.index()]) sources.push_back(mapped(source));
    }
    tensor.sources = std::move(sources);
    if (tensor.owner) tensor.owner = places_[tensor.owner->index()];
    places_[i] = add(made_, std::move(tensor));
  }

  TensorId mapped(TensorId source) {
    const GgmlTensor& mask = graph_[source];
    if (!is_wide_mask(mask)) return *places_[source.index()];
    std::optional<TensorId>& narrow = narrow_[source.index()];
    if (!narrow) {
      narrow = add(made_, {.name = mask.name + " (narrow)",
                           .op = "CPY",
                           .type = "f16",
                           .ne = mask.ne,
                           .bytes = mask.bytes,
                           .sources = {*places_[source.index()]}});
    }
    return *narrow;
  }

  const GgmlGraph& graph_;
  const LlamaEra& era_;
  Places places_;
  Places narrow_;
  GgmlGraph made_{};
};

}  // namespace

GgmlGraph as_of(const GgmlGraph& graph, const LlamaEra& era) {
  return Rewriter(graph, era).rewrite();
}

}  // namespace tidemark

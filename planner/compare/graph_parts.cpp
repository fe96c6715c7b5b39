#include "planner/compare/graph_parts.h"

#include <algorithm>
#include <optional>
#include <string>

namespace tidemark {
namespace {

using Places = std::vector<std::optional<TensorId>>;  // by old TensorId

class Cutter {
 public:
  Cutter(const GgmlGraph& graph, const GraphPart& part)
      : graph_(graph), part_(part), places_(graph.tensors.size()), read_later_(places_.size()) {}

  GgmlGraph cut() && {
    note_later_readers();
    if (part_.all_inputs) {
      for (size_t i = 0; i < graph_.tensors.size(); ++i) {
        const GgmlTensor& tensor = graph_.tensors[i];
        if (tensor.leaf && !tensor.external && !tensor.owner) place_input(i);
      }
    }
    // Inputs first, in the order of their first use; then the nodes.
    for (size_t i = part_.first; i < part_.last; ++i) {
      if (!graph_.tensors[i].leaf) place_sources(i);
    }
    for (size_t i = part_.first; i < part_.last; ++i) {
      if (!graph_.tensors[i].leaf) place_node(i);
    }
    return std::move(made_);
  }

 private:
  bool is_inside(size_t i) const {
    return i >= part_.first && i < part_.last && !graph_.tensors[i].leaf;
  }

  void note_later_readers() {
    for (size_t i = part_.last; i < graph_.tensors.size(); ++i) {
      const GgmlTensor& tensor = graph_.tensors[i];
      for (const TensorId source : tensor.sources) {
        read_later_[root_of(graph_, source).index()] = true;
      }
    }
  }

  // `by_product`: read by a MUL_MAT, whose weights may have to be copied.
  void place_outside(size_t i, bool by_product) {
    if (places_[i] || is_inside(i)) return;
    const GgmlTensor& tensor = graph_.tensors[i];
    GgmlTensor copy = tensor;
    copy.op = "NONE";
    copy.leaf = true;
    copy.owner.reset();
    copy.offset_in_owner = Bytes{};
    copy.sources.clear();
    copy.output = part_.n_copies > 1 && !tensor.external;
    const bool weight = tensor.external && tensor.leaf;
    if (part_.copies_weights && weight && by_product) copy.external = false;
    places_[i] = add(made_, copy);
    if (tensor.external) return;
    for (int64_t k = 1; k < part_.n_copies; ++k) add(made_, copy);
  }

  void place_input(size_t i) {
    GgmlTensor copy = graph_.tensors[i];
    places_[i] = add(made_, std::move(copy));
  }

  void place_sources(size_t i) {
    const GgmlTensor& tensor = graph_.tensors[i];
    const bool product = tensor.op == "MUL_MAT" || tensor.op == "MUL_MAT_ID";
    for (const TensorId source : tensor.sources) place_outside(source.index(), product);
    if (tensor.owner) place_outside(tensor.owner->index(), false);
  }

  void place_node(size_t i) {
    GgmlTensor node = graph_.tensors[i];
    for (TensorId& source : node.sources) source = *places_[source.index()];
    if (node.owner) node.owner = places_[node.owner->index()];
    if (node.owner) node.external = made_[*node.owner].external;
    if (read_later_[i]) node.output = true;
    places_[i] = add(made_, std::move(node));
  }

  const GgmlGraph& graph_;
  const GraphPart& part_;
  Places places_;
  std::vector<bool> read_later_;
  GgmlGraph made_{};
};

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

GgmlGraph part_of(const GgmlGraph& graph, const GraphPart& part) {
  return Cutter(graph, part).cut();
}

GgmlGraph as_of(const GgmlGraph& graph, const LlamaEra& era) {
  return Rewriter(graph, era).rewrite();
}

std::vector<size_t> layer_ends(const GgmlGraph& graph, int64_t n_layer) {
  std::vector<size_t> ends;
  for (size_t i = 0; i < graph.tensors.size() && std::ssize(ends) < n_layer; ++i) {
    if (graph.tensors[i].name == "l_out-" + std::to_string(ends.size())) ends.push_back(i + 1);
  }
  if (std::ssize(ends) != n_layer) ends.clear();
  return ends;
}

size_t behind_embedding(const GgmlGraph& graph) {
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    if (!graph.tensors[i].leaf) return i + 1;
  }
  return 0;
}

}  // namespace tidemark

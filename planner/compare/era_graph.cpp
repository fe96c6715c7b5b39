#include "planner/compare/era_graph.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace tidemark {
namespace {

using Places = std::vector<std::optional<TensorId>>;  // by old TensorId

// Copies the graph tensor by tensor, leaving out and adding what the age asks for.
class Rewriter {
 public:
  Rewriter(const GgmlGraph& graph, const LlamaEra& era)
      : graph_(graph),
        era_(era),
        places_(graph.tensors.size()),
        owners_(places_.size()),
        narrow_(places_.size()),
        dropped_(places_.size()) {}

  GgmlGraph rewrite() && {
    find_dropped();
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      if (!dropped_[i]) place(i);
    }
    return std::move(made_);
  }

 private:
  void find_dropped() {
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      const GgmlTensor& tensor = graph_.tensors[i];
      if (!era_.unused_embeddings && tensor.leaf && tensor.name == "inp_embd") dropped_[i] = true;
      if (!era_.indexed_rows && tensor.op == "SET_ROWS" && tensor.sources.size() > 1) {
        dropped_[tensor.sources[1].index()] = graph_[tensor.sources[1]].leaf;
      }
      if (is_weighted_norm(tensor)) dropped_[tensor.sources[0].index()] = true;
    }
  }

  // A product of a norm with its weights.
  bool is_weighted_norm(const GgmlTensor& tensor) const {
    return era_.fused_norms && tensor.op == "MUL" && tensor.sources.size() == 2 &&
           graph_[tensor.sources[0]].op == "RMS_NORM" && graph_[tensor.sources[1]].external;
  }

  bool is_wide_mask(const GgmlTensor& tensor) const {
    return era_.wide_mask && tensor.leaf && tensor.type == "f16" &&
           tensor.name.starts_with("attn_inp_kq_mask");
  }

  // Q, K or V, seen in the product of all three.
  bool is_part(const GgmlTensor& tensor) const {
    return era_.copied_parts && tensor.op == "VIEW" && tensor.owner && tensor.sources.size() == 1 &&
           tensor.sources[0] == *tensor.owner && graph_[*tensor.owner].name.starts_with("wqkv");
  }

  // The part that a view looks into, by way of other views.
  std::optional<TensorId> part_under(const GgmlTensor& tensor) const {
    const GgmlTensor* seen = &tensor;
    while (seen->owner && !seen->sources.empty()) {
      const TensorId source = seen->sources[0];
      if (graph_[source].owner != tensor.owner) return std::nullopt;  // it writes elsewhere
      if (is_part(graph_[source])) return source;
      seen = &graph_[source];
    }
    return std::nullopt;
  }

  // A view of a part becomes one of its copy, which has no gaps between rows. Views take no memory,
  // so all that matters is that it ends within the copy.
  void move_into_copy(GgmlTensor& tensor, const GgmlTensor& part) const {
    const Bytes copy = made_[*tensor.owner].bytes;
    const Bytes inside = tensor.offset_in_owner - part.offset_in_owner;
    const int64_t elements = tensor.ne[0] * tensor.ne[1] * tensor.ne[2] * tensor.ne[3];
    tensor.bytes = std::min({tensor.bytes, Bytes::of(4) * elements, copy});
    tensor.offset_in_owner = std::clamp(inside, Bytes{}, copy - tensor.bytes);
  }

  void place(size_t i) {
    GgmlTensor tensor = graph_.tensors[i];
    if (is_wide_mask(tensor)) {
      tensor.type = "f32";
      tensor.bytes = tensor.bytes * 2;
    }
    if (is_weighted_norm(tensor)) {
      tensor.op = "FUSED_RMS_NORM";
      tensor.sources[0] = graph_[tensor.sources[0]].sources.at(0);
    }
    const bool of_copy = !tensor.sources.empty() && is_part(graph_[tensor.sources[0]]);
    if (of_copy && tensor.op == "CONT") {  // was copied already
      places_[i] = places_[tensor.sources[0].index()];
      owners_[i] = owners_[tensor.sources[0].index()];
      return;
    }
    if (tensor.owner) {
      const std::optional<TensorId> part = part_under(tensor);
      tensor.owner = owners_[part.value_or(*tensor.owner).index()];
      if (part) move_into_copy(tensor, graph_[*part]);
    }
    tensor.sources = sources_of(tensor);
    if (tensor.op == "GLU" && !era_.gated_units) {
      places_[i] = owners_[i] = add_gate(std::move(tensor));
      return;
    }
    const bool part = is_part(graph_.tensors[i]);
    places_[i] = add(made_, std::move(tensor));
    owners_[i] = places_[i];
    if (part) copy_part(i);
  }

  std::vector<TensorId> sources_of(const GgmlTensor& tensor) {
    std::vector<TensorId> sources;
    for (const TensorId source : tensor.sources) {
      if (!dropped_[source.index()]) sources.push_back(mapped(source));
    }
    return sources;
  }

  // The gate's function, then the product with what it gates; halves of one tensor are copied
  // apart before.
  TensorId add_gate(GgmlTensor glu) {
    std::vector<TensorId> halves = glu.sources;
    if (halves.size() == 1) {
      const TensorId both = halves[0];
      halves.clear();
      for (int64_t half = 0; half < 2; ++half) {
        GgmlTensor seen = view_of(made_, both, "VIEW", glu.ne);
        seen.contiguous = false;
        seen.bytes = made_[both].bytes - glu.ne[0] * Bytes::of(4);
        seen.offset_in_owner = seen.offset_in_owner + glu.ne[0] * half * Bytes::of(4);
        GgmlTensor copy{.op = "CONT", .ne = glu.ne, .bytes = glu.bytes};
        copy.sources = {add(made_, std::move(seen))};
        halves.push_back(add(made_, std::move(copy)));
      }
    }
    GgmlTensor gate{.op = "UNARY", .ne = glu.ne, .bytes = glu.bytes, .sources = {halves[0]}};
    glu.op = "MUL";
    glu.sources = {add(made_, std::move(gate)), halves.at(1)};
    return add(made_, std::move(glu));
  }

  // The view of a part, its copy, and the copy under the part's shape.
  void copy_part(size_t i) {
    const GgmlTensor& part = graph_.tensors[i];
    const int64_t elements = part.ne[0] * part.ne[1] * part.ne[2] * part.ne[3];
    owners_[i] = add(made_, {.name = part.name + " (copy)",
                             .op = "CONT",
                             .ne = part.ne,
                             .bytes = Bytes::of(4) * elements,
                             .sources = {*places_[i]}});
    places_[i] = add(made_, view_of(made_, *owners_[i], "RESHAPE", part.ne));
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
  Places places_;  // what is read for it
  Places owners_;  // whose memory views of it are in
  Places narrow_;
  std::vector<bool> dropped_;
  GgmlGraph made_{};
};

}  // namespace

GgmlGraph as_of(const GgmlGraph& graph, const LlamaEra& era) {
  return Rewriter(graph, era).rewrite();
}

}  // namespace tidemark

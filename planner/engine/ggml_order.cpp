#include "planner/engine/ggml_order.h"

#include <algorithm>
#include <utility>

#include "planner/base/check.h"
#include "planner/engine/ggml_order_draft.h"
#include "planner/engine/ggml_order_graph.h"

namespace tidemark {
namespace {

bool is_in_dependency_order(const GgmlGraph& graph, std::span<const TensorId> order) {
  if (order.size() != graph.tensors.size()) return false;
  std::vector<bool> seen(order.size());
  const auto is_seen = [&](TensorId id) { return seen[id.index()]; };
  for (const TensorId id : order) {
    if (id.value() < 0 || id.index() >= order.size() || seen[id.index()]) return false;
    const GgmlTensor& tensor = graph[id];
    if (!std::ranges::all_of(tensor.sources, is_seen)) return false;
    if (tensor.owner && !is_seen(*tensor.owner)) return false;
    seen[id.index()] = true;
  }
  return true;
}

// By tensor: how often each memory that it touches was written by views before it.
std::vector<std::vector<int64_t>> versions_met(const GgmlGraph& graph,
                                               std::span<const TensorId> order) {
  std::vector<int64_t> version(graph.tensors.size());
  std::vector<std::vector<int64_t>> met(graph.tensors.size());
  for (const TensorId id : order) {
    if (is_mere_view(graph, id)) continue;
    for (const TensorId source : graph[id].sources) {
      met[id.index()].push_back(version[root_of(graph, source).index()]);
    }
    if (graph[id].owner) met[id.index()].push_back(version[graph[id].owner->index()]++);
  }
  return met;
}

std::vector<TensorId> program_order(const GgmlGraph& graph) {
  std::vector<TensorId> order;
  for (size_t i = 0; i < graph.tensors.size(); ++i) order.push_back(TensorId::of(i));
  std::ranges::stable_partition(order, [&](TensorId id) { return graph[id].leaf; });
  return order;
}

// Puts views where they can first stand: there they keep nothing alive for longer than its readers.
class Placer {
 public:
  explicit Placer(const GgmlGraph& graph)
      : graph_(graph), views_of_(graph.tensors.size()), missing_(graph.tensors.size()) {
    for (size_t i = 0; i < graph.tensors.size(); ++i) {
      const TensorId id = TensorId::of(i);
      if (!is_mere_view(graph, id)) continue;
      for (const TensorId source : graph[id].sources) views_of_[source.index()].push_back(id);
      missing_[i] = graph[id].sources.size();
    }
  }

  void place_leaves() {
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      if (graph_.tensors[i].leaf) order_.push_back(TensorId::of(i));
    }
    place_views(0);
  }

  void place(TensorId node) {
    order_.push_back(node);
    place_views(order_.size() - 1);
  }

  std::vector<TensorId> order() && { return std::move(order_); }

 private:
  void place_views(size_t from) {
    for (; from < order_.size(); ++from) {
      for (const TensorId view : views_of_[order_[from].index()]) {
        if (--missing_[view.index()] == 0) order_.push_back(view);
      }
    }
  }

  const GgmlGraph& graph_;
  std::vector<std::vector<TensorId>> views_of_{};
  std::vector<size_t> missing_{};  // sources that have no place yet
  std::vector<TensorId> order_{};
};

}  // namespace

GgmlOrder order_for_memory(const GgmlGraph& graph, const GgmlPackingOptions& packing,
                           const OrderOptions& options) {
  const GgmlOrderGraph made = order_graph(graph, packing);
  const OrderResult found = order_for_memory(made.graph, options);
  Placer placer(graph);
  placer.place_leaves();
  for (const OpId op : found.schedule.order) {
    if (made.node_of[op.index()]) placer.place(*made.node_of[op.index()]);
  }
  GgmlOrder result{.order = std::move(placer).order(),
                   .program_load = peak_load(packing_problem(graph, packing).problem),
                   .lower_bound = found.lower_bound,
                   .states = found.states,
                   .largest_piece = found.largest_piece};
  result.load = peak_load(packing_problem(reorder(graph, result.order), packing).problem);
  if (result.program_load <= result.load) {
    result.order = program_order(graph);
    result.load = result.program_load;
  }
  check(result.lower_bound <= result.load, "what is searched allows all that is allowed");
  result.proved_optimal = result.lower_bound == result.load;
  return result;
}

bool keeps_meaning(const GgmlGraph& graph, std::span<const TensorId> order) {
  return is_in_dependency_order(graph, order) &&
         versions_met(graph, order) == versions_met(graph, program_order(graph));
}

GgmlGraph reorder(const GgmlGraph& graph, std::span<const TensorId> order) {
  check(keeps_meaning(graph, order), "an order keeps what each node reads");
  std::vector<TensorId> new_id(order.size());
  GgmlGraph result;
  result.tensors.reserve(order.size());
  for (const TensorId id : order) {
    GgmlTensor tensor = graph[id];
    for (TensorId& source : tensor.sources) source = new_id[source.index()];
    if (tensor.owner) tensor.owner = new_id[tensor.owner->index()];
    new_id[id.index()] = add(result, std::move(tensor));
  }
  return result;
}

}  // namespace tidemark

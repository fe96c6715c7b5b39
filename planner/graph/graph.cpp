// Boost.Graph is used here and nowhere else: a vertex is an op (its descriptor is the OpId's
// value), an edge is a tensor on its way from the op that writes it to one that reads it. The order
// in which Boost lists edges is never relied on: every answer that is a list is sorted before it
// leaves this file.
#include "planner/graph/graph.h"

#include <algorithm>
#include <array>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/exception.hpp>
#include <boost/graph/topological_sort.hpp>
#include <iterator>
#include <utility>

#include "planner/base/check.h"

namespace tidemark {
namespace {

// Bundled with an edge: the tensor that flows along it.
struct Flow {
  TensorId tensor{};
};

using FlowGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS,
                                        boost::no_property, Flow>;

std::vector<OpId> sorted_once(std::vector<OpId> ids) {
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

struct Graph::Impl {
  std::vector<Op> ops{};
  std::vector<Tensor> tensors{};
  std::vector<std::optional<OpId>> producers{};  // by tensor
  std::vector<std::vector<OpId>> consumers{};    // by tensor; ascending, as ops are added in order
  FlowGraph flow{};
};

std::string_view name_of(OpKind kind) {
  constexpr std::array kNames =
      std::to_array<std::string_view>({"embed",      "rms_norm",      "layer_norm",
                                       "matmul",     "expert_matmul", "add_bias",
                                       "rope",       "store_kv",      "flash_attention",
                                       "scores",     "softmax",       "context",
                                       "add",        "silu",          "activation",
                                       "sigmoid",    "mul",           "glu",
                                       "mix",        "concat",        "prepend",
                                       "unfold",     "top_k",         "sum_rows",
                                       "conv",       "token_shift",   "scan",
                                       "delta_rule", "select_rows",   "extra",
                                       "plain_layer"});
  static_assert(kNames.size() == static_cast<size_t>(OpKind::kPlainLayer) + 1);
  return kNames.at(static_cast<size_t>(kind));
}

bool allows_in_place(OpKind kind) {
  switch (kind) {
    case OpKind::kAddBias:
    case OpKind::kRope:
    case OpKind::kSoftmax:
    case OpKind::kAdd:
    case OpKind::kSilu:
    case OpKind::kActivation:
    case OpKind::kSigmoid:
    case OpKind::kMul:
    case OpKind::kMix:
    case OpKind::kExtra:
      return true;
    default:
      return false;
  }
}

Graph::Graph() : impl_(std::make_shared<const Impl>()) {}
Graph::Graph(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

std::span<const Op> Graph::ops() const& { return impl_->ops; }
std::span<const Tensor> Graph::tensors() const& { return impl_->tensors; }
const Op& Graph::op(OpId id) const { return impl_->ops.at(id.index()); }
const Tensor& Graph::tensor(TensorId id) const { return impl_->tensors.at(id.index()); }

std::optional<OpId> Graph::producer(TensorId id) const { return impl_->producers.at(id.index()); }

std::vector<OpId> Graph::consumers(TensorId id) const { return impl_->consumers.at(id.index()); }

std::vector<OpId> Graph::predecessors(OpId id) const {
  check(id.index() < impl_->ops.size(), "the op belongs to the graph");
  std::vector<OpId> found;
  const auto [first, last] = boost::in_edges(id.index(), impl_->flow);
  for (auto edge = first; edge != last; ++edge) {
    found.push_back(OpId::of(boost::source(*edge, impl_->flow)));
  }
  return sorted_once(std::move(found));
}

std::vector<OpId> Graph::successors(OpId id) const {
  check(id.index() < impl_->ops.size(), "the op belongs to the graph");
  std::vector<OpId> found;
  const auto [first, last] = boost::out_edges(id.index(), impl_->flow);
  for (auto edge = first; edge != last; ++edge) {
    found.push_back(OpId::of(boost::target(*edge, impl_->flow)));
  }
  return sorted_once(std::move(found));
}

GraphBuilder::GraphBuilder() : impl_(std::make_shared<Graph::Impl>()) {}

TensorId GraphBuilder::add_tensor(std::string name, TensorKind kind, DType dtype,
                                  std::array<int64_t, 4> shape) {
  check(std::ranges::all_of(shape, [](int64_t extent) { return extent >= 0; }),
        "no extent of a shape is negative");
  const int64_t rows = checked_mul(checked_mul(shape[1], shape[2]), shape[3]);
  const TensorId id = add_sized_tensor(std::move(name), kind, row_bytes(dtype, shape[0]) * rows);
  impl_->tensors.back().dtype = dtype;
  impl_->tensors.back().shape = shape;
  return id;
}

TensorId GraphBuilder::add_sized_tensor(std::string name, TensorKind kind, Bytes bytes) {
  check(bytes >= Bytes{}, "no tensor has a negative size");
  const TensorId id = TensorId::of(impl_->tensors.size());
  impl_->tensors.push_back(
      {.id = id, .name = std::move(name), .kind = kind, .shape = {}, .bytes = bytes});
  impl_->producers.emplace_back();
  impl_->consumers.emplace_back();
  return id;
}

OpId GraphBuilder::add_op(Op op) {
  const OpId id = OpId::of(impl_->ops.size());
  op.id = id;
  for (TensorId input : op.inputs) {
    check(input.index() < impl_->tensors.size(), "an op reads tensors of its graph");
    std::vector<OpId>& readers = impl_->consumers[input.index()];
    if (readers.empty() || readers.back() != id) readers.push_back(id);
  }
  for (TensorId output : op.outputs) {
    check(output.index() < impl_->tensors.size(), "an op writes tensors of its graph");
    std::optional<OpId>& writer = impl_->producers[output.index()];
    check(!writer.has_value(), "a tensor is written by one op");
    check(impl_->tensors[output.index()].kind != TensorKind::kInput, "no op writes an input");
    writer = id;
  }
  impl_->ops.push_back(std::move(op));
  return id;
}

Graph GraphBuilder::build() && {
  Graph::Impl& impl = *impl_;
  impl.flow = FlowGraph(impl.ops.size());
  for (const Tensor& tensor : impl.tensors) {
    const std::optional<OpId>& writer = impl.producers[tensor.id.index()];
    const std::vector<OpId>& readers = impl.consumers[tensor.id.index()];
    const bool is_written_outside =
        tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kState;
    check(writer || readers.empty() || is_written_outside, "what an op reads is written by an op");
    if (!writer) continue;
    for (OpId reader : readers) {
      boost::add_edge(writer->index(), reader.index(), Flow{tensor.id}, impl.flow);
    }
  }
  bool has_cycle = false;
  try {
    std::vector<FlowGraph::vertex_descriptor> order;
    order.reserve(impl.ops.size());
    boost::topological_sort(impl.flow, std::back_inserter(order));
  } catch (const boost::not_a_dag&) {
    has_cycle = true;
  }
  check(!has_cycle, "the graph has no cycle");
  return Graph(std::move(impl_));
}

}  // namespace tidemark

#include "planner/engine/ggml_graph.h"

#include <algorithm>
#include <utility>

#include "planner/base/check.h"

namespace tidemark {
namespace {

constexpr std::array<std::string_view, 21> kEngineInPlace{
    "ADD",       "ADD1",  "ADD_ID",    "DIAG_MASK_INF", "DIAG_MASK_ZERO", "DIV",
    "FILL",      "LOG",   "MUL",       "RMS_NORM",      "RMS_NORM_BACK",  "ROPE",
    "ROPE_BACK", "SCALE", "SILU_BACK", "SOFT_MAX",      "SOFT_MAX_BACK",  "SQR",
    "SQRT",      "SUB",   "UNARY"};

std::string number(TensorId id) { return std::to_string(id.value()); }

std::optional<GgmlFault> fault_in_sizes(const GgmlTensor& tensor) {
  for (size_t i = 0; i < tensor.ne.size(); ++i) {
    if (tensor.ne[i] < 0 || tensor.ne[i] > kLargestGgmlNumber) {
      return GgmlFault{std::array{"ne0", "ne1", "ne2", "ne3"}[i], "out of range"};
    }
  }
  if (tensor.bytes < Bytes{} || tensor.bytes.count() > kLargestGgmlNumber) {
    return GgmlFault{"nbytes", "out of range"};
  }
  return std::nullopt;
}

std::optional<GgmlFault> fault_in_view(const GgmlGraph& graph, const GgmlTensor& tensor) {
  const TensorId owner_id = *tensor.owner;
  if (tensor.leaf) return GgmlFault{"view_of", "a leaf is no view"};
  if (owner_id.value() < 0 || owner_id.index() >= graph.tensors.size()) {
    return GgmlFault{"view_of", "no earlier tensor has the id " + number(owner_id)};
  }
  const GgmlTensor& owner = graph[owner_id];
  if (owner.owner) return GgmlFault{"view_of", "tensor " + number(owner_id) + " is a view itself"};
  if (owner.external != tensor.external) {
    return GgmlFault{"external",
                     "differs from that of tensor " + number(owner_id) + ", whose memory it is"};
  }
  const Bytes offset = tensor.offset_in_owner;
  if (offset < Bytes{} || offset > owner.bytes || tensor.bytes > owner.bytes - offset) {
    return GgmlFault{"view_offs", "the view ends after tensor " + number(owner_id)};
  }
  // An engine frees the owner when the last reader of the view is done: it must be live till then.
  if (std::ranges::none_of(tensor.sources,
                           [&](TensorId source) { return root_of(graph, source) == owner_id; })) {
    return GgmlFault{"srcs",
                     "none of them lives in tensor " + number(owner_id) + ", which it views"};
  }
  return std::nullopt;
}

std::optional<GgmlFault> fault_in_sources(const GgmlGraph& graph, const GgmlTensor& tensor) {
  if (tensor.leaf && !tensor.sources.empty()) return GgmlFault{"srcs", "a leaf has none"};
  if (tensor.sources.size() > kMostGgmlSources) {
    return GgmlFault{"srcs", "more than " + std::to_string(kMostGgmlSources)};
  }
  for (const TensorId source : tensor.sources) {
    if (source.value() < 0 || source.index() >= graph.tensors.size()) {
      return GgmlFault{"srcs", "no earlier tensor has the id " + number(source)};
    }
  }
  return std::nullopt;
}

}  // namespace

TensorId root_of(const GgmlGraph& graph, TensorId id) { return graph[id].owner.value_or(id); }

bool needs_memory(const GgmlTensor& tensor) {
  return !tensor.owner && !tensor.external && Bytes{} < tensor.bytes;
}

Bytes padded_bytes(const GgmlTensor& tensor) { return align_up(tensor.bytes, kGgmlAlignment); }

bool same_layout(const GgmlTensor& a, const GgmlTensor& b) {
  return a.contiguous && b.contiguous && a.bytes == b.bytes && a.ne == b.ne && a.type == b.type;
}

bool engine_runs_in_place(std::string_view op) {
  return std::ranges::binary_search(kEngineInPlace, op);
}

bool can_run_in_place(std::string_view op) { return op == "GLU" || engine_runs_in_place(op); }

std::optional<GgmlFault> fault_in(const GgmlGraph& graph, const GgmlTensor& tensor) {
  if (graph.tensors.size() >= kMostGgmlTensors) {
    return GgmlFault{"id", "more than " + std::to_string(kMostGgmlTensors) + " tensors"};
  }
  if (tensor.op.empty()) return GgmlFault{"op", "is empty"};
  if (tensor.leaf != (tensor.op == "NONE")) {
    return GgmlFault{"op", tensor.leaf ? "a leaf has none" : "a node has one"};
  }
  if (auto fault = fault_in_sizes(tensor)) return fault;
  if (auto fault = fault_in_sources(graph, tensor)) return fault;
  if (tensor.owner) return fault_in_view(graph, tensor);
  if (tensor.offset_in_owner != Bytes{}) return GgmlFault{"view_offs", "is no view"};
  return std::nullopt;
}

TensorId add(GgmlGraph& graph, GgmlTensor tensor) {
  const std::optional<GgmlFault> fault = fault_in(graph, tensor);
  check(!fault, fault ? std::string(fault->field) + ": " + fault->message : "");
  graph.tensors.push_back(std::move(tensor));
  return TensorId::of(graph.tensors.size() - 1);
}

GgmlTensor view_of(const GgmlGraph& graph, TensorId source, std::string op,
                   std::array<int64_t, 4> ne) {
  const GgmlTensor& seen = graph[source];
  const bool same_order = op == "RESHAPE" || op == "VIEW";
  return {.name = seen.name + " (view)",
          .op = std::move(op),
          .type = seen.type,
          .ne = ne,
          .bytes = seen.bytes,
          .contiguous = seen.contiguous && same_order,
          .external = seen.external,
          .owner = root_of(graph, source),
          .offset_in_owner = seen.offset_in_owner,
          .sources = {source}};
}

}  // namespace tidemark

#include "planner/engine/ggml_problem.h"

#include <algorithm>
#include <string>
#include <utility>

#include "planner/base/check.h"
#include "planner/base/gzip.h"
#include "planner/engine/ggml_alloc.h"
#include "planner/engine/ggml_dump.h"

namespace tidemark {
namespace {

// Names go into tables whose fields have no quotes.
std::string plain_name(const GgmlTensor& tensor, TensorId id) {
  std::string name = tensor.name;
  for (char& sign : name) {
    if (sign <= ' ' || sign > '~' || sign == ',' || sign == '"') sign = '_';
  }
  return name + '#' + std::to_string(id.value());
}

class Packer {
 public:
  Packer(const GgmlGraph& graph, const GgmlPackingOptions& options)
      : graph_(graph), options_(options), last_reader_(graph.tensors.size()) {
    result_.buffer_of.resize(graph.tensors.size());
  }

  GgmlPacking run() && {
    number_nodes();
    if (options_.in_place == GgmlInPlace::kEngine) engine_ = reserve(graph_).overwrites;
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      const TensorId id = TensorId::of(i);
      if (!needs_memory(graph_[id]) || is_dropped(id)) continue;
      const std::optional<TensorId> source = overwritten(id);
      source ? join(id, root_of(graph_, *source)) : start(id);
    }
    return std::move(result_);
  }

 private:
  void number_nodes() {
    kept_.resize(graph_.tensors.size());
    steps_.resize(graph_.tensors.size());
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      const GgmlTensor& tensor = graph_.tensors[i];
      const TensorId id = TensorId::of(i);
      steps_[i] = tensor.leaf ? 0 : node_count_++;
      for (const TensorId source : tensor.sources)
        last_reader_[root_of(graph_, source).index()] = id;
      if (tensor.output) kept_[root_of(graph_, id).index()] = true;
    }
  }

  bool is_dropped(TensorId id) const {
    const GgmlTensor& tensor = graph_[id];
    return options_.drop_idle_inputs && tensor.leaf && !kept_[id.index()] &&
           !last_reader_[id.index()];
  }

  // Live to the end: read from outside, or by nobody, so who knows.
  bool is_kept(TensorId id) const { return kept_[id.index()] || !last_reader_[id.index()]; }

  // The source whose memory the node takes over.
  std::optional<TensorId> overwritten(TensorId id) const {
    const GgmlTensor& node = graph_[id];
    if (node.leaf || node.input) return std::nullopt;
    for (const TensorId source : node.sources) {
      if (is_allowed(id, source) && ends_at(source, id)) return source;
    }
    return std::nullopt;
  }

  bool is_allowed(TensorId id, TensorId source) const {
    switch (options_.in_place) {
      case GgmlInPlace::kNone:
        return false;
      case GgmlInPlace::kEngine:
        return engine_[id.index()] == source;
      case GgmlInPlace::kThroughViews:
        return engine_runs_in_place(graph_[id].op) && fits(id, source);
      case GgmlInPlace::kWithGlu:
        return can_run_in_place(graph_[id].op) && fits(id, source);
    }
    check(false, "every way of running in place is handled");
    return false;
  }

  // The same layout, over the whole of the memory that the source lives in.
  bool fits(TensorId id, TensorId source) const {
    const GgmlTensor& seen = graph_[source];
    const GgmlTensor& owner = graph_[root_of(graph_, source)];
    return same_layout(graph_[id], seen) && seen.bytes == owner.bytes;
  }

  // Is the node the last to read any of that memory, and by this source alone?
  bool ends_at(TensorId source, TensorId node) const {
    const TensorId owner = root_of(graph_, source);
    if (!result_.buffer_of[owner.index()] || is_kept(owner)) return false;
    const auto uses = std::ranges::count_if(
        graph_[node].sources, [&](TensorId other) { return root_of(graph_, other) == owner; });
    return last_reader_[owner.index()] == node && uses == 1;
  }

  int64_t end_of(TensorId id) const {
    return is_kept(id) ? std::max<int64_t>(1, node_count_)
                       : steps_[last_reader_[id.index()]->index()] + 1;
  }

  void start(TensorId id) {
    const GgmlTensor& tensor = graph_[id];
    result_.buffer_of[id.index()] = BufferId::of(result_.problem.buffers.size());
    result_.problem.buffers.push_back(
        {.name = plain_name(tensor, id),
         .size = padded_bytes(tensor),
         .lifetime = {tensor.input ? 0 : steps_[id.index()], end_of(id)},
         .alignment = kGgmlAlignment});
  }

  void join(TensorId id, TensorId owner) {
    const BufferId buffer = *result_.buffer_of[owner.index()];
    result_.buffer_of[id.index()] = buffer;
    // Only its last reader overwrites it, so the newcomer ends last.
    result_.problem.buffers[buffer.index()].lifetime.upper = end_of(id);
  }

  const GgmlGraph& graph_;
  const GgmlPackingOptions& options_;
  std::vector<std::optional<TensorId>> last_reader_;  // of it or a view of it; by owner
  std::vector<bool> kept_{};                          // it or a view of it is an output
  std::vector<int64_t> steps_{};
  int64_t node_count_ = 0;
  std::vector<std::optional<TensorId>> engine_{};  // what the engine overwrites
  GgmlPacking result_{};
};

}  // namespace

GgmlPacking packing_problem(const GgmlGraph& graph, const GgmlPackingOptions& options) {
  return Packer(graph, options).run();
}

std::vector<std::optional<Bytes>> tensor_offsets(const GgmlGraph& graph, const GgmlPacking& packing,
                                                 const Plan& plan) {
  check(plan.offsets.size() == packing.problem.buffers.size(), "one offset for each buffer");
  std::vector<std::optional<Bytes>> offsets(graph.tensors.size());
  for (size_t i = 0; i < offsets.size(); ++i) {
    const GgmlTensor& tensor = graph.tensors[i];
    const auto buffer = packing.buffer_of[root_of(graph, TensorId::of(i)).index()];
    if (buffer) offsets[i] = plan.offsets[buffer->index()] + tensor.offset_in_owner;
  }
  return offsets;
}

Result<Problem> read_graph_problem(std::string_view bytes, std::string_view file,
                                   const GgmlPackingOptions& options) {
  std::string unpacked;
  if (is_gzip(bytes)) {
    Result<std::string> text = gunzip(bytes, kMostGgmlDump, file);
    if (!text) return text.diagnostics();
    unpacked = std::move(text).value();
    bytes = unpacked;
  }
  const Result<GgmlDump> dump = read_ggml_dump(bytes, file);
  if (!dump) return dump.diagnostics();
  return packing_problem(dump->graph, options).problem;
}

}  // namespace tidemark

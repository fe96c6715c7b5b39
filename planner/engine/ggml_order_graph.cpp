#include "planner/engine/ggml_order_graph.h"

#include <algorithm>
#include <string>
#include <utility>

#include "planner/engine/ggml_order_draft.h"

namespace tidemark {
namespace {

class Builder {
 public:
  Builder(const GgmlGraph& graph, const GgmlOrderFacts& facts, const std::vector<OpDraft>& drafts)
      : graph_(graph), facts_(facts), drafts_(drafts), tensor_of_(graph.tensors.size()) {}

  GgmlOrderGraph run() && {
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      const TensorId id = TensorId::of(i);
      if (!graph_[id].owner && facts_.in_arena(id)) {
        tensor_of_[i] = add_tensor(graph_[id].name, padded_bytes(graph_[id]));
        if (facts_.is_given(id)) given_.push_back(tensor_of_[i]);
      }
    }
    for (const OpDraft& draft : drafts_) {
      token_of_.push_back(draft.writes ? TensorId() : add_tensor("token", Bytes{}));
    }
    std::vector<std::optional<TensorId>> node_of;
    for (size_t op = 0; op < drafts_.size(); ++op) {
      add_op(op);
      node_of.push_back(drafts_[op].node);
    }
    return {.graph = std::move(builder_).build(), .node_of = std::move(node_of)};
  }

 private:
  TensorId add_tensor(const std::string& name, Bytes bytes) {
    return builder_.add_sized_tensor(name, TensorKind::kActivation, bytes);
  }

  void add_op(size_t number) {
    const OpDraft& draft = drafts_[number];
    Op op{.name = draft.node ? graph_[*draft.node].name : "", .kind = OpKind::kMatMul};
    std::vector<TensorId> reads = draft.reads;
    if (draft.writes) {
      const auto others = std::ranges::stable_partition(
          reads, [&](TensorId root) { return facts_.may_overwrite(*draft.writes, root); });
      const auto allowed = std::ssize(reads) - std::ssize(others);
      if (allowed == 1) op.kind = OpKind::kRope;  // over the first alone
      if (allowed > 1) op.kind = OpKind::kAdd;    // over any of the same size
    }
    for (const TensorId root : reads) op.inputs.push_back(tensor_of_[root.index()]);
    for (const size_t earlier : draft.waits_for) op.inputs.push_back(token_of_[earlier]);
    op.outputs.push_back(draft.writes ? tensor_of_[draft.writes->index()] : token_of_[number]);
    if (number == kGivenOp) op.outputs.insert(op.outputs.end(), given_.begin(), given_.end());
    builder_.add_op(std::move(op));
  }

  const GgmlGraph& graph_;
  const GgmlOrderFacts& facts_;
  const std::vector<OpDraft>& drafts_;
  GraphBuilder builder_{};
  std::vector<TensorId> tensor_of_;   // by root
  std::vector<TensorId> token_of_{};  // by op
  std::vector<TensorId> given_{};
};

}  // namespace

GgmlOrderGraph order_graph(const GgmlGraph& graph, const GgmlPackingOptions& packing) {
  const GgmlOrderFacts facts(graph, packing);
  const std::vector<OpDraft> drafts = draft_ops(graph, facts);
  return Builder(graph, facts, drafts).run();
}

}  // namespace tidemark

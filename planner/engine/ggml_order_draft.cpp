#include "planner/engine/ggml_order_draft.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace tidemark {
namespace {

constexpr size_t kMostWalked = 200'000'000;  // ops and edges, to bind those that are free

template <typename T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::ranges::find(list, value) != list.end();
}

template <typename T>
void keep_once(std::vector<T>& list) {
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

template <typename T>
void insert_once(std::vector<T>& list, const T& value) {
  if (!contains(list, value)) list.push_back(value);
}

class Drafter {
 public:
  Drafter(const GgmlGraph& graph, const GgmlOrderFacts& facts)
      : graph_(graph),
        facts_(facts),
        shared_(graph.tensors.size()),
        waits_(graph.tensors.size()),
        ticked_(graph.tensors.size()),
        op_of_(graph.tensors.size()),
        token_of_(graph.tensors.size()) {}

  std::vector<OpDraft> run() && {
    for (const TensorId node : nodes()) find_waits(node);
    drafts_.push_back({});  // given
    for (const TensorId node : nodes()) draft(node);
    bind_free_ops();
    draft_end();
    return std::move(drafts_);
  }

 private:
  std::vector<TensorId> nodes() const {
    std::vector<TensorId> list;
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      const TensorId id = TensorId::of(i);
      if (!graph_[id].leaf && !is_mere_view(graph_, id)) list.push_back(id);
    }
    return list;
  }

  std::vector<TensorId> touched_by(TensorId node) const {
    std::vector<TensorId> roots;
    for (const TensorId source : graph_[node].sources) insert_once(roots, root_of(graph_, source));
    if (graph_[node].owner) insert_once(roots, *graph_[node].owner);
    return roots;
  }

  // For nodes without memory of their own, and for those that share memory which one of them
  // writes.
  void find_waits(TensorId node) {
    const std::vector<TensorId> touched = touched_by(node);
    for (const TensorId root : touched) {
      Shared& shared = shared_[root.index()];
      if (!graph_[root].leaf && !facts_.is_written(root)) wait(node, root, touched);
      if (shared.writer) wait(node, *shared.writer, touched);
      if (graph_[node].owner != root) {
        shared.readers.push_back(node);
        continue;
      }
      for (const TensorId reader : shared.readers) wait(node, reader, touched);
      shared.readers.clear();
      shared.writer = node;
    }
    if (facts_.is_written(node) && facts_.is_only_viewed(node)) ticked_[node.index()] = true;
  }

  void wait(TensorId node, TensorId earlier, const std::vector<TensorId>& touched) {
    if (facts_.is_written(earlier)) {
      if (contains(touched, earlier)) return;  // it reads it, and waits for that reason
      ticked_[earlier.index()] = true;
    }
    waits_[node.index()].push_back(earlier);
  }

  void draft(TensorId node) {
    OpDraft made{.node = node};
    for (const TensorId root : touched_by(node)) {
      if (facts_.in_arena(root)) made.reads.push_back(root);
    }
    for (const TensorId earlier : waits_[node.index()]) {
      made.waits_for.push_back(token_of_[earlier.index()]);
    }
    keep_once(made.waits_for);
    if (made.reads.empty() && made.waits_for.empty()) made.waits_for.push_back(kGivenOp);
    if (facts_.is_written(node)) made.writes = node;
    op_of_[node.index()] = token_of_[node.index()] = drafts_.size();
    drafts_.push_back(std::move(made));
    if (!ticked_[node.index()]) return;
    token_of_[node.index()] = drafts_.size();
    drafts_.push_back({.reads = {node}});
  }

  bool is_free(size_t op) const { return op != kGivenOp && !drafts_[op].writes; }

  std::vector<size_t> before(size_t op) const {
    std::vector<size_t> ops = drafts_[op].waits_for;
    for (const TensorId root : drafts_[op].reads) {
      ops.push_back(facts_.is_given(root) ? kGivenOp : op_of_[root.index()]);
    }
    keep_once(ops);
    return ops;
  }

  // Each free op before all that is behind everything it waits for, of that the first.
  void bind_free_ops() {
    size_t edges = 0;
    std::vector<std::vector<size_t>> after(drafts_.size());
    std::vector<std::vector<size_t>> before_of(drafts_.size());
    for (size_t op = 0; op < drafts_.size(); ++op) {
      before_of[op] = before(op);
      edges += before_of[op].size();
      for (const size_t earlier : before_of[op]) after[earlier].push_back(op);
    }
    std::vector<std::pair<size_t, size_t>> bonds;  // free op, who waits for it
    size_t walked = 0;
    for (size_t op = 0; op < drafts_.size(); ++op) {
      if (!is_free(op)) continue;
      walked += (before_of[op].size() + 1) * (drafts_.size() + edges);
      if (walked > kMostWalked) break;
      const std::vector<bool> behind = behind_all(before_of[op], after);
      const auto is_bound = [&](size_t other) { return behind[other] && !is_free(other); };
      for (size_t other = 0; other < drafts_.size(); ++other) {
        if (is_bound(other) && std::ranges::none_of(before_of[other], is_bound)) {
          bonds.emplace_back(op, other);
        }
      }
    }
    for (const auto& [op, other] : bonds) drafts_[other].waits_for.push_back(op);
    for (OpDraft& draft : drafts_) keep_once(draft.waits_for);
  }

  static std::vector<bool> behind_all(const std::vector<size_t>& ops,
                                      const std::vector<std::vector<size_t>>& after) {
    std::vector<bool> behind(after.size(), true);
    for (const size_t start : ops) {
      std::vector<bool> reached(after.size());
      std::vector<size_t> open{start};
      while (!open.empty()) {
        const size_t op = open.back();
        open.pop_back();
        for (const size_t next : after[op]) {
          if (!reached[next]) open.push_back(next);
          reached[next] = true;
        }
      }
      for (size_t op = 0; op < behind.size(); ++op) behind[op] = behind[op] && reached[op];
    }
    return behind;
  }

  void draft_end() {
    OpDraft end;
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      const TensorId id = TensorId::of(i);
      if (!graph_[id].owner && facts_.in_arena(id) && facts_.is_kept(id)) end.reads.push_back(id);
    }
    std::vector<bool> awaited(drafts_.size());
    for (const OpDraft& draft : drafts_) {
      for (const size_t earlier : draft.waits_for) awaited[earlier] = true;
    }
    for (size_t op = 0; op < drafts_.size(); ++op) {
      if (!awaited[op] && !drafts_[op].writes) end.waits_for.push_back(op);
    }
    drafts_.push_back(std::move(end));
  }

  // Who touched memory since it was last written by a view, and who wrote it then.
  struct Shared {
    std::optional<TensorId> writer{};
    std::vector<TensorId> readers{};
  };

  const GgmlGraph& graph_;
  const GgmlOrderFacts& facts_;
  std::vector<Shared> shared_;                // by root
  std::vector<std::vector<TensorId>> waits_;  // by node: earlier nodes
  std::vector<bool> ticked_;                  // by node: its tick is needed
  std::vector<size_t> op_of_;                 // by node
  std::vector<size_t> token_of_;              // by node: the op whose token says that it ran
  std::vector<OpDraft> drafts_{};
};

}  // namespace

bool is_mere_view(const GgmlGraph& graph, TensorId id) {
  static constexpr std::array<std::string_view, 4> kOps{"PERMUTE", "RESHAPE", "TRANSPOSE", "VIEW"};
  const GgmlTensor& tensor = graph[id];
  if (!tensor.owner || !std::ranges::binary_search(kOps, tensor.op)) return false;
  return std::ranges::all_of(
      tensor.sources, [&](TensorId source) { return root_of(graph, source) == *tensor.owner; });
}

std::vector<OpDraft> draft_ops(const GgmlGraph& graph, const GgmlOrderFacts& facts) {
  return Drafter(graph, facts).run();
}

}  // namespace tidemark

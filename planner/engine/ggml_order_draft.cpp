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
    bind_late_ops();
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

  struct Edges {
    std::vector<std::vector<size_t>> before{};  // by op
    std::vector<std::vector<size_t>> after{};
    size_t count = 0;
  };

  Edges edges() const {
    Edges made{.before = {}, .after = std::vector<std::vector<size_t>>(drafts_.size())};
    for (size_t op = 0; op < drafts_.size(); ++op) {
      made.before.push_back(before(op));
      made.count += made.before[op].size();
      for (const size_t earlier : made.before[op]) made.after[earlier].push_back(op);
    }
    return made;
  }

  // Is there time for a walk from each of so many ops?
  bool may_walk(size_t starts, const Edges& edges) {
    walked_ += (starts + 1) * (drafts_.size() + edges.count);
    return walked_ <= kMostWalked;
  }

  // What a free op waits for; of free ops among that, what those wait for instead.
  std::vector<size_t> awaited_by(size_t op, const Edges& known) const {
    std::vector<size_t> open{op};
    std::vector<bool> seen(known.before.size());
    std::vector<size_t> awaited;
    while (!open.empty()) {
      const size_t next = open.back();
      open.pop_back();
      for (const size_t earlier : known.before[next]) {
        if (seen[earlier]) continue;
        seen[earlier] = true;
        (is_free(earlier) ? open : awaited).push_back(earlier);
      }
    }
    return awaited;
  }

  // Each free op before all that is behind everything it waits for, of that the first.
  void bind_free_ops() {
    const Edges known = edges();
    std::vector<std::pair<size_t, size_t>> bonds;  // free op, who waits for it
    for (size_t op = 0; op < drafts_.size(); ++op) {
      if (!is_free(op)) continue;
      const std::vector<size_t> awaited = awaited_by(op, known);
      if (!may_walk(awaited.size() + 1, known)) break;
      const std::vector<bool> behind = reached_from_all(awaited, known.after);
      const auto is_bound = [&](size_t other) { return behind[other] && !is_free(other); };
      for (size_t other = 0; other < drafts_.size(); ++other) {
        if (is_bound(other) && std::ranges::none_of(known.before[other], is_bound)) {
          bonds.emplace_back(op, other);
        }
      }
    }
    for (const auto& [op, other] : bonds) drafts_[other].waits_for.push_back(op);
    for (OpDraft& draft : drafts_) keep_once(draft.waits_for);
  }

  static std::vector<bool> reached_from_all(const std::vector<size_t>& ops,
                                            const std::vector<std::vector<size_t>>& next_of) {
    std::vector<bool> by_all(next_of.size(), true);
    for (const size_t start : ops) {
      std::vector<bool> reached(next_of.size());
      std::vector<size_t> open{start};
      while (!open.empty()) {
        const size_t op = open.back();
        open.pop_back();
        for (const size_t next : next_of[op]) {
          if (!reached[next]) open.push_back(next);
          reached[next] = true;
        }
      }
      for (size_t op = 0; op < by_all.size(); ++op) by_all[op] = by_all[op] && reached[op];
    }
    return by_all;
  }

  Bytes leaves_read(const OpDraft& draft) const {
    Bytes sum;
    for (const TensorId root : draft.reads) sum += padded_bytes(graph_[root]);
    return sum;
  }

  // Does it read leaves alone, which nobody writes over and which are no larger than what it
  // writes?
  bool may_be_late(const OpDraft& draft) const {
    const auto stays = [&](TensorId root) {
      return facts_.is_given(root) && !overwritable_[root.index()];
    };
    return draft.writes && !draft.reads.empty() && std::ranges::all_of(draft.reads, stays) &&
           leaves_read(draft) <= padded_bytes(graph_[*draft.writes]);
  }

  // Does the op add as much as the late one's leaves to what is live, whatever the order?
  bool covers(size_t op, Bytes leaves) const {
    const OpDraft& draft = drafts_[op];
    return draft.writes && leaves <= padded_bytes(graph_[*draft.writes]) &&
           std::ranges::none_of(draft.reads, [&](TensorId root) {
             return facts_.may_overwrite(*draft.writes, root);
           });
  }

  // And is the first of its readers one that covers it?
  bool is_late(size_t op, const Edges& known) {
    if (!may_be_late(drafts_[op])) return false;
    const std::vector<size_t> readers = readers_of(op, known);
    std::vector<bool> good(drafts_.size());
    for (const size_t reader : readers) {
      if (!covers(reader, leaves_read(drafts_[op]))) continue;
      if (!may_walk(1, known)) return false;
      good[reader] = true;
      const std::vector<bool> behind = reached_from_all({reader}, known.after);
      for (const size_t other : readers) good[other] = good[other] || behind[other];
    }
    return !readers.empty() &&
           std::ranges::all_of(readers, [&](size_t reader) { return good[reader]; });
  }

  void find_overwritable() {
    overwritable_.resize(graph_.tensors.size());
    for (const OpDraft& draft : drafts_) {
      if (!draft.writes) continue;
      for (const TensorId root : draft.reads) {
        if (facts_.may_overwrite(*draft.writes, root)) overwritable_[root.index()] = true;
      }
    }
  }

  // Each late op behind all that is before everything which waits for it, of that the last.
  void bind_late_ops() {
    find_overwritable();
    const Edges known = edges();
    std::vector<bool> late(drafts_.size());  // and their ticks
    for (size_t op = 0; op < late.size(); ++op) {
      const OpDraft& draft = drafts_[op];
      const bool is_tick = op > 0 && !draft.node;
      late[op] = is_tick ? late[op_of_[draft.reads.front().index()]] : is_late(op, known);
    }
    std::vector<std::pair<size_t, size_t>> bonds;  // late op, for whom it waits
    for (size_t op = 0; op < late.size(); ++op) {
      if (!late[op] || !drafts_[op].node) continue;
      const std::vector<size_t> readers = readers_of(op, known);
      if (!may_walk(readers.size(), known)) break;
      const std::vector<bool> ahead = reached_from_all(readers, known.before);
      const auto is_bound = [&](size_t other) {
        return ahead[other] && !late[other] && !is_light(other);
      };
      for (size_t other = 1; other < late.size(); ++other) {
        if (is_bound(other) && std::ranges::none_of(known.after[other], is_bound)) {
          bonds.emplace_back(op, other);
        }
      }
    }
    for (const auto& [op, other] : bonds)
      drafts_[op].waits_for.push_back(token_after(other, known));
    for (OpDraft& draft : drafts_) keep_once(draft.waits_for);
  }

  // What waits for the op. Its tick, and what touches no memory of the arena, can wait with it:
  // what waits for those counts instead.
  std::vector<size_t> readers_of(size_t op, const Edges& known) const {
    std::vector<size_t> open{op};
    std::vector<bool> seen(known.after.size());
    std::vector<size_t> readers;
    while (!open.empty()) {
      const size_t next = open.back();
      open.pop_back();
      for (const size_t reader : known.after[next]) {
        if (seen[reader]) continue;
        seen[reader] = true;
        const bool is_tick = reader == token_of_[drafts_[op].node->index()];
        (is_tick || is_light(reader) ? open : readers).push_back(reader);
      }
    }
    return readers;
  }

  bool is_light(size_t op) const { return is_free(op) && drafts_[op].reads.empty(); }

  // The op whose token says that `op` ran: itself or its tick, made if need be. What reads from the
  // op is behind the tick, which is free.
  size_t token_after(size_t op, const Edges& known) {
    if (!drafts_[op].writes) return op;
    size_t& token = token_of_[drafts_[op].node->index()];
    if (token != op) return token;
    token = drafts_.size();
    drafts_.push_back({.reads = {*drafts_[op].writes}});
    for (const size_t reader : known.after[op]) drafts_[reader].waits_for.push_back(token);
    return token;
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
      if (op == kGivenOp && drafts_.size() > 1) continue;  // all others stand behind it
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
  std::vector<bool> overwritable_{};  // by root
  size_t walked_ = 0;
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

#include "planner/lifetime/operator_order_search.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "planner/base/check.h"

namespace tidemark {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// How one state was reached.
struct Node {
  Bytes peak{};
  Bytes memory{};  // live after the ops of the set
  uint32_t parent = kNone;
  uint32_t op = 0;     // run last
  uint32_t depth = 0;  // ops in the set
  bool is_closed = false;
};

// States by number, and a table that finds a set again by its bits. Compared whole: a hash only
// says where to look.
class StateTable {
 public:
  StateTable(const Piece& piece, size_t most)
      : words_(words_for(piece.ops.size())), most_(most), slots_(1024, kNone) {}

  // What one state takes, with its share of slots and queue.
  static size_t bytes_each(const Piece& piece) {
    return words_for(piece.ops.size()) * sizeof(uint64_t) + sizeof(Node) + 64;
  }

  size_t size() const { return nodes_.size(); }
  bool is_full() const { return nodes_.size() >= most_; }
  Node& node(uint32_t id) { return nodes_[id]; }
  OpSet set(uint32_t id) const { return OpSet(bits_).subspan(id * words_, words_); }

  // The state with these bits; made when it is new.
  std::pair<uint32_t, bool> find_or_add(OpSet set) {
    size_t slot = hash(set) & (slots_.size() - 1);
    while (slots_[slot] != kNone) {
      if (std::ranges::equal(this->set(slots_[slot]), set)) return {slots_[slot], false};
      slot = (slot + 1) & (slots_.size() - 1);
    }
    const auto id = static_cast<uint32_t>(nodes_.size());
    slots_[slot] = id;
    nodes_.emplace_back();
    bits_.insert(bits_.end(), set.begin(), set.end());
    if (nodes_.size() * 2 > slots_.size()) grow();
    return {id, true};
  }

 private:
  static size_t hash(OpSet set) {
    uint64_t mixed = 0x9e3779b97f4a7c15u;
    for (const uint64_t word : set) {
      mixed = (mixed ^ word) * 0xff51afd7ed558ccdu;
      mixed ^= mixed >> 32;
    }
    return static_cast<size_t>(mixed);
  }

  void grow() {
    slots_.assign(slots_.size() * 2, kNone);
    for (uint32_t id = 0; id < nodes_.size(); ++id) {
      size_t slot = hash(set(id)) & (slots_.size() - 1);
      while (slots_[slot] != kNone) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = id;
    }
  }

  size_t words_;
  size_t most_;
  std::vector<uint64_t> bits_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> slots_;
};

struct Waiting {
  Bytes peak{};
  uint32_t depth = 0;
  uint32_t id = 0;
};

// Lowest peak first, of equals the deepest, then the first made.
struct RunsLater {
  bool operator()(const Waiting& a, const Waiting& b) const {
    return std::tuple(a.peak, b.depth, a.id) > std::tuple(b.peak, a.depth, b.id);
  }
};

struct Step {
  size_t op = 0;
  OpEffect effect{};
};

class Search {
 public:
  Search(const Piece& piece, const OrderedPiece& known, const SearchLimits& limits)
      : piece_(piece), limits_(limits), best_(known), table_(piece, most_states(piece, limits)) {
    best_.lower_bound = std::min(std::max(best_.lower_bound, limits.lower_bound), best_.peak);
  }

  OrderedPiece run() {
    if (best_.lower_bound == best_.peak || table_.is_full()) return std::move(best_);
    const std::vector<uint64_t> empty(words_for(piece_.ops.size()));
    reach(empty, {.peak = best_.lower_bound, .memory = piece_.entry});
    while (!queue_.empty()) {
      const Waiting next = queue_.top();
      queue_.pop();
      Node& node = table_.node(next.id);
      if (node.is_closed) continue;
      node.is_closed = true;
      ++best_.states;
      best_.lower_bound = std::max(best_.lower_bound, next.peak);
      if (next.depth == piece_.ops.size()) return finish(next);
      if (!expand(next.id)) return std::move(best_);
    }
    best_.lower_bound = best_.peak;  // no state below the known peak is left
    return std::move(best_);
  }

 private:
  static size_t most_states(const Piece& piece, const SearchLimits& limits) {
    const auto by_memory = static_cast<size_t>(std::max<int64_t>(limits.max_memory.count(), 0)) /
                           StateTable::bytes_each(piece);
    const auto by_count = static_cast<size_t>(std::max<int64_t>(limits.max_states, 0));
    return std::min<size_t>({by_memory, by_count, kNone - 1});
  }

  // False when the table has no room for what follows.
  bool expand(uint32_t id) {
    const Node from = table_.node(id);
    for (const Step& step : steps_from(id, from)) {
      const Bytes peak = std::max(from.peak, step.effect.load);
      if (peak >= best_.peak) continue;  // no better than what is known
      if (table_.is_full()) return false;
      const OpSet done = table_.set(id);
      next_set_.assign(done.begin(), done.end());
      insert(next_set_, step.op);
      reach(next_set_, {.peak = peak,
                        .memory = step.effect.after,
                        .parent = id,
                        .op = static_cast<uint32_t>(step.op),
                        .depth = from.depth + 1});
    }
    return true;
  }

  // Every ready op, or the first that dominates the others.
  const std::vector<Step>& steps_from(uint32_t id, const Node& from) {
    steps_.clear();
    const OpSet done = table_.set(id);
    for (size_t op = 0; op < piece_.ops.size(); ++op) {
      if (!is_ready(piece_, done, op)) continue;
      const Step step{.op = op, .effect = effect_of(piece_, done, from.memory, op)};
      if (limits_.take_free_ops && step.effect.load <= from.peak &&
          step.effect.after <= from.memory) {
        steps_.assign(1, step);
        return steps_;
      }
      steps_.push_back(step);
    }
    return steps_;
  }

  void reach(OpSet set, const Node& node) {
    const auto [id, is_new] = table_.find_or_add(set);
    Node& known = table_.node(id);
    if (!is_new && (known.is_closed || known.peak <= node.peak)) return;
    known = node;
    queue_.push({.peak = node.peak, .depth = node.depth, .id = id});
  }

  OrderedPiece finish(const Waiting& last) {
    best_.order.clear();
    for (uint32_t id = last.id; table_.node(id).parent != kNone; id = table_.node(id).parent) {
      best_.order.push_back(table_.node(id).op);
    }
    std::reverse(best_.order.begin(), best_.order.end());
    best_.peak = peak_of(piece_, best_.order);
    check(best_.peak == last.peak, "a path through states has the peak the search found");
    return std::move(best_);
  }

  const Piece& piece_;
  const SearchLimits& limits_;
  OrderedPiece best_;
  StateTable table_;
  std::priority_queue<Waiting, std::vector<Waiting>, RunsLater> queue_;
  std::vector<uint64_t> next_set_;
  std::vector<Step> steps_;
};

// One set of a beam's level.
struct BeamState {
  std::vector<uint64_t> done{};
  std::vector<size_t> order{};
  Bytes peak{};
  Bytes memory{};
};

// A step from one state of a level, before it is known whether it is kept.
struct BeamStep {
  Bytes peak{};
  Bytes after{};
  size_t from = 0;
  size_t op = 0;
  auto operator<=>(const BeamStep&) const = default;
};

std::vector<BeamStep> steps_of_level(const Piece& piece, const std::vector<BeamState>& level) {
  std::vector<BeamStep> steps;
  for (size_t from = 0; from < level.size(); ++from) {
    const BeamState& state = level[from];
    for (size_t op = 0; op < piece.ops.size(); ++op) {
      if (!is_ready(piece, state.done, op)) continue;
      const OpEffect effect = effect_of(piece, state.done, state.memory, op);
      steps.push_back({std::max(state.peak, effect.load), effect.after, from, op});
    }
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

}  // namespace

OrderedPiece beam_order(const Piece& piece, int64_t width) {
  std::vector<BeamState> level(1);
  level.front().done.resize(words_for(piece.ops.size()));
  level.front().memory = piece.entry;
  for (size_t depth = 0; depth < piece.ops.size(); ++depth) {
    std::vector<BeamState> next;
    for (const BeamStep& step : steps_of_level(piece, level)) {
      if (static_cast<int64_t>(next.size()) >= std::max<int64_t>(width, 1)) break;
      BeamState state = level[step.from];
      insert(state.done, step.op);
      // The same set from elsewhere came first, with no higher peak.
      if (std::ranges::any_of(next, [&](const BeamState& kept) { return kept.done == state.done; }))
        continue;
      state.order.push_back(step.op);
      state.peak = step.peak;
      state.memory = step.after;
      next.push_back(std::move(state));
    }
    level = std::move(next);
  }
  return {.order = std::move(level.front().order), .peak = level.front().peak};
}

OrderedPiece exact_order(const Piece& piece, const OrderedPiece& known,
                         const SearchLimits& limits) {
  return Search(piece, known, limits).run();
}

}  // namespace tidemark

#include "planner/alloc/skyline.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>

#include "planner/alloc/exact_bound.h"

namespace tidemark {
namespace {

using exact::Instance;
using exact::Item;
using exact::Span;

constexpr int32_t kNone = std::numeric_limits<int32_t>::max();

// Spans in the plane of (first, last): a tree that halves them by first and last in turn and knows
// of each half the lowest rank left and the corners.
class SpanTree {
 public:
  explicit SpanTree(std::vector<Span> spans_by_rank)
      : spans_(std::move(spans_by_rank)), order_(spans_.size()), place_(spans_.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    size_t leaves = 1;
    while (leaves * kLeaf < spans_.size()) leaves *= 2;
    nodes_.resize(2 * leaves);
    build(1, 0, spans_.size(), true);
    for (size_t i = 0; i < order_.size(); ++i) place_[static_cast<size_t>(order_[i])] = i;
  }

  // The lowest rank whose span lies within `valley`; kNone when there is none.
  int32_t first_within(Span valley) const {
    int32_t best = kNone;
    search(1, valley, best);
    return best;
  }

  void remove(int32_t rank) {
    order_[place_[static_cast<size_t>(rank)]] = kNone;
    for (size_t node = leaf_of_[static_cast<size_t>(rank)]; node > 0; node /= 2) refresh(node);
  }

 private:
  static constexpr size_t kLeaf = 8;

  struct Node {
    Span hull{};  // least first, greatest last
    Span core{};  // greatest first, least last
    int32_t rank = kNone;
    size_t begin = 0;
    size_t end = 0;
  };

  const Span& span(int32_t rank) const { return spans_[static_cast<size_t>(rank)]; }

  void build(size_t node, size_t begin, size_t end, bool by_first) {
    nodes_[node].begin = begin;
    nodes_[node].end = end;
    if (node < nodes_.size() / 2) {
      const size_t middle = begin + (end - begin) / 2;
      const auto at = [&](size_t i) { return order_.begin() + static_cast<int64_t>(i); };
      std::nth_element(at(begin), at(middle), at(end), [&](int32_t a, int32_t b) {
        const int32_t left = by_first ? span(a).first : span(a).last;
        const int32_t right = by_first ? span(b).first : span(b).last;
        return left != right ? left < right : a < b;
      });
      build(2 * node, begin, middle, !by_first);
      build(2 * node + 1, middle, end, !by_first);
    } else {
      if (leaf_of_.empty()) leaf_of_.resize(spans_.size());
      for (size_t i = begin; i < end; ++i) leaf_of_[static_cast<size_t>(order_[i])] = node;
    }
    refresh(node);
  }

  static void include(Node& node, Span hull, Span core, int32_t rank) {
    if (rank == kNone) return;
    if (node.rank == kNone) {
      node.hull = hull;
      node.core = core;
    }
    node.hull = {std::min(node.hull.first, hull.first), std::max(node.hull.last, hull.last)};
    node.core = {std::max(node.core.first, core.first), std::min(node.core.last, core.last)};
    node.rank = std::min(node.rank, rank);
  }

  void refresh(size_t index) {
    Node& node = nodes_[index];
    node.rank = kNone;
    if (index < nodes_.size() / 2) {
      for (const size_t child : {2 * index, 2 * index + 1}) {
        include(node, nodes_[child].hull, nodes_[child].core, nodes_[child].rank);
      }
      return;
    }
    for (size_t i = node.begin; i < node.end; ++i) {
      if (order_[i] != kNone) include(node, span(order_[i]), span(order_[i]), order_[i]);
    }
  }

  void search(size_t index, Span valley, int32_t& best) const {
    const Node& node = nodes_[index];
    if (node.rank >= best || node.core.first < valley.first || node.core.last > valley.last) return;
    if (node.hull.first >= valley.first && node.hull.last <= valley.last) {
      best = node.rank;
    } else if (index < nodes_.size() / 2) {
      const bool left_first = nodes_[2 * index].rank < nodes_[2 * index + 1].rank;
      search(2 * index + (left_first ? 0 : 1), valley, best);
      search(2 * index + (left_first ? 1 : 0), valley, best);
    } else {
      for (size_t i = node.begin; i < node.end; ++i) {
        const int32_t rank = order_[i];
        if (rank >= best) continue;
        if (span(rank).first >= valley.first && span(rank).last <= valley.last) best = rank;
      }
    }
  }

  std::vector<Span> spans_;
  std::vector<int32_t> order_;  // ranks, as the leaves hold them
  std::vector<size_t> place_;   // of each rank in order_
  std::vector<size_t> leaf_of_{};
  std::vector<Node> nodes_{};
};

// The same for some hundred spans: looks at one after the other, which is quicker there.
class SpanList {
 public:
  explicit SpanList(std::vector<Span> spans_by_rank) : spans_(std::move(spans_by_rank)) {
    ranks_.resize(spans_.size());
    std::iota(ranks_.begin(), ranks_.end(), 0);
  }

  int32_t first_within(Span valley) const {
    for (size_t i = 0; i < spans_.size(); ++i) {
      // One branch that is seldom taken; two would often be guessed wrong.
      const int32_t outside = (spans_[i].first - valley.first) | (valley.last - spans_[i].last);
      if (outside >= 0) return ranks_[i];
    }
    return kNone;
  }

  void remove(int32_t rank) {
    const auto at = std::ranges::lower_bound(ranks_, rank) - ranks_.begin();
    ranks_.erase(ranks_.begin() + at);
    spans_.erase(spans_.begin() + at);
  }

 private:
  std::vector<Span> spans_;  // what is left, by rank
  std::vector<int32_t> ranks_{};
};

// Runs of cliques of one level, as a doubly linked list kept at their first and last clique.
class Skyline {
 public:
  explicit Skyline(int32_t cliques)
      : last_(static_cast<size_t>(cliques)),
        first_(static_cast<size_t>(cliques)),
        level_(static_cast<size_t>(cliques), 0),
        starts_(static_cast<size_t>(cliques), 0) {
    set({0, cliques - 1}, 0);
  }

  // The leftmost of the lowest runs.
  Span lowest() {
    while (!is_current(queue_.top())) queue_.pop();
    const int32_t first = queue_.top().second;
    return {first, last_[at(first)]};
  }

  int64_t level(Span run) const { return level_[at(run.first)]; }

  // Raises the run to the lower of its walls; false when it is the whole skyline.
  bool fill(Span run) {
    constexpr int64_t kNoWall = std::numeric_limits<int64_t>::max();
    const bool has_left = run.first > 0;
    const bool has_right = at(run.last) + 1 < level_.size();
    const int64_t left = has_left ? level_[at(first_[at(run.first - 1)])] : kNoWall;
    const int64_t right = has_right ? level_[at(run.last + 1)] : kNoWall;
    if (!has_left && !has_right) return false;
    set(run, std::min(left, right));
    return true;
  }

  // Cuts `span` out of the run it lies in and gives it a level.
  void raise(Span run, Span span, int64_t level) {
    const int64_t below = this->level(run);
    if (run.first < span.first) put({run.first, span.first - 1}, below);
    if (span.last < run.last) put({span.last + 1, run.last}, below);
    starts_[at(span.first)] = 0;
    set(span, level);
  }

 private:
  static size_t at(int32_t clique) { return static_cast<size_t>(clique); }

  // Makes `run` a run, one with its neighbours of the same level.
  void set(Span run, int64_t level) {
    starts_[at(run.first)] = 0;
    if (run.first > 0) {
      const int32_t before = first_[at(run.first - 1)];
      if (starts_[at(before)] != 0 && level_[at(before)] == level) {
        starts_[at(before)] = 0;
        run.first = before;
      }
    }
    if (at(run.last) + 1 < level_.size() && starts_[at(run.last) + 1] != 0 &&
        level_[at(run.last) + 1] == level) {
      starts_[at(run.last) + 1] = 0;
      run.last = last_[at(run.last) + 1];
    }
    put(run, level);
  }

  void put(Span run, int64_t level) {
    last_[at(run.first)] = run.last;
    first_[at(run.last)] = run.first;
    level_[at(run.first)] = level;
    starts_[at(run.first)] = 1;
    queue_.push({level, run.first});
  }

  bool is_current(const std::pair<int64_t, int32_t>& entry) const {
    return starts_[at(entry.second)] != 0 && level_[at(entry.second)] == entry.first;
  }

  std::vector<int32_t> last_;    // by first clique of a run
  std::vector<int32_t> first_;   // by last clique of a run
  std::vector<int64_t> level_;   // by first clique of a run
  std::vector<uint8_t> starts_;  // does a run start here?
  std::priority_queue<std::pair<int64_t, int32_t>, std::vector<std::pair<int64_t, int32_t>>,
                      std::greater<>>
      queue_{};
};

template <typename Spans>
void place(const Instance& instance, const std::vector<int32_t>& by_rank, Spans spans,
           std::vector<int64_t>& offsets) {
  Skyline skyline(instance.cliques);
  for (size_t left = by_rank.size(); left > 0;) {
    const Span valley = skyline.lowest();
    const int32_t rank = spans.first_within(valley);
    if (rank == kNone) {
      if (!skyline.fill(valley)) break;  // cannot be: everything lies within the whole skyline
      continue;
    }
    spans.remove(rank);
    const int32_t number = by_rank[static_cast<size_t>(rank)];
    const Item& item = instance.items[static_cast<size_t>(number)];
    const int64_t offset = exact::round_up(skyline.level(valley), item.alignment);
    offsets[static_cast<size_t>(number)] = offset;
    skyline.raise(valley, item.span, offset + item.size);
    --left;
  }
}

}  // namespace

std::vector<int64_t> place_on_skyline(const Instance& instance,
                                      const std::vector<int32_t>& by_rank) {
  constexpr size_t kFewSpans = 1000;
  std::vector<int64_t> offsets(instance.items.size(), 0);
  if (by_rank.empty()) return offsets;
  std::vector<Span> spans;
  spans.reserve(by_rank.size());
  for (const int32_t i : by_rank) spans.push_back(instance.items[static_cast<size_t>(i)].span);
  if (spans.size() <= kFewSpans) {
    place(instance, by_rank, SpanList(std::move(spans)), offsets);
  } else {
    place(instance, by_rank, SpanTree(std::move(spans)), offsets);
  }
  return offsets;
}

std::vector<int32_t> rank_all(const Instance& instance, const exact::Order& order) {
  std::vector<exact::Ranked> ranked;
  ranked.reserve(instance.items.size());
  for (size_t i = 0; i < instance.items.size(); ++i) {
    ranked.push_back({.item = static_cast<int32_t>(i), .span = instance.items[i].span});
  }
  exact::sort_by(order, instance, instance.cliques, ranked);
  std::vector<int32_t> by_rank;
  by_rank.reserve(ranked.size());
  for (const exact::Ranked& r : ranked) by_rank.push_back(r.item);
  return by_rank;
}

}  // namespace tidemark

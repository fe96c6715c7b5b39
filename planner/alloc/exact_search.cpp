#include "planner/alloc/exact_search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "planner/alloc/exact_bound.h"
#include "planner/alloc/exact_build.h"
#include "planner/alloc/exact_choice.h"
#include "planner/alloc/exact_key.h"
#include "planner/alloc/exact_part.h"
#include "planner/base/check.h"

namespace tidemark::exact {
namespace {

constexpr int64_t kNodesBetweenStops = 512;
constexpr int32_t kFewestToRemember = 3;
constexpr size_t kMostShapes = size_t{1} << 18;

// How an item stood before a change.
template <typename Unit>
struct Change {
  int32_t rank = 0;
  uint8_t blocked = 0;
  Unit floor = 0;
  Unit effective = 0;
};

template <typename Unit>
class Search final : public Searcher {
 public:
  explicit Search(const Shared& shared)
      : shared_(shared),
        instance_(*shared.instance),
        capacity_(static_cast<Unit>(capacity_in_units(*shared.instance, shared.capacity))),
        builder_(instance_, latest_offsets(shared), capacity_),
        remembers_(shared.rules.failed_states && shared.failed != nullptr &&
                   instance_.items.size() < kMostShapes),
        areas_(areas_of(instance_)),
        offsets_(instance_.items.size(), 0) {}

  Outcome run(const std::vector<int32_t>& items, const Order& order, Patience patience) override;
  int64_t nodes() const override { return nodes_; }
  int64_t least_left() const override { return least_left_; }
  const std::vector<int64_t>& offsets() const override { return offsets_; }

 private:
  static std::vector<Unit> latest_offsets(const Shared& shared);

  Outcome solve(const Entrant<Unit>* entrants, int32_t count, bool is_root);
  Outcome descend(Part<Unit>& part, int32_t* order, int32_t count);
  Outcome place(Part<Unit>& part, const int32_t* order, int32_t count, int32_t at);
  bool push_up(Part<Unit>& part, const int32_t* order, int32_t count, int32_t at, int32_t* next);
  bool block(Part<Unit>& part, const int32_t* order, int32_t count, int32_t at);
  Outcome go_on(Part<Unit>& part, int32_t placed, int32_t* order, int32_t count);
  Outcome split(Part<Unit>& part, int32_t* order, int32_t count);
  Outcome solve_sides(const Part<Unit>& part, const int32_t* order, int32_t count,
                      const int32_t* side, const int32_t* members, int32_t sides);

  bool can_be_swapped(const Part<Unit>& part, int32_t a, int32_t b) const;
  void set_state(Part<Unit>& part, int32_t item, Unit floor, Unit effective, uint8_t blocked);
  void undo_to(Part<Unit>& part, size_t mark);
  bool raise_blocked(Part<Unit>& part, const int32_t* order, int32_t count);
  bool bounds_hold(Part<Unit>& part, const int32_t* order, int32_t count, Span changed);

  bool known_to_fail(const Part<Unit>& part, int32_t count);
  void remember_failure(const Part<Unit>& part, int32_t count);

  bool may_go_on() {
    if (nodes_ >= node_limit_ || nodes_ - progress_at_ >= idle_limit_) return false;
    ++nodes_;
    return nodes_ % kNodesBetweenStops != 0 || shared_.stop == nullptr || !*shared_.stop ||
           !(*shared_.stop)();
  }

  void take_off(int32_t item) { left_ -= areas_[static_cast<size_t>(item)]; }
  void note_progress() {
    if (left_ >= least_left_) return;
    least_left_ = left_;
    progress_at_ = nodes_;
  }

  Shared shared_;
  const Instance& instance_;
  Unit capacity_ = 0;
  PartBuilder<Unit> builder_;
  bool remembers_ = true;
  std::vector<int64_t> areas_;    // by item number
  std::vector<int64_t> offsets_;  // by item number
  const Order* order_ = nullptr;
  int64_t nodes_ = 0;
  int64_t node_limit_ = 0;
  int64_t idle_limit_ = 0;
  int64_t left_ = 0;  // area of what is not placed
  int64_t least_left_ = 0;
  int64_t progress_at_ = 0;  // node at which it became so
  Stack stack_{};
  std::vector<Change<Unit>> undo_{};
  std::vector<uint64_t> key_{};
  Span changed_{};  // hull of the cliques where a floor, effective floor or the items changed
};

template <typename Unit>
std::vector<Unit> Search<Unit>::latest_offsets(const Shared& shared) {
  std::vector<Unit> latest;
  for (const Item& item : shared.instance->items) {
    latest.push_back(static_cast<Unit>(latest_offset(*shared.instance, item, shared.capacity)));
  }
  return latest;
}

template <typename Unit>
Outcome Search<Unit>::run(const std::vector<int32_t>& items, const Order& order,
                          Patience patience) {
  check(items.size() <= kLargestPart, "a part is not too large for the exact search");
  order_ = &order;
  node_limit_ = nodes_ + patience.nodes;
  idle_limit_ = patience.idle_nodes;
  left_ = 0;
  for (const int32_t item : items) left_ += areas_[static_cast<size_t>(item)];
  least_left_ = left_;
  progress_at_ = nodes_;
  stack_.release({});
  undo_.clear();
  auto* entrants = stack_.take<Entrant<Unit>>(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const int64_t fixed = instance_.items[static_cast<size_t>(items[i])].fixed;
    const Unit floor = static_cast<Unit>(std::max<int64_t>(fixed, 0));
    if (floor > builder_.latest(items[i])) return Outcome::kFailed;
    entrants[i] = {.item = items[i], .floor = floor, .effective = floor};
  }
  return solve(entrants, static_cast<int32_t>(items.size()), true);
}

template <typename Unit>
Outcome Search<Unit>::solve(const Entrant<Unit>* entrants, int32_t count, bool is_root) {
  const Stack::Mark mark = stack_.mark();
  const size_t undo = undo_.size();
  Part<Unit> part =
      builder_.build(stack_, entrants, count, is_root || shared_.rules.rerank ? order_ : nullptr);
  auto* order = stack_.take<int32_t>(static_cast<size_t>(count));
  std::iota(order, order + count, 0);
  std::sort(order, order + count, [&](int32_t a, int32_t b) {
    return std::tie(part.floor[a], a) < std::tie(part.floor[b], b);
  });
  Outcome outcome = Outcome::kFailed;
  const Span everywhere{0, part.cliques - 1};
  if (!known_to_fail(part, count) && (!is_root || bounds_hold(part, order, count, everywhere))) {
    changed_ = everywhere;
    outcome = descend(part, order, count);
  }
  undo_.resize(undo);
  stack_.release(mark);
  return outcome;
}

// `order`: the unplaced items by floor, then rank. Either the next item stands at its floor, or it
// is blocked there and the item after it is asked.
template <typename Unit>
Outcome Search<Unit>::descend(Part<Unit>& part, int32_t* order, int32_t count) {
  if (count == 0) return Outcome::kSolved;
  const int64_t nodes_before = nodes_;
  const size_t undo = undo_.size();
  int32_t* const candidates = part.candidates;
  Unit* const lowest = part.lowest;
  if (order_->choice != Choice::kLowest) copy_candidates(part, stack_);
  while (true) {
    if (order_->choice != Choice::kLowest) {
      count_candidates(part, order, count, changed_, capacity_);
    }
    const int32_t at = choose(part, order, count, order_->choice, capacity_);
    if (at < 0) break;
    if (!may_go_on()) return Outcome::kLimit;
    const Outcome outcome = place(part, order, count, at);
    if (outcome != Outcome::kFailed) return outcome;
    if (!block(part, order, count, at)) break;
  }
  part.candidates = candidates;
  part.lowest = lowest;
  undo_to(part, undo);
  if (nodes_ > nodes_before + 1) remember_failure(part, count);
  return Outcome::kFailed;
}

template <typename Unit>
Outcome Search<Unit>::place(Part<Unit>& part, const int32_t* order, int32_t count, int32_t at) {
  const int32_t w = order[at];
  const Stack::Mark mark = stack_.mark();
  const size_t undo = undo_.size();
  auto* next = stack_.take<int32_t>(static_cast<size_t>(count));
  offsets_[static_cast<size_t>(part.item[w])] = part.floor[w];
  const int64_t left = left_;
  take_off(part.item[w]);
  part.placed[w] = 1;
  part.hash -= part.mark[w];
  part.for_each_piece(w, [&](Span span) {
    for (int32_t k = span.first; k <= span.last; ++k) part.total[k] -= part.size[w];
  });
  changed_ = part.span[w];
  Outcome outcome = Outcome::kFailed;
  if (push_up(part, order, count, at, next) && bounds_hold(part, next, count - 1, changed_)) {
    note_progress();
    outcome = go_on(part, w, next, count - 1);
  }
  if (outcome == Outcome::kFailed) {
    left_ = left;
    undo_to(part, undo);
    part.placed[w] = 0;
    part.hash += part.mark[w];
    part.for_each_piece(w, [&](Span span) {
      for (int32_t k = span.first; k <= span.last; ++k) part.total[k] += part.size[w];
    });
  }
  stack_.release(mark);
  return outcome;
}

// The item does not stand at its floor, nor do those of its shape. False when they can stand
// nowhere.
template <typename Unit>
bool Search<Unit>::block(Part<Unit>& part, const int32_t* order, int32_t count, int32_t at) {
  const int32_t w = order[at];
  changed_ = part.span[w];
  for (int32_t i = at; i < count; ++i) {
    const int32_t v = order[i];
    if (i > at && (!shared_.rules.same_shape || part.shape[v] != part.shape[w])) break;
    if (part.fixed[v] != 0) return false;
    set_state(part, v, part.floor[v], part.floor[v], 1);
  }
  return bounds_hold(part, order, count, changed_) && !known_to_fail(part, count);
}

template <typename Unit>
void Search<Unit>::set_state(Part<Unit>& part, int32_t item, Unit floor, Unit effective,
                             uint8_t blocked) {
  undo_.push_back({item, part.blocked[item], part.floor[item], part.effective[item]});
  part.effective[item] = effective;
  if (part.floor[item] == floor && part.blocked[item] == blocked) return;
  part.floor[item] = floor;
  part.blocked[item] = blocked;
  part.hash -= part.mark[item];
  part.mark[item] = mark_of(part.shape[item], floor, blocked);
  part.hash += part.mark[item];
}

template <typename Unit>
void Search<Unit>::undo_to(Part<Unit>& part, size_t mark) {
  while (undo_.size() > mark) {
    const Change<Unit> change = undo_.back();
    undo_.pop_back();
    set_state(part, change.rank, change.floor, change.effective, change.blocked);
    undo_.pop_back();
  }
}

// Have both met the same items so far, and will they? Spans of the part tell of the future only.
template <typename Unit>
bool Search<Unit>::can_be_swapped(const Part<Unit>& part, int32_t a, int32_t b) const {
  return part.plain[a] != 0 && part.plain[b] != 0 && part.span[a] == part.span[b] &&
         instance_.items[static_cast<size_t>(part.item[a])].span ==
             instance_.items[static_cast<size_t>(part.item[b])].span;
}

// Raises the floors of the neighbours of the item just placed. Writes the new order to `next`.
// False when an item no longer fits.
template <typename Unit>
bool Search<Unit>::push_up(Part<Unit>& part, const int32_t* order, int32_t count, int32_t at,
                           int32_t* next) {
  const int32_t w = order[at];
  const Unit top = part.floor[w] + part.size[w];
  int32_t kept = 0;
  int32_t raised = 0;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t v = order[i];
    if (part.floor[v] >= top || !part.conflict(v, w)) {
      next[kept++] = v;
      continue;
    }
    if (i == at) continue;
    const Unit floor = round_up(top, part.alignment[v]);
    if (part.fixed[v] != 0 || floor > part.latest[v]) return false;
    const bool out_of_order =
        shared_.rules.same_span && part.size[v] > part.size[w] && can_be_swapped(part, v, w);
    set_state(part, v, floor, floor, out_of_order ? 1 : 0);
    changed_.first = std::min(changed_.first, part.span[v].first);
    changed_.last = std::max(changed_.last, part.span[v].last);
    part.waiting[raised++] = v;
  }
  const auto before = [&](int32_t a, int32_t b) {
    return part.floor[a] != part.floor[b] ? part.floor[a] < part.floor[b] : a < b;
  };
  std::sort(part.waiting, part.waiting + raised, before);
  for (int32_t i = count - 2; raised > 0; --i) {
    const bool from_kept = kept > 0 && before(part.waiting[raised - 1], next[kept - 1]);
    next[i] = from_kept ? next[--kept] : part.waiting[--raised];
  }
  return true;
}

// Brings the effective floors of the blocked items up to date in and around `changed_`. False when
// one of them can stand nowhere.
template <typename Unit>
bool Search<Unit>::raise_blocked(Part<Unit>& part, const int32_t* order, int32_t count) {
  constexpr int kPasses = 3;
  bool changed = true;
  for (int pass = 0; pass < kPasses && changed; ++pass) {
    changed = false;
    for (int32_t i = 0; i < count; ++i) {
      const int32_t b = order[i];
      if (part.blocked[b] == 0 || !meets(part.span[b], changed_)) continue;
      if (shared_.rules.blocked_bound && !support_stands(part, b)) {
        const Unit support = lowest_support(part, b);
        if (support > part.latest[b]) return false;
        const Unit floor = round_up(support, part.alignment[b]);
        if (floor > part.latest[b]) return false;
        if (floor > part.effective[b]) {
          set_state(part, b, part.floor[b], floor, 1);
          changed_.first = std::min(changed_.first, part.span[b].first);
          changed_.last = std::max(changed_.last, part.span[b].last);
          changed = true;
        }
      }
      if (shared_.rules.dominance && !has_blocker(part, b)) return false;
    }
  }
  return true;
}

template <typename Unit>
bool Search<Unit>::bounds_hold(Part<Unit>& part, const int32_t* order, int32_t count,
                               Span changed) {
  changed_ = changed;
  if (!raise_blocked(part, order, count)) return false;
  return !shared_.rules.release_bound ||
         release_bound_holds(part, order, count, changed_, capacity_);
}

template <typename Unit>
Outcome Search<Unit>::go_on(Part<Unit>& part, int32_t placed, int32_t* order, int32_t count) {
  const Span span = part.span[placed];
  bool cut = false;
  for (int32_t k = span.first; k < span.last; ++k) cut = --part.crossing[k] == 0 || cut;
  Outcome outcome = Outcome::kFailed;
  if (cut && shared_.rules.decompose) {
    outcome = split(part, order, count);
  } else if (!known_to_fail(part, count)) {
    outcome = descend(part, order, count);
  }
  if (outcome == Outcome::kFailed) {
    for (int32_t k = span.first; k < span.last; ++k) ++part.crossing[k];
  }
  return outcome;
}

// Nothing unplaced crosses some instant: if there is something on more than one side, solves the
// sides apart.
template <typename Unit>
Outcome Search<Unit>::split(Part<Unit>& part, int32_t* order, int32_t count) {
  const Stack::Mark mark = stack_.mark();
  const auto cliques = static_cast<size_t>(part.cliques);
  auto* side = stack_.take<int32_t>(cliques);     // by clique
  auto* members = stack_.take<int32_t>(cliques);  // by side
  int32_t sides = 0;
  for (int32_t k = 0; k < part.cliques; ++k) {
    side[k] = sides;
    members[sides] = 0;
    if (part.crossing[k] == 0) ++sides;
  }
  for (int32_t i = 0; i < count; ++i) ++members[side[part.span[order[i]].first]];
  Outcome outcome = Outcome::kFailed;
  if (count > 0 && *std::max_element(members, members + sides) < count) {
    outcome = solve_sides(part, order, count, side, members, sides);
  } else if (!known_to_fail(part, count)) {
    outcome = descend(part, order, count);
  }
  stack_.release(mark);
  return outcome;
}

// The smallest first.
template <typename Unit>
Outcome Search<Unit>::solve_sides(const Part<Unit>& part, const int32_t* order, int32_t count,
                                  const int32_t* side, const int32_t* members, int32_t sides) {
  auto* by_size = stack_.take<int32_t>(static_cast<size_t>(sides));
  std::iota(by_size, by_size + sides, 0);
  std::sort(by_size, by_size + sides, [&](int32_t a, int32_t b) {
    return std::tie(members[a], a) < std::tie(members[b], b);
  });
  auto* end = stack_.take<int32_t>(static_cast<size_t>(sides));  // of each side in `entrants`
  int32_t total = 0;
  for (int32_t i = 0; i < sides; ++i) {
    end[by_size[i]] = total;
    total += members[by_size[i]];
  }
  auto* entrants = stack_.take<Entrant<Unit>>(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) {
    const int32_t v = order[i];
    entrants[end[side[part.span[v].first]]++] = {part.item[v], v, part.floor[v], part.effective[v],
                                                 part.blocked[v]};
  }
  for (int32_t i = 0; i < sides; ++i) {
    const int32_t size = members[by_size[i]];
    const Entrant<Unit>* first = entrants + end[by_size[i]] - size;
    if (size == 1) {
      if (first->blocked != 0) return Outcome::kFailed;
      offsets_[static_cast<size_t>(first->item)] = first->floor;
      take_off(first->item);
    } else if (size > 1) {
      const Outcome outcome = solve(first, size, false);
      if (outcome != Outcome::kSolved) return outcome;
    }
  }
  return Outcome::kSolved;
}

template <typename Unit>
bool Search<Unit>::known_to_fail(const Part<Unit>& part, int32_t count) {
  if (!remembers_ || count < kFewestToRemember) return false;
  if (!shared_.failed->may_contain(part.hash)) return false;
  make_key(part, key_);
  return shared_.failed->contains(part.hash, key_);
}

template <typename Unit>
void Search<Unit>::remember_failure(const Part<Unit>& part, int32_t count) {
  if (!remembers_ || count < kFewestToRemember) return;
  make_key(part, key_);
  shared_.failed->insert(part.hash, key_);
}

}  // namespace

std::unique_ptr<Searcher> make_searcher(const Shared& shared) {
  constexpr int64_t kNarrow = int64_t{1} << 29;
  const Instance& instance = *shared.instance;
  const int64_t capacity = capacity_in_units(instance, shared.capacity);
  check(0 <= instance.load && instance.load <= capacity, "the load is within the capacity");
  const bool narrow = capacity < kNarrow && std::ranges::all_of(instance.items, [](const Item& i) {
                        return i.alignment < kNarrow && i.fixed < kNarrow;
                      });
  if (narrow) return std::make_unique<Search<int32_t>>(shared);
  return std::make_unique<Search<int64_t>>(shared);
}

}  // namespace tidemark::exact

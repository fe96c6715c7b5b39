#include "planner/alloc/hill_climb.h"

#include <algorithm>
#include <array>
#include <compare>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "planner/alloc/greedy.h"
#include "planner/alloc/portfolio.h"

namespace tidemark {
namespace {

constexpr size_t kMemory = 8;

// Of the buffers placed, in order of offset.
struct Placed {
  size_t index = 0;  // in Problem::buffers
  Interval<int64_t> lifetime{};
  Bytes offset{};
  Bytes end{};
};

// How bad a plan is.
struct Cost {
  Bytes peak{};
  Bytes above{};  // sum over all buffers of how far each ends above the load
  auto operator<=>(const Cost&) const = default;
};

struct Placement {
  std::vector<Placed> placed{};
  Cost cost{};
};

bool meet(const Problem& problem, const Placed& a, const Placed& b) {
  if (!overlaps(a.lifetime, b.lifetime)) return false;
  const Buffer& first = problem.buffers[a.index];
  const Buffer& second = problem.buffers[b.index];
  return (first.gaps.empty() && second.gaps.empty()) || conflict(first, second);
}

class Climber {
 public:
  Climber(const Problem& problem, const HillClimbOptions& options)
      : problem_(problem),
        options_(options),
        random_(options.seed),
        load_(peak_load(problem)),
        position_(problem.buffers.size(), kFixed) {
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      if (!is_ever_live(problem.buffers[i])) continue;
      (problem.buffers[i].offset ? fixed_ : order_).push_back(i);
    }
  }

  Plan run() {
    start();
    std::array<Cost, kMemory> memory;
    memory.fill(now_.cost);
    for (int64_t step = 0; step < options_.steps && order_.size() > 1 && !done(); ++step) {
      Cost& past = memory[static_cast<size_t>(step) % kMemory];
      const Cost worst = std::max(past, now_.cost);
      const Move move = propose();
      make(move);
      std::optional<Placement> next = place(move.first, worst.peak);
      if (next && next->cost <= worst) {
        accept(std::move(*next));
      } else {
        unmake(move);
      }
      past = std::min(past, now_.cost);
    }
    return std::move(*best_);
  }

 private:
  static constexpr size_t kFixed = 0;  // before all others; those of order_ count from 1

  bool done() const { return best_->peak == load_ || (options_.stop && options_.stop()); }

  size_t below(size_t limit) { return static_cast<size_t>(random_() % limit); }

  // The best of several plans, its buffers in order of offset: placed anew in that order each
  // stands where it stood, or lower.
  void start() {
    for (const PlacementOrder order : {PlacementOrder::kSize, PlacementOrder::kArea,
                                       PlacementOrder::kWidth, PlacementOrder::kConflicts}) {
      keep(place_greedily(problem_, order, GapRule::kLowest));
    }
    if (std::optional<Plan> plan = plan_by_lowest_floor(problem_, {.placements = 0})) {
      keep(std::move(plan->offsets));
    }
    std::ranges::stable_sort(order_, {}, [&](size_t i) { return best_->offsets[i]; });
    number(0);
    accept(*place(0, best_->peak));
  }

  void keep(std::vector<Bytes> offsets) {
    Plan plan = with_totals(problem_, "hill-climb", std::move(offsets));
    if (best_ && best_->peak <= plan.peak) return;
    best_ = std::move(plan);
    if (options_.found) options_.found(*best_);
  }

  void number(size_t from) {
    for (size_t k = from; k < order_.size(); ++k) position_[order_[k]] = k + 1;
  }

  // First fit from `from` on, what comes before as it stands now. Nothing once an end is above
  // `limit`.
  std::optional<Placement> place(size_t from, Bytes limit) const {
    Placement next;
    next.placed.reserve(order_.size() + fixed_.size());
    if (now_.placed.empty()) {
      for (const size_t i : fixed_) insert(next, i, *problem_.buffers[i].offset);
    }
    for (const Placed& placed : now_.placed) {
      if (position_[placed.index] <= from) add(next, next.placed.end(), placed);
    }
    for (size_t k = from; k < order_.size(); ++k) {
      const Bytes offset = lowest_free(next.placed, order_[k]);
      if (limit < offset + problem_.buffers[order_[k]].size) return std::nullopt;
      insert(next, order_[k], offset);
    }
    return next;
  }

  void insert(Placement& next, size_t index, Bytes offset) const {
    const Buffer& buffer = problem_.buffers[index];
    const auto above = std::ranges::upper_bound(next.placed, offset, {}, &Placed::offset);
    add(next, above, {index, buffer.lifetime, offset, offset + buffer.size});
  }

  void add(Placement& next, std::vector<Placed>::iterator where, const Placed& placed) const {
    next.cost.peak = std::max(next.cost.peak, placed.end);
    if (load_ < placed.end) next.cost.above += placed.end - load_;
    next.placed.insert(where, placed);
  }

  Bytes lowest_free(const std::vector<Placed>& placed, size_t index) const {
    const Buffer& buffer = problem_.buffers[index];
    const Placed mine{.index = index, .lifetime = buffer.lifetime};
    Bytes offset;
    for (const Placed& other : placed) {
      if (other.end <= offset || !meet(problem_, mine, other)) continue;
      if (offset + buffer.size <= other.offset) break;
      offset = align_up(other.end, buffer.alignment);
    }
    return offset;
  }

  void accept(Placement next) {
    now_ = std::move(next);
    if (best_->peak <= now_.cost.peak) return;
    std::vector<Bytes> offsets(problem_.buffers.size());
    for (const Placed& placed : now_.placed) offsets[placed.index] = placed.offset;
    keep(std::move(offsets));
  }

  // Of the buffers with the highest end one, of those it stands on one, and so on, the fixed ones
  // left out.
  std::vector<size_t> chain() {
    std::vector<const Placed*> under;
    for (const Placed& placed : now_.placed) {
      if (placed.end == now_.cost.peak) under.push_back(&placed);
    }
    std::vector<size_t> links;
    while (!under.empty()) {
      const Placed& link = *under[below(under.size())];
      if (position_[link.index] != kFixed) links.push_back(link.index);
      const Alignment alignment = problem_.buffers[link.index].alignment;
      under.clear();
      for (const Placed& other : now_.placed) {
        if (link.offset <= other.offset) break;
        const bool touches = align_up(other.end, alignment) == link.offset;
        if (touches && meet(problem_, link, other)) under.push_back(&other);
      }
    }
    return links;
  }

  // Of places `first` and `last` of the order: the later one goes to the earlier, and what lies
  // between makes way, or the two change places.
  struct Move {
    size_t first = 0;
    size_t last = 0;
    bool swap = false;
  };

  Move propose() {
    const std::vector<size_t> links = chain();
    const size_t place =
        links.empty() ? below(order_.size()) : position_[links[below(links.size())]] - 1;
    if (below(2) == 0 && place > 0) return {below(place), place, false};
    const size_t other = below(order_.size());
    return {std::min(place, other), std::max(place, other), true};
  }

  void make(const Move& move) {
    if (move.swap) {
      std::swap(order_[move.first], order_[move.last]);
    } else {
      const auto begin = order_.begin() + static_cast<int64_t>(move.first);
      const auto end = order_.begin() + static_cast<int64_t>(move.last) + 1;
      std::rotate(begin, end - 1, end);
    }
    number(move.first);
  }

  void unmake(const Move& move) {
    if (move.swap) {
      std::swap(order_[move.first], order_[move.last]);
    } else {
      const auto begin = order_.begin() + static_cast<int64_t>(move.first);
      const auto end = order_.begin() + static_cast<int64_t>(move.last) + 1;
      std::rotate(begin, begin + 1, end);
    }
    number(move.first);
  }

  const Problem& problem_;
  const HillClimbOptions& options_;
  std::mt19937_64 random_;
  Bytes load_;
  std::vector<size_t> fixed_{};
  std::vector<size_t> order_{};
  std::vector<size_t> position_;  // by buffer: place in order_, from 1
  Placement now_{};
  std::optional<Plan> best_{};
};

}  // namespace

Plan plan_by_hill_climb(const Problem& problem, const HillClimbOptions& options) {
  if (fixed_offsets_clash(problem)) {
    return {.planner = "hill-climb",
            .status = PlanStatus::kInfeasible,
            .lower_bound = peak_load(problem)};
  }
  return Climber(problem, options).run();
}

}  // namespace tidemark

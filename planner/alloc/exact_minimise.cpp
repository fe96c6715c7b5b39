// minimise() of exact.h.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "planner/alloc/exact.h"
#include "planner/alloc/exact_climb.h"
#include "planner/alloc/exact_instance.h"
#include "planner/base/check.h"

namespace tidemark {
namespace {

using exact::Climb;
using exact::Instance;
using exact::Item;
using exact::Lanes;
using exact::Outcome;

// Of one try at one capacity, at first, for each item; fewer when the limit is low, so that it
// allows more than one. A try that meets no trouble needs little more than one.
constexpr int64_t kNodesPerTry = 40;
constexpr int64_t kTriesAtLeast = 2;

int64_t first_budget(int64_t items, int64_t node_limit) {
  return std::min(kNodesPerTry * items, std::max(items + items / 2, node_limit / kTriesAtLeast));
}

// Nodes of climbs for each node a single try may take.
constexpr int64_t kClimbShare = 16;

// The least capacity above `capacity` at which some item may stand higher.
Bytes next_capacity(const Instance& instance, Bytes capacity) {
  int64_t next = std::numeric_limits<int64_t>::max();
  for (const Item& item : instance.items) {
    const int64_t latest = exact::latest_offset(instance, item, capacity);
    next = std::min(next, checked_add(checked_mul(latest + 1, instance.unit), item.useful));
  }
  return Bytes::of(next);
}

// Tries to decide at chosen capacities, for proofs from below, and climbs from the best plan
// downward take turns, with ever more nodes.
class Minimisation {
 public:
  Minimisation(const Problem& problem, const Instance& instance, Plan best,
               const ExactOptions& options)
      : problem_(problem),
        instance_(instance),
        options_(options),
        parts_(independent_parts(instance)),
        climbs_(parts_.size()),
        lanes_(instance, options.rules, options.table_bytes, options.stop, options.run_all),
        best_(std::move(best)) {}

  Plan run() {
    int64_t budget = first_budget(std::ssize(instance_.items), options_.node_limit);
    bool bound_first = options_.bound_first;
    while (!done() && try_downward(budget, bound_first)) {
      climb(kClimbShare * budget);
      budget *= 2;
      bound_first = true;
    }
    best_.nodes = nodes_;
    best_.status =
        best_.peak == best_.lower_bound ? PlanStatus::kProvedOptimal : PlanStatus::kLimitReached;
    return std::move(best_);
  }

 private:
  int64_t nodes_left() const { return options_.node_limit - nodes_; }
  bool done() const {
    return best_.peak <= best_.lower_bound || nodes_left() <= 0 ||
           (options_.stop && options_.stop());
  }

  void take(Plan plan) {
    plan.lower_bound = best_.lower_bound;
    plan.nodes = nodes_;
    best_ = std::move(plan);
    if (options_.found) options_.found(best_);
  }

  // At the bound, or half-way to it, then nearer and nearer to the best plan. False when the search
  // can do nothing for this problem.
  bool try_downward(int64_t budget, bool bound_first) {
    int64_t step = (best_.peak - best_.lower_bound).count();
    if (!bound_first) step = std::max<int64_t>(1, step / 2);
    ExactOptions once = options_;
    while (!done()) {
      once.node_limit = std::min(budget, nodes_left());
      once.seed = options_.seed + ++tries_;
      const Bytes target = std::max(best_.lower_bound, best_.peak - Bytes::of(step));
      Plan plan = decide(problem_, target, once);
      nodes_ += plan.nodes;
      // Too large for the search: trying again would change nothing.
      if (plan.status == PlanStatus::kLimitReached && plan.nodes == 0) return false;
      if (!plan.offsets.empty() && plan.peak < best_.peak) {
        take(std::move(plan));
      } else if (plan.status == PlanStatus::kInfeasible) {
        best_.lower_bound = next_capacity(instance_, target);
      } else if (step > instance_.unit) {
        step = std::max(instance_.unit, step / 2);
      } else {
        return true;
      }
    }
    return true;
  }

  Bytes end_of(int32_t item) const {
    const Item& it = instance_.items[static_cast<size_t>(item)];
    return best_.offsets[it.buffer.index()] + Bytes::of(it.useful);
  }

  size_t highest_part() const {
    const auto end = [&](const std::vector<int32_t>& part) {
      return end_of(*std::ranges::max_element(part, {}, [&](int32_t i) { return end_of(i); }));
    };
    return static_cast<size_t>(std::ranges::max_element(parts_, {}, end) - parts_.begin());
  }

  // Until `nodes` have brought no lower plan.
  void climb(int64_t nodes) {
    int64_t end = nodes_ + nodes;
    while (!done() && nodes_ < end) {
      const Bytes target = best_.peak - Bytes::of(1);
      if (target < best_.lower_bound || capacity_in_units(instance_, target) < instance_.load)
        break;
      if (target != target_) lanes_.set_capacity(target);
      target_ = target;
      const size_t part = highest_part();
      if (!climbs_[part]) climbs_[part].emplace(instance_, parts_[part], options_.seed);
      const int64_t before = lanes_.nodes();
      const Outcome outcome = climbs_[part]->step(lanes_, nodes_left());
      nodes_ += lanes_.nodes() - before;
      if (outcome == Outcome::kFailed) best_.lower_bound = best_.peak;
      if (outcome != Outcome::kSolved) continue;
      take(with(parts_[part], lanes_.offsets()));
      end = nodes_ + nodes;
    }
  }

  // The best plan with other offsets for one part.
  Plan with(const std::vector<int32_t>& part, const std::vector<int64_t>& offsets) const {
    Plan plan{.planner = "exact", .offsets = best_.offsets};
    for (const int32_t i : part) {
      const auto at = static_cast<size_t>(i);
      plan.offsets[instance_.items[at].buffer.index()] = Bytes::of(offsets[at] * instance_.unit);
    }
    plan.peak = peak_of(problem_, plan.offsets);
    return plan;
  }

  const Problem& problem_;
  const Instance& instance_;
  const ExactOptions& options_;
  std::vector<std::vector<int32_t>> parts_{};
  std::vector<std::optional<Climb>> climbs_{};
  Lanes lanes_;
  Plan best_{};
  Bytes target_{};
  int64_t nodes_ = 0;
  uint64_t tries_ = 0;
};

}  // namespace

Plan minimise(const Problem& problem, Plan best, const ExactOptions& options) {
  const Instance instance = exact::make_instance(problem);
  if (!instance.representable) return best;
  best.lower_bound = std::max({best.lower_bound, peak_load(problem), padded_load(instance)});
  return Minimisation(problem, instance, std::move(best), options).run();
}

}  // namespace tidemark

#include "planner/alloc/exact.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace tidemark {
namespace {

using exact::Instance;
using exact::Order;
using exact::Outcome;

// Of the first round; the better orders need hardly more than one node an item.
constexpr int64_t kNodesPerItem = 2;
constexpr int64_t kFewestNodes = 200;
constexpr int kRounds = 2;
// Of one try of minimise() at one capacity, at first.
constexpr int64_t kNodesPerTry = 40;

// 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ...: restarts that lose little against the best fixed limit, which
// nobody knows (Luby, Sinclair, Zuckerman 1993).
int64_t luby(int64_t number) {
  int64_t length = 1;
  while (length < number) length = 2 * length + 1;
  while (length != number) {
    length /= 2;
    if (number > length) number -= length;
  }
  return (length + 1) / 2;
}

class Decision {
 public:
  Decision(const Problem& problem, const Instance& instance, Bytes capacity,
           const ExactOptions& options)
      : problem_(problem), instance_(instance), options_(options), failed_(options.table_bytes) {
    searcher_ = exact::make_searcher({.instance = &instance,
                                      .capacity = capacity,
                                      .rules = options.rules,
                                      .failed = &failed_,
                                      .stop = &options_.stop});
  }

  Outcome run() {
    std::vector<std::vector<int32_t>> parts = exact::independent_parts(instance_);
    std::ranges::stable_sort(parts, {}, [](const auto& part) { return part.size(); });
    if (!parts.empty() && parts.back().size() > exact::kLargestPart) return Outcome::kLimit;
    for (const auto& part : parts) {
      const Outcome outcome = solve(part);
      if (outcome != Outcome::kSolved) return outcome;
    }
    return Outcome::kSolved;
  }

  int64_t nodes() const { return searcher_->nodes(); }

  std::vector<Bytes> offsets() const {
    std::vector<Bytes> offsets(problem_.buffers.size());
    for (size_t i = 0; i < instance_.items.size(); ++i) {
      offsets[instance_.items[i].buffer.index()] =
          Bytes::of(searcher_->offsets()[i] * instance_.unit);
    }
    return offsets;
  }

 private:
  // Two rounds over the standard orders, each beside a disturbed one; then disturbed ones alone,
  // mostly short, sometimes long.
  Outcome solve(const std::vector<int32_t>& part) {
    const auto size = static_cast<int64_t>(part.size());
    int64_t limit = std::max(kFewestNodes, kNodesPerItem * size);
    for (int round = 0; round < kRounds; ++round, limit *= 2) {
      for (const Order& order : exact::standard_orders()) {
        Outcome outcome = attempt(part, order, limit);
        if (outcome == Outcome::kLimit && !exhausted()) outcome = attempt_disturbed(part, limit);
        if (outcome != Outcome::kLimit || exhausted()) return outcome;
      }
    }
    for (int64_t number = 1;; ++number) {
      const Outcome outcome = attempt_disturbed(part, limit * luby(number));
      if (outcome != Outcome::kLimit || exhausted()) return outcome;
    }
  }

  Outcome attempt_disturbed(const std::vector<int32_t>& part, int64_t limit) {
    return attempt(part, exact::random_order(options_.seed, random_++), limit);
  }

  Outcome attempt(const std::vector<int32_t>& part, const Order& order, int64_t limit) {
    return searcher_->run(part, order, std::min(limit, options_.node_limit - nodes()));
  }

  bool exhausted() const {
    return nodes() >= options_.node_limit || (options_.stop && options_.stop());
  }

  const Problem& problem_;
  const Instance& instance_;
  const ExactOptions& options_;
  exact::FailedStates failed_;
  std::unique_ptr<exact::Searcher> searcher_{};
  uint64_t random_ = 0;
};

// The least capacity above `capacity` at which some item may stand higher.
Bytes next_capacity(const Instance& instance, Bytes capacity) {
  int64_t next = std::numeric_limits<int64_t>::max();
  for (const exact::Item& item : instance.items) {
    const int64_t latest = exact::latest_offset(instance, item, capacity);
    next = std::min(next, checked_add(checked_mul(latest + 1, instance.unit), item.useful));
  }
  return Bytes::of(next);
}

}  // namespace

Plan decide(const Problem& problem, Bytes capacity, const ExactOptions& options) {
  Plan plan{.planner = "exact", .status = PlanStatus::kInfeasible};
  const Instance instance = exact::make_instance(problem);
  plan.lower_bound = std::max(peak_load(problem), padded_load(instance));
  if (capacity < plan.lower_bound || !instance.representable ||
      capacity_in_units(instance, capacity) < instance.load) {
    return plan;
  }
  Decision decision(problem, instance, capacity, options);
  const Outcome outcome = decision.run();
  plan.nodes = decision.nodes();
  if (outcome == Outcome::kLimit) plan.status = PlanStatus::kLimitReached;
  if (outcome != Outcome::kSolved) return plan;
  plan.offsets = decision.offsets();
  plan.peak = peak_of(problem, plan.offsets);
  plan.status = plan.peak == plan.lower_bound ? PlanStatus::kProvedOptimal : PlanStatus::kFeasible;
  return plan;
}

Plan minimise(const Problem& problem, Plan best, const ExactOptions& options) {
  const Instance instance = exact::make_instance(problem);
  if (!instance.representable) return best;
  best.lower_bound = std::max({best.lower_bound, peak_load(problem), padded_load(instance)});
  best.nodes = 0;
  int64_t budget = kNodesPerTry * static_cast<int64_t>(instance.items.size());
  int64_t step = (best.peak - best.lower_bound).count();  // down from the best plan
  if (!options.bound_first) step = std::max<int64_t>(1, step / 2);
  ExactOptions once = options;
  while (best.lower_bound < best.peak && best.nodes < options.node_limit &&
         !(options.stop && options.stop())) {
    once.node_limit = std::min(budget, options.node_limit - best.nodes);
    ++once.seed;
    const Bytes target = std::max(best.lower_bound, best.peak - Bytes::of(step));
    Plan plan = decide(problem, target, once);
    const int64_t nodes = best.nodes + plan.nodes;
    // Too large for the search: trying again would change nothing.
    if (plan.status == PlanStatus::kLimitReached && plan.nodes == 0) break;
    if (!plan.offsets.empty() && plan.peak < best.peak) {
      plan.lower_bound = best.lower_bound;
      plan.nodes = nodes;
      best = std::move(plan);
      if (options.found) options.found(best);
    } else if (plan.status == PlanStatus::kInfeasible) {
      best.lower_bound = next_capacity(instance, target);
    } else if (step > instance.unit) {
      step = std::max(instance.unit, step / 2);
    } else {
      budget *= 2;
      step = (best.peak - best.lower_bound).count();
    }
    best.nodes = nodes;
  }
  best.status =
      best.peak == best.lower_bound ? PlanStatus::kProvedOptimal : PlanStatus::kLimitReached;
  return best;
}

}  // namespace tidemark

#include "planner/alloc/exact.h"

#include <algorithm>
#include <utility>

namespace tidemark {
namespace {

using exact::Instance;
using exact::Order;
using exact::Outcome;

// Of the first round, for each item; the better orders need hardly more than one node an item.
constexpr int64_t kFirstNodes = 2;
constexpr int64_t kFewestNodes = 200;

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
  Outcome solve(const std::vector<int32_t>& part) {
    if (part.size() > exact::kLargestPart) return Outcome::kLimit;
    const auto orders = exact::standard_orders();
    uint64_t random = 0;
    const auto size = static_cast<int64_t>(part.size());
    for (int64_t limit = std::max(kFewestNodes, kFirstNodes * size);; limit *= 2) {
      for (const Order& order : orders) {
        const Outcome outcome = attempt(part, order, limit);
        if (outcome != Outcome::kLimit || exhausted()) return outcome;
        const Outcome disturbed =
            attempt(part, exact::random_order(options_.seed, random++), limit);
        if (disturbed != Outcome::kLimit || exhausted()) return disturbed;
      }
    }
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
};

}  // namespace

Plan decide(const Problem& problem, Bytes capacity, const ExactOptions& options) {
  Plan plan{.planner = "exact", .status = PlanStatus::kInfeasible};
  plan.lower_bound = peak_load(problem);
  const Instance instance = exact::make_instance(problem);
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

}  // namespace tidemark

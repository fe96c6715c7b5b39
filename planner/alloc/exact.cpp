#include "planner/alloc/exact.h"

#include <algorithm>
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
      : problem_(problem),
        instance_(instance),
        options_(options),
        lanes_(instance, options.rules, options.table_bytes, options.stop, options.run_all) {
    lanes_.set_capacity(capacity);
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

  int64_t nodes() const { return lanes_.nodes(); }

  std::vector<Bytes> offsets() const {
    std::vector<Bytes> offsets(problem_.buffers.size());
    for (size_t i = 0; i < instance_.items.size(); ++i) {
      offsets[instance_.items[i].buffer.index()] = Bytes::of(offsets_[i] * instance_.unit);
    }
    return offsets;
  }

 private:
  // Two rounds over the standard orders, each beside a disturbed one; then disturbed ones alone,
  // mostly short, sometimes long, several at a time.
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
      const Outcome outcome = attempt_in_lanes(part, limit * luby(number));
      if (outcome != Outcome::kLimit || exhausted()) return outcome;
    }
  }

  Outcome attempt_disturbed(const std::vector<int32_t>& part, int64_t limit) {
    return attempt(part, exact::random_order(options_.seed, random_++), limit);
  }

  Outcome attempt(const std::vector<int32_t>& part, const Order& order, int64_t limit) {
    const int64_t nodes = std::min(limit, options_.node_limit - this->nodes());
    const Outcome outcome = lanes_.run_alone(part, {order, {.nodes = nodes}});
    if (outcome == Outcome::kSolved) keep(part);
    return outcome;
  }

  // As many disturbed orders as there are lanes; the last nodes go to one.
  Outcome attempt_in_lanes(const std::vector<int32_t>& part, int64_t limit) {
    const auto lanes = static_cast<int64_t>(exact::kLanes);
    if (options_.node_limit - nodes() < checked_mul(limit, lanes)) {
      return attempt_disturbed(part, limit);
    }
    std::vector<exact::Run> runs;
    for (size_t i = 0; i < exact::kLanes; ++i) {
      runs.push_back({exact::random_order(options_.seed, random_++), {.nodes = limit}});
    }
    const Outcome outcome = lanes_.run(part, runs).back().outcome;
    if (outcome == Outcome::kSolved) keep(part);
    return outcome;
  }

  void keep(const std::vector<int32_t>& part) {
    offsets_.resize(instance_.items.size());
    for (const int32_t i : part) {
      offsets_[static_cast<size_t>(i)] = lanes_.offsets()[static_cast<size_t>(i)];
    }
  }

  bool exhausted() const {
    return nodes() >= options_.node_limit || (options_.stop && options_.stop());
  }

  const Problem& problem_;
  const Instance& instance_;
  const ExactOptions& options_;
  exact::Lanes lanes_;
  std::vector<int64_t> offsets_{};  // in units, by item, of the parts solved so far
  uint64_t random_ = 0;
};

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

}  // namespace tidemark

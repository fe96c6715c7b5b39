#include "planner/alloc/pools.h"

#include <algorithm>
#include <set>
#include <utility>

#include "planner/alloc/pool_fill.h"

namespace tidemark {
namespace {

constexpr int kAttempts = 4;

// Runs over the pools once or a few times: what found no room in one run stays, in the next, in the
// first pool that can hold it, and others make way.
class PoolPlanner {
 public:
  PoolPlanner(const Problem& problem, const PlainPlanner& planner, const BodyOptions& options)
      : problem_(problem), pools_(problem.pools), filler_(problem, planner, options) {
    allowed_ = allowed_pools(problem, filler_.bodies());
    insistent_.resize(allowed_.size(), false);
  }

  Plan plan() {
    for (size_t i = 0; i < allowed_.size(); ++i) {
      if (allowed_[i].empty() || !filler_.bodies()[i].possible) homeless_.push_back(i);
    }
    if (!homeless_.empty()) return negative(PlanStatus::kInfeasible);
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      run();
      if (homeless_.empty()) return whole();
      for (const size_t i : homeless_) insistent_[i] = true;
      if (proved()) return negative(PlanStatus::kInfeasible);
      if (pools_.size() == 1) break;
    }
    return negative(PlanStatus::kLimitReached);
  }

 private:
  void run() {
    fills_.clear();
    homeless_.clear();
    spilled_ = false;
    std::vector<size_t> waiting(allowed_.size());
    for (size_t i = 0; i < waiting.size(); ++i) waiting[i] = i;
    for (size_t k = 0; k < pools_.size(); ++k) {
      PoolRequest request{.capacity = pools_[k].capacity};
      std::vector<size_t> later;
      for (const size_t i : waiting) {
        if (std::ranges::count(allowed_[i], k) == 0) {
          later.push_back(i);
        } else if (allowed_[i].back() == k || insistent_[i]) {
          request.staying.push_back(i);
        } else {
          request.leaving.push_back(i);
        }
      }
      fills_.push_back(filler_.fill(request));
      for (const size_t i : fills_.back().left_out) {
        spilled_ = true;
        (allowed_[i].back() == k ? homeless_ : later).push_back(i);
      }
      std::ranges::sort(later);
      waiting = std::move(later);
    }
    std::ranges::sort(homeless_);
  }

  // Is there no plan, for certain?
  bool proved() const {
    Bytes all;
    bool bounded = true;
    for (size_t k = 0; k < pools_.size(); ++k) {
      bounded = bounded && pools_[k].capacity.has_value();
      if (bounded) all += *pools_[k].capacity;
      PoolRequest only{.capacity = pools_[k].capacity};
      for (size_t i = 0; i < allowed_.size(); ++i) {
        if (allowed_[i] == std::vector<size_t>{k}) only.staying.push_back(i);
      }
      if (filler_.is_infeasible(only)) return true;
    }
    return bounded && all < load_of(filler_.bodies());
  }

  Plan negative(PlanStatus status) const {
    Plan plan{.planner = "pools", .status = status, .lower_bound = load_of(filler_.bodies())};
    for (const size_t i : homeless_) {
      const std::vector<BufferId>& members = filler_.bodies()[i].members;
      plan.unplaced.insert(plan.unplaced.end(), members.begin(), members.end());
    }
    std::ranges::sort(plan.unplaced);
    return plan;
  }

  Plan whole() const {
    Plan plan{.offsets = std::vector<Bytes>(problem_.buffers.size()),
              .pool_of = std::vector<PoolId>(problem_.buffers.size())};
    std::set<std::string> planners;
    bool optimal = !spilled_;
    for (size_t k = 0; k < fills_.size(); ++k) {
      const PoolFill& fill = fills_[k];
      for (size_t m = 0; m < fill.members.size(); ++m) {
        plan.offsets[fill.members[m].index()] = fill.plan.offsets[m];
        plan.pool_of[fill.members[m].index()] = PoolId::of(k);
      }
      plan.pools.push_back({.planner = fill.plan.planner,
                            .status = fill.plan.status,
                            .peak = fill.plan.peak,
                            .lower_bound = fill.plan.lower_bound});
      plan.peak += fill.plan.peak;
      plan.lower_bound += fill.plan.lower_bound;
      plan.nodes += fill.plan.nodes;
      optimal = optimal && fill.plan.status == PlanStatus::kProvedOptimal;
      if (!fill.members.empty()) planners.insert(fill.plan.planner);
    }
    plan.status = optimal ? PlanStatus::kProvedOptimal : PlanStatus::kFeasible;
    plan.planner = planners.size() == 1 ? *planners.begin() : "pools";
    if (fills_.size() == 1) plan.planner = fills_[0].plan.planner;
    return plan;
  }

  const Problem& problem_;
  const std::vector<Pool>& pools_;
  PoolFiller filler_;
  std::vector<std::vector<size_t>> allowed_{};  // of each body, pools that can hold it
  std::vector<bool> insistent_{};               // bodies that stay in the first pool they come to
  std::vector<PoolFill> fills_{};
  std::vector<size_t> homeless_{};
  bool spilled_ = false;
};

}  // namespace

Plan plan_in_pools(const Problem& problem, const PlainPlanner& planner,
                   const BodyOptions& options) {
  return PoolPlanner(problem, planner, options).plan();
}

}  // namespace tidemark

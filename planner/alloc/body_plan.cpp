#include "planner/alloc/body_plan.h"

#include <algorithm>
#include <utility>

#include "planner/alloc/body_fit.h"
#include "planner/alloc/body_hints.h"
#include "planner/alloc/body_search.h"
#include "planner/alloc/pools.h"
#include "planner/base/check.h"

namespace tidemark {
namespace {

// Where no two buffers share addresses, those to be kept apart only need banks of their own.
void give_banks_of_their_own(Problem& rectangles, const BodyProblem& bodies) {
  if (bodies.distances.empty()) return;
  for (size_t i = 0; i < rectangles.buffers.size(); ++i) {
    Buffer& rectangle = rectangles.buffers[i];
    if (bodies.distances[i].empty() || rectangle.offset) continue;
    rectangle.alignment = std::max(rectangle.alignment, bodies.bank);
  }
}

// Keeps the lowest plan of all ways.
class BodyPlanner {
 public:
  BodyPlanner(const Problem& problem, std::optional<Bytes> capacity, const PlainPlanner& planner,
              const BodyOptions& options)
      : problem_(problem),
        capacity_(capacity),
        planner_(planner),
        options_(options),
        bodies_(body_problem(problem)),
        bound_(load_of(bodies_.bodies)) {}

  Plan plan() {
    if (!std::ranges::all_of(bodies_.bodies, &Body::possible) || fixed_bodies_clash(bodies_) ||
        (capacity_ && *capacity_ < bound_)) {
      return infeasible();
    }
    Reduction reduction = reduce(problem_);
    if (!options_.by_pieces) give_banks_of_their_own(reduction.problem, bodies_);
    Plan rectangles = planner_(reduction.problem, capacity_);
    if (reduction.exact && problem_.apart.empty()) {
      return carried_over(reduction, std::move(rectangles));
    }
    if (!take(reduction, rectangles)) return infeasible();
    if (!done() && (options_.by_pieces || !best_)) by_first_fit();
    if (!done() && options_.by_pieces && !by_search()) return infeasible();
    best_->nodes = nodes_;
    best_->lower_bound = bound_;
    best_->status = best_->peak == bound_ ? PlanStatus::kProvedOptimal : PlanStatus::kFeasible;
    return std::move(*best_);
  }

 private:
  Plan infeasible() const {
    return {.planner = "bodies",
            .status = PlanStatus::kInfeasible,
            .lower_bound = bound_,
            .nodes = nodes_};
  }

  bool done() const {
    if (!best_) return false;
    return best_->peak <= std::max(bound_, capacity_.value_or(Bytes{}));
  }

  void offer(std::string_view planner, const std::vector<Bytes>& bases) {
    const Bytes peak = peak_of(bodies_.bodies, bases);
    if (best_ && best_->peak <= peak) return;
    best_ = {.planner = std::string(planner),
             .status = peak == bound_ ? PlanStatus::kProvedOptimal : PlanStatus::kFeasible,
             .offsets = offsets_at(problem_, bodies_.bodies, bases),
             .peak = peak,
             .lower_bound = bound_};
    if (options_.found) options_.found(*best_);
  }

  // The same problem, the same answer.
  Plan carried_over(const Reduction& reduction, Plan plan) const {
    if (!plan.offsets.empty()) {
      plan.offsets = offsets_at(problem_, bodies_.bodies, bases_of(reduction, plan.offsets));
    }
    return plan;
  }

  // False: there is no plan.
  bool take(const Reduction& reduction, const Plan& plan) {
    nodes_ = plan.nodes;
    if (reduction.exact) {
      bound_ = std::max(bound_, plan.lower_bound);
      if (plan.status == PlanStatus::kInfeasible) return false;
    }
    if (plan.offsets.empty() && !problem_.buffers.empty()) return true;
    const std::vector<Bytes> bases = bases_of(reduction, plan.offsets);
    if (problem_.apart.empty() || are_clear(bodies_, bases)) offer(plan.planner, bases);
    return true;
  }

  void by_first_fit() {
    offer("body-fit",
          fit_bodies_in_orders(bodies_, {.target = std::max(bound_, capacity_.value_or(Bytes{})),
                                         .placements = options_.placements,
                                         .stop = options_.stop}));
  }

  // False: there is no plan within the capacity.
  bool by_search() {
    const Bytes one = Bytes::of(1);
    const Bytes limit = capacity_ ? *capacity_ : best_->peak - one;
    const BodySearchResult found = search_bodies(
        bodies_, {.limit = limit, .bound = bound_, .nodes = options_.nodes, .stop = options_.stop});
    nodes_ += found.nodes;
    if (!found.bases.empty()) offer("body-search", found.bases);
    if (!found.complete) return true;
    bound_ = std::max(bound_, found.bases.empty() ? limit + one : best_->peak);
    return !capacity_ || !found.bases.empty();
  }

  const Problem& problem_;
  std::optional<Bytes> capacity_;
  const PlainPlanner& planner_;
  const BodyOptions& options_;
  BodyProblem bodies_;
  Bytes bound_;
  std::optional<Plan> best_{};
  int64_t nodes_ = 0;
};

bool is_plain_in_one_pool(const Problem& problem) {
  const auto rigid = [](const Buffer& b) { return b.group || !b.partial_gaps.empty(); };
  return problem.apart.empty() && std::ranges::none_of(problem.buffers, rigid);
}

}  // namespace

Plan plan_bodies(const Problem& problem, std::optional<Bytes> capacity, const PlainPlanner& planner,
                 const BodyOptions& options) {
  if (is_plain_in_one_pool(problem)) return planner(problem, capacity);
  return BodyPlanner(problem, capacity, planner, options).plan();
}

Plan plan_one_pool(const Problem& problem, std::optional<Bytes> capacity,
                   const PlainPlanner& planner, const BodyOptions& options) {
  Plan plan = plan_bodies(problem, capacity, planner, options);
  if (options.by_pieces) meet_hints(problem, options.placements, plan);
  return plan;
}

Plan plan_all(const Problem& problem, std::optional<Bytes> capacity, const PlainPlanner& planner,
              const BodyOptions& options) {
  const std::vector<std::string> faults = faults_of(problem);
  check(faults.empty(), faults.empty() ? std::string_view{} : faults.front());
  if (problem.pools.empty()) return plan_one_pool(problem, capacity, planner, options);
  return plan_in_pools(problem, planner, options);
}

}  // namespace tidemark

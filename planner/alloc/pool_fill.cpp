#include "planner/alloc/pool_fill.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tidemark {
namespace {

int64_t cost_of(const Problem& problem, const Body& body) {
  int64_t cost = 0;
  bool stated = false;
  for (const BufferId id : body.members) {
    const Buffer& buffer = problem.buffers[id.index()];
    stated = stated || buffer.cost.has_value();
    cost = checked_add(cost, buffer.cost.value_or(0));
  }
  return stated ? cost : body.height().count();
}

}  // namespace

std::vector<std::vector<size_t>> allowed_pools(const Problem& problem,
                                               const std::vector<Body>& bodies) {
  std::vector<std::vector<size_t>> allowed(bodies.size());
  for (size_t i = 0; i < bodies.size(); ++i) {
    const Body& body = bodies[i];
    const bool fixed = body.base && body.ever_live();
    const Bytes end = (fixed ? *body.base : lowest_base(body)) + body.hull.upper;
    for (size_t k = 0; k < problem.pools.size(); ++k) {
      const auto may = [&](BufferId id) {
        const Buffer& buffer = problem.buffers[id.index()];
        return buffer.pool.value_or(PoolId::of(k)) == PoolId::of(k) &&
               std::ranges::count(buffer.not_in, PoolId::of(k)) == 0;
      };
      const std::optional<Bytes>& capacity = problem.pools[k].capacity;
      const bool large_enough = !capacity || end <= *capacity || !body.ever_live();
      if (large_enough && std::ranges::all_of(body.members, may)) allowed[i].push_back(k);
    }
  }
  return allowed;
}

PoolFiller::PoolFiller(const Problem& problem, const PlainPlanner& planner,
                       const BodyOptions& options)
    : problem_(problem), planner_(planner), options_(options), bodies_(bodies_of(problem)) {
  for (const Body& body : bodies_) costs_.push_back(cost_of(problem, body));
}

bool PoolFiller::is_infeasible(const PoolRequest& request) const {
  const Excerpt part = excerpt(problem_, bodies_, request.staying);
  return plan_bodies(part.problem, request.capacity, quick_planner(options_), options_).status ==
         PlanStatus::kInfeasible;
}

PoolFill PoolFiller::fill(const PoolRequest& request) const {
  std::vector<size_t> asked = request.staying;
  asked.insert(asked.end(), request.leaving.begin(), request.leaving.end());
  std::ranges::sort(asked);
  Excerpt part = excerpt(problem_, bodies_, asked);
  Plan plan = plan_one_pool(part.problem, request.capacity, planner_, options_);
  if (fits(plan, request.capacity, !asked.empty())) {
    return {.members = std::move(part.members), .plan = std::move(plan)};
  }
  PoolSettlement settlement(problem_, bodies_, costs_, request, options_);
  settlement.settle();
  const std::vector<size_t> standing = settlement.standing();
  PoolFill fill;
  std::ranges::set_difference(asked, standing, std::back_inserter(fill.left_out));
  part = excerpt(problem_, bodies_, standing);
  fill.plan = plan_one_pool(part.problem, request.capacity, planner_, options_);
  if (!fits(fill.plan, request.capacity, !standing.empty())) {
    fill.plan = settlement.plan();
  }
  fill.members = std::move(part.members);
  return fill;
}

}  // namespace tidemark

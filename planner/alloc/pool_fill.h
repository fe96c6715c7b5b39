// One pool and what is to stand in it (pools.h, steps 1 to 3). Bodies are positions in bodies_of
// the whole problem.
#pragma once

#include <vector>

#include "planner/alloc/body.h"
#include "planner/alloc/body_plan.h"
#include "planner/alloc/pool_settle.h"

namespace tidemark {

struct PoolFill {
  std::vector<BufferId> members{};  // of the whole problem, by id
  Plan plan{};                      // offsets by position in `members`; never above the capacity
  std::vector<size_t> left_out{};
};

// Of each body, the pools it may stand in and fits in by itself, in order.
std::vector<std::vector<size_t>> allowed_pools(const Problem& problem,
                                               const std::vector<Body>& bodies);

class PoolFiller {
 public:
  // Keeps references to the problem, the planner and the options.
  PoolFiller(const Problem& problem, const PlainPlanner& planner, const BodyOptions& options);

  const std::vector<Body>& bodies() const { return bodies_; }

  PoolFill fill(const PoolRequest& request) const;

  // Is it proved that `staying` can not stand in the pool?
  bool is_infeasible(const PoolRequest& request) const;

 private:
  const Problem& problem_;
  const PlainPlanner& planner_;
  const BodyOptions& options_;
  std::vector<Body> bodies_;
  std::vector<int64_t> costs_;  // by body
};

}  // namespace tidemark

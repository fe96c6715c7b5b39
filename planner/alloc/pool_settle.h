// Who stays in a pool that can not hold all (pools.h, steps 1 to 3). Bodies are positions in
// bodies_of the whole problem.
#pragma once

#include <tuple>
#include <vector>

#include "planner/alloc/body.h"
#include "planner/alloc/body_plan.h"

namespace tidemark {

struct PoolRequest {
  std::optional<Bytes> capacity{};
  std::vector<size_t> staying{};  // left out only when there is no other way
  std::vector<size_t> leaving{};  // may be left out
};

// The given bodies (ascending) as a problem of their own, of one pool.
struct Excerpt {
  Problem problem{};
  std::vector<BufferId> members{};  // of the whole problem, by id: the buffers of the excerpt
};
Excerpt excerpt(const Problem& problem, const std::vector<Body>& bodies,
                const std::vector<size_t>& chosen);

// Is the plan one, of `something`, within the capacity?
bool fits(const Plan& plan, std::optional<Bytes> capacity, bool something);

// For the many times a pool is planned while it is settled who stays.
PlainPlanner quick_planner(const BodyOptions& options);

class PoolSettlement {
 public:
  // Keeps references to all but the last.
  PoolSettlement(const Problem& problem, const std::vector<Body>& bodies,
                 const std::vector<int64_t>& costs, const PoolRequest& request,
                 const BodyOptions& options);

  // Afterwards the bodies that stand, ascending, stand within the capacity.
  void settle();
  std::vector<size_t> standing() const;
  Plan plan() const;  // of the excerpt of those, feasible; bound by the load alone

 private:
  std::vector<size_t> within_the_load() const;
  std::tuple<bool, bool, double> worth(size_t body) const;
  bool try_all(const std::vector<size_t>& kept);
  Bytes base_in(const Excerpt& part, const Plan& plan, size_t body) const;
  void one_by_one(std::vector<size_t> kept);
  void add(const std::vector<size_t>& order);
  void bring_back();
  std::vector<Body> bodies_at(const std::vector<size_t>& some) const;

  const Problem& problem_;
  const std::vector<Body>& bodies_;
  const std::vector<int64_t>& costs_;
  const PoolRequest& request_;
  const BodyOptions& options_;
  PlainPlanner quick_;
  std::vector<size_t> asked_{};
  std::vector<bool> may_leave_;   // by body
  std::vector<bool> too_high_{};  // by body, in the last plan; empty when there was none
  std::vector<bool> stands_;      // by body
  std::vector<Bytes> bases_;      // by body
};

}  // namespace tidemark

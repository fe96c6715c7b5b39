#include "planner/alloc/conflict.h"

#include <algorithm>
#include <utility>

#include "planner/alloc/body.h"

namespace tidemark {
namespace {

bool is_live_at(const Buffer& buffer, int64_t instant) {
  return std::ranges::any_of(occupied_intervals(buffer),
                             [&](const auto& piece) { return piece.contains(instant); });
}

// The buffers live at an instant at which the load exceeds the capacity, largest first, until they
// exceed it: without any one of them the rest is no larger than the capacity.
std::vector<BufferId> overloaded(const Problem& problem, Bytes capacity) {
  for (const Buffer& at : problem.buffers) {
    for (const Interval<int64_t>& piece : occupied_intervals(at)) {
      std::vector<BufferId> live;
      for (size_t i = 0; i < problem.buffers.size(); ++i) {
        const Buffer& buffer = problem.buffers[i];
        if (is_ever_live(buffer) && is_live_at(buffer, piece.lower))
          live.push_back(BufferId::of(i));
      }
      std::ranges::stable_sort(live, [&](BufferId a, BufferId b) {
        return problem.buffers[b.index()].size < problem.buffers[a.index()].size;
      });
      Bytes sum;
      for (size_t k = 0; k < live.size(); ++k) {
        sum += problem.buffers[live[k].index()].size;
        if (sum <= capacity) continue;
        live.resize(k + 1);
        std::ranges::sort(live);
        return live;
      }
    }
  }
  return {};
}

Problem subset(const Problem& problem, const std::vector<BufferId>& ids) {
  Problem few;
  for (const BufferId id : ids) few.buffers.push_back(problem.buffers[id.index()]);
  return few;
}

// Buffers that stand anywhere fit one on the other when their sizes do.
bool stand_anywhere(const Problem& problem, const std::vector<BufferId>& ids) {
  return std::ranges::all_of(ids, [&](BufferId id) {
    const Buffer& buffer = problem.buffers[id.index()];
    return !buffer.offset && buffer.alignment.count() == 1;
  });
}

Infeasibility of_plain(const Problem& problem, Bytes capacity, const ExactOptions& options) {
  Infeasibility found{.proved = true, .irreducible = true};
  if (capacity < peak_load(problem)) {
    found.buffers = overloaded(problem, capacity);
    if (stand_anywhere(problem, found.buffers)) return found;
  } else if (decide(problem, capacity, options).status == PlanStatus::kInfeasible) {
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      if (is_ever_live(problem.buffers[i])) found.buffers.push_back(BufferId::of(i));
    }
  } else {
    return {};
  }
  // What the rest does without is not needed; once needed, always needed.
  for (size_t k = 0; k < found.buffers.size();) {
    std::vector<BufferId> rest = found.buffers;
    rest.erase(rest.begin() + static_cast<int64_t>(k));
    const PlanStatus status = decide(subset(problem, rest), capacity, options).status;
    if (status == PlanStatus::kInfeasible) {
      found.buffers = std::move(rest);
    } else {
      found.irreducible = found.irreducible && status != PlanStatus::kLimitReached;
      ++k;
    }
  }
  return found;
}

}  // namespace

Infeasibility why_infeasible(const Problem& problem, Bytes capacity, const ExactOptions& options) {
  if (is_plain(problem)) return of_plain(problem, capacity, options);
  if (!problem.apart.empty() || !problem.pools.empty()) return {};
  if (!std::ranges::all_of(bodies_of(problem), &Body::possible)) return {};
  const Reduction reduction = reduce(problem);
  if (!reduction.exact) return {};
  Infeasibility found = of_plain(reduction.problem, capacity, options);
  std::vector<BufferId> members;
  for (const BufferId id : found.buffers) {
    const std::vector<BufferId>& body = reduction.bodies[id.index()].members;
    members.insert(members.end(), body.begin(), body.end());
  }
  std::ranges::sort(members);
  found.buffers = std::move(members);
  return found;
}

}  // namespace tidemark

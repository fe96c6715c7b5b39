#include "planner/report/pack_explain.h"

#include <algorithm>
#include <utility>

#include "planner/alloc/body.h"
#include "planner/alloc/body_plan.h"
#include "planner/alloc/portfolio.h"

namespace tidemark {
namespace {

// To plan anew takes time: only so many buffers, so many nodes.
constexpr size_t kMostReplanned = 5000;
constexpr int64_t kReplanNodes = 1000;
constexpr int64_t kReplanPlacements = 40'000;
constexpr size_t kMostCuts = 4;

// Every begin and end of what is in use, in order of time; at one instant ends come first.
std::vector<UseChange> changes_of(const std::vector<Body>& bodies, size_t left_out) {
  std::vector<UseChange> changes;
  for (size_t i = 0; i < bodies.size(); ++i) {
    if (i == left_out) continue;
    const std::vector<UseChange> mine = use_changes(bodies[i]);
    changes.insert(changes.end(), mine.begin(), mine.end());
  }
  std::ranges::sort(changes);
  return changes;
}

// The load from an instant until that of the next step.
struct Step {
  int64_t instant = 0;
  Bytes load{};
};

std::vector<Step> steps_of(const std::vector<UseChange>& changes) {
  std::vector<Step> steps;
  Bytes load;
  for (const UseChange& change : changes) {
    load += change.change;
    if (steps.empty() || steps.back().instant != change.instant) steps.push_back({change.instant});
    steps.back().load = load;
  }
  return steps;
}

// The highest load, and the first instant that has it.
Step highest(const std::vector<Step>& steps) {
  Step most;
  for (const Step& step : steps) {
    if (step.load > most.load) most = step;
  }
  return most;
}

std::string name_of_body(const Problem& problem, const Body& body) {
  const Buffer& first = problem.buffers[body.members.front().index()];
  if (!first.group) return first.name;
  return problem.groups[first.group->index()].name + " (" + std::to_string(body.members.size()) +
         (body.members.size() == 1 ? " buffer)" : " buffers)");
}

Interval<int64_t> life_of(const Body& body) {
  Interval<int64_t> life = body.pieces.front().when;
  for (const Piece& piece : body.pieces) life = hull(life, piece.when);
  return life;
}

int64_t length_of(const Body& body) { return life_of(body).upper - life_of(body).lower; }

Bytes use_at(const Body& body, int64_t instant) {
  Bytes use;
  for (const UseChange& change : use_changes(body)) {
    if (change.instant <= instant) use += change.change;
  }
  return use;
}

class Explanation {
 public:
  Explanation(const PoolExcerpt& part, Bytes peak, PackReport& report)
      : problem_(part.problem),
        offsets_(part.offsets),
        peak_(peak),
        report_(report),
        bodies_(bodies_of(part.problem)),
        steps_(steps_of(changes_of(bodies_, bodies_.size()))) {}

  void write() {
    const Step most = highest(steps_);
    report_.peak_instant = most.instant;
    std::vector<size_t> live = live_at(most.instant);
    report_.peak_buffers = static_cast<int64_t>(live.size());
    std::ranges::stable_sort(live, [&](size_t a, size_t b) {
      return use_at(bodies_[b], most.instant) < use_at(bodies_[a], most.instant);
    });
    live.resize(std::min(live.size(), kPeakRows));
    for (const size_t i : live) {
      report_.largest.push_back(
          {.name = name_of_body(problem_, bodies_[i]),
           .offset = offsets_.empty() ? Bytes{} : base_of(i) + bodies_[i].hull.lower,
           .size = use_at(bodies_[i], most.instant),
           .lifetime = length_of(bodies_[i]),
           .saves = most.load - highest(steps_of(changes_of(bodies_, i))).load});
    }
    if (!offsets_.empty()) find_hole();
  }

 private:
  Bytes base_of(size_t i) const {
    const BufferId first = bodies_[i].members.front();
    return offsets_[first.index()] - problem_.buffers[first.index()].group_offset;
  }

  std::vector<size_t> live_at(int64_t instant) const {
    std::vector<size_t> live;
    for (size_t i = 0; i < bodies_.size(); ++i) {
      const auto holds = [&](const Piece& piece) { return piece.when.contains(instant); };
      if (std::ranges::any_of(bodies_[i].pieces, holds)) live.push_back(i);
    }
    return live;
  }

  // The fullest instant at which something ends at the peak.
  int64_t instant_of_the_peak() const {
    std::vector<Interval<int64_t>> tops;
    for (size_t i = 0; i < bodies_.size(); ++i) {
      for (const Piece& piece : bodies_[i].pieces) {
        if (base_of(i) + piece.used.upper == peak_) tops.push_back(piece.when);
      }
    }
    std::ranges::sort(tops);
    Step most;
    size_t next = 0;  // steps before this one are looked at
    for (const Interval<int64_t>& top : tops) {
      const auto at = std::ranges::lower_bound(steps_, top.lower, {}, &Step::instant);
      next = std::max(next, static_cast<size_t>(at - steps_.begin()));
      for (; next < steps_.size() && steps_[next].instant < top.upper; ++next) {
        if (steps_[next].load > most.load) most = steps_[next];
      }
    }
    return most.instant;
  }

  void find_hole() {
    struct Taken {
      Interval<Bytes> addresses{};
      size_t body = 0;
    };
    const int64_t instant = instant_of_the_peak();
    std::vector<Taken> taken;
    for (const size_t i : live_at(instant)) {
      for (const Piece& piece : bodies_[i].pieces) {
        if (!piece.when.contains(instant)) continue;
        taken.push_back({{base_of(i) + piece.used.lower, base_of(i) + piece.used.upper}, i});
      }
    }
    std::ranges::sort(taken, {}, [](const Taken& t) { return std::pair(t.addresses, t.body); });
    PeakHole largest{.instant = instant};
    const Taken* above = nullptr;
    Bytes top;
    for (const Taken& next : taken) {
      if (next.addresses.lower - top > largest.size) {
        largest.offset = top;
        largest.size = next.addresses.lower - top;
        above = &next;
      }
      top = std::max(top, next.addresses.upper);
    }
    if (above == nullptr) return;
    largest.above = name_of_body(problem_, bodies_[above->body]);
    largest.above_lifetime = length_of(bodies_[above->body]);
    weigh(above->body, largest);
    report_.hole = std::move(largest);
  }

  void weigh(size_t body, PeakHole& hole) const {
    if (problem_.buffers.size() > kMostReplanned) return;
    const BufferId first = bodies_[body].members.front();
    Problem without = problem_;
    for (const BufferId id : bodies_[body].members) {
      without.buffers[id.index()].size = Bytes{};
      without.buffers[id.index()].partial_gaps.clear();
    }
    // What planning anew gains by itself is not the buffer's doing.
    const Bytes before = std::min(peak_, replanned(problem_));
    hole.saves_moved = before - std::min(before, replanned(without));
    if (problem_.buffers[first.index()].group || problem_.buffers[first.index()].offset) return;
    hole.saves_split = Bytes{};
    hole.split_at = hole.instant;
    for (const int64_t instant : cuts_of(life_of(bodies_[body]))) {
      const Bytes saves = before - std::min(before, replanned(cut_at(first, instant)));
      if (saves <= *hole.saves_split) continue;
      hole.saves_split = saves;
      hole.split_at = instant;
    }
  }

  // Instants within a life at which something else begins or ends: all, or some when there are
  // many.
  std::vector<int64_t> cuts_of(const Interval<int64_t>& life) const {
    std::vector<int64_t> all;
    for (const Step& step : steps_) {
      if (life.lower < step.instant && step.instant < life.upper) all.push_back(step.instant);
    }
    const size_t most = std::clamp<size_t>(kMostReplanned / problem_.buffers.size(), 1, kMostCuts);
    std::vector<int64_t> some;
    for (size_t k = 0; k < std::min(most, all.size()); ++k) {
      some.push_back(all[k * all.size() / std::min(most, all.size())]);
    }
    return some;
  }

  Problem cut_at(BufferId id, int64_t instant) const {
    Problem cut = problem_;
    cut.buffers.push_back(problem_.buffers[id.index()]);
    cut.buffers[id.index()].lifetime.upper = instant;
    cut.buffers.back().lifetime.lower = instant;
    return cut;
  }

  static Bytes replanned(const Problem& problem) {
    const PlainPlanner planner = [](const Problem& plain, std::optional<Bytes>) {
      return plan_by_portfolio(plain,
                               {.node_limit = kReplanNodes, .placements = kReplanPlacements});
    };
    return plan_bodies(problem, std::nullopt, planner, {.nodes = kReplanNodes}).peak;
  }

  const Problem& problem_;
  const std::vector<Bytes>& offsets_;
  Bytes peak_;
  PackReport& report_;
  std::vector<Body> bodies_;
  std::vector<Step> steps_;
};

}  // namespace

PoolExcerpt excerpt_of(const Problem& problem, const Plan& plan, PoolId pool) {
  PoolExcerpt part{.problem = {.groups = problem.groups, .bank = problem.bank}};
  std::vector<std::optional<BufferId>> at(problem.buffers.size());
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (!plan.pool_of.empty() && plan.pool_of[i] != pool) continue;
    at[i] = BufferId::of(part.members.size());
    part.members.push_back(BufferId::of(i));
    Buffer& buffer = part.problem.buffers.emplace_back(problem.buffers[i]);
    buffer.pool.reset();
    buffer.not_in.clear();
    if (!plan.offsets.empty()) part.offsets.push_back(plan.offsets[i]);
  }
  for (const ApartPair& pair : problem.apart) {
    const auto& first = at[pair.first.index()];
    const auto& second = at[pair.second.index()];
    if (first && second) part.problem.apart.push_back({*first, *second});
  }
  return part;
}

int64_t fullest_instant(const Problem& problem) {
  const std::vector<Body> bodies = bodies_of(problem);
  return highest(steps_of(changes_of(bodies, bodies.size()))).instant;
}

void explain_peak(const Problem& problem, PackReport& report) {
  size_t pool = 0;
  while (pool + 1 < report.plan.pools.size() && report.plan.pools[pool].peak == Bytes{}) ++pool;
  const bool in_pools = !report.plan.pools.empty();
  if (in_pools) report.explained = problem.pools[pool].name;
  const PoolExcerpt part = excerpt_of(problem, report.plan, PoolId::of(pool));
  const Bytes peak = in_pools ? report.plan.pools[pool].peak : report.plan.peak;
  Explanation(part, peak, report).write();
}

}  // namespace tidemark

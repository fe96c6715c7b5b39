#include "planner/alloc/body_hints.h"

#include <algorithm>
#include <utility>

#include "planner/alloc/body_floor.h"

namespace tidemark {
namespace {

// A placement looks at some dozens of pieces.
constexpr int64_t kVisitsForAPlacement = 50;

class Hints {
 public:
  Hints(const Problem& problem, int64_t placements, Plan& plan)
      : problem_(problem),
        placements_(placements),
        plan_(plan),
        bodies_(body_problem(problem)),
        stays_(bodies_.bodies.size(), false) {
    for (const Body& body : bodies_.bodies) {
      const BufferId first = body.members.front();
      bases_.push_back(plan.offsets[first.index()] - problem.buffers[first.index()].group_offset);
    }
  }

  void meet() {
    const std::vector<size_t> wishes = wishes_within_peak();
    if (wishes.empty() || all_at_once(wishes)) return;
    BodyFloor floor(bodies_);
    for (size_t i = 0; i < bases_.size(); ++i) {
      stays_[i] = is_fixed(i);
      if (bodies_.bodies[i].ever_live()) floor.place(i, bases_[i]);
    }
    for (const size_t wish : wishes) {
      if (floor.visits() > placements_ * kVisitsForAPlacement) break;
      stays_[wish] = bases_[wish] == hint_of(wish) || move(wish, floor);
    }
    plan_.offsets = offsets_at(problem_, bodies_.bodies, bases_);
    plan_.peak = peak_of(bodies_.bodies, bases_);
  }

 private:
  Bytes hint_of(size_t i) const { return *bodies_.bodies[i].hint; }

  std::vector<size_t> wishes_within_peak() const {
    std::vector<size_t> wishes;
    for (size_t i = 0; i < bodies_.bodies.size(); ++i) {
      const Body& body = bodies_.bodies[i];
      if (!body.hint || body.base || !body.ever_live()) continue;
      const bool stands =
          lowest_base(body) <= *body.hint && next_base(body, *body.hint) == *body.hint;
      if (stands && *body.hint + body.hull.upper <= plan_.peak) wishes.push_back(i);
    }
    return wishes;
  }

  BodyFloor with_fixed() const {
    BodyFloor floor(bodies_);
    for (size_t i = 0; i < bodies_.bodies.size(); ++i) {
      if (is_fixed(i)) floor.place(i, bases_[i]);
    }
    return floor;
  }

  bool is_fixed(size_t i) const { return bodies_.bodies[i].base && bodies_.bodies[i].ever_live(); }

  // Held at their hints, in order of id, whoever has not lost the place to an earlier one.
  bool all_at_once(const std::vector<size_t>& wishes) {
    BodyProblem held = bodies_;
    BodyFloor floor = with_fixed();
    for (const size_t i : wishes) {
      if (!floor.is_clear(i, hint_of(i))) continue;
      floor.place(i, hint_of(i));
      held.bodies[i].base = hint_of(i);
    }
    std::vector<Bytes> bases =
        fit_bodies_in_orders(held, {.target = plan_.peak, .placements = placements_});
    if (plan_.peak < peak_of(bodies_.bodies, bases)) return false;
    accept(std::move(bases));
    return true;
  }

  // The body goes to its hint, and what is in the way to the lowest place that is free then. All
  // stays as it was when something has to stay, or would end above the peak.
  bool move(size_t wish, BodyFloor& floor) {
    floor.remove(wish);
    std::vector<size_t> moving = floor.in_the_way(wish, hint_of(wish));
    if (std::ranges::any_of(moving, [&](size_t i) { return stays_[i]; })) {
      floor.place(wish, bases_[wish]);
      return false;
    }
    for (const size_t i : moving) floor.remove(i);
    std::ranges::stable_sort(moving, [&](size_t a, size_t b) {
      return bodies_.bodies[b].height() < bodies_.bodies[a].height();
    });
    floor.place(wish, hint_of(wish));
    std::vector<Bytes> new_bases;
    for (const size_t i : moving) {
      const Bytes base = floor.lowest(i);
      if (plan_.peak < base + bodies_.bodies[i].hull.upper) break;
      floor.place(i, base);
      new_bases.push_back(base);
    }
    const bool all = new_bases.size() == moving.size();
    if (!all) floor.remove(wish);
    for (size_t k = 0; k < moving.size(); ++k) {
      if (all) bases_[moving[k]] = new_bases[k];
      if (!all && k < new_bases.size()) floor.remove(moving[k]);
    }
    if (!all) {
      for (const size_t i : moving) floor.place(i, bases_[i]);
      floor.place(wish, bases_[wish]);
      return false;
    }
    bases_[wish] = hint_of(wish);
    return true;
  }

  void accept(std::vector<Bytes> bases) {
    bases_ = std::move(bases);
    plan_.offsets = offsets_at(problem_, bodies_.bodies, bases_);
    plan_.peak = peak_of(bodies_.bodies, bases_);
  }

  const Problem& problem_;
  int64_t placements_;
  Plan& plan_;
  BodyProblem bodies_;
  std::vector<Bytes> bases_{};
  std::vector<bool> stays_;  // by body: fixed, or at its hint
};

bool wants(const Buffer& buffer) { return buffer.hint.has_value() && is_ever_live(buffer); }

}  // namespace

void meet_hints(const Problem& problem, int64_t placements, Plan& plan) {
  if (plan.offsets.empty() || std::ranges::none_of(problem.buffers, wants)) return;
  if (count_hints(problem, plan).met == count_hints(problem, plan).hints) return;
  Hints(problem, placements, plan).meet();
  if (plan.peak == plan.lower_bound) plan.status = PlanStatus::kProvedOptimal;
}

HintCount count_hints(const Problem& problem, const Plan& plan) {
  HintCount count;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (!wants(problem.buffers[i])) continue;
    ++count.hints;
    if (!plan.offsets.empty() && plan.offsets[i] == *problem.buffers[i].hint) ++count.met;
  }
  return count;
}

}  // namespace tidemark

// What holds for every problem with groups, partial gaps and pairs to keep apart.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "features.h"
#include "planner/alloc/body.h"
#include "planner/alloc/body_plan.h"
#include "planner/alloc/exact.h"

namespace tidemark {
namespace {

RC_GTEST_PROP(BodyLaws, EveryPlanPassesTheJudge, (PlannerKind kind)) {
  Problem problem = random_bodies(*rc::gen::inRange<size_t>(0, 9), 6);
  add_pairs(problem, 3);
  const Plan made = plan(problem, kind);
  RC_ASSERT(made.status != PlanStatus::kInfeasible || made.offsets.empty());
  if (made.status == PlanStatus::kInfeasible) return;
  const std::string wrong = first_violation(problem, made);
  if (!wrong.empty()) RC_FAIL(wrong);
  RC_ASSERT(peak_load(problem) <= made.lower_bound);
}

// The load from the definition: at every instant, the addresses that any member of a group uses.
RC_GTEST_PROP(BodyLaws, TheLoadCountsWhatMembersShareOnce, ()) {
  const Problem problem = random_bodies(*rc::gen::inRange<size_t>(0, 7), 6);
  int64_t highest = 0;
  for (int64_t t = 0; t < 13; ++t) {
    int64_t load = 0;
    for (size_t body = 0; body < problem.buffers.size() + problem.groups.size(); ++body) {
      std::vector<bool> used(64, false);
      for (size_t i = 0; i < problem.buffers.size(); ++i) {
        const Buffer& b = problem.buffers[i];
        const size_t mine = b.group ? problem.buffers.size() + b.group->index() : i;
        if (mine != body || !b.lifetime.contains(t)) continue;
        for (int64_t byte = 0; byte < b.size.count(); ++byte) {
          bool free = std::ranges::any_of(b.gaps, [&](const auto& g) { return g.contains(t); });
          for (const PartialGap& g : b.partial_gaps) {
            free = free || (g.when.contains(t) && !g.used.contains(Bytes::of(byte)));
          }
          if (!free) used[static_cast<size_t>(b.group_offset.count() + byte)] = true;
        }
      }
      load += std::ranges::count(used, true);
    }
    highest = std::max(highest, load);
  }
  RC_ASSERT(peak_load(problem).count() == highest);
}

// At most four bodies, few enough to try every place of each. Small cases end with a proof.
RC_GTEST_PROP(BodyLaws, ThePlanIsTheLowestOfAllPlacements, ()) {
  Problem problem = random_bodies(*rc::gen::inRange<size_t>(0, 5), 3);
  add_pairs(problem, 2);
  const std::optional<int64_t> lowest = EveryPlacement(problem, 24).lowest_peak();
  const Plan made = plan(problem, PlannerKind::kPortfolio);
  if (made.status == PlanStatus::kInfeasible) return RC_ASSERT(!lowest.has_value());
  RC_ASSERT(lowest.has_value());
  RC_ASSERT(first_violation(problem, made).empty());
  RC_ASSERT(made.lower_bound.count() <= *lowest);
  RC_ASSERT(made.peak.count() == *lowest);
  RC_ASSERT(made.status == PlanStatus::kProvedOptimal);
}

RC_GTEST_PROP(BodyLaws, ACapacityIsMetOrProvedImpossible, ()) {
  Problem problem = random_bodies(*rc::gen::inRange<size_t>(1, 5), 3);
  add_pairs(problem, 2);
  const std::optional<int64_t> lowest = EveryPlacement(problem, 24).lowest_peak();
  const auto capacity = *rc::gen::inRange<int64_t>(0, 12);
  const Plan made =
      plan_all(problem, Bytes::of(capacity), plain_planner(PlannerKind::kFirstFitBySize));
  if (lowest && *lowest <= capacity) {
    RC_ASSERT(first_violation(problem, made).empty());
    RC_ASSERT(made.peak.count() <= capacity);
  } else {
    RC_ASSERT(made.status == PlanStatus::kInfeasible);
    RC_ASSERT(made.offsets.empty());
  }
}

// Groups that are wholly in use or not at all are the problem of their rectangles.
RC_GTEST_PROP(BodyLaws, AnExactReductionKeepsThePeak, ()) {
  const Problem problem = random_bodies(*rc::gen::inRange<size_t>(0, 6), 4);
  if (faults_of(problem).empty()) {
    const Plan made = plan(problem, PlannerKind::kExact);
    if (made.status == PlanStatus::kInfeasible) return;
    const Reduction reduction = reduce(problem);
    const Plan rectangles = plan(reduction.problem, PlannerKind::kExact);
    RC_ASSERT(made.peak <= rectangles.peak);
    if (reduction.exact) RC_ASSERT(made.peak == rectangles.peak);
    if (reduction.exact) RC_ASSERT(load_of(reduction.bodies) == peak_load(reduction.problem));
  }
}

RC_GTEST_PROP(BodyLaws, PlainProblemsArePlannedAsEver, (const Problem& problem, PlannerKind kind)) {
  const Plan direct = plain_planner(kind)(problem, std::nullopt);
  const Plan through = plan(problem, kind);
  RC_ASSERT(direct.offsets == through.offsets);
  RC_ASSERT(direct.peak == through.peak);
  RC_ASSERT(direct.lower_bound == through.lower_bound);
  RC_ASSERT(direct.status == through.status);
  RC_ASSERT(direct.planner == through.planner);
}

// Both judges agree, on plans sound and unsound.
RC_GTEST_PROP(BodyLaws, TheSweepFindsAnOverlapWheneverThePairsDo, ()) {
  const Problem problem = random_bodies(*rc::gen::inRange<size_t>(0, 8), 5);
  Plan anywhere{.offsets = std::vector<Bytes>(problem.buffers.size())};
  std::vector<int64_t> bases;
  for (size_t i = 0; i <= problem.groups.size() + problem.buffers.size(); ++i) {
    bases.push_back(*rc::gen::inRange<int64_t>(0, 14));
  }
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    const size_t body = b.group ? b.group->index() : problem.groups.size() + i;
    anywhere.offsets[i] = Bytes::of(bases[body]) + b.group_offset;
  }
  const auto violations = validate(problem, anywhere);
  const bool by_pairs =
      std::ranges::any_of(violations, [](const Violation& v) { return v.rule == Rule::kOverlap; });
  RC_ASSERT(by_pairs == !overlaps_by_sweep(problem, anywhere).empty());
}

RC_GTEST_PROP(BodyLaws, HintsNeverRaiseThePeak, (PlannerKind kind)) {
  Problem problem = random_bodies(*rc::gen::inRange<size_t>(0, 8), 5);
  const Plan without = plan(problem, kind);
  for (Buffer& b : problem.buffers) {
    if (*rc::gen::inRange(0, 2) == 0) b.hint = Bytes::of(*rc::gen::inRange<int64_t>(0, 12));
  }
  const Plan with = plan(problem, kind);
  RC_ASSERT(without.status == with.status || with.peak < without.peak);
  if (with.status == PlanStatus::kInfeasible) return;
  RC_ASSERT(first_violation(problem, with).empty());
  RC_ASSERT(with.peak <= without.peak);
}

}  // namespace
}  // namespace tidemark

// The sweep of the judge against the pair-by-pair one, and the skyline against its definition.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "planner/alloc/portfolio.h"
#include "planner/alloc/skyline.h"
#include "planner/alloc/validate.h"
#include "problems.h"

namespace tidemark {
namespace {

bool has_overlap(const std::vector<Violation>& violations) {
  return std::ranges::any_of(violations,
                             [](const Violation& v) { return v.rule == Rule::kOverlap; });
}

RC_GTEST_PROP(OverlapsBySweep, FindsAnOverlapExactlyWhenThePairsDo, (Problem problem)) {
  Plan plan;
  for (Buffer& buffer : problem.buffers) {
    plan.offsets.push_back(Bytes::of(*rc::gen::inRange<int64_t>(0, 60)));
    if (*rc::gen::inRange(0, 3) > 0) continue;
    const auto lower = *rc::gen::inRange<int64_t>(-3, 9);
    buffer.gaps.push_back({lower, lower + *rc::gen::inRange<int64_t>(0, 5)});
  }
  RC_ASSERT(has_overlap(validate(problem, plan)) == !overlaps_by_sweep(problem, plan).empty());
}

// Again and again the item with the lowest floor, ties by rank.
std::vector<int64_t> lowest_floor_by_definition(const exact::Instance& instance,
                                                std::vector<int32_t> left) {
  std::vector<int64_t> offsets(instance.items.size(), 0);
  std::vector<int64_t> level(static_cast<size_t>(instance.cliques), 0);
  const auto floor_of = [&](int32_t i) {
    const exact::Span span = instance.items[static_cast<size_t>(i)].span;
    return *std::max_element(level.begin() + span.first, level.begin() + span.last + 1);
  };
  while (!left.empty()) {
    const auto next = std::ranges::min_element(left, {}, floor_of);
    const exact::Item& item = instance.items[static_cast<size_t>(*next)];
    const int64_t offset = floor_of(*next);
    offsets[static_cast<size_t>(*next)] = offset;
    std::fill(level.begin() + item.span.first, level.begin() + item.span.last + 1,
              offset + item.size);
    left.erase(next);
  }
  return offsets;
}

RC_GTEST_PROP(Skyline, PlacesWhateverHasTheLowestFloorNext, (Problem problem)) {
  for (Buffer& buffer : problem.buffers) buffer.alignment = Alignment{};
  const exact::Instance instance = exact::make_instance(problem);
  const std::vector<int32_t> by_rank = exact::standard_orders().empty()
                                           ? std::vector<int32_t>{}
                                           : rank_all(instance, exact::standard_orders()[0]);
  RC_ASSERT(place_on_skyline(instance, by_rank) == lowest_floor_by_definition(instance, by_rank));
}

// One size: the first free place in order of start colours an interval graph, so the peak is the
// load: here 3 at once, of 4 bytes.
TEST(LinearScan, IsOptimalForBuffersOfOneSize) {
  const Plan made = plan(five_buffers(), PlannerKind::kLinearScan);
  EXPECT_EQ(made.peak.count(), 12);
  EXPECT_EQ(made.status, PlanStatus::kProvedOptimal);
}

TEST(Portfolio, FixedOffsetsThatClashAreInfeasible) {
  Problem problem{{buffer("a", 0, 2, 4), buffer("b", 1, 3, 4)}};
  problem.buffers[0].offset = Bytes::of(0);
  problem.buffers[1].offset = Bytes::of(3);
  for (const PlannerInfo& info : planners()) {
    EXPECT_EQ(plan(problem, info.kind).status, PlanStatus::kInfeasible) << info.name;
  }
  problem.buffers[1].offset = Bytes::of(6);
  for (const PlannerInfo& info : planners()) {
    const Plan made = plan(problem, info.kind);
    EXPECT_TRUE(validate(problem, made).empty()) << info.name;
    EXPECT_EQ(made.peak.count(), 10) << info.name;
  }
}

}  // namespace
}  // namespace tidemark

#include "planner/graph/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

namespace tidemark {
namespace {

using ::testing::ElementsAre;

// Op i writes tensor i and reads the tensors of the ops named in reads[i].
Graph graph_of(const std::vector<std::vector<int64_t>>& reads) {
  GraphBuilder builder;
  for (size_t i = 0; i < reads.size(); ++i) {
    builder.add_sized_tensor("t" + std::to_string(i), TensorKind::kActivation, Bytes::of(1));
  }
  for (size_t i = 0; i < reads.size(); ++i) {
    Op op{.name = "op" + std::to_string(i), .outputs = {TensorId::of(i)}};
    for (int64_t input : reads[i]) op.inputs.push_back(TensorId(input));
    builder.add_op(std::move(op));
  }
  return std::move(builder).build();
}

// Edges run along a hidden order that has nothing to do with the ids.
std::vector<std::vector<int64_t>> random_reads() {
  const auto count = *rc::gen::inRange<size_t>(0, 25);
  const auto hidden =
      *rc::gen::container<std::vector<int64_t>>(count, rc::gen::arbitrary<int64_t>());
  std::vector<int64_t> by_rank(count);
  std::iota(by_rank.begin(), by_rank.end(), 0);
  std::ranges::stable_sort(by_rank, {},
                           [&](int64_t id) { return hidden[static_cast<size_t>(id)]; });
  std::vector<std::vector<int64_t>> reads(count);
  for (size_t later = 0; later < count; ++later) {
    for (size_t earlier = 0; earlier < later; ++earlier) {
      if (*rc::gen::inRange(0, 6) != 0) continue;
      reads[static_cast<size_t>(by_rank[later])].push_back(by_rank[earlier]);
    }
  }
  return reads;
}

// From the definition: again and again, the smallest op not yet done whose inputs are all there.
std::vector<OpId> naive_order(const std::vector<std::vector<int64_t>>& reads) {
  std::vector<OpId> order;
  std::vector<bool> done(reads.size());
  while (order.size() < reads.size()) {
    for (size_t i = 0; i < reads.size(); ++i) {
      const bool is_ready = std::ranges::all_of(
          reads[i], [&](int64_t input) { return done[static_cast<size_t>(input)]; });
      if (done[i] || !is_ready) continue;
      done[i] = true;
      order.push_back(OpId::of(i));
      break;
    }
  }
  return order;
}

TEST(ScheduleTest, ProgramOrderIsKeptWhereItIsLegal) {
  const Schedule schedule = schedule_in_program_order(graph_of({{}, {0}, {0}, {1, 2}}));
  EXPECT_THAT(schedule.order, ElementsAre(OpId(0), OpId(1), OpId(2), OpId(3)));
}

TEST(ScheduleTest, AnOpWaitsForWhatItReads) {
  // op0 reads op2, op1 is free, op2 reads op3.
  const Schedule schedule = schedule_in_program_order(graph_of({{2}, {}, {3}, {}}));
  EXPECT_THAT(schedule.order, ElementsAre(OpId(1), OpId(3), OpId(2), OpId(0)));
  EXPECT_THAT(schedule.step_of,
              ElementsAre(StepIndex(3), StepIndex(0), StepIndex(2), StepIndex(1)));
}

TEST(ScheduleTest, AnEmptyGraphHasAnEmptySchedule) {
  EXPECT_TRUE(schedule_in_program_order(Graph()).order.empty());
}

RC_GTEST_PROP(ScheduleLaws, EveryEdgePointsForward, ()) {
  const Graph graph = graph_of(random_reads());
  const Schedule schedule = schedule_in_program_order(graph);
  for (const Op& op : graph.ops()) {
    for (OpId before : graph.predecessors(op.id)) {
      RC_ASSERT(schedule.step_of[before.index()] < schedule.step_of[op.id.index()]);
    }
  }
}

RC_GTEST_PROP(ScheduleLaws, StepsAndOpsAreInverse, ()) {
  const Schedule schedule = schedule_in_program_order(graph_of(random_reads()));
  RC_ASSERT(schedule.order.size() == schedule.step_of.size());
  for (size_t step = 0; step < schedule.order.size(); ++step) {
    RC_ASSERT(schedule.step_of[schedule.order[step].index()] == StepIndex::of(step));
  }
}

RC_GTEST_PROP(ScheduleLaws, TheOrderIsThatOfTheDefinition, ()) {
  const auto reads = random_reads();
  RC_ASSERT(schedule_in_program_order(graph_of(reads)).order == naive_order(reads));
}

RC_GTEST_PROP(ScheduleLaws, TheOrderInWhichInputsAreListedDoesNotMatter, ()) {
  auto reads = random_reads();
  const Schedule schedule = schedule_in_program_order(graph_of(reads));
  for (auto& inputs : reads) std::ranges::reverse(inputs);
  RC_ASSERT(schedule_in_program_order(graph_of(reads)).order == schedule.order);
}

}  // namespace
}  // namespace tidemark

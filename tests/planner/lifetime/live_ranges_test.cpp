// Tensors are t0, t1, ... in the order in which the test makes them, steps are counted from 0.
#include "planner/lifetime/live_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/base/check.h"
#include "small_graphs.h"

namespace tidemark {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The worked example of live_ranges.h.
TEST(LiveRangesTest, ThreeOps) {
  SmallGraph small;
  const TensorId a = small.op(OpKind::kPlainLayer, {}, 4);
  const TensorId b = small.op(OpKind::kPlainLayer, {a}, 4);
  small.op(OpKind::kPlainLayer, {a, b}, 4);
  EXPECT_THAT(to_text(small.scheduled().ranges), ElementsAre("t0 [0,3)", "t1 [1,3)", "t2 [2,3)"));
}

TEST(LiveRangesTest, AnInputExistsFromStepZeroToItsLastUse) {
  SmallGraph small;
  const TensorId late = small.input(4);
  const TensorId x = small.op(OpKind::kPlainLayer, {}, 4);
  const TensorId y = small.op(OpKind::kPlainLayer, {x, late}, 4);
  small.op(OpKind::kPlainLayer, {y}, 4);
  EXPECT_THAT(to_text(small.scheduled().ranges),
              ElementsAre("t0 [0,2)", "t1 [0,2)", "t2 [1,3)", "t3 [2,3)"));
}

TEST(LiveRangesTest, WhatNobodyReadsExistsForOneStep) {
  SmallGraph small;
  small.input(4);
  small.op(OpKind::kPlainLayer, {}, 4);
  small.op(OpKind::kPlainLayer, {}, 4);
  EXPECT_THAT(to_text(small.scheduled().ranges), ElementsAre("t0 [0,1)", "t1 [0,1)", "t2 [1,2)"));
}

TEST(LiveRangesTest, OutputsAndStateAreNeverInTheArena) {
  SmallGraph small;
  const TensorId state = small.tensor(TensorKind::kState, 64);
  const TensorId x = small.op(OpKind::kPlainLayer, {}, 4);
  small.add(OpKind::kStoreKv, {x}, {state});
  const TensorId y = small.op(OpKind::kFlashAttention, {state}, 4);
  small.op(OpKind::kMatMul, {y}, 32, TensorKind::kOutput);
  EXPECT_THAT(to_text(small.scheduled().ranges), ElementsAre("t1 [0,2)", "t2 [2,4)"));
}

TEST(LiveRangesTest, AnOpThatReadsATensorTwiceUsesItOnce) {
  SmallGraph small;
  const TensorId x = small.op(OpKind::kPlainLayer, {}, 4);
  small.op(OpKind::kMul, {x, x}, 4);
  EXPECT_THAT(to_text(small.scheduled().ranges), ElementsAre("t0 [0,2)", "t1 [1,2)"));
}

TEST(LiveRangesTest, StepsAreThoseOfTheScheduleNotOfTheProgram) {
  SmallGraph small;
  const TensorId x = small.op(OpKind::kPlainLayer, {}, 4);
  const TensorId y = small.op(OpKind::kPlainLayer, {}, 4);
  small.reader({x});
  small.reader({y});
  const Graph graph = small.build();
  // Ops 1, 3, 0, 2: y is written and read before x is.
  const Schedule schedule{.order = {OpId(1), OpId(3), OpId(0), OpId(2)},
                          .step_of = {StepIndex(2), StepIndex(0), StepIndex(3), StepIndex(1)}};
  EXPECT_THAT(to_text(live_ranges(graph, schedule)), ElementsAre("t0 [2,4)", "t1 [0,2)"));
}

TEST(LiveRangesTest, AnEmptyGraphHasNone) {
  EXPECT_THAT(SmallGraph().scheduled().ranges, IsEmpty());
}

TEST(LiveRangesTest, AnActivationThatNoOpWritesIsABug) {
  SmallGraph small;
  small.tensor(TensorKind::kActivation, 4);
  EXPECT_THROW(small.scheduled(), InternalError);
}

TEST(OneBufferEachTest, GivesEveryTensorItsOwnSizeAndLifetime) {
  SmallGraph small;
  const TensorId a = small.input(8);
  const TensorId b = small.op(OpKind::kSoftmax, {a}, 4);
  small.op(OpKind::kSilu, {b}, 4);
  const Scheduled made = small.scheduled();
  EXPECT_THAT(to_text(one_buffer_each(made.graph, made.ranges)),
              ElementsAre("{t0} 8 [0,1)", "{t1} 4 [0,2)", "{t2} 4 [1,2)"));
}

}  // namespace
}  // namespace tidemark

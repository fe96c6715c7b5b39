// When an op may write over its input. Tensors are t0, t1, ... in the order in which the test makes
// them; op i runs at step i.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/lifetime/live_ranges.h"
#include "small_graphs.h"

namespace tidemark {
namespace {

using testing::ElementsAre;

// The worked example of live_ranges.h.
TEST(ShareInPlaceTest, SoftmaxWritesOverItsScores) {
  SmallGraph small;
  const TensorId scores = small.op(OpKind::kScores, {}, 8);
  const TensorId probabilities = small.op(OpKind::kSoftmax, {scores}, 8);
  small.op(OpKind::kContext, {probabilities}, 8);
  EXPECT_THAT(to_text(small.scheduled().shared()), ElementsAre("{t0 t1} 8 [0,3)", "{t2} 8 [2,3)"));
}

TEST(ShareInPlaceTest, AChainIsOneBufferFromItsFirstWriteToItsLastRead) {
  SmallGraph small;
  const TensorId up = small.op(OpKind::kMatMul, {}, 8);
  const TensorId gate = small.op(OpKind::kMatMul, {}, 8);
  const TensorId active = small.op(OpKind::kSilu, {gate}, 8);
  const TensorId product = small.op(OpKind::kMul, {active, up}, 8);
  small.reader({});
  small.reader({product});
  EXPECT_THAT(to_text(small.scheduled().shared()),
              ElementsAre("{t0} 8 [0,4)", "{t1 t2 t3} 8 [1,6)"));
}

// An executor that frees a buffer at the last read of the tensor that owns it loses what later
// tensors keep in it.
TEST(ShareInPlaceRegressionTest, ABufferLivesAsLongAsWhatWasWrittenOverItsOwner) {
  SmallGraph small;
  const TensorId base = small.op(OpKind::kMatMul, {}, 8);
  const TensorId over = small.op(OpKind::kRope, {base}, 8);
  small.op(OpKind::kMatMul, {}, 8);
  small.op(OpKind::kMatMul, {}, 8);
  small.reader({over});
  EXPECT_THAT(to_text(small.scheduled().shared()),
              ElementsAre("{t0 t1} 8 [0,5)", "{t2} 8 [2,3)", "{t3} 8 [3,4)"));
}

TEST(ShareInPlaceRegressionTest, ASourceWithALaterReaderIsKept) {
  SmallGraph small;
  const TensorId x = small.op(OpKind::kMatMul, {}, 8);
  const TensorId y = small.op(OpKind::kSilu, {x}, 8);
  small.op(OpKind::kMatMul, {x}, 4);
  small.reader({y});
  EXPECT_THAT(to_text(small.scheduled().shared()),
              ElementsAre("{t0} 8 [0,3)", "{t1} 8 [1,4)", "{t2} 4 [2,3)"));
}

TEST(ShareInPlaceRegressionTest, ASourceWithAnEarlierReaderIsFree) {
  SmallGraph small;
  const TensorId x = small.op(OpKind::kMatMul, {}, 8);
  small.op(OpKind::kMatMul, {x}, 4);
  small.op(OpKind::kSilu, {x}, 8);
  EXPECT_THAT(to_text(small.scheduled().shared()), ElementsAre("{t0 t2} 8 [0,3)", "{t1} 4 [1,2)"));
}

TEST(ShareInPlaceRegressionTest, TheSameTensorReadTwiceIsWrittenOverOnce) {
  SmallGraph small;
  const TensorId x = small.op(OpKind::kMatMul, {}, 8);
  small.op(OpKind::kAdd, {x, x}, 8);
  EXPECT_THAT(to_text(small.scheduled().shared()), ElementsAre("{t0 t1} 8 [0,2)"));
}

TEST(ShareInPlaceRegressionTest, AnInputOfTheGraphIsNeverWrittenOver) {
  SmallGraph small;
  const TensorId x = small.input(8);
  small.op(OpKind::kSilu, {x}, 8);
  EXPECT_THAT(to_text(small.scheduled().shared()), ElementsAre("{t0} 8 [0,1)", "{t1} 8 [0,1)"));
}

TEST(ShareInPlaceRegressionTest, OutputsAndStateAreNeitherSharedNorInTheArena) {
  SmallGraph small;
  const TensorId state = small.state(8);
  const TensorId x = small.op(OpKind::kMatMul, {}, 8);
  small.op(OpKind::kSilu, {x}, 8, TensorKind::kOutput);
  small.op(OpKind::kSilu, {state}, 8);
  EXPECT_THAT(to_text(small.scheduled().shared()), ElementsAre("{t1} 8 [0,2)", "{t3} 8 [2,3)"));
}

TEST(ShareInPlaceRegressionTest, ASourceOfAnotherSizeIsKept) {
  for (const int64_t other : {7, 9}) {
    SmallGraph small;
    const TensorId x = small.op(OpKind::kMatMul, {}, other);
    const TensorId y = small.op(OpKind::kSilu, {x}, 8);
    small.reader({y});
    EXPECT_THAT(to_text(small.scheduled().shared()),
                ElementsAre("{t0} " + std::to_string(other) + " [0,2)", "{t1} 8 [1,3)"));
  }
}

TEST(ShareInPlaceTest, AnOpThatIsNotElementwiseKeepsItsInput) {
  SmallGraph small;
  const TensorId x = small.op(OpKind::kMatMul, {}, 8);
  small.op(OpKind::kMatMul, {x}, 8);
  EXPECT_THAT(to_text(small.scheduled().shared()), ElementsAre("{t0} 8 [0,2)", "{t1} 8 [1,2)"));
}

TEST(ShareInPlaceTest, OfTwoFreeInputsTheFirstIsWrittenOver) {
  SmallGraph small;
  const TensorId a = small.op(OpKind::kMatMul, {}, 8);
  const TensorId b = small.op(OpKind::kMatMul, {}, 8);
  small.op(OpKind::kAdd, {b, a}, 8);
  EXPECT_THAT(to_text(small.scheduled().shared()), ElementsAre("{t0} 8 [0,3)", "{t1 t2} 8 [1,3)"));
}

TEST(ShareInPlaceTest, SumsAndProductsTakeTheSecondInputWhenTheFirstIsNotFree) {
  for (const OpKind kind : {OpKind::kAdd, OpKind::kMul}) {
    SmallGraph small;
    const TensorId kept = small.op(OpKind::kMatMul, {}, 8);
    const TensorId free = small.op(OpKind::kMatMul, {}, 8);
    small.op(kind, {kept, free}, 8);
    small.reader({kept});
    EXPECT_THAT(to_text(small.scheduled().shared()),
                ElementsAre("{t0} 8 [0,4)", "{t1 t2} 8 [1,3)"));
  }
}

TEST(ShareInPlaceTest, RopeNeverWritesOverItsPositions) {
  SmallGraph small;
  const TensorId kept = small.op(OpKind::kMatMul, {}, 8);
  const TensorId positions = small.op(OpKind::kPlainLayer, {}, 8);
  small.op(OpKind::kRope, {kept, positions}, 8);
  small.reader({kept});
  EXPECT_THAT(to_text(small.scheduled().shared()),
              ElementsAre("{t0} 8 [0,4)", "{t1} 8 [1,3)", "{t2} 8 [2,3)"));
}

TEST(ShareInPlaceRegressionTest, ASourceThatIsAlsoReadAsAWholeIsKept) {
  SmallGraph small;
  const TensorId x = small.op(OpKind::kMatMul, {}, 8);
  small.op(OpKind::kRope, {x, x}, 8);
  EXPECT_THAT(to_text(small.scheduled().shared()), ElementsAre("{t0} 8 [0,2)", "{t1} 8 [1,2)"));
}

TEST(ShareInPlaceTest, AnOpWithoutInputsSharesNothing) {
  SmallGraph small;
  small.op(OpKind::kRope, {}, 8);
  EXPECT_THAT(to_text(small.scheduled().shared()), ElementsAre("{t0} 8 [0,1)"));
}

TEST(ShareInPlaceTest, AnOpWithTwoOutputsKeepsItsInput) {
  SmallGraph small;
  const TensorId x = small.op(OpKind::kMatMul, {}, 8);
  small.op_with_two_outputs(OpKind::kSilu, {x}, 8);
  EXPECT_THAT(to_text(small.scheduled().shared()),
              ElementsAre("{t0} 8 [0,2)", "{t1} 8 [1,2)", "{t2} 8 [1,2)"));
}

}  // namespace
}  // namespace tidemark

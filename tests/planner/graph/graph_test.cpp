#include "planner/graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "planner/base/check.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace literals;

TensorId activation(GraphBuilder& builder, std::string name) {
  return builder.add_sized_tensor(std::move(name), TensorKind::kActivation, 8_B);
}

OpId op(GraphBuilder& builder, std::vector<TensorId> inputs, std::vector<TensorId> outputs) {
  return builder.add_op({.name = "op", .inputs = std::move(inputs), .outputs = std::move(outputs)});
}

//   in -> op0 -a-> op1 -b-> op3 -d->
//               \-> op2 -c-/
class DiamondTest : public ::testing::Test {
 protected:
  DiamondTest() {
    op(builder_, {in_}, {a_});
    op(builder_, {a_}, {b_});
    op(builder_, {a_}, {c_});
    op(builder_, {c_, b_, c_}, {d_});
    graph_ = std::move(builder_).build();
  }

  GraphBuilder builder_{};
  TensorId in_ = builder_.add_sized_tensor("in", TensorKind::kInput, 4_B);
  TensorId a_ = activation(builder_, "a");
  TensorId b_ = activation(builder_, "b");
  TensorId c_ = activation(builder_, "c");
  TensorId d_ = activation(builder_, "d");
  Graph graph_{};
};

TEST_F(DiamondTest, ATensorKnowsWhoWritesIt) {
  EXPECT_EQ(graph_.producer(in_), std::nullopt);
  EXPECT_EQ(graph_.producer(a_), OpId(0));
  EXPECT_EQ(graph_.producer(d_), OpId(3));
}

TEST_F(DiamondTest, ATensorKnowsWhoReadsItEachReaderOnce) {
  EXPECT_THAT(graph_.consumers(in_), ElementsAre(OpId(0)));
  EXPECT_THAT(graph_.consumers(a_), ElementsAre(OpId(1), OpId(2)));
  EXPECT_THAT(graph_.consumers(c_), ElementsAre(OpId(3)));  // read twice by one op
  EXPECT_THAT(graph_.consumers(d_), IsEmpty());
}

TEST_F(DiamondTest, AnOpKnowsItsNeighboursEachOnce) {
  EXPECT_THAT(graph_.predecessors(OpId(0)), IsEmpty());
  EXPECT_THAT(graph_.predecessors(OpId(3)), ElementsAre(OpId(1), OpId(2)));
  EXPECT_THAT(graph_.successors(OpId(0)), ElementsAre(OpId(1), OpId(2)));
  EXPECT_THAT(graph_.successors(OpId(3)), IsEmpty());
}

TEST_F(DiamondTest, IdsAreGivenInTheOrderOfAdding) {
  ASSERT_EQ(graph_.ops().size(), 4u);
  ASSERT_EQ(graph_.tensors().size(), 5u);
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(graph_.op(OpId(i)).id, OpId(i));
  EXPECT_EQ(graph_.tensor(c_).name, "c");
  EXPECT_THROW(graph_.predecessors(OpId(4)), InternalError);
  EXPECT_THROW(graph_.successors(OpId(-1)), InternalError);
}

TEST(GraphTest, AnEmptyGraphHasNothing) {
  const Graph none;
  EXPECT_THAT(none.ops(), IsEmpty());
  const Graph built = GraphBuilder().build();
  EXPECT_THAT(built.tensors(), IsEmpty());
}

TEST(GraphTest, TwoTensorsBetweenTheSameOpsMakeOneNeighbour) {
  GraphBuilder builder;
  const TensorId a = activation(builder, "a");
  const TensorId b = activation(builder, "b");
  op(builder, {}, {a, b});
  op(builder, {a, b}, {});
  const Graph graph = std::move(builder).build();
  EXPECT_THAT(graph.successors(OpId(0)), ElementsAre(OpId(1)));
  EXPECT_THAT(graph.predecessors(OpId(1)), ElementsAre(OpId(0)));
}

TEST(GraphTest, TheSizeOfATensorIsRowsTimesRowBytes) {
  GraphBuilder builder;
  builder.add_tensor("q4", TensorKind::kState, DType::kQ4_0, {33, 2, 3, 5});  // 30 rows of 2 blocks
  builder.add_tensor("f32", TensorKind::kActivation, DType::kF32, {7, 3, 1, 1});
  builder.add_sized_tensor("sized", TensorKind::kActivation, 123_B);
  const Graph graph = std::move(builder).build();
  EXPECT_EQ(graph.tensors()[0].bytes, Bytes::of(30 * 2 * 18));
  EXPECT_EQ(graph.tensors()[1].bytes, 84_B);
  EXPECT_EQ(graph.tensors()[1].shape, (std::array<int64_t, 4>{7, 3, 1, 1}));
  EXPECT_EQ(graph.tensors()[2].bytes, 123_B);
}

TEST(GraphTest, ASizePastSixtyThreeBitsThrows) {
  GraphBuilder builder;
  const int64_t big = int64_t{1} << 31;
  EXPECT_THROW(builder.add_tensor("x", TensorKind::kActivation, DType::kF32, {big, big, 1, 1}),
               std::overflow_error);
  EXPECT_THROW(builder.add_tensor("x", TensorKind::kActivation, DType::kF32, {1, big, big, big}),
               std::overflow_error);
}

TEST(GraphTest, MistakesOfABuilderAreCaught) {
  GraphBuilder builder;
  const TensorId in = builder.add_sized_tensor("in", TensorKind::kInput, 4_B);
  const TensorId a = activation(builder, "a");
  op(builder, {in}, {a});
  EXPECT_THROW(op(builder, {TensorId(7)}, {}), InternalError);
  EXPECT_THROW(op(builder, {TensorId(-1)}, {}), InternalError);
  EXPECT_THROW(op(builder, {}, {TensorId(7)}), InternalError);
  EXPECT_THROW(op(builder, {}, {a}), InternalError);   // written twice
  EXPECT_THROW(op(builder, {}, {in}), InternalError);  // inputs come from outside
  EXPECT_THROW(builder.add_sized_tensor("x", TensorKind::kInput, Bytes::of(-1)), InternalError);
  EXPECT_THROW(builder.add_tensor("x", TensorKind::kInput, DType::kF32, {1, -1, 1, 1}),
               InternalError);
}

TEST(GraphTest, ACycleIsRefused) {
  GraphBuilder builder;
  const TensorId a = activation(builder, "a");
  const TensorId b = activation(builder, "b");
  op(builder, {b}, {a});
  op(builder, {a}, {b});
  EXPECT_THROW(std::move(builder).build(), InternalError);
}

TEST(GraphTest, AnActivationThatNobodyWritesCannotBeRead) {
  GraphBuilder builder;
  op(builder, {activation(builder, "a")}, {});
  EXPECT_THROW(std::move(builder).build(), InternalError);
}

TEST(GraphTest, StateMayBeReadWithoutBeingWrittenInThePass) {
  GraphBuilder builder;
  op(builder, {builder.add_sized_tensor("cache", TensorKind::kState, 4_B)}, {});
  const Graph graph = std::move(builder).build();
  EXPECT_EQ(graph.ops().size(), 1u);
}

TEST(GraphTest, NamesFollowTheirKinds) {
  EXPECT_EQ(name_of(OpKind::kEmbed), "embed");
  EXPECT_EQ(name_of(OpKind::kExpertMatMul), "expert_matmul");
  EXPECT_EQ(name_of(OpKind::kFlashAttention), "flash_attention");
  EXPECT_EQ(name_of(OpKind::kGlu), "glu");
  EXPECT_EQ(name_of(OpKind::kDeltaRule), "delta_rule");
  EXPECT_EQ(name_of(OpKind::kPlainLayer), "plain_layer");
}

TEST(GraphTest, OnlyElementwiseOpsMayWriteOverTheirInput) {
  for (const OpKind kind :
       {OpKind::kAddBias, OpKind::kRope, OpKind::kSoftmax, OpKind::kAdd, OpKind::kSilu,
        OpKind::kActivation, OpKind::kSigmoid, OpKind::kMul, OpKind::kMix, OpKind::kExtra}) {
    EXPECT_TRUE(allows_in_place(kind)) << name_of(kind);
  }
  for (const OpKind kind :
       {OpKind::kEmbed, OpKind::kRmsNorm, OpKind::kLayerNorm, OpKind::kMatMul,
        OpKind::kExpertMatMul, OpKind::kStoreKv, OpKind::kFlashAttention, OpKind::kScores,
        OpKind::kContext, OpKind::kGlu, OpKind::kConcat, OpKind::kTopK, OpKind::kSumRows,
        OpKind::kConv, OpKind::kTokenShift, OpKind::kScan, OpKind::kDeltaRule, OpKind::kSelectRows,
        OpKind::kPlainLayer}) {
    EXPECT_FALSE(allows_in_place(kind)) << name_of(kind);
  }
}

}  // namespace
}  // namespace tidemark

#include "planner/engine/llama_cpp/ggml_builder.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

using namespace literals;

TEST(GgmlBuilderTest, WorkedInTheHeader) {
  GgmlBuilder build;
  const BuiltId x = build.input("x", DType::kF32, {4, 2, 1, 1});
  const BuiltId w = build.weight("w", DType::kF16, {4, 8, 1, 1});
  const BuiltId y = build.mul_mat(w, x);
  const BuiltId z = build.map("ADD", {y, y});
  build.expand(z);
  const GgmlGraph graph = build.graph();
  ASSERT_EQ(graph.tensors.size(), 4U);
  EXPECT_EQ(graph.tensors[0].name, "w");
  EXPECT_EQ(graph.tensors[0].bytes, 64_B);  // 4 x 8 x 2
  EXPECT_TRUE(graph.tensors[0].external);
  EXPECT_EQ(graph.tensors[1].name, "x");
  EXPECT_TRUE(graph.tensors[1].input);
  EXPECT_EQ(graph.tensors[2].op, "MUL_MAT");
  EXPECT_EQ(graph.tensors[2].name, "node_0");
  EXPECT_EQ(graph.tensors[2].ne, (std::array<int64_t, 4>{8, 2, 1, 1}));
  EXPECT_EQ(graph.tensors[3].sources, (std::vector{TensorId(2), TensorId(2)}));
}

// [4, 3] of 4 B: rows of 16 B. The middle two columns: from byte 4, 2 x 4 B in the last row:
// 2 x 16 + 8 = 40 B. Transposed they are as far apart, and no longer packed either.
TEST(GgmlBuilderTest, ViewsKnowTheirStrides) {
  GgmlBuilder build;
  const BuiltId x = build.input("x", DType::kF32, {4, 3, 1, 1});
  const BuiltId middle = build.view(x, {2, 3, 1, 1}, {16, 48, 48}, 4);
  const BuiltId turned = build.transpose(middle);
  EXPECT_EQ(build.bytes_of(middle), 40_B);
  EXPECT_FALSE(build.is_contiguous(middle));
  EXPECT_EQ(build.bytes_of(turned), 40_B);
  EXPECT_EQ(build[turned].ne, (GgmlShape{3, 2, 1, 1}));
  EXPECT_EQ(build[turned].offset, 4);
  EXPECT_EQ(build[turned].name, "x (view) (transposed)");
  EXPECT_EQ(*build[turned].owner, x);
  const BuiltId packed = build.cont(turned);
  EXPECT_EQ(build.bytes_of(packed), 24_B);
  EXPECT_TRUE(build.is_contiguous(packed));
}

// A row of 64 values of Q8_0: 2 blocks of 34 B. Dimensions of one element may have any stride.
TEST(GgmlBuilderTest, BlocksAndSingleDimensions) {
  GgmlBuilder build;
  const BuiltId cache = build.weight("c", DType::kQ8_0, {64, 1, 10, 1});
  EXPECT_EQ(build.bytes_of(cache), 680_B);
  const BuiltId seen = build.permute(cache, {0, 2, 1, 3});
  EXPECT_EQ(build[seen].ne, (GgmlShape{64, 10, 1, 1}));
  EXPECT_TRUE(build.is_contiguous(seen));
  const BuiltId half = build.view(cache, {32, 1, 10, 1}, {68, 68, 680}, 0);
  EXPECT_EQ(build.bytes_of(half), 646_B);  // 34 + 9 x 68
  EXPECT_FALSE(build.is_contiguous(half));
}

// What is written into another tensor is a view of it; what is empty takes nothing.
TEST(GgmlBuilderTest, ResultsInOtherTensors) {
  GgmlBuilder build;
  const BuiltId cache = build.weight("cache", DType::kF16, {8, 4, 1, 1});
  const BuiltId rows = build.input("", DType::kF32, {8, 1, 1, 1});
  const BuiltId end = build.view(cache, {8, 0, 1, 1}, {16, 0, 0}, 64);
  const BuiltId stored = build.into("SET_ROWS", cache, {rows, cache});
  const BuiltId none = build.into("CPY", end, {rows, end});
  build.expand(stored);
  build.expand(none);
  EXPECT_EQ(build.bytes_of(none), 0_B);
  const GgmlGraph graph = build.graph();
  EXPECT_EQ(graph.tensors[0].name, "leaf_0");
  EXPECT_EQ(graph.tensors[2].op, "SET_ROWS");
  EXPECT_EQ(graph.tensors[2].owner, TensorId(1));
  EXPECT_TRUE(graph.tensors[2].external);
  EXPECT_EQ(graph.tensors[4].offset_in_owner, 64_B);
}

TEST(GgmlBuilderTest, TypesAsThatEngineSpellsThem) {
  EXPECT_EQ(ggml_type_name(DType::kQ4K), "q4_K");
  EXPECT_EQ(ggml_type_name(DType::kIq4Nl), "iq4_nl");
  EXPECT_EQ(ggml_type_name(DType::kTq1_0), "tq1_0");
  EXPECT_EQ(ggml_type_name(DType::kBf16), "bf16");
}

TEST(GgmlBuilderTest, SizesOutOfRangeAreRefused) {
  GgmlBuilder build;
  EXPECT_THROW(build.op("MUL_MAT", {int64_t{1} << 40, 1 << 10, 1, 1}, {}), std::overflow_error);
  EXPECT_THROW(build.op("MUL_MAT", {int64_t{1} << 43, 0, 1, 1}, {}), std::overflow_error);
}

// A chain of 200,000 nodes: no recursion.
TEST(GgmlBuilderTest, DeepGraphs) {
  GgmlBuilder build;
  BuiltId cur = build.input("x", DType::kF32, {1, 1, 1, 1});
  for (int i = 0; i < 200'000; ++i) cur = build.map("SQR", {cur});
  build.expand(cur);
  EXPECT_EQ(build.graph().tensors.size(), 200'001U);
}

}  // namespace
}  // namespace tidemark

#include "planner/engine/ggml_graph.h"

#include <gtest/gtest.h>

#include "planner/base/check.h"

namespace tidemark {
namespace {

using literals::operator""_B;

// The example at the head of ggml_graph.h.
TEST(GgmlGraphTest, IsBuiltInCode) {
  GgmlGraph graph;
  const auto x = add(graph, {.name = "x", .ne = {8, 1, 1, 1}, .bytes = 32_B, .leaf = true});
  const auto y = add(graph, {.op = "SCALE", .ne = {8, 1, 1, 1}, .bytes = 32_B, .sources = {x}});
  const auto z = add(graph, view_of(graph, y, "RESHAPE", {4, 2, 1, 1}));
  const auto last =
      add(graph, {.op = "SQR", .ne = {4, 2, 1, 1}, .bytes = 32_B, .output = true, .sources = {z}});
  EXPECT_EQ(last, TensorId(3));
  EXPECT_EQ(root_of(graph, z), y);
  EXPECT_EQ(root_of(graph, last), last);
  EXPECT_FALSE(needs_memory(graph[z]));
  EXPECT_TRUE(needs_memory(graph[y]));
  EXPECT_TRUE(same_layout(graph[z], graph[last]));
  EXPECT_FALSE(same_layout(graph[y], graph[last]));  // same bytes, other shape
}

TEST(GgmlGraphTest, ViewsOfViewsSeeTheOwner) {
  GgmlGraph graph;
  const auto y = add(graph, {.ne = {8, 1, 1, 1}, .bytes = 32_B, .leaf = true});
  GgmlTensor half = view_of(graph, y, "VIEW", {4, 1, 1, 1});
  half.bytes = 16_B;
  half.offset_in_owner = 16_B;
  const auto second_half = add(graph, half);
  const auto turned = add(graph, view_of(graph, second_half, "PERMUTE", {1, 4, 1, 1}));
  EXPECT_EQ(root_of(graph, turned), y);
  EXPECT_EQ(graph[turned].offset_in_owner, 16_B);
  EXPECT_TRUE(graph[second_half].contiguous);
  EXPECT_FALSE(graph[turned].contiguous);
  EXPECT_FALSE(same_layout(graph[turned], graph[turned]));  // its strides are not known
}

TEST(GgmlGraphTest, MemoryIsForWhatHasBytesOfItsOwn) {
  EXPECT_TRUE(needs_memory({.bytes = 1_B}));
  EXPECT_FALSE(needs_memory({.bytes = 0_B}));
  EXPECT_FALSE(needs_memory({.bytes = 1_B, .external = true}));
  EXPECT_FALSE(needs_memory({.bytes = 1_B, .owner = TensorId(0)}));
  EXPECT_EQ(padded_bytes({.bytes = 1_B}), 32_B);
  EXPECT_EQ(padded_bytes({.bytes = 64_B}), 64_B);
}

TEST(GgmlGraphTest, TypeShapeStridesAndBytesMakeTheLayout) {
  const GgmlTensor one{.type = "f16", .ne = {8, 2, 1, 1}, .bytes = 32_B};
  EXPECT_TRUE(same_layout(one, one));
  GgmlTensor other = one;
  other.type = "bf16";
  EXPECT_FALSE(same_layout(one, other));
  other = one;
  other.ne = {2, 8, 1, 1};
  EXPECT_FALSE(same_layout(one, other));
  other = one;
  other.bytes = 33_B;
  EXPECT_FALSE(same_layout(one, other));
  other = one;
  other.contiguous = false;
  EXPECT_FALSE(same_layout(one, other));
}

TEST(GgmlGraphTest, OpsInPlace) {
  for (const char* op : {"ADD", "SUB", "MUL", "DIV", "SCALE", "SQR", "SQRT", "LOG", "UNARY", "ROPE",
                         "RMS_NORM", "SOFT_MAX", "ADD_ID", "FILL", "DIAG_MASK_INF"}) {
    EXPECT_TRUE(engine_runs_in_place(op) && can_run_in_place(op)) << op;
  }
  for (const char* op : {"MUL_MAT", "MUL_MAT_ID", "GET_ROWS", "CONT", "CONCAT", "FLASH_ATTN_EXT",
                         "SSM_SCAN", "NONE", "add", ""}) {
    EXPECT_FALSE(engine_runs_in_place(op) || can_run_in_place(op)) << op;
  }
  EXPECT_FALSE(engine_runs_in_place("GLU"));
  EXPECT_TRUE(can_run_in_place("GLU"));
}

TEST(GgmlGraphTest, FaultsAreBugsInCode) {
  GgmlGraph graph;
  EXPECT_THROW(add(graph, {.op = "SCALE", .sources = {TensorId(0)}}), InternalError);
  EXPECT_TRUE(graph.tensors.empty());
}

}  // namespace
}  // namespace tidemark

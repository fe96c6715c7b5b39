#include <gtest/gtest.h>

#include "planner/graph/graph.h"

namespace tidemark {
namespace {

TEST(DotTest, OpsAreBoxesAndTensorsAreLabelledEdges) {
  GraphBuilder builder;
  const TensorId in = builder.add_tensor("ids", TensorKind::kInput, DType::kI32, {3, 1, 1, 1});
  const TensorId x = builder.add_tensor("x", TensorKind::kActivation, DType::kF32, {4, 3, 1, 1});
  const TensorId y = builder.add_sized_tensor("y", TensorKind::kOutput, Bytes::of(5));
  builder.add_op({.name = "embed", .kind = OpKind::kEmbed, .inputs = {in}, .outputs = {x}});
  builder.add_op({.name = "layer", .inputs = {x}, .outputs = {y}});
  EXPECT_EQ(to_dot(std::move(builder).build()),
            "digraph tidemark {\n"
            "  node [shape=box];\n"
            "  op0 [label=\"embed\\nembed\"];\n"
            "  op1 [label=\"layer\\nplain_layer\"];\n"
            "  tensor0 [shape=ellipse, label=\"ids i32 [3] 12 B\"];\n"
            "  tensor0 -> op0;\n"
            "  op0 -> op1 [label=\"x f32 [4,3] 48 B\"];\n"
            "  tensor2 [shape=ellipse, label=\"y 5 B\"];\n"
            "  op1 -> tensor2;\n"
            "}\n");
}

TEST(DotTest, NamesCannotBreakOutOfTheirLabel) {
  GraphBuilder builder;
  builder.add_op({.name = "a\"];\nb\\\t\x01"});
  EXPECT_EQ(to_dot(std::move(builder).build()),
            "digraph tidemark {\n"
            "  node [shape=box];\n"
            "  op0 [label=\"a\\\"];\\nb\\\\  \\nplain_layer\"];\n"
            "}\n");
}

}  // namespace
}  // namespace tidemark

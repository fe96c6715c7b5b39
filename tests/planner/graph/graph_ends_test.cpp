#include <gtest/gtest.h>

#include "layer_kinds.h"
#include "planner/base/check.h"

namespace tidemark {
namespace {

using namespace literals;
using testing::graph_of;
using testing::kThree;
using testing::model_of;
using testing::op_named;
using testing::op_table;
using testing::tensor_named;

// What stands before the first layer and behind the last one. n_embd 8, vocabulary 10, 3 tokens of
// which 1 row is wanted.
ModelSpec dense() { return model_of(testing::attention_with(testing::kHeads)); }

// BERT: learned positions, token types, a norm behind their sum.
TEST(EndsOfTheGraphTest, EverythingThatAnEmbeddingMayHave) {
  ModelSpec model = dense();
  testing::dims_of(model).n_position = 2;
  testing::dims_of(model).n_token_type = 4;
  testing::dims_of(model).embedding_norm = NormKind::kScaleAndShift;
  EXPECT_EQ(op_table(model, kThree, "embed", "attn_norm"), R"(
embed = embed(token_ids) with token_embd.weight -> embed [8,3]
position_embed = embed(positions) with position_embd.weight -> position_embed [8,3]
position_add = add(embed, position_embed) -> position_add [8,3]
type_add = add_bias(position_add) with token_types.weight -> type_add [8,3]
embed_norm = layer_norm(type_add) with token_embd_norm.weight, token_embd_norm.bias -> embed_norm [8,3]
)");
  const Graph graph = graph_of(model, kThree);
  EXPECT_EQ(op_named(graph, "position_embed").weights_read, Bytes::of(2 * 8 * 2));  // both rows
  EXPECT_EQ(op_named(graph, "type_add").weights_read, Bytes::of(8 * 2));            // one row
  EXPECT_THROW(op_named(graph, "q_rope"), std::invalid_argument);  // positions are learned
}

TEST(EndsOfTheGraphTest, AHeadWithABias) {
  ModelSpec model = dense();
  testing::dims_of(model).tied_embeddings = false;
  testing::dims_of(model).head_bias = true;
  EXPECT_EQ(op_table(model, kThree, "output_norm", ""), R"(
output_norm = rms_norm(select_rows) with output_norm.weight -> output_norm [8,1]
logits = matmul(output_norm) with output.weight, output.bias -> logits [10,1]
)");
  EXPECT_EQ(op_named(graph_of(model, kThree), "logits").weights_read, Bytes::of(2 * (80 + 10)));
}

TEST(EndsOfTheGraphTest, WithoutAHeadEmbeddingsComeOut) {
  ModelSpec model = dense();
  testing::dims_of(model).has_head = false;
  EXPECT_EQ(op_table(model, kThree, "select_rows", ""), R"(
select_rows = select_rows(ffn_add) -> select_rows [8,1]
embeddings = rms_norm(select_rows) with output_norm.weight -> embeddings [8,1]
)");
  const Graph graph = graph_of(model, kThree);
  const Tensor& out = tensor_named(graph, "embeddings");
  EXPECT_EQ(out.kind, TensorKind::kOutput);
  EXPECT_EQ(out.dtype, DType::kF32);
  testing::dims_of(model).final_norm = NormKind::kNone;
  EXPECT_EQ(op_table(model, kThree, "embeddings", ""), R"(
embeddings = select_rows(ffn_add) -> embeddings [8,1]
)");
  testing::dims_of(model).final_norm = NormKind::kPlain;
  EXPECT_EQ(op_table(model, kThree, "embeddings", ""), R"(
embeddings = layer_norm(select_rows) -> embeddings [8,1]
)");
}

// 7 x 10 is looked up (3 of its 10 rows), 8 x 5 read whole.
TEST(EndsOfTheGraphTest, OtherTensorsOfTheFileAreReadBehindTheLayers) {
  ModelSpec model = dense();
  testing::dims_of(model).extras = {
      {.name = "per_layer_token_embd.weight", .columns = 7, .rows = 10},
      {.name = "proj.weight", .columns = 8, .rows = 5}};
  EXPECT_EQ(op_table(model, kThree, "extras", "output_norm"), R"(
extras = extra(ffn_add) with per_layer_token_embd.weight, proj.weight -> extras [8,3]
select_rows = select_rows(extras) -> select_rows [8,1]
)");
  EXPECT_EQ(op_named(graph_of(model, kThree), "extras").weights_read,
            Bytes::of(2 * (3 * 7 + 8 * 5)));
}

TEST(EndsOfTheGraphTest, StacksAreLeftOut) {
  ModelSpec model = dense();
  const std::string alone = op_table(model, kThree, "embed", "");
  testing::dims_of(model).stacks = {{.role = StackRole::kEncoder,
                                     .n_embd = 8,
                                     .layers = testing::dims_of(model).layers,
                                     .final_norm = NormKind::kScale}};
  EXPECT_EQ(op_table(model, kThree, "embed", ""), alone);
}

}  // namespace
}  // namespace tidemark

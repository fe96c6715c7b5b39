#include "planner/model/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <stdexcept>

#include "planner/base/check.h"
#include "support/sample_models.h"

namespace tidemark {
namespace {

using testing::Dimensions;
using ::testing::ElementsAre;
using testing::kLlama31_8b;
using testing::kMiniCpm2b;
using testing::transformer;
using namespace literals;

std::vector<std::string> names_of(const WeightsInventory& weights) {
  std::vector<std::string> names;
  for (const WeightTensor& tensor : weights.tensors) names.push_back(tensor.name);
  return names;
}

Dimensions random_dimensions() {
  return {.n_layer = *rc::gen::inRange<int64_t>(1, 5),
          .n_embd = *rc::gen::inRange<int64_t>(1, 600),
          .n_head = *rc::gen::inRange<int64_t>(1, 9),
          .n_head_kv = *rc::gen::inRange<int64_t>(1, 9),
          .head_dim = *rc::gen::inRange<int64_t>(1, 80),
          .n_ff = *rc::gen::inRange<int64_t>(1, 900),
          .n_vocab = *rc::gen::inRange<int64_t>(1, 500),
          .tied_embeddings = *rc::gen::arbitrary<bool>()};
}

TEST(WeightsTest, MiniCpmParameters) {
  // A layer: 4 x 2304^2 attention, 3 x 2304 x 5760 feed-forward, 2 x 2304 norms = 61,051,392.
  const WeightsInventory weights = weights_inventory(transformer(kMiniCpm2b), DType::kF16);
  EXPECT_EQ(weights.parameters, 2'724'880'896);
  EXPECT_EQ(weights.parameters, 122'753 * 2304 + 40 * int64_t{61'051'392} + 2304);
  EXPECT_EQ(weights.bytes, Bytes::of(2 * int64_t{2'724'880'896}));
  EXPECT_EQ(weights.tensors.size(), 1u + 40 * 9 + 1);
}

struct PublishedModel {
  const char* name = "";
  Dimensions dimensions{};
  int64_t parameters = 0;
};

// Counts published with the checkpoints.
TEST(WeightsTest, ParametersOfPublishedModels) {
  const PublishedModel models[] = {
      {"Llama-3.1-8B", kLlama31_8b, 8'030'261'248},
      {"Llama-3.2-3B", {28, 3072, 24, 8, 128, 8192, 128256, true}, 3'212'749'824},
      {"Llama-2-7B", {32, 4096, 32, 32, 128, 11008, 32000, false}, 6'738'415'616},
      {"Llama-3.1-70B", {80, 8192, 64, 8, 128, 28672, 128256, false}, 70'553'706'496},
      {"Llama-3.1-405B", {126, 16384, 128, 8, 128, 53248, 128256, false}, 405'853'388'800},
      // Heads narrower than the model: 32 x 128 = 4096 against 5120.
      {"Devstral-Small", {40, 5120, 32, 8, 128, 32768, 131072, false}, 23'572'403'200},
  };
  for (const PublishedModel& model : models) {
    EXPECT_EQ(weights_inventory(transformer(model.dimensions), DType::kF16).parameters,
              model.parameters)
        << model.name;
  }
}

TEST(WeightsTest, TensorsStandInFileOrderUnderTheirFileNames) {
  const WeightsInventory tied = weights_inventory(transformer({}), DType::kF16);
  EXPECT_THAT(names_of(tied),
              ElementsAre("token_embd.weight", "blk.0.attn_norm.weight", "blk.0.attn_q.weight",
                          "blk.0.attn_k.weight", "blk.0.attn_v.weight", "blk.0.attn_output.weight",
                          "blk.0.ffn_norm.weight", "blk.0.ffn_gate.weight", "blk.0.ffn_up.weight",
                          "blk.0.ffn_down.weight", "output_norm.weight"));
  const WeightsInventory untied =
      weights_inventory(transformer({.tied_embeddings = false}), DType::kF16);
  EXPECT_EQ(untied.tensors.size(), tied.tensors.size() + 1);
  EXPECT_EQ(untied.tensors.back().name, "output.weight");
}

TEST(WeightsTest, ShapesOfAnOddLittleModel) {
  // n_embd 4, 3 heads of 5, 1 KV head, n_ff 6, vocabulary 10.
  const WeightsInventory weights =
      weights_inventory(transformer({.n_head = 3, .head_dim = 5}), DType::kF16);
  const auto shape_of = [&](WeightRole role, int64_t layer) {
    const WeightTensor& tensor = weights.tensors.at(weights.find(role, layer).index());
    return std::pair(tensor.columns, tensor.rows);
  };
  EXPECT_EQ(shape_of(WeightRole::kTokenEmbedding, -1), std::pair(int64_t{4}, int64_t{10}));
  EXPECT_EQ(shape_of(WeightRole::kQuery, 0), std::pair(int64_t{4}, int64_t{15}));
  EXPECT_EQ(shape_of(WeightRole::kKey, 0), std::pair(int64_t{4}, int64_t{5}));
  EXPECT_EQ(shape_of(WeightRole::kValue, 0), std::pair(int64_t{4}, int64_t{5}));
  EXPECT_EQ(shape_of(WeightRole::kAttentionOutput, 0), std::pair(int64_t{15}, int64_t{4}));
  EXPECT_EQ(shape_of(WeightRole::kGate, 0), std::pair(int64_t{4}, int64_t{6}));
  EXPECT_EQ(shape_of(WeightRole::kUp, 0), std::pair(int64_t{4}, int64_t{6}));
  EXPECT_EQ(shape_of(WeightRole::kDown, 0), std::pair(int64_t{6}, int64_t{4}));
  EXPECT_EQ(shape_of(WeightRole::kFeedForwardNorm, 0), std::pair(int64_t{4}, int64_t{1}));
  EXPECT_THROW(weights.find(WeightRole::kOutput, -1), InternalError);
  EXPECT_THROW(weights.find(WeightRole::kQuery, 1), InternalError);
}

struct StoredCase {
  DType requested = DType::kF16;
  int64_t columns = 0;
  DType stored = DType::kF16;
};

TEST(WeightsTest, RowsThatDoNotFillBlocksFallBack) {
  const StoredCase cases[] = {
      {DType::kQ4K, 2304, DType::kQ4K},   {DType::kQ4K, 5760, DType::kQ5_0},
      {DType::kQ5K, 5760, DType::kQ5_1},  {DType::kQ6K, 5760, DType::kQ8_0},
      {DType::kQ4K, 100, DType::kF16},    {DType::kQ6K, 100, DType::kF16},
      {DType::kQ4_0, 5760, DType::kQ4_0}, {DType::kQ4_0, 100, DType::kF16},
      {DType::kQ8_0, 100, DType::kF16},   {DType::kInt8, 101, DType::kInt8},
      {DType::kInt4, 101, DType::kInt4},  {DType::kF32, 101, DType::kF32},
      {DType::kBf16, 101, DType::kBf16},
  };
  for (const StoredCase& row : cases) {
    const WeightTensor matrix{
        .role = WeightRole::kUp, .layer = 0, .columns = row.columns, .rows = 8};
    EXPECT_EQ(stored_type(matrix, row.requested), row.stored)
        << name_of(row.requested) << " x " << row.columns;
  }
}

TEST(WeightsTest, NormsStayInF32UnderQuantizedFormatsOnly) {
  for (const WeightRole role :
       {WeightRole::kAttentionNorm, WeightRole::kFeedForwardNorm, WeightRole::kOutputNorm}) {
    const WeightTensor norm{.role = role, .columns = 256, .rows = 1};
    EXPECT_EQ(stored_type(norm, DType::kQ4K), DType::kF32);
    EXPECT_EQ(stored_type(norm, DType::kInt8), DType::kF32);
    EXPECT_EQ(stored_type(norm, DType::kF16), DType::kF16);
  }
  // One row alone does not make a vector: a vocabulary of one is still a matrix.
  const WeightTensor table{.role = WeightRole::kTokenEmbedding, .columns = 256, .rows = 1};
  EXPECT_EQ(stored_type(table, DType::kQ4K), DType::kQ4K);
}

TEST(WeightsTest, MiniCpmBytesByHand) {
  const ModelSpec model = transformer(kMiniCpm2b);
  const int64_t norms = 2 * 2304 * 4;
  // Rows of 2304: int4 1,154 B, Q4_K 1,296 B. Rows of 5760: int4 2,882 B, Q5_0 (the fallback) 3,960
  // B.
  const int64_t int4_layer = (4 * 2304 + 2 * 5760) * 1154 + 2304 * 2882 + norms;
  EXPECT_EQ(weights_inventory(model, DType::kInt4).bytes,
            Bytes::of(122'753 * 1154 + 40 * int4_layer + 2304 * 4));
  EXPECT_EQ(weights_inventory(model, DType::kInt4).bytes, 1'365'182'338_B);
  const int64_t q4k_layer = (4 * 2304 + 2 * 5760) * 1296 + 2304 * 3960 + norms;
  EXPECT_EQ(weights_inventory(model, DType::kQ4K).bytes,
            Bytes::of(122'753 * 1296 + 40 * q4k_layer + 2304 * 4));
  EXPECT_EQ(weights_inventory(model, DType::kQ4K).bytes, 1'599'742'224_B);
}

TEST(WeightsTest, ALayerListIsTakenAsGiven) {
  const ModelSpec demo = testing::demo_layers();
  const WeightsInventory weights = weights_inventory(demo, DType::kInt4);
  EXPECT_EQ(weights.bytes, 3400_MB);
  EXPECT_EQ(weights.parameters, 0);
  ASSERT_EQ(weights.tensors.size(), 6u);
  EXPECT_EQ(weights.tensors[1].name, "layer1");
  EXPECT_EQ(weights.tensors[1].layer, 1);
  EXPECT_EQ(weights.tensors[1].role, WeightRole::kPlain);
  EXPECT_EQ(weights_inventory(demo, DType::kF32).bytes, weights.bytes);
}

TEST(WeightsTest, SizesPastSixtyThreeBitsThrow) {
  EXPECT_THROW(weights_inventory(transformer({.n_ff = int64_t{1} << 62}), DType::kF16),
               std::overflow_error);
  EXPECT_THROW(
      weights_inventory(transformer({.n_head = int64_t{1} << 40, .head_dim = int64_t{1} << 40}),
                        DType::kF16),
      std::overflow_error);
}

TEST(WeightsTest, TextbookSizesOfSevenBillionParameters) {
  const int64_t n = 7'000'000'000;
  EXPECT_EQ(textbook_weight_bytes(n, DType::kF32), 28_GB);
  EXPECT_EQ(textbook_weight_bytes(n, DType::kF16), 14_GB);
  EXPECT_EQ(textbook_weight_bytes(n, DType::kInt8), 7_GB);
  EXPECT_EQ(textbook_weight_bytes(n, DType::kInt4), 3500_MB);
  EXPECT_EQ(textbook_weight_bytes(n, DType::kQ4_0), 3'937'500'000_B);  // 4.5 bits
  EXPECT_EQ(textbook_weight_bytes(n, DType::kQ4K), 3'937'500'000_B);   // 4.5 bits as well
  EXPECT_EQ(textbook_weight_bytes(n, DType::kQ8_0), 7'437'500'000_B);  // 8.5 bits
  EXPECT_EQ(textbook_weight_bytes(3, DType::kInt4), 2_B);              // a part of a byte is a byte
}

TEST(WeightsLaws, TheWholeIsTheSumOfItsTensors) {
  EXPECT_TRUE(rc::check("bytes and parameters are sums", [] {
    const DType requested =
        *rc::gen::elementOf(std::vector<DType>{DType::kF32, DType::kF16, DType::kInt8, DType::kInt4,
                                               DType::kQ8_0, DType::kQ4K, DType::kQ6K});
    const WeightsInventory weights = weights_inventory(transformer(random_dimensions()), requested);
    Bytes bytes;
    int64_t parameters = 0;
    for (const WeightTensor& tensor : weights.tensors) {
      bytes += row_bytes(tensor.dtype, tensor.columns) * tensor.rows;
      parameters += tensor.columns * tensor.rows;
      RC_ASSERT(divides(tensor.dtype, tensor.columns) || tensor.dtype == DType::kInt4);
    }
    RC_ASSERT(weights.bytes == bytes);
    RC_ASSERT(weights.parameters == parameters);
  }));
}

TEST(WeightsLaws, TheFormatChangesBytesAndNeverParameters) {
  EXPECT_TRUE(rc::check("f16 is two bytes a parameter, f32 four", [] {
    const ModelSpec model = transformer(random_dimensions());
    const WeightsInventory half = weights_inventory(model, DType::kF16);
    const WeightsInventory full = weights_inventory(model, DType::kF32);
    RC_ASSERT(half.bytes == Bytes::of(2 * half.parameters));
    RC_ASSERT(full.bytes == half.bytes * 2);
    RC_ASSERT(weights_inventory(model, DType::kQ4K).parameters == half.parameters);
  }));
}

TEST(WeightsLaws, UntyingTheHeadAddsOneMoreEmbedding) {
  EXPECT_TRUE(rc::check("untied = tied + n_embd x n_vocab", [] {
    Dimensions dimensions = random_dimensions();
    dimensions.tied_embeddings = true;
    const int64_t tied = weights_inventory(transformer(dimensions), DType::kF16).parameters;
    dimensions.tied_embeddings = false;
    const int64_t untied = weights_inventory(transformer(dimensions), DType::kF16).parameters;
    RC_ASSERT(untied - tied == dimensions.n_embd * dimensions.n_vocab);
  }));
}

}  // namespace
}  // namespace tidemark

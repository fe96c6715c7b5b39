#include "planner/model/state.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <stdexcept>

#include "support/sample_models.h"

namespace tidemark {
namespace {

using testing::Dimensions;
using testing::kLlama31_8b;
using testing::kMiniCpm2b;
using testing::transformer;
using namespace literals;

TEST(StateTest, MiniCpm) {
  const Bytes per_token = kv_bytes_per_token(transformer(kMiniCpm2b), DType::kF16, DType::kF16);
  EXPECT_EQ(per_token, 368'640_B);  // 40 layers x 36 heads x 64 x 2 (K and V) x 2 B
  EXPECT_EQ(per_token * 4096, 1'509'949'440_B);
}

TEST(StateTest, EachOfKeysAndValuesHasItsOwnType) {
  const ModelSpec llama = transformer(kLlama31_8b);  // 32 layers, 8 KV heads of 128: rows of 1024
  EXPECT_EQ(kv_bytes_per_token(llama, DType::kF16, DType::kF16), Bytes::of(32 * 2 * 1024 * 2));
  EXPECT_EQ(kv_bytes_per_token(llama, DType::kQ8_0, DType::kQ8_0), Bytes::of(32 * 2 * 32 * 34));
  EXPECT_EQ(kv_bytes_per_token(llama, DType::kF16, DType::kQ4_0),
            Bytes::of(32 * (1024 * 2 + 32 * 18)));
  EXPECT_EQ(kv_bytes_per_token(llama, DType::kInt8, DType::kF16),
            Bytes::of(32 * (1024 + 2 + 1024 * 2)));
}

TEST(StateTest, LayersMayDiffer) {
  ModelSpec model = transformer({.n_layer = 2});
  std::get<TransformerSpec>(model.dims).layers[1].mixer =
      AttentionSpec{.n_head = 4, .n_head_kv = 4, .head_dim = 8};
  // One KV head of 2, and four of 8: (2 + 32) elements of K and as many of V, 2 B each.
  EXPECT_EQ(kv_bytes_per_token(model, DType::kF16, DType::kF16), 136_B);
}

TEST(StateTest, ALayerListHasNone) {
  EXPECT_EQ(kv_bytes_per_token(testing::demo_layers(), DType::kF16, DType::kF16), 0_B);
}

TEST(StateTest, SizesPastSixtyThreeBitsThrow) {
  const int64_t huge = int64_t{1} << 40;
  const LayerSpec layer{.mixer = AttentionSpec{.n_head = 1, .n_head_kv = huge, .head_dim = huge}};
  EXPECT_THROW(key_bytes_per_cell(layer, DType::kF16), std::overflow_error);
}

// 2 x layers x heads x head_dim x 2 B is multi-head attention's cache; grouped heads keep their
// share of it.
TEST(StateLaws, GroupedQueryWithAllHeadsIsMultiHeadAttention) {
  EXPECT_TRUE(rc::check("kv(n_head_kv) = mha x n_head_kv / n_head", [] {
    const int64_t n_head_kv = *rc::gen::inRange<int64_t>(1, 17);
    const int64_t group = *rc::gen::inRange<int64_t>(1, 9);
    const Dimensions dimensions{.n_layer = *rc::gen::inRange<int64_t>(1, 50),
                                .n_head = n_head_kv * group,
                                .n_head_kv = n_head_kv,
                                .head_dim = *rc::gen::inRange<int64_t>(1, 257)};
    const Bytes mha =
        Bytes::of(2 * dimensions.n_layer * dimensions.n_head * dimensions.head_dim * 2);
    const Bytes grouped = kv_bytes_per_token(transformer(dimensions), DType::kF16, DType::kF16);
    RC_ASSERT(grouped * group == mha);
  }));
}

}  // namespace
}  // namespace tidemark

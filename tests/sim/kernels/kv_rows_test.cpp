#include "sim/kernels/attention/kv_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "attention_inputs.h"
#include "planner/base/check.h"
#include "planner/model/dtype.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

TEST(KvRowsTest, RowsHaveThePlannersSize) {
  EXPECT_EQ(kv_row_bytes({KvType::kInt8, 36, 64}), row_bytes(DType::kInt8, 36 * 64).count());
  EXPECT_EQ(kv_row_bytes({KvType::kF16, 36, 64}), row_bytes(DType::kF16, 36 * 64).count());
}

TEST(KvRowsTest, AnInt8RowIsTheValuesAndTheScale) {
  std::vector<std::byte> cache(8, std::byte{0xEE});
  const std::vector<int32_t> positions{1};
  store_kv({KvType::kInt8, 1, 2}, std::vector<int8_t>{-128, 5}, 0.5F, {.positions = positions},
           cache);
  EXPECT_THAT(cache,
              ElementsAreArray({std::byte{0xEE}, std::byte{0xEE}, std::byte{0xEE}, std::byte{0xEE},
                                std::byte{0x80}, std::byte{5}, std::byte{0x00}, std::byte{0x38}}));
}

TEST(KvRowsTest, AnF16RowIsTheRealValues) {
  std::vector<std::byte> cache(4);
  const std::vector<int32_t> positions{0};
  store_kv({KvType::kF16, 2, 1}, std::vector<int8_t>{2, -4}, 0.5F, {.positions = positions}, cache);
  EXPECT_THAT(cache, ElementsAre(std::byte{0x00}, std::byte{0x3C}, std::byte{0x00},
                                 std::byte{0xC0}));  // 1, -2
}

TEST(KvRowsTest, EachSequenceHasItsOwnCells) {
  // Sequences of two cells: token 0 is position 1 of the second, token 1 position 0 of the first.
  std::vector<std::byte> cache(4 * 3, std::byte{0});
  const std::vector<int32_t> positions{1, 0};
  const std::vector<int64_t> first_cells{2, 0};
  store_kv({KvType::kInt8, 1, 1}, std::vector<int8_t>{7, 9}, 1.0F, {positions, first_cells}, cache);
  EXPECT_EQ(cache[3 * 3], std::byte{7});
  EXPECT_EQ(cache[0], std::byte{9});
  EXPECT_EQ(cache[3], std::byte{0});
  EXPECT_EQ(cache[6], std::byte{0});
}

TEST(KvRowsTest, LawDotAndSumEqualTheDefinition) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const KvType type = inputs.between(0, 1) == 0 ? KvType::kInt8 : KvType::kF16;
    const auto c = testing::random_attention(inputs, type);
    const int64_t cell = inputs.between(0, 2 * c.cells_per_sequence - 1);
    const int64_t head = inputs.between(0, c.shape.n_head_kv - 1);
    const auto q = inputs.values(c.shape.head_dim);
    std::vector<float> sums(q.size(), 1.0F);
    const auto row = kv_row(c.shape, c.keys, cell);
    kv_accumulate(c.shape, row, head * c.shape.head_dim, 0.5F, sums);
    double dot = 0.0;
    for (size_t d = 0; d < q.size(); ++d) {
      const auto index = head * c.shape.head_dim + static_cast<int64_t>(d);
      const double k = testing::kv_element(c.shape, c.keys, cell, index);
      dot += q[d] * k;
      RC_ASSERT(std::abs(sums[d] - (1.0 + 0.5 * k)) < 1e-5);
    }
    RC_ASSERT(std::abs(kv_dot(c.shape, row, head, q) - dot) < 0.02);
  }));
}

TEST(KvRowsTest, ACellOutsideTheCacheIsABug) {
  std::vector<std::byte> cache(6);
  const KvShape shape{KvType::kInt8, 1, 1};
  for (const int32_t position : {-1, 2}) {
    const TokenCells cells{.positions = {&position, 1}};
    EXPECT_THROW(store_kv(shape, std::vector<int8_t>{1}, 1.0F, cells, cache), InternalError);
    EXPECT_THROW(kv_row(shape, cache, position), InternalError);
  }
}

TEST(KvRowsTest, AScaleThatVanishesInFp16IsABug) {
  std::vector<std::byte> cache(3);
  const int32_t position = 0;
  const TokenCells cells{.positions = {&position, 1}};
  for (const float scale : {0.0F, 1e-9F, -1.0F, 1e6F}) {
    EXPECT_THROW(store_kv({KvType::kInt8, 1, 1}, std::vector<int8_t>{1}, scale, cells, cache),
                 InternalError);
  }
}

}  // namespace
}  // namespace tidemark

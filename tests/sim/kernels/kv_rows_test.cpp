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

TEST(KvRowsTest, ARingTurnsAroundAndAPartIsTakenOfARow) {
  // Rows of 4 of which the last 2 are stored; positions 2 and 3 in a ring of 3: cells 2 and 0.
  std::vector<std::byte> cache(3 * 4, std::byte{0});
  const std::vector<int32_t> positions{2, 3};
  store_kv({KvType::kInt8, 1, 2}, std::vector<int8_t>{1, 2, 3, 4, 5, 6, 7, 8}, 1.0F,
           {.positions = positions, .ring = 3}, cache, {.first = 2, .stride = 4});
  EXPECT_THAT(
      cache, ElementsAreArray({std::byte{7}, std::byte{8}, std::byte{0x00}, std::byte{0x3C},
                               std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{3},
                               std::byte{4}, std::byte{0x00}, std::byte{0x3C}}));
}

TEST(KvRowsTest, APartBeyondItsRowIsABug) {
  const std::vector<int8_t> rows(8);
  EXPECT_EQ(part_of_row(rows, {.first = 1, .stride = 4}, 1, 3).data(), rows.data() + 5);
  EXPECT_THROW(part_of_row(rows, {.first = 2, .stride = 4}, 1, 3), InternalError);
  EXPECT_THROW(part_of_row(rows, {.first = -1, .stride = 4}, 1, 3), InternalError);
  EXPECT_THROW(part_of_row(rows, {.first = 0, .stride = 4}, 2, 3), InternalError);
}

TEST(TokenCellsTest, ByHand) {
  const std::vector<int32_t> positions{5};
  const auto runs = [](const TokenCells& cells) {
    const CellRuns made = cells.runs(cells.first_attended(0), cells.position(0) + 1);
    return std::vector<int64_t>{made[0].first, made[0].count, made[1].first, made[1].count};
  };
  EXPECT_THAT(runs({.positions = positions, .ring = 4, .window = 3}), ElementsAre(3, 1, 0, 2));
  EXPECT_THAT(runs({.positions = positions, .ring = 4, .chunk = 4}), ElementsAre(0, 2, 0, 0));
  EXPECT_THAT(runs({.positions = positions}), ElementsAre(0, 6, 0, 0));
  EXPECT_THAT(runs({.positions = positions, .window = 7}), ElementsAre(0, 6, 0, 0));
  EXPECT_THROW(runs({.positions = positions, .ring = 4}), InternalError) << "six of four cells";
}

TEST(TokenCellsTest, LawEveryAttendedPositionHasItsCellInOrder) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const std::vector<int32_t> positions{static_cast<int32_t>(inputs.between(0, 200))};
    TokenCells cells{
        .positions = positions, .window = inputs.between(0, 20), .chunk = inputs.between(0, 20)};
    const int64_t last = positions[0];
    std::vector<int64_t> attended;
    for (int64_t p = 0; p <= last; ++p) {
      const bool in_window = cells.window == 0 || last - p < cells.window;
      const bool in_chunk = cells.chunk == 0 || p / cells.chunk == last / cells.chunk;
      if (in_window && in_chunk) attended.push_back(p);
    }
    RC_ASSERT(cells.first_attended(0) == attended.front());
    cells.ring = std::ssize(attended) + inputs.between(0, 3);
    std::vector<int64_t> found;
    for (const CellRun& run : cells.runs(attended.front(), last + 1)) {
      for (int64_t i = 0; i < run.count; ++i) found.push_back(run.first + i);
    }
    for (int64_t& p : attended) p %= cells.ring;
    RC_ASSERT(found == attended);
  }));
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

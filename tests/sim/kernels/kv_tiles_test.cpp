#include "sim/kernels/attention/kv_tiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cmath>

#include "inputs.h"
#include "planner/base/check.h"
#include "sim/kernels/isa.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;

// Two cells {1, 2} and {3, 4} at scale 0.5 (0x3800).
std::vector<std::byte> cells_by_hand() {
  return {std::byte{1}, std::byte{2}, std::byte{0}, std::byte{0x38},
          std::byte{3}, std::byte{4}, std::byte{0}, std::byte{0x38}};
}

TEST(KvTilesTest, ByHand) {
  const auto cache = cells_by_hand();
  const KvTile tile{.shape = {KvType::kInt8, 1, 2}, .cache = cache};
  std::vector<float> dots(2);
  kv_dots(tile, 0, std::vector<int8_t>{10, -1}, dots);
  EXPECT_THAT(dots, ElementsAre(4.0F, 13.0F));
  std::vector<float> sums(2);
  kv_accumulate(tile, 0, std::vector<float>{1.0F, 2.0F}, sums);
  EXPECT_THAT(sums, ElementsAre(3.5F, 5.0F));
}

struct Case {
  KvTile tile{};
  std::vector<std::byte> cache{};
  int64_t cells = 0;
};

// int8: any bytes and scales, some of them not positive or not finite. f16: finite numbers.
Case random_case(testing::Inputs& inputs) {
  Case c;
  constexpr std::array<int64_t, 9> kDims{1, 7, 8, 24, 31, 32, 64, 80, 100};
  c.tile.shape = {inputs.between(0, 1) == 0 ? KvType::kInt8 : KvType::kF16, inputs.between(1, 3),
                  kDims.at(static_cast<size_t>(inputs.between(0, 8)))};
  c.tile.first_cell = inputs.between(0, 3);
  c.cells = inputs.between(1, 70);
  const int64_t row = kv_row_bytes(c.tile.shape);
  for (const int8_t value : inputs.values(row * (c.tile.first_cell + c.cells))) {
    c.cache.push_back(static_cast<std::byte>(value));
  }
  for (size_t i = 1; c.tile.shape.type == KvType::kF16 && i < c.cache.size(); i += 2) {
    c.cache[i] &= std::byte{0xBB};
  }
  for (size_t end = static_cast<size_t>(row);
       c.tile.shape.type == KvType::kInt8 && end <= c.cache.size();
       end += static_cast<size_t>(row)) {
    if (inputs.between(0, 4) != 0) c.cache[end - 1] = std::byte{0x2A};
  }
  return c;
}

TEST(KvTilesTest, LawEqualsOneCellAfterTheOtherAtEveryLevel) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    Case c = random_case(inputs);
    c.tile.cache = c.cache;
    const KvShape& shape = c.tile.shape;
    const auto q = inputs.values(shape.head_dim);
    const int64_t head = inputs.between(0, shape.n_head_kv - 1);
    const int64_t first = inputs.between(0, shape.n_head_kv * shape.head_dim - 1);
    const int64_t length = inputs.between(1, shape.n_head_kv * shape.head_dim - first);
    std::vector<float> weights;
    for (int64_t j = 0; j < c.cells; ++j) weights.push_back(inputs.scale());
    std::vector<float> dots;
    std::vector<float> sums(static_cast<size_t>(length), 0.5F);
    for (int64_t j = 0; j < c.cells; ++j) {
      const auto row = kv_row(shape, c.cache, c.tile.first_cell + j);
      dots.push_back(kv_dot(shape, row, head, q));
      kv_accumulate(shape, row, first, weights[static_cast<size_t>(j)], sums);
    }
    for (const Isa isa : supported_isas()) {
      const IsaHold hold(isa);
      std::vector<float> tile_dots(dots.size());
      std::vector<float> tile_sums(sums.size(), 0.5F);
      kv_dots(c.tile, head, q, tile_dots);
      kv_accumulate(c.tile, first, weights, tile_sums);
      RC_ASSERT(tile_dots == dots);
      RC_ASSERT(tile_sums == sums);
    }
  }));
}

TEST(KvTilesTest, LargestProductsDoNotSaturate) {
  // 64 x -128 x -128 = 1,048,576, and 64 x -128 x 127 the other way.
  for (const int fill : {0x80, 0x7F}) {
    std::vector<std::byte> cache(static_cast<size_t>(9 * 66), static_cast<std::byte>(fill));
    for (size_t row = 0; row < 9; ++row)
      store_u16(std::span(cache).subspan(row * 66 + 64), 0, 0x3C00);
    const KvTile tile{.shape = {KvType::kInt8, 1, 64}, .cache = cache};
    for (const Isa isa : supported_isas()) {
      const IsaHold hold(isa);
      std::vector<float> dots(9);
      kv_dots(tile, 0, std::vector<int8_t>(64, int8_t{-128}), dots);
      EXPECT_THAT(dots, ::testing::Each(fill == 0x80 ? 1'048'576.0F : -1'040'384.0F));
    }
  }
}

TEST(KvTilesTest, WhatIsOutsideIsABug) {
  const auto cache = cells_by_hand();
  KvTile tile{.shape = {KvType::kInt8, 1, 2}, .cache = cache};
  const std::vector<int8_t> q(2);
  std::vector<float> two(2);
  std::vector<float> three(3);
  EXPECT_THROW(kv_dots(tile, 0, q, three), InternalError);
  EXPECT_THROW(kv_dots(tile, 1, q, two), InternalError);
  EXPECT_THROW(kv_dots(tile, 0, std::vector<int8_t>(3), two), InternalError);
  EXPECT_THROW(kv_accumulate(tile, 1, two, two), InternalError);
  tile.first_cell = 1;
  EXPECT_THROW(kv_accumulate(tile, 0, two, two), InternalError);
}

}  // namespace
}  // namespace tidemark

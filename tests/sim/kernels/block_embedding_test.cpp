#include "sim/kernels/matmul/block_embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cmath>

#include "inputs.h"
#include "planner/base/check.h"
#include "sim/kernels/requantize.h"
#include "sim/kernels/rows.h"
#include "stored_integer.h"

namespace tidemark {
namespace {

using testing::integer_at;

using ::testing::ElementsAre;

constexpr std::array kFormats{RowFormat::kInt8, RowFormat::kInt4, RowFormat::kQ8_0,
                              RowFormat::kQ4_0};

std::vector<int8_t> looked_up(RowFormat format, int64_t columns, const std::vector<int32_t>& ids,
                              std::span<const std::byte> table, float scale_out) {
  std::vector<int8_t> out(ids.size() * static_cast<size_t>(columns));
  block_embedding_lookup(format, columns, ids, table, scale_out, out);
  return out;
}

TEST(BlockEmbeddingTest, ByHand) {
  std::vector<std::byte> table(2 * 34);  // two rows of three values; the first has zeros
  store_u16(std::span(table).subspan(34), 0, 0x3800);  // 0.5
  table[36] = std::byte{3};
  table[37] = std::byte{0xFB};  // -5
  table[38] = std::byte{100};
  EXPECT_THAT(looked_up(RowFormat::kQ8_0, 3, {1, 0}, table, 0.25F),
              ElementsAre(6, -10, 127, 0, 0, 0));
  EXPECT_THAT(looked_up(RowFormat::kQ8_0, 3, {1}, table, 1.0F), ElementsAre(2, -3, 50));
}

TEST(BlockEmbeddingTest, NibblesByHand) {
  // int4, bytes D7 01: {7, -3, 1}, scale 0.5; at 0.25 twice as much.
  const std::array int4{std::byte{0xD7}, std::byte{0x01}, std::byte{0}, std::byte{0x38}};
  EXPECT_THAT(looked_up(RowFormat::kInt4, 3, {0}, int4, 0.25F), ElementsAre(14, -6, 2));
  // Q4_0, d = -2: byte 0 holds values 0 and 16, 0x0F: 15 - 8 = 7 and 0 - 8 = -8.
  std::array<std::byte, 18> q4_0{};
  store_u16(q4_0, 0, 0xC000);
  q4_0.at(2) = std::byte{0x0F};
  const std::vector<int8_t> out = looked_up(RowFormat::kQ4_0, 32, {0}, q4_0, 1.0F);
  EXPECT_EQ(out[0], -14);
  EXPECT_EQ(out[16], 16);
  EXPECT_EQ(out[1], 16);  // a nibble of 0 is -8
}

bool in_blocks(RowFormat format) {
  return format == RowFormat::kQ8_0 || format == RowFormat::kQ4_0;
}

double scale_at(RowFormat format, std::span<const std::byte> row, size_t k) {
  const size_t stride = format == RowFormat::kQ8_0 ? 34 : 18;
  return testing::half_at(row, in_blocks(format) ? k / 32 * stride : row.size() - 2);
}

// Any bytes but for the scales, which lie between 2^-8 and 1, of either sign in Q4_0.
std::vector<std::byte> random_row(testing::Inputs& inputs, RowFormat format, int64_t columns) {
  std::vector<std::byte> row;
  for (const int8_t value : inputs.values(row_format_bytes(format, columns))) {
    row.push_back(static_cast<std::byte>(value));
  }
  const size_t stride = format == RowFormat::kQ8_0 ? 34 : 18;
  for (size_t at = in_blocks(format) ? 0 : row.size() - 2; at < row.size(); at += stride) {
    const auto bits = inputs.between(7, 14) * 1024 + inputs.between(0, 1023);
    const bool negative = format == RowFormat::kQ4_0 && inputs.between(0, 1) == 1;
    store_u16(std::span(row).subspan(at, 2), 0,
              static_cast<uint16_t>(bits + (negative ? 0x8000 : 0)));
  }
  return row;
}

TEST(BlockEmbeddingTest, LawEqualsTheDefinition) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const auto format = kFormats.at(static_cast<size_t>(inputs.between(0, 3)));
    const int64_t columns = inputs.between(1, 100);
    const int64_t rows = inputs.between(1, 5);
    std::vector<std::byte> table;
    for (int64_t r = 0; r < rows; ++r) {
      const auto row = random_row(inputs, format, columns);
      table.insert(table.end(), row.begin(), row.end());
    }
    std::vector<int32_t> ids;
    for (int64_t t = inputs.between(1, 4); t > 0; --t) {
      ids.push_back(static_cast<int32_t>(inputs.between(0, rows - 1)));
    }
    const float scale_out = inputs.scale();
    const auto out = looked_up(format, columns, ids, testing::Shifted(table).bytes(), scale_out);
    for (size_t i = 0; i < out.size(); ++i) {
      const size_t k = i % static_cast<size_t>(columns);
      const size_t bytes = table.size() / static_cast<size_t>(rows);
      const auto row = std::span(table).subspan(
          static_cast<size_t>(ids[i / static_cast<size_t>(columns)]) * bytes, bytes);
      const int q = integer_at(format, row, k);
      const double real = scale_at(format, row, k) / double{scale_out};
      const int wanted = in_blocks(format) ? testing::round_and_clamp(static_cast<float>(
                                                 q * scale_at(format, row, k) / double{scale_out}))
                                           : testing::requantize_by_definition(q, real);
      RC_ASSERT(out[i] == wanted);
    }
  }));
}

TEST(BlockEmbeddingTest, AScaleThatIsNotFiniteReadsAsZero) {
  std::array<std::byte, 34> row{};
  row.fill(std::byte{7});
  store_u16(row, 0, 0x7C00);
  EXPECT_THAT(looked_up(RowFormat::kQ8_0, 2, {0}, row, 1.0F), ElementsAre(0, 0));
}

TEST(BlockEmbeddingTest, WhatIsOutsideTheTableIsABug) {
  const std::vector<std::byte> table(36);
  for (const int32_t id : {-1, 2}) {
    EXPECT_THROW(looked_up(RowFormat::kQ4_0, 32, {id}, table, 1.0F), InternalError);
  }
  EXPECT_THROW(looked_up(RowFormat::kQ4_0, 33, {0}, std::span(table).first(35), 1.0F),
               InternalError);
  EXPECT_THROW(looked_up(RowFormat::kQ8_0, 0, {}, table, 1.0F), InternalError);
}

}  // namespace
}  // namespace tidemark

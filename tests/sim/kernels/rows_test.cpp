#include "sim/kernels/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cmath>

#include "inputs.h"
#include "planner/base/check.h"
#include "planner/model/dtype.h"

namespace tidemark {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

std::vector<std::byte> quantized(const std::vector<float>& values) {
  std::vector<std::byte> row(values.size() + 2, std::byte{0xEE});
  quantize_row(values, row);
  return row;
}

TEST(RowsTest, StoredRowsHaveThePlannersSize) {
  EXPECT_EQ(stored_row_bytes(2304), row_bytes(DType::kInt8, 2304).count());
}

TEST(RowsTest, QuantizesARowByHand) {
  EXPECT_THAT(
      quantized({1.27F, -0.5F, 0.0F}),
      ElementsAre(std::byte{127}, std::byte{0xCE}, std::byte{0}, std::byte{0x1F}, std::byte{0x21}));
}

TEST(RowsTest, ARowOfZerosHasScaleZero) {
  EXPECT_THAT(quantized({0.0F, -0.0F}), Each(std::byte{0}));
}

TEST(RowsTest, ARowTooSmallForItsScaleBecomesZeros) {
  EXPECT_THAT(quantized({1e-7F, -1e-7F}), Each(std::byte{0}));
}

TEST(RowsTest, ARowBeyondTheRangeOfScalesSaturates) {
  // Largest scale 65,504 = 0x7BFF: 65,504 x 10 is 10 steps.
  EXPECT_THAT(quantized({INFINITY, -INFINITY, 655'040.0F, NAN}),
              ElementsAre(std::byte{127}, std::byte{0x81}, std::byte{10}, std::byte{0},
                          std::byte{0xFF}, std::byte{0x7B}));
}

TEST(RowsTest, LawValuesComeBackWithinHalfAStep) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    std::vector<float> values;
    const float size = inputs.scale() * 100;
    for (const int8_t value : inputs.values(inputs.between(1, 40)))
      values.push_back(value * size / 77);
    const auto row = quantized(values);
    const double scale = stored_scale(row);
    for (size_t i = 0; i < values.size(); ++i) {
      // The scale may be low by half a unit of fp16's last place, 127 / 2048 of a step at the
      // largest value.
      RC_ASSERT(std::abs(values[i] - stored_values(row)[i] * scale) <= 0.5626 * scale);
      RC_ASSERT(stored_values(row)[i] != -128);
    }
  }));
}

TEST(RowsTest, ScalesNoQuantizerWritesReadAsZero) {
  for (const uint16_t bits : std::to_array<uint16_t>({0x7E00, 0x7C00, 0xFC00, 0xBC00, 0x8000})) {
    std::vector<std::byte> row(3, std::byte{1});
    store_u16(std::span(row).last(2), 0, bits);
    EXPECT_EQ(stored_scale(row), 0.0F) << bits;
  }
}

TEST(RowsTest, QuantizesAtAStaticScale) {
  std::vector<int8_t> out(6);
  quantize_s8(std::vector<float>{0.25F, -0.25F, 1.0F, 100.0F, -100.0F, 0.2F}, 0.5F, out);
  EXPECT_THAT(out, ElementsAre(1, -1, 2, 127, -128, 0));
}

TEST(RowsTest, EmbeddingTakesARowToTheOutputScale) {
  // Rows at scale 1 (0x3C00) and 0.5 (0x3800); output scale 2: x 0.5 and x 0.25, each step ties
  // away from zero but the first, which ties up.
  const std::vector<std::byte> table{std::byte{10},   std::byte{100}, std::byte{0x00},
                                     std::byte{0x3C}, std::byte{10},  std::byte{0x9C},
                                     std::byte{0x00}, std::byte{0x38}};
  const std::vector<int32_t> ids{1, 0, 1};
  std::vector<int8_t> out(6);
  embedding_lookup(2, ids, table, 2.0F, out);
  EXPECT_THAT(out, ElementsAre(3, -25, 5, 50, 3, -25));  // 2.5 -> 3
  embedding_lookup(2, ids, testing::Shifted(table).bytes(), 2.0F, out);
  EXPECT_THAT(out, ElementsAre(3, -25, 5, 50, 3, -25));
}

TEST(RowsTest, LawEmbeddingEqualsTheDefinition) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t columns = inputs.between(1, 33);
    const int64_t n_vocab = inputs.between(1, 7);
    const auto table = inputs.stored_rows(n_vocab, columns);
    const auto id = static_cast<int32_t>(inputs.between(0, n_vocab - 1));
    const float scale_out = inputs.scale();
    std::vector<int8_t> out(static_cast<size_t>(columns));
    embedding_lookup(columns, std::span(&id, 1), table, scale_out, out);
    const auto row = row_of(std::span<const std::byte>(table), id, columns + 2);
    const double factor = testing::half_at(row, out.size()) / double{scale_out};
    for (size_t i = 0; i < out.size(); ++i) {
      RC_ASSERT(out[i] == testing::requantize_by_definition(static_cast<int8_t>(row[i]), factor));
    }
  }));
}

TEST(RowsTest, EmbeddingRefusesAnIdOutsideTheTable) {
  const std::vector<std::byte> table(8);
  std::vector<int8_t> out(2);
  for (const int32_t id : {-1, 2}) {
    EXPECT_THROW(embedding_lookup(2, std::span(&id, 1), table, 1.0F, out), InternalError);
  }
}

TEST(RowsTest, SelectsRowsInTheOrderAsked) {
  const std::vector<int8_t> x{1, 2, 3, 4, 5, 6};
  std::vector<int8_t> out(6);
  select_rows(2, std::vector<int32_t>{2, 0, 2}, x, out);
  EXPECT_THAT(out, ElementsAre(5, 6, 1, 2, 5, 6));
  EXPECT_THROW(select_rows(2, std::vector<int32_t>{0, 1, 3}, x, out), InternalError);
}

TEST(RowsTest, AWrongShapeIsABug) {
  EXPECT_THROW(check_shape(6, {2, 4}, "shape"), InternalError);
  EXPECT_THROW(check_shape(6, {-2, -3}, "shape"), InternalError);
  EXPECT_NO_THROW(check_shape(6, {2, 3}, "shape"));
}

TEST(RowsTest, LooksUpFloats) {
  const std::vector<float> table{0.5F, -1.0F, 100.0F, -0.125F};
  std::vector<int8_t> out(4);
  // In steps of 0.25: 400 saturates, half a step goes away from zero.
  float_lookup(2, std::vector<int32_t>{1, 0}, std::as_bytes(std::span(table)), 0.25F, out);
  EXPECT_THAT(out, ElementsAre(127, -1, 2, -4));
  EXPECT_THROW(
      float_lookup(2, std::vector<int32_t>{2, 0}, std::as_bytes(std::span(table)), 0.25F, out),
      InternalError);
}

TEST(RowsTest, ABiasGoesToEveryRow) {
  const std::vector<float> bias{1.0F, -2.0F};
  std::vector<float> x{0.0F, 0.5F, 10.0F, 20.0F};
  add_to_rows(std::as_bytes(std::span(bias)), x);
  EXPECT_THAT(x, ElementsAre(1.0F, -1.5F, 11.0F, 18.0F));
  add_to_rows({}, x);
  EXPECT_THAT(x, ElementsAre(1.0F, -1.5F, 11.0F, 18.0F));
}

}  // namespace
}  // namespace tidemark

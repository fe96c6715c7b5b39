#include "sim/kernels/matmul/block_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "inputs.h"
#include "planner/base/check.h"
#include "sim/kernels/isa.h"
#include "sim/kernels/rows.h"
#include "stored_integer.h"

namespace tidemark {
namespace {

using testing::integer_at;

using ::testing::ElementsAre;

constexpr std::array kFormats{RowFormat::kInt8, RowFormat::kInt4, RowFormat::kQ8_0,
                              RowFormat::kQ4_0};

bool in_blocks(RowFormat format) {
  return format == RowFormat::kQ8_0 || format == RowFormat::kQ4_0;
}

struct Case {
  RowFormat format = RowFormat::kQ8_0;
  MatMulShape shape{};
  std::vector<int8_t> x{};
  std::vector<std::byte> weights{};
  size_t outputs() const { return static_cast<size_t>(shape.tokens * shape.rows); }
};

// Rows of any bytes but for their scales, which lie between 2^-8 and 1, of either sign in Q4_0.
std::vector<std::byte> random_rows(testing::Inputs& inputs, RowFormat format, int64_t rows,
                                   int64_t columns) {
  const auto bytes = static_cast<size_t>(row_format_bytes(format, columns));
  std::vector<std::byte> result;
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<std::byte> row;
    for (const int8_t value : inputs.values(static_cast<int64_t>(bytes))) {
      row.push_back(static_cast<std::byte>(value));
    }
    const size_t stride = format == RowFormat::kQ8_0 ? 34 : 18;
    for (size_t at = in_blocks(format) ? 0 : bytes - 2; at < bytes; at += stride) {
      const auto bits = inputs.between(7, 14) * 1024 + inputs.between(0, 1023);
      const bool negative = format == RowFormat::kQ4_0 && inputs.between(0, 1) == 1;
      store_u16(std::span(row).subspan(at, 2), 0,
                static_cast<uint16_t>(bits + (negative ? 0x8000 : 0)));
    }
    result.insert(result.end(), row.begin(), row.end());
  }
  return result;
}

Case random_case(testing::Inputs& inputs, RowFormat format) {
  Case result{.format = format};
  result.shape = {inputs.between(1, 6), inputs.between(1, 700), inputs.between(1, 20)};
  result.x = inputs.values(result.shape.tokens * result.shape.columns);
  result.weights = random_rows(inputs, format, result.shape.rows, result.shape.columns);
  return result;
}

// One output, before the scale of the input: the exact sum and the row's scale of int8 and int4; of
// the blocks the sum of floats in its stated order, and 1.
struct Sum {
  double sum = 0.0;
  double scale = 1.0;
};

Sum sum_by_definition(const Case& c, size_t t, size_t n) {
  const auto row_bytes = static_cast<size_t>(row_format_bytes(c.format, c.shape.columns));
  const auto row = std::span(c.weights).subspan(n * row_bytes, row_bytes);
  const auto columns = static_cast<size_t>(c.shape.columns);
  const size_t group = in_blocks(c.format) ? 32 : columns;
  std::array<float, 8> lanes{};
  int64_t dot = 0;
  for (size_t k = 0; k < columns; ++k) {
    dot += int64_t{c.x[t * columns + k]} * integer_at(c.format, row, k);
    if (in_blocks(c.format) && (k % group == group - 1 || k == columns - 1)) {
      const size_t b = k / group;
      const double d = testing::half_at(row, b * (c.format == RowFormat::kQ8_0 ? 34 : 18));
      const volatile float term = static_cast<float>(static_cast<double>(dot) * d);
      lanes.at(b % 8) = lanes.at(b % 8) + term;
      dot = 0;
    }
  }
  if (!in_blocks(c.format)) {
    return {static_cast<double>(dot), testing::half_at(row, row_bytes - 2)};
  }
  float sum = 0.0F;
  for (const float lane : lanes) sum += lane;
  return {sum, 1.0};
}

std::vector<float> floats(const Case& c, float scale_in) {
  std::vector<float> out(c.outputs());
  block_matmul_f32(c.format, c.shape, c.x, c.weights, scale_in, out);
  return out;
}

std::vector<int8_t> bytes(const Case& c, Scales scales) {
  std::vector<int8_t> out(c.outputs());
  block_matmul_s8(c.format, c.shape, c.x, c.weights, scales, out);
  return out;
}

// One row of Q8_0: of each block the scale's bits and its first value, the rest zeros.
Case row_of_blocks(std::initializer_list<std::pair<uint16_t, int>> blocks) {
  Case c{.format = RowFormat::kQ8_0, .shape = {1, std::ssize(blocks) * 32, 1}};
  for (const auto& [bits, value] : blocks) {
    std::array<std::byte, 34> block{};
    store_u16(block, 0, bits);
    block[2] = static_cast<std::byte>(value);
    c.weights.insert(c.weights.end(), block.begin(), block.end());
  }
  c.x.resize(static_cast<size_t>(c.shape.columns), 0);
  return c;
}

TEST(BlockWeightsTest, TwoBlocksByHand) {
  Case c = row_of_blocks({{0x3800, 10}, {0x4000, -1}});  // 0.5 and 2
  c.weights[3] = std::byte{20};
  c.x[0] = 1;
  c.x[1] = 2;
  c.x[32] = 3;
  // (10 + 40) x 0.5 + (-3) x 2 = 19; at s_in 0.5 that is 9.5; s_out 0.25: 38; s_out 0.05: 190.
  EXPECT_THAT(floats(c, 0.5F), ElementsAre(9.5F));
  EXPECT_THAT(bytes(c, {0.5F, 0.25F}), ElementsAre(38));
  EXPECT_THAT(bytes(c, {0.5F, 0.05F}), ElementsAre(127));
  EXPECT_THAT(bytes(c, {0.5F, 1.0F}), ElementsAre(10));  // the tie away from zero
}

TEST(BlockWeightsTest, Int4ByHand) {
  // Bytes D7 01: q = {7, -3, 1}; 7 x 10 - 3 x 20 + 1 x -128 = -118; scale 0.5, s_in 0.5: -29.5.
  const Case c{.format = RowFormat::kInt4,
               .shape = {1, 3, 1},
               .x = {10, 20, -128},
               .weights = {std::byte{0xD7}, std::byte{0x01}, std::byte{0}, std::byte{0x38}}};
  EXPECT_THAT(floats(c, 0.5F), ElementsAre(-29.5F));
  EXPECT_THAT(bytes(c, {0.5F, 1.0F}), ElementsAre(-30));
}

TEST(BlockWeightsTest, TheOrderOfSumsIsByLanes) {
  // Terms 2^24 in block 0 and 1 in blocks 1, 8 and 9. Lane 0: 2^24 + 1 stays 2^24; lane 1: 1 + 1 =
  // 2; together 2^24 + 2. One after the other, each 1 would be lost.
  // 0x7800 = 2^15, and 4 x 127 + 4 x 1 = 512 = 2^9.
  Case c = row_of_blocks({{0x7800, 4},
                          {0x3C00, 1},
                          {0, 0},
                          {0, 0},
                          {0, 0},
                          {0, 0},
                          {0, 0},
                          {0, 0},
                          {0x3C00, 1},
                          {0x3C00, 1}});
  c.weights[3] = std::byte{4};
  std::fill(c.x.begin(), c.x.end(), int8_t{1});
  c.x[0] = 127;
  for (const Isa isa : supported_isas()) {
    const IsaHold hold(isa);
    EXPECT_THAT(floats(c, 1.0F), ElementsAre(16'777'218.0F)) << isa_name(isa);
  }
}

TEST(BlockWeightsTest, LawEqualsTheDefinitionAtEveryLevel) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const auto format = kFormats.at(static_cast<size_t>(inputs.between(0, 3)));
    const Case c = random_case(inputs, format);
    const float scale_in = inputs.scale();
    const Scales scales{scale_in, inputs.scale() * 2000};
    std::vector<float> reference(c.outputs());
    block_matmul_f32_reference(format, c.shape, c.x, c.weights, scale_in, reference);
    for (const Isa isa : supported_isas()) {
      const IsaHold hold(isa);
      const auto real = floats(c, scale_in);
      const auto rounded = bytes(c, scales);
      RC_ASSERT(real == reference);
      for (size_t i = 0; i < real.size(); ++i) {
        const auto rows = static_cast<size_t>(c.shape.rows);
        const Sum sum = sum_by_definition(c, i / rows, i % rows);
        const double factor = double{scales.in} * sum.scale / double{scales.out};
        if (in_blocks(format)) {
          RC_ASSERT(real[i] == static_cast<float>(sum.sum) * scale_in);
          const float ratio = static_cast<float>(sum.sum) * static_cast<float>(factor);
          RC_ASSERT(rounded[i] == testing::round_and_clamp(ratio));
        } else {
          RC_ASSERT(real[i] == static_cast<float>(sum.sum * (double{scale_in} * sum.scale)));
          RC_ASSERT(rounded[i] ==
                    testing::requantize_by_definition(static_cast<int64_t>(sum.sum), factor));
        }
      }
    }
  }));
}

TEST(BlockWeightsTest, LargestSumsDoNotSaturate) {
  for (const Isa isa : supported_isas()) {
    const IsaHold hold(isa);
    for (const RowFormat format : kFormats) {
      // Every byte 0x80 or 0xFF, every x -128: the products 8-bit units would cut short.
      for (const int fill : {0x80, 0xFF, 0x00, 0x7F}) {
        const int64_t columns = 32 * 17 + 5;
        Case c{.format = format, .shape = {1, columns, 1}};
        c.x.assign(static_cast<size_t>(columns), int8_t{-128});
        c.weights.assign(static_cast<size_t>(row_format_bytes(format, columns)),
                         static_cast<std::byte>(fill));
        const size_t stride = format == RowFormat::kQ8_0 ? 34 : 18;
        const size_t first = in_blocks(format) ? 0 : c.weights.size() - 2;
        for (size_t at = first; at < c.weights.size(); at += stride) {
          store_u16(std::span(c.weights).subspan(at, 2), 0, 0x3C00);
        }
        EXPECT_EQ(floats(c, 1.0F).front(), sum_by_definition(c, 0, 0).sum)
            << isa_name(isa) << ' ' << fill;
      }
    }
  }
}

TEST(BlockWeightsTest, ScalesThatAreNotFiniteReadAsZero) {
  for (const Isa isa : supported_isas()) {
    const IsaHold hold(isa);
    for (const uint16_t bits : std::to_array<uint16_t>({0x7C00, 0xFC00, 0x7E00, 0xFFFF})) {
      Case c = row_of_blocks(
          {{bits, 5}, {0x3C00, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {bits, 7}, {bits, 9}});
      std::fill(c.x.begin(), c.x.end(), int8_t{3});
      EXPECT_THAT(floats(c, 1.0F), ElementsAre(3.0F)) << isa_name(isa);
    }
  }
}

TEST(BlockWeightsTest, LawThreadsChangeNothing) {
  testing::Inputs inputs(11);
  for (const RowFormat format : kFormats) {
    const int64_t tokens = inputs.between(2, 5);            // 4 and 5: int4 in tiles of 256 rows
    Case c{.format = format, .shape = {tokens, 100, 300}};  // several parts of 64 rows
    c.x = inputs.values(tokens * 100);
    c.weights = random_rows(inputs, format, 300, 100);
    std::vector<float> real(c.outputs());
    std::vector<int8_t> rounded(c.outputs());
    block_matmul_f32(format, c.shape, c.x, c.weights, 0.5F, real, {.threads = 3});
    block_matmul_s8(format, c.shape, c.x, c.weights, {0.5F, 99.0F}, rounded, {.threads = 3});
    EXPECT_EQ(real, floats(c, 0.5F));
    EXPECT_EQ(rounded, bytes(c, {0.5F, 99.0F}));
  }
}

// Tokens together and one by one, at every level: tiles of int4 and panels of the blocks.
void expect_tokens_change_nothing(testing::Inputs& inputs, const MatMulShape& shape) {
  for (const RowFormat format : kFormats) {
    Case c{.format = format, .shape = shape};
    c.x = inputs.values(shape.tokens * shape.columns);
    c.weights = random_rows(inputs, format, shape.rows, shape.columns);
    for (const Isa isa : supported_isas()) {
      const IsaHold hold(isa);
      const std::vector<float> together = floats(c, 0.5F);
      const std::vector<int8_t> rounded = bytes(c, {0.5F, 999.0F});
      for (int64_t t = 0; t < shape.tokens; ++t) {
        Case one{.format = format, .shape = shape, .weights = c.weights};
        one.shape.tokens = 1;
        const auto x = row_of(std::span(c.x), t, shape.columns);
        one.x.assign(x.begin(), x.end());
        EXPECT_TRUE(
            std::ranges::equal(floats(one, 0.5F), row_of(std::span(together), t, shape.rows)));
        EXPECT_TRUE(std::ranges::equal(bytes(one, {0.5F, 999.0F}),
                                       row_of(std::span(rounded), t, shape.rows)));
      }
    }
  }
}

TEST(BlockWeightsTest, LawTokensChangeNothing) {
  testing::Inputs inputs(5);
  expect_tokens_change_nothing(inputs, {7, 16'400, 35});  // 256 KiB hold less than sixteen rows
  for (int i = 0; i < 20; ++i) {
    expect_tokens_change_nothing(
        inputs, {inputs.between(15, 20), inputs.between(1, 700), inputs.between(1, 70)});
  }
}

TEST(BlockWeightsTest, WeightsMayBeginAnywhere) {
  testing::Inputs inputs(7);
  for (const RowFormat format : kFormats) {
    const Case c = random_case(inputs, format);
    const testing::Shifted shifted(c.weights);
    std::vector<float> out(c.outputs());
    block_matmul_f32(format, c.shape, c.x, shifted.bytes(), 1.0F, out);
    EXPECT_EQ(out, floats(c, 1.0F));
  }
}

TEST(BlockWeightsTest, WrongShapesAreABug) {
  std::vector<float> out(1);
  const std::vector<int8_t> x(32);
  const std::vector<std::byte> weights(17);
  EXPECT_THROW(block_matmul_f32(RowFormat::kQ4_0, {1, 32, 1}, x, weights, 1.0F, out),
               InternalError);
  EXPECT_THROW(block_matmul_f32(RowFormat::kQ4_0, {1, 131'072, 0}, {}, {}, 1.0F, {}),
               InternalError);
}

}  // namespace
}  // namespace tidemark

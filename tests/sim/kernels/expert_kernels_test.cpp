#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "inputs.h"
#include "sim/kernels/experts/expert_rows.h"
#include "sim/kernels/experts/float_rows.h"
#include "sim/kernels/experts/top_k.h"
#include "sim/kernels/isa.h"

namespace tidemark {
namespace {

using Ids = std::vector<int32_t>;
using Bytes8 = std::vector<int8_t>;

std::vector<std::byte> bytes_of(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Between -2 and 2; one in four of a size that saturates.
std::vector<float> any_floats(testing::Inputs& inputs, int64_t count) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    const auto size = static_cast<float>(inputs.between(-2000, 2000));
    values.push_back(inputs.between(0, 3) == 0 ? size : size / 1000.0F);
  }
  return values;
}

Ids any_experts(testing::Inputs& inputs, int64_t rows, int64_t experts) {
  Ids chosen;
  for (int64_t i = 0; i < rows; ++i) {
    chosen.push_back(static_cast<int32_t>(inputs.between(0, experts - 1)));
  }
  return chosen;
}

TEST(FloatRowsTest, ByHand) {
  // 4 x 0.5 - 2 x 1.25 = -0.5; x 0.5 / 0.125 = -2. Second row: 4 x 100 x 4 saturates.
  const Bytes8 x{4, -2};
  const auto weights = bytes_of({0.5F, 1.25F, 100.0F, 0.0F});
  Bytes8 out(2);
  float_matmul_s8({.tokens = 1, .columns = 2, .rows = 2}, x, weights, {.in = 0.5F, .out = 0.125F},
                  out);
  EXPECT_EQ(out, (Bytes8{-2, 127}));
}

// The definition: 16 lanes in order, then halves; plain floats, one at a time.
int float_product_by_definition(std::span<const int8_t> x, std::span<const float> w,
                                double factor) {
  volatile float lanes[16] = {};
  for (size_t k = 0; k < x.size(); ++k) {
    const volatile float product = static_cast<float>(x[k]) * w[k];
    lanes[k % 16] = lanes[k % 16] + product;
  }
  for (const size_t half : {8U, 4U, 2U, 1U}) {
    for (size_t i = 0; i < half; ++i) lanes[i] = lanes[i] + lanes[i + half];
  }
  return testing::round_and_clamp(static_cast<float>(double{lanes[0]} * factor));
}

TEST(FloatRowsTest, LawEqualsTheDefinitionAtEveryLevelAndAtAnyAddress) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const MatMulShape shape{.tokens = inputs.between(0, 9),
                            .columns = inputs.between(1, 70),
                            .rows = inputs.between(1, 5)};
    const auto x = inputs.values(shape.tokens * shape.columns);
    const auto w = any_floats(inputs, shape.rows * shape.columns);
    const Scales scales{inputs.scale(), inputs.scale()};
    const testing::Shifted stored(bytes_of(w));
    for (const Isa isa : supported_isas()) {
      const IsaHold hold(isa);
      Bytes8 out(static_cast<size_t>(shape.tokens * shape.rows));
      float_matmul_s8(shape, x, stored.bytes(), scales, out);
      for (int64_t t = 0; t < shape.tokens; ++t) {
        for (int64_t n = 0; n < shape.rows; ++n) {
          const auto columns = static_cast<size_t>(shape.columns);
          const auto row = std::span(x).subspan(static_cast<size_t>(t) * columns, columns);
          const auto matrix = std::span(w).subspan(static_cast<size_t>(n) * columns, columns);
          const int wanted =
              float_product_by_definition(row, matrix, double{scales.in} / double{scales.out});
          RC_ASSERT(int{out[static_cast<size_t>(t * shape.rows + n)]} == wanted);
        }
      }
    }
  }));
}

// Sums in double may differ from the floats' by a rounding, which moves an answer by one at most.
TEST(FloatRowsTest, LawIsNearTheExactSum) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t columns = inputs.between(1, 3000);
    const auto x = inputs.values(columns);
    const auto w = any_floats(inputs, columns);
    double sum = 0.0;
    double size = 0.0;
    for (size_t k = 0; k < x.size(); ++k) {
      sum += double{w[k]} * x[k];
      size += std::abs(double{w[k]} * x[k]);
    }
    const auto step = static_cast<float>(size / 100.0 + 1e-3);  // of the output
    Bytes8 out(1);
    float_matmul_s8({.tokens = 1, .columns = columns, .rows = 1}, x, bytes_of(w),
                    {.in = 1.0F, .out = step}, out);
    RC_ASSERT(std::abs(out[0] - sum / double{step}) < 0.51);
  }));
}

TEST(TopKTest, ByHand) {
  const Bytes8 probabilities{64 - 128, 32 - 128, 0 - 128, 160 - 128};
  Bytes8 weights(2);
  Ids chosen(2);
  top_k({.experts = 4, .used = 2}, probabilities, {}, weights, chosen);
  EXPECT_EQ(chosen, (Ids{3, 0}));
  EXPECT_EQ(weights, (Bytes8{55, -55}));
  // 32/256 + 1 = 1.125 comes before 160/256 = 0.625; 256 x 32/192 = 42.7, 256 x 160/192 = 213.3.
  top_k({.experts = 4, .used = 2}, probabilities, bytes_of({0, 1, 0, 0}), weights, chosen);
  EXPECT_EQ(chosen, (Ids{1, 3}));
  EXPECT_EQ(weights, (Bytes8{43 - 128, 213 - 128}));
}

TEST(TopKTest, OfEqualsTheLowerAndOfNothingEqualShares) {
  Bytes8 weights(3);
  Ids chosen(3);
  top_k({.experts = 5, .used = 3}, Bytes8{-128, -128, -128, -128, -128}, {}, weights, chosen);
  EXPECT_EQ(chosen, (Ids{0, 1, 2}));
  EXPECT_EQ(weights, (Bytes8{85 - 128, 85 - 128, 85 - 128}));  // 256 / 3 = 85.3
  const float nan = std::numeric_limits<float>::quiet_NaN();
  top_k({.experts = 5, .used = 3}, Bytes8{-128, -100, -100, -128, 0}, bytes_of({0, nan, 0, 0, nan}),
        weights, chosen);
  EXPECT_EQ(chosen, (Ids{2, 0, 3})) << "NaN comes last";
}

TEST(TopKTest, OneOfOneHasAllButAStep) {
  Bytes8 weights(2);
  Ids chosen(2);
  top_k({.experts = 1, .used = 1}, Bytes8{127, -128}, {}, weights, chosen);
  EXPECT_EQ(chosen, (Ids{0, 0}));
  EXPECT_EQ(weights, (Bytes8{127, 127})) << "255/256";
}

TEST(TopKTest, LawEqualsAStableSort) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t experts = inputs.between(1, 20);
    const int64_t used = inputs.between(1, experts);
    const int64_t tokens = inputs.between(0, 4);
    const auto probabilities = inputs.values(tokens * experts);
    std::vector<float> bias;
    if (inputs.between(0, 1) == 0) bias = any_floats(inputs, experts);
    Bytes8 weights(static_cast<size_t>(tokens * used));
    Ids chosen(weights.size());
    const testing::Shifted stored(bytes_of(bias));
    top_k({.experts = experts, .used = used}, probabilities, stored.bytes(), weights, chosen);
    for (int64_t t = 0; t < tokens; ++t) {
      const auto p = [&](int64_t e) {
        return probabilities[static_cast<size_t>(t * experts + e)] + 128;
      };
      std::vector<int64_t> order(static_cast<size_t>(experts));
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, std::greater(), [&](int64_t e) {
        return p(e) / 256.0 + (bias.empty() ? 0.0 : double{bias[static_cast<size_t>(e)]});
      });
      double sum = 0.0;
      for (int64_t u = 0; u < used; ++u) sum += p(order[static_cast<size_t>(u)]);
      for (int64_t u = 0; u < used; ++u) {
        const int64_t expert = order[static_cast<size_t>(u)];
        const auto at = static_cast<size_t>(t * used + u);
        RC_ASSERT(int64_t{chosen[at]} == expert);
        const double share = sum == 0.0 ? 1.0 / static_cast<double>(used) : p(expert) / sum;
        RC_ASSERT(weights[at] == std::min(127.0, std::floor(256.0 * share + 0.5) - 128.0));
      }
    }
  }));
}

TEST(ExpertRowsTest, ByHand) {
  Bytes8 weighted(2);
  weigh_rows(Bytes8{10, -4}, Bytes8{64}, {.a = 0.5F, .b = 1.0F / 256.0F, .out = 0.25F}, weighted);
  EXPECT_EQ(weighted, (Bytes8{15, -6}));
  Bytes8 sums(2);
  sum_rows(2, 2, Bytes8{15, -6, 5, 2}, {.in = 0.25F, .out = 0.5F}, sums);
  EXPECT_EQ(sums, (Bytes8{10, -2}));
  // Expert 1's bias {1, -0.5} at steps of 0.5 is {2, -1}; expert 0's {0, 100} saturates.
  Bytes8 biased(4);
  add_expert_bias(2, Ids{1, 0}, Bytes8{3, 3, 3, 3}, bytes_of({0, 100, 1, -0.5F}),
                  {.in = 0.5F, .out = 0.5F}, biased);
  EXPECT_EQ(biased, (Bytes8{5, 2, 3, 127}));
}

TEST(ExpertRowsTest, ProductsByHand) {
  // Two experts of one row {1, 2} and {3, -1} at scale 1; token {10, 20} meets 1 and 0.
  const std::vector<std::byte> weights{std::byte{1},    std::byte{2},   std::byte{0},
                                       std::byte{0x3C}, std::byte{3},   std::byte{0xFF},
                                       std::byte{0},    std::byte{0x3C}};
  const ExpertShape shape{.experts = 2, .used = 2, .columns = 2, .rows = 1};
  Bytes8 out(2);
  expert_matmul_s8(shape, Ids{1, 0}, Bytes8{10, 20}, weights, {}, out);
  EXPECT_EQ(out, (Bytes8{10, 50}));  // 30 - 20; 10 + 40
  expert_matmul_s8(shape, Ids{1, 0}, Bytes8{1, 1, 2, 2}, weights, {}, out);
  EXPECT_EQ(out, (Bytes8{2, 6})) << "a row of x for each";
}

// Row by row with 64-bit sums, whatever was gathered: also rows too wide to be gathered.
void expect_products(testing::Inputs& inputs, const ExpertShape& shape, int64_t tokens) {
  const bool one_each = inputs.between(0, 1) == 0;
  const Ids chosen = any_experts(inputs, tokens * shape.used, shape.experts);
  const int64_t rows = std::ssize(chosen);
  const auto x = inputs.values((one_each ? rows : tokens) * shape.columns);
  const auto weights = inputs.stored_rows(shape.experts * shape.rows, shape.columns);
  const Scales scales{inputs.scale(), inputs.scale()};
  Bytes8 out(static_cast<size_t>(rows * shape.rows));
  expert_matmul_s8(shape, chosen, x, weights, scales, out);
  const auto columns = static_cast<size_t>(shape.columns);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t m = 0; m < shape.rows; ++m) {
      const auto row = static_cast<size_t>(chosen[static_cast<size_t>(r)] * shape.rows + m);
      const auto from = static_cast<size_t>(one_each ? r : r / shape.used) * columns;
      int64_t sum = 0;
      for (size_t k = 0; k < columns; ++k) {
        sum += x[from + k] * std::to_integer<int8_t>(weights[row * (columns + 2) + k]);
      }
      const double scale = testing::half_at(weights, row * (columns + 2) + columns);
      const int wanted =
          testing::requantize_by_definition(sum, double{scales.in} * scale / double{scales.out});
      RC_ASSERT(int{out[static_cast<size_t>(r * shape.rows + m)]} == wanted);
    }
  }
}

TEST(ExpertRowsTest, LawProductsEqualPlainLoops) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const ExpertShape shape{.experts = inputs.between(1, 5),
                            .used = inputs.between(1, 3),
                            .columns = inputs.between(1, 40),
                            .rows = inputs.between(1, 20)};
    expect_products(inputs, shape, inputs.between(0, 60));
  }));
}

TEST(ExpertRowsTest, RowsOfAnyWidthAreGathered) {
  // 64 KiB hold 2 rows of 32,768, 1 of 32,769 or 65,537, and 32 of 2,048.
  for (const int64_t columns : {2048, 32'768, 32'769, 65'537}) {
    testing::Inputs inputs(static_cast<uint64_t>(columns));
    expect_products(inputs, {.experts = 2, .used = 2, .columns = columns, .rows = 3}, 5);
    expect_products(inputs, {.experts = 2, .used = 1, .columns = 3, .rows = columns}, 5);
  }
}

TEST(ExpertRowsTest, LawRowsEqualPlainLoops) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t used = inputs.between(1, 9);
    const int64_t width =
        inputs.between(0, 3) == 0 ? inputs.between(250, 600) : inputs.between(1, 30);
    const int64_t tokens = inputs.between(1, 3);
    const int64_t rows = tokens * used;
    const auto x = inputs.values(rows * width);
    const auto w = inputs.values(rows);
    const BinaryScales scales{inputs.scale(), inputs.scale(), inputs.scale()};
    Bytes8 weighted(x);
    weigh_rows(weighted, w, scales, weighted);
    const double factor = double{scales.a} * double{scales.b} / double{scales.out};
    for (size_t i = 0; i < x.size(); ++i) {
      const int64_t product = x[i] * (w[i / static_cast<size_t>(width)] + 128);
      RC_ASSERT(int{weighted[i]} == testing::requantize_by_definition(product, factor));
    }
    Bytes8 sums(static_cast<size_t>(tokens * width));
    sum_rows(used, width, x, {scales.a, scales.out}, sums);
    for (int64_t i = 0; i < std::ssize(sums); ++i) {
      int64_t sum = 0;
      for (int64_t u = 0; u < used; ++u) {
        sum += x[static_cast<size_t>((i / width * used + u) * width + i % width)];
      }
      const int wanted =
          testing::requantize_by_definition(sum, double{scales.a} / double{scales.out});
      RC_ASSERT(int{sums[static_cast<size_t>(i)]} == wanted);
    }
  }));
}

TEST(ExpertRowsTest, LawABiasIsThatOfTheRowsExpert) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t experts = inputs.between(1, 4);
    const int64_t width = inputs.between(1, 9);
    const Ids chosen = any_experts(inputs, inputs.between(0, 6), experts);
    const auto x = inputs.values(std::ssize(chosen) * width);
    const auto biases = any_floats(inputs, experts * width);
    const Scales scales{inputs.scale(), inputs.scale()};
    const testing::Shifted stored(bytes_of(biases));
    Bytes8 out(x);
    add_expert_bias(experts, chosen, out, stored.bytes(), scales, out);
    for (int64_t i = 0; i < std::ssize(x); ++i) {
      const int64_t expert = chosen[static_cast<size_t>(i / width)];
      const double real = x[static_cast<size_t>(i)] * double{scales.in} +
                          double{biases[static_cast<size_t>(expert * width + i % width)]};
      const double steps = std::clamp(real / double{scales.out}, -128.0, 127.0);
      RC_ASSERT(std::abs(out[static_cast<size_t>(i)] - steps) < 0.501);
    }
  }));
}

}  // namespace
}  // namespace tidemark

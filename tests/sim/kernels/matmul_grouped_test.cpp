#include "sim/kernels/matmul/matmul_grouped.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "inputs.h"
#include "planner/base/check.h"
#include "sim/kernels/isa.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;

std::vector<std::byte> bytes_of(const std::vector<int8_t>& values) {
  std::vector<std::byte> bytes;
  for (const int8_t value : values) bytes.push_back(std::byte(value));
  return bytes;
}

struct Case {
  int64_t tokens = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t group = 1;
  std::vector<int8_t> x{};
  std::vector<std::byte> weights{};
  std::vector<float> scales{};

  int64_t groups() const { return (columns + group - 1) / group; }
};

Case drawn(testing::Inputs& inputs) {
  Case c{.tokens = inputs.between(1, 9),
         .rows = inputs.between(1, 40),
         .columns = inputs.between(1, 200),
         .group = inputs.between(1, 70)};
  c.x = inputs.values(c.tokens * c.columns);
  c.weights = bytes_of(inputs.values(c.rows * c.columns));
  for (int64_t i = 0; i < c.rows * c.groups(); ++i) c.scales.push_back(inputs.scale());
  return c;
}

std::vector<float> product(const Case& c, float scale_in, int threads = 1) {
  std::vector<float> out(static_cast<size_t>(c.tokens * c.rows), -1.0F);
  matmul_grouped(c.tokens, c.x,
                 {.bytes = c.weights, .rows = c.rows, .columns = c.columns, .stride = c.columns},
                 {.values = c.scales, .group = c.group}, scale_in, out, {.threads = threads});
  return out;
}

// The definition, a column at a time in 64-bit integers.
std::vector<float> by_definition(const Case& c, float scale_in) {
  std::vector<float> out;
  for (int64_t t = 0; t < c.tokens; ++t) {
    for (int64_t n = 0; n < c.rows; ++n) {
      float sum = 0.0F;
      for (int64_t j = 0; j < c.groups(); ++j) {
        int64_t acc = 0;
        for (int64_t k = j * c.group; k < std::min((j + 1) * c.group, c.columns); ++k) {
          acc += int64_t{c.x[static_cast<size_t>(t * c.columns + k)]} *
                 static_cast<int8_t>(c.weights[static_cast<size_t>(n * c.columns + k)]);
        }
        const float term =
            static_cast<float>(acc) * c.scales[static_cast<size_t>(n * c.groups() + j)];
        sum += term;
      }
      out.push_back(sum * scale_in);
    }
  }
  return out;
}

TEST(MatMulGroupedTest, ByHand) {
  const Case c{.tokens = 1,
               .rows = 1,
               .columns = 3,
               .group = 2,
               .x = {1, 2, 3},
               .weights = bytes_of({10, 20, 30}),
               .scales = {0.5F, 2.0F}};
  EXPECT_THAT(product(c, 1.0F), ElementsAre(205.0F));
  EXPECT_THAT(product(c, 0.5F), ElementsAre(102.5F));
}

TEST(MatMulGroupedTest, OneGroupIsAProductByRow) {
  const Case c{.tokens = 2,
               .rows = 2,
               .columns = 2,
               .group = 100,
               .x = {1, -2, 3, 4},
               .weights = bytes_of({5, 6, -128, 127}),
               .scales = {1.0F, 0.25F}};
  // 5 - 12, (-128 - 254) / 4; 15 + 24, (-384 + 508) / 4
  EXPECT_THAT(product(c, 1.0F), ElementsAre(-7.0F, -95.5F, 39.0F, 31.0F));
}

TEST(MatMulGroupedTest, LawEveryLevelAndThreadCountFollowsTheDefinition) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const Case c = drawn(inputs);
    const float scale_in = inputs.scale();
    const std::vector<float> expected = by_definition(c, scale_in);
    for (const Isa isa : supported_isas()) {
      const IsaHold hold(isa);
      RC_ASSERT(product(c, scale_in) == expected);
      RC_ASSERT(product(c, scale_in, 3) == expected);
    }
  }));
}

TEST(MatMulGroupedTest, OperandsThatDoNotFitAreABug) {
  Case c{.tokens = 1,
         .rows = 1,
         .columns = 3,
         .group = 2,
         .x = {1, 2, 3},
         .weights = bytes_of({10, 20, 30}),
         .scales = {0.5F}};
  EXPECT_THROW(product(c, 1.0F), InternalError);
  c.group = 0;
  EXPECT_THROW(matmul_grouped(1, c.x, {}, {.values = c.scales, .group = 0}, 1.0F, {}),
               InternalError);
}

}  // namespace
}  // namespace tidemark

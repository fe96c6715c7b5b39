#include "sim/kernels/matmul/gemm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <memory>
#include <mutex>

#include "inputs.h"
#include "planner/base/check.h"
#include "sim/kernels/isa.h"
#include "sim/kernels/matmul/matmul_reference.h"
#include "sim/kernels/requantize_rows.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;

// Values drawn from [low, high]; one in four at an end of it.
struct Range {
  int64_t low = -128;
  int64_t high = 127;
};

std::vector<int8_t> draw(testing::Inputs& inputs, int64_t count, Range range) {
  std::vector<int8_t> result;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t kind = inputs.between(0, 7);
    const int64_t value = kind == 0   ? range.low
                          : kind == 1 ? range.high
                                      : inputs.between(range.low, range.high);
    result.push_back(static_cast<int8_t>(value));
  }
  return result;
}

// Weights in a buffer of exactly their length on the heap, so that a read past the end is found by
// the sanitizer's red zone; between the rows lies what must not count.
struct Case {
  int64_t tokens = 0;
  int64_t columns = 0;
  int64_t rows = 0;
  int64_t stride = 0;
  std::vector<int8_t> x{};
  std::vector<std::byte> bytes{};

  WeightRows weights() const { return {bytes, rows, columns, stride}; }
  size_t outputs() const { return static_cast<size_t>(tokens * rows); }
};

Case make_case(testing::Inputs& inputs, int64_t tokens, int64_t columns, int64_t rows,
               int64_t stride, Range of_x, Range of_w) {
  Case c{tokens, columns, rows, stride};
  c.x = draw(inputs, tokens * columns, of_x);
  const int64_t length = rows == 0 ? 0 : (rows - 1) * stride + columns;
  for (const int8_t value : draw(inputs, length, {})) c.bytes.push_back(std::byte(value));
  for (int64_t n = 0; n < rows; ++n) {
    const auto row = draw(inputs, columns, of_w);
    for (int64_t k = 0; k < columns; ++k) {
      c.bytes[static_cast<size_t>(n * stride + k)] = std::byte(row[static_cast<size_t>(k)]);
    }
  }
  return c;
}

// Sizes around whole tiles of every kernel: 4, 6, 16, 32 tokens; 16, 64 columns; 2, 8, 32 rows.
Case random_case(testing::Inputs& inputs) {
  const Range ranges[] = {{}, {-63, 63}, {-128, -1}, {0, 127}, {-8, 7}, {-90, 37}, {5, 5}, {0, 0}};
  const auto range = [&] { return ranges[inputs.between(0, 7)]; };
  const int64_t columns =
      inputs.between(0, 3) == 0 ? inputs.between(0, 5) * 64 : inputs.between(0, 400);
  return make_case(inputs, inputs.between(0, 3) == 0 ? inputs.between(0, 70) : inputs.between(0, 9),
                   columns, inputs.between(0, 70), columns + inputs.between(0, 3), range(),
                   range());
}

// The definition in 64 bits.
std::vector<int32_t> by_definition(const Case& c) {
  std::vector<int32_t> result;
  for (int64_t t = 0; t < c.tokens; ++t) {
    for (int64_t n = 0; n < c.rows; ++n) {
      int64_t sum = 0;
      for (int64_t k = 0; k < c.columns; ++k) {
        sum += int64_t{c.x[static_cast<size_t>(t * c.columns + k)]} *
               static_cast<int8_t>(c.bytes[static_cast<size_t>(n * c.stride + k)]);
      }
      result.push_back(static_cast<int32_t>(sum));
    }
  }
  return result;
}

std::vector<int32_t> product(const Case& c, int threads = 1) {
  std::vector<int32_t> out(c.outputs(), -1);
  gemm_s32(c.tokens, c.x, c.weights(), out, {.threads = threads});
  return out;
}

std::vector<int32_t> packed_product(const Case& c, int threads = 1) {
  std::vector<int32_t> out(c.outputs(), -1);
  gemm_s32(c.tokens, c.x, PackedWeights(c.weights()), out, {.threads = threads});
  return out;
}

std::vector<int32_t> product_by_blocks(const Case& c, int threads = 1) {
  std::vector<int32_t> out(c.outputs(), -1);
  std::mutex mutex;
  const auto take = [&](const SumsBlock& block) {
    const std::scoped_lock lock(mutex);
    for (int64_t t = 0; t < block.tokens; ++t) {
      for (int64_t n = 0; n < block.rows; ++n) {
        out[static_cast<size_t>((block.first_token + t) * c.rows + block.first_row + n)] =
            block.sums[t * block.stride + n];
      }
    }
  };
  gemm_blocks(c.tokens, c.x, c.weights(), take, {.threads = threads});
  return out;
}

// Bytes that end where memory that may not be touched begins: reading one more ends the program,
// whatever instruction reads it.
class BeforeAWall {
 public:
  explicit BeforeAWall(std::span<const std::byte> bytes) : size_(bytes.size()) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    open_ = (size_ / page + 1) * page;
    begin_ =
        mmap(nullptr, open_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(begin_ != MAP_FAILED && mprotect(end(), page, PROT_NONE) == 0, "a wall stands");
    whole_ = open_ + page;
    std::ranges::copy(bytes, end() - size_);
  }
  ~BeforeAWall() { munmap(begin_, whole_); }
  BeforeAWall(const BeforeAWall&) = delete;
  BeforeAWall& operator=(const BeforeAWall&) = delete;

  std::span<const std::byte> bytes() const { return {end() - size_, size_}; }

 private:
  std::byte* end() const { return static_cast<std::byte*>(begin_) + open_; }

  size_t size_ = 0;
  size_t open_ = 0;
  size_t whole_ = 0;
  void* begin_ = nullptr;
};

class GemmTest : public ::testing::TestWithParam<Isa> {
 protected:
  IsaHold hold_{GetParam()};
};

std::string test_name(const ::testing::TestParamInfo<Isa>& info) {
  std::string name{isa_name(info.param)};
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(EveryLevel, GemmTest, ::testing::ValuesIn(supported_isas()), test_name);

TEST_P(GemmTest, ByHand) {
  const std::vector<std::byte> bytes{std::byte{3}, std::byte{4}, std::byte{99}, std::byte{5},
                                     std::byte{6}};
  const WeightRows weights{bytes, 2, 2, 3};
  const std::vector<int8_t> x{1, -2};
  std::vector<int32_t> out(2);
  gemm_s32(1, x, weights, out);
  EXPECT_THAT(out, ElementsAre(-5, -7));  // 3 - 8, 5 - 12; the 99 lies between the rows
  gemm_s32(1, x, PackedWeights(weights), out);
  EXPECT_THAT(out, ElementsAre(-5, -7));
}

TEST_P(GemmTest, TheMostNegativeBytesEverywhere) {
  testing::Inputs inputs(1);
  // 100 x 128 x 128; a 16-bit sum of two such products would saturate.
  for (const int64_t tokens : {1, 5, 20}) {
    const Case c = make_case(inputs, tokens, 100, 40, 102, {-128, -128}, {-128, -128});
    const std::vector<int32_t> expected(c.outputs(), 1'638'400);
    EXPECT_EQ(product(c), expected);
    EXPECT_EQ(packed_product(c), expected);
  }
}

TEST_P(GemmTest, TheLongestRowOfTheMostNegativeBytes) {
  testing::Inputs inputs(1);
  for (const int64_t tokens : {1, 4}) {
    const Case c =
        make_case(inputs, tokens, kMaxReduced, 2, kMaxReduced, {-128, -128}, {-128, -128});
    const std::vector<int32_t> expected(c.outputs(), 2'147'467'264);  // 131,071 x 2^14
    EXPECT_EQ(product(c), expected);
    EXPECT_EQ(packed_product(c), expected);
    EXPECT_EQ(gemm_dot(std::span(c.x).first(static_cast<size_t>(kMaxReduced)),
                       std::span(c.x).first(static_cast<size_t>(kMaxReduced))),
              2'147'467'264);
  }
}

// Each range of values at the edge of what one, two or no sum of 8-bit products holds in 16 bits.
TEST_P(GemmTest, RangesAtTheEdgeOfSaturation) {
  struct Row {
    int64_t most_x = 0;
    int64_t most_w = 0;
  };
  // 2 x 128 x 127 = 32,512; 2 x 129 x 127 = 32,766; 2 x 128 x 128 = 32,768; halves for pairs.
  for (const Row row : {Row{127, 128}, Row{129, 127}, Row{128, 128}, Row{255, 64}, Row{255, 65},
                        Row{64, 128}, Row{129, 63}, Row{130, 63}, Row{131, 63}, Row{63, 128}}) {
    testing::Inputs inputs(static_cast<uint64_t>(row.most_x));
    const Range of_x{-128, row.most_x - 128};
    for (const Range of_w : {Range{-row.most_w, -row.most_w}, Range{-row.most_w, row.most_w / 2}}) {
      const Case c = make_case(inputs, 9, 130, 5, 130, of_x, of_w);
      EXPECT_EQ(packed_product(c), by_definition(c)) << row.most_x << " " << row.most_w;
    }
  }
}

TEST_P(GemmTest, LawEveryWayEqualsTheDefinition) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const Case c = random_case(inputs);
    const std::vector<int32_t> expected = by_definition(c);
    RC_ASSERT(product(c) == expected);
    RC_ASSERT(packed_product(c) == expected);
    RC_ASSERT(product_by_blocks(c) == expected);
  }));
}

TEST_P(GemmTest, LawNothingPastTheEndIsRead) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const Case c = random_case(inputs);
    const BeforeAWall weights(c.bytes);
    const BeforeAWall x(std::as_bytes(std::span(c.x)));
    const std::span values(reinterpret_cast<const int8_t*>(x.bytes().data()), c.x.size());
    std::vector<int32_t> out(c.outputs());
    gemm_s32(c.tokens, values, {weights.bytes(), c.rows, c.columns, c.stride}, out);
    RC_ASSERT(out == by_definition(c));
  }));
}

TEST_P(GemmTest, LawStoredRowsEqualEigens) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const MatMulShape shape{inputs.between(1, 40), inputs.between(1, 300), inputs.between(1, 50)};
    const auto x = inputs.values(shape.tokens * shape.columns);
    const auto weights = inputs.stored_rows(shape.rows, shape.columns);
    std::vector<int32_t> expected(static_cast<size_t>(shape.tokens * shape.rows));
    matmul_s32_reference(shape, x, weights, expected);
    std::vector<int32_t> out(expected.size());
    matmul_s32(shape, x, weights, out);
    RC_ASSERT(out == expected);
  }));
}

// Factors of every size, sums that meet ties, saturate or are nothing.
TEST_P(GemmTest, LawManyRequantizedEqualOneByOne) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t bits = inputs.between(1, 31);
    std::vector<int32_t> sums;
    std::vector<QuantizedMultiplier> factors;
    for (int64_t i = inputs.between(0, 40); i > 0; --i) {
      const int64_t most = (int64_t{1} << bits) - 1;
      const bool extreme = inputs.between(0, 5) == 0;
      sums.push_back(static_cast<int32_t>(extreme ? -most - 1 : inputs.between(-most, most)));
      factors.push_back(quantize_multiplier(
          std::ldexp(static_cast<double>(inputs.between(0, 9)), static_cast<int>(-bits))));
      if (inputs.between(0, 3) == 0) {
        factors.back() = quantize_multiplier(
            std::ldexp(inputs.scale(), static_cast<int>(inputs.between(-36, 32))));
      }
    }
    std::vector<int8_t> out(sums.size());
    requantize_each(sums, factors, out);
    for (size_t i = 0; i < sums.size(); ++i) {
      RC_ASSERT(int{out[i]} == int{requantize(sums[i], factors[i])});
    }
  }));
}

TEST_P(GemmTest, LawInt8AndFloatOutputsAreTheSumsTimesTheScales) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const MatMulShape shape{inputs.between(1, 20), inputs.between(1, 200), inputs.between(1, 50)};
    const auto x = inputs.values(shape.tokens * shape.columns);
    const auto weights = inputs.stored_rows(shape.rows, shape.columns);
    const Scales scales{.in = inputs.scale(), .out = inputs.scale() * 50};
    const auto count = static_cast<size_t>(shape.tokens * shape.rows);
    std::vector<int32_t> sums(count);
    std::vector<int8_t> bytes(count);
    std::vector<float> floats(count);
    matmul_s32_reference(shape, x, weights, sums);
    matmul_s8(shape, x, weights, scales, bytes);
    matmul_f32(shape, x, weights, scales.in, floats);
    std::vector<int8_t> by_three(count);
    matmul_s8(shape, x, weights, scales, by_three, {.threads = 3});
    RC_ASSERT(by_three == bytes);
    for (size_t i = 0; i < count; ++i) {
      const auto n = static_cast<int64_t>(i) % shape.rows;
      const auto place = static_cast<size_t>(n * (shape.columns + 2) + shape.columns);
      const double factor = scales.in * testing::half_at(weights, place);
      RC_ASSERT(int{bytes[i]} ==
                testing::requantize_by_definition(sums[i], factor / double{scales.out}));
      RC_ASSERT(floats[i] == static_cast<float>(sums[i] * factor));
    }
  }));
}

TEST_P(GemmTest, LawDotEqualsTheDefinition) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t length = inputs.between(0, 300);
    const auto a = inputs.values(length);
    const auto b = inputs.values(length);
    int64_t sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += int64_t{a[i]} * b[i];
    RC_ASSERT(int64_t{gemm_dot(a, b)} == sum);
  }));
}

// Several blocks of rows and of tokens: 512 KiB and 1 MiB of K a block.
TEST_P(GemmTest, BlocksMeetWithoutASeam) {
  testing::Inputs inputs(7);
  const Case many_rows = make_case(inputs, 2, 8'191, 150, 8'193, {}, {});
  EXPECT_EQ(product(many_rows), by_definition(many_rows));
  EXPECT_EQ(packed_product(many_rows), by_definition(many_rows));
  const Case many_tokens = make_case(inputs, 70, 30'000, 3, 30'002, {}, {});
  EXPECT_EQ(product(many_tokens), by_definition(many_tokens));
  EXPECT_EQ(packed_product(many_tokens), by_definition(many_tokens));
  EXPECT_EQ(product_by_blocks(many_tokens), by_definition(many_tokens));
}

TEST_P(GemmTest, TheNumberOfThreadsChangesNothing) {
  testing::Inputs inputs(3);
  for (const int64_t tokens : {1, 33}) {
    const Case c = make_case(inputs, tokens, 257, 400, 259, {}, {});
    const std::vector<int32_t> expected = by_definition(c);
    for (const int threads : {1, 2, 3, 7}) {
      EXPECT_EQ(product(c, threads), expected) << threads;
      EXPECT_EQ(packed_product(c, threads), expected) << threads;
      EXPECT_EQ(product_by_blocks(c, threads), expected) << threads;
    }
  }
}

TEST(GemmShapeTest, WhatDoesNotFitIsABug) {
  const std::vector<std::byte> bytes(10);
  const std::vector<int8_t> x(4);
  std::vector<int32_t> out(2);
  const auto run = [&](const WeightRows& weights, int threads = 1) {
    gemm_s32(1, x, weights, out, {.threads = threads});
  };
  EXPECT_NO_THROW(run({bytes, 2, 4, 6}));                 // 6 + 4 bytes
  EXPECT_THROW(run({bytes, 2, 4, 7}), InternalError);     // 7 + 4
  EXPECT_THROW(run({bytes, 2, 4, 3}), InternalError);     // rows overlap
  EXPECT_THROW(run({bytes, 3, 4, 6}), InternalError);     // 12 + 4
  EXPECT_THROW(run({bytes, 2, 5, 5}), InternalError);     // x has 4 columns
  EXPECT_THROW(run({bytes, 2, 4, 6}, 0), InternalError);  // nobody to do it
  EXPECT_THROW(run({bytes, -1, 4, 6}), InternalError);
  EXPECT_THROW(run({bytes, INT64_MAX, 4, INT64_MAX}), InternalError);
}

TEST(PackedWeightsTest, TilesByHand) {
  // Two rows of 65: the second block of columns is one value and zeros.
  std::vector<std::byte> bytes(130, std::byte{1});
  bytes[64] = std::byte{7};     // row 0, column 64
  bytes[65] = std::byte{0xF0};  // row 1, column 0: -16
  const PackedWeights packed({bytes, 2, 65, 65});
  EXPECT_EQ(packed.padded_columns(), 128);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(packed.tiles()) % 64, 0U);
  const std::span tiles(packed.tiles(), 32 * 128);
  EXPECT_EQ(tiles[0], 1);
  EXPECT_EQ(tiles[64], -16);    // row 1 of the tile
  EXPECT_EQ(tiles[2 * 64], 0);  // no row 2
  EXPECT_EQ(tiles[1024], 7);    // the next tile
  EXPECT_EQ(tiles[1024 + 1], 0);
  EXPECT_EQ(tiles[1024 + 64], 1);
  EXPECT_THAT(packed.row_sums(), ElementsAre(71, 48));  // 64 + 7; 64 - 16
  EXPECT_EQ(packed.largest(), 16);
}

TEST(PackedWeightsTest, ACopyIsOnACacheLineToo) {
  const std::vector<std::byte> bytes(5, std::byte{2});
  const auto first = std::make_unique<PackedWeights>(WeightRows{bytes, 1, 5, 5});
  const PackedWeights second = *first;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(second.tiles()) % 64, 0U);
  EXPECT_EQ(second.tiles()[4], 2);
  EXPECT_EQ(second.tiles()[5], 0);
}

}  // namespace
}  // namespace tidemark

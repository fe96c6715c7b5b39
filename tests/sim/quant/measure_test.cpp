#include "sim/quant/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "plain.h"
#include "sim/kernels/matmul/block_rows.h"

namespace tidemark {
namespace {

// A matrix in memory.
RowSource source_of(const std::vector<float>& values, int64_t columns) {
  return {.rows = std::ssize(values) / columns,
          .columns = columns,
          .read = [&values, columns](int64_t first, std::span<float> into) {
            std::copy_n(values.begin() + first * columns, into.size(), into.begin());
            return std::nullopt;
          }};
}

ErrorSums errors_of(const std::vector<float>& values, int64_t columns, DType dtype,
                    RangeRule rule = {}) {
  const std::vector<QuantScheme> schemes{*quant_scheme(dtype)};
  const Measurement result = measure(source_of(values, columns), schemes, {.rule = rule});
  return result.errors.at(0);
}

DType dtype_of(int bits, bool asymmetric, Granularity granularity, int64_t group = 0) {
  return *integer_dtype({.bits = bits, .asymmetric = asymmetric}, granularity, group);
}

// {127, -50, 3.4, 0} in int8: scale 1, so 0.4 is lost at 3.4: noise 0.16 of a signal of 18,640.56.
// 10 log10(116,503.5) = 50.66 dB.
TEST(MeasureTest, ByHand) {
  const ErrorSums sums = errors_of({127.0F, -50.0F, 3.4F, 0.0F}, 4, DType::kInt8);
  EXPECT_NEAR(sums.noise, 0.16, 1e-6);
  EXPECT_NEAR(sums.largest, 0.4, 1e-6);
  EXPECT_NEAR(sqnr_db(sums), 50.66, 0.005);
}

// Two rows whose sizes differ by a hundred: one scale for both leaves nothing of the small one, in
// steps of 100 / 7 = 14.3; a scale for each leaves all of it, as 7 is 7 steps of 1.
TEST(MeasureTest, AScaleOfItsOwnSavesASmallRow) {
  const std::vector<float> values{100.0F, -100.0F, 7.0F, 1.0F};
  const ErrorSums whole = errors_of(values, 2, DType::kInt4Tensor);
  EXPECT_NEAR(whole.largest, 7.0, 0.01);
  const ErrorSums rows = errors_of(values, 2, DType::kInt4);
  EXPECT_LT(rows.largest, 0.03);  // 100 is 7 x 14.2891
}

TEST(MeasureTest, ZerosAndConstantsAreExact) {
  for (const std::string& name : measurable_formats()) {
    const DType dtype = *parse_dtype(name);
    const ErrorSums zeros = errors_of(std::vector<float>(64, 0.0F), 32, dtype);
    EXPECT_TRUE(std::isinf(sqnr_db(zeros))) << name;
    EXPECT_EQ(cosine(zeros), std::nullopt) << name;
    // 8 is a power of two: every scale here keeps it but for the fp16 rounding of 8 / 127 and the
    // like, which is below 2^-11 of it.
    const ErrorSums same = errors_of(std::vector<float>(64, 8.0F), 32, dtype);
    EXPECT_LE(same.largest, 8.0 / 2048) << name;
  }
}

// Below half of 2^-24, the smallest fp16, a scale is zero and so is every value.
TEST(MeasureTest, SubnormalsAreLostAndDoNoHarm) {
  const std::vector<float> values(64, 1e-40F);
  for (const std::string& name : measurable_formats()) {
    const ErrorSums sums = errors_of(values, 32, *parse_dtype(name));
    if (name == "bf16") continue;  // which has subnormals as small
    EXPECT_EQ(sqnr_db(sums), 0.0) << name;
    EXPECT_EQ(sums.restored, 0.0) << name;
  }
}

TEST(MeasureTest, HugeValuesSaturateAndStayFinite) {
  const std::vector<float> values{3e38F, -3e38F, 1.0F, 3.4028235e38F};
  std::vector<float> row;
  for (int i = 0; i < 8; ++i) row.insert(row.end(), values.begin(), values.end());
  for (const std::string& name : measurable_formats()) {
    for (const RangeKind kind : {RangeKind::kMinMax, RangeKind::kPercentile, RangeKind::kMse}) {
      const ErrorSums sums = errors_of(row, 32, *parse_dtype(name), {.kind = kind});
      EXPECT_TRUE(std::isfinite(sqnr_db(sums))) << name;
      EXPECT_TRUE(std::isfinite(sums.largest)) << name;
    }
  }
}

TEST(MeasureTest, WhatIsNotFiniteIsCountedAndNothingIsMeasured) {
  std::vector<float> values(64, 1.0F);
  values[3] = NAN;
  values[40] = INFINITY;
  for (const DType dtype : {DType::kInt8, DType::kInt8Tensor, DType::kQ4_0}) {
    const std::vector<QuantScheme> schemes{*quant_scheme(dtype)};
    const Measurement result = measure(source_of(values, 32), schemes, {});
    EXPECT_EQ(result.not_finite, 2);
    EXPECT_TRUE(result.errors.empty());
  }
}

TEST(MeasureTest, StopsWhenAskedTo) {
  const std::vector<float> values(64, 1.0F);
  const std::vector<QuantScheme> schemes{*quant_scheme(DType::kInt8Tensor)};
  const Measurement result = measure(source_of(values, 32), schemes, {.stop = [] { return true; }});
  EXPECT_TRUE(result.stopped);
  EXPECT_TRUE(result.errors.empty());
}

TEST(MeasureTest, HandsOnWhatCannotBeRead) {
  const RowSource broken{.rows = 2, .columns = 2, .read = [](int64_t, std::span<float>) {
                           return std::optional(one_error("a", "cannot read"));
                         }};
  const std::vector<QuantScheme> schemes{*quant_scheme(DType::kInt8)};
  EXPECT_EQ(measure(broken, schemes, {}).failure, one_error("a", "cannot read"));
}

// More rows than one piece holds: 300 of 1,000 values, 262 at a time. Sums by hand of the kernels.
TEST(MeasureTest, LawRowsOfTheKernelsWhateverThePieces) {
  const auto values = testing::random_values(7, 300'000, 1.0F);
  struct Row {
    DType dtype;
    RowFormat format;
  };
  for (const auto& [dtype, format] :
       {Row{DType::kInt8, RowFormat::kInt8}, Row{DType::kInt4, RowFormat::kInt4}}) {
    ErrorSums plain;
    std::vector<std::byte> row(static_cast<size_t>(row_format_bytes(format, 1000)));
    std::vector<float> restored(1000);
    for (size_t first = 0; first < values.size(); first += 1000) {
      quantize_row(format, std::span(values).subspan(first, 1000), row);
      dequantize_row(format, row, restored);
      plain.add(std::span(values).subspan(first, 1000), restored);
    }
    const ErrorSums sums = errors_of(values, 1000, dtype);
    EXPECT_EQ(sums.count, 300'000);
    EXPECT_EQ(sums.largest, plain.largest);
    EXPECT_NEAR(sums.noise, plain.noise, 1e-9 * plain.noise);
  }
}

// The definition in double: groups of `group` values along each row; 0: all values together.
double plain_noise(const std::vector<float>& values, int64_t columns, int64_t group, int bits,
                   bool asymmetric) {
  double noise = 0;
  const int64_t stride = group == 0 ? std::ssize(values) : columns;
  for (int64_t row = 0; row < std::ssize(values); row += stride) {
    const int64_t step = group == 0 ? stride : group;
    for (int64_t first = row; first < row + stride; first += step) {
      const int64_t end = std::min(first + step, row + stride);
      const std::vector<double> part(values.begin() + first, values.begin() + end);
      const auto restored =
          testing::plain_round_trip(part, testing::plain_integers(bits, asymmetric));
      for (size_t i = 0; i < part.size(); ++i) noise += std::pow(part[i] - restored[i], 2);
    }
  }
  return noise;
}

TEST(MeasureTest, LawIntegersEqualThePlainOnes) {
  EXPECT_TRUE(rc::check([](uint64_t seed, bool asymmetric) {
    const int64_t columns = 1 + static_cast<int64_t>(seed % 150);
    const auto values = testing::random_values(seed, 5 * columns, 1.0F);
    const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-4 * b + 1e-12; };
    for (const int bits : {4, 8}) {
      const auto noise = [&](Granularity granularity, int64_t group) {
        return errors_of(values, columns, dtype_of(bits, asymmetric, granularity, group)).noise;
      };
      RC_ASSERT(
          near(noise(Granularity::kTensor, 0), plain_noise(values, columns, 0, bits, asymmetric)));
      RC_ASSERT(near(noise(Granularity::kChannel, 0),
                     plain_noise(values, columns, columns, bits, asymmetric)));
      RC_ASSERT(
          near(noise(Granularity::kGroup, 32), plain_noise(values, columns, 32, bits, asymmetric)));
    }
  }));
}

// ggml's rules in double: d is the value of largest magnitude over -8 (Q4_0), or over 127.
double plain_block_noise(const std::vector<float>& values, bool four_bits) {
  double noise = 0;
  for (size_t first = 0; first < values.size(); first += 32) {
    double extreme = 0;
    for (size_t i = first; i < first + 32; ++i) {
      if (std::abs(values[i]) > std::abs(extreme)) extreme = values[i];
    }
    const double d = four_bits ? extreme / -8 : std::abs(extreme) / 127;
    for (size_t i = first; i < first + 32; ++i) {
      const double x = values[i];
      const double q = four_bits ? std::min(15.0, std::floor(x / d + 8.5)) - 8 : std::round(x / d);
      noise += std::pow(x - q * testing::plain_fp16(d), 2);
    }
  }
  return noise;
}

TEST(MeasureTest, LawBlocksEqualThePlainOnes) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    const auto values =
        testing::random_values(seed, 32 * (1 + static_cast<int64_t>(seed % 9)), 1.0F);
    for (const bool four_bits : {false, true}) {
      const double plain = plain_block_noise(values, four_bits);
      const double noise = errors_of(values, 32, four_bits ? DType::kQ4_0 : DType::kQ8_0).noise;
      RC_ASSERT(std::abs(noise - plain) <= 1e-3 * plain);
    }
  }));
}

// What can be said of finer scales: none is larger than the coarser one it replaces, so no value is
// further off than half a coarse step and what fp16 cuts off. Single errors may grow: a value that
// happened to be a whole number of coarse steps is none of the finer ones.
TEST(MeasureTest, LawFinerScalesKeepTheBoundOfCoarserOnes) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    const auto values = testing::random_values(seed, 4 * 128, 3.0F);
    float largest = 0;
    for (const float value : values) largest = std::max(largest, std::abs(value));
    for (const int bits : {4, 8}) {
      const double top = std::exp2(bits - 1) - 1;
      const double bound = largest / top * (0.5 + top / 2048) * (1 + 1e-3);
      for (const auto& [granularity, group] : {std::pair(Granularity::kTensor, int64_t{0}),
                                               std::pair(Granularity::kChannel, int64_t{0}),
                                               std::pair(Granularity::kGroup, int64_t{64}),
                                               std::pair(Granularity::kGroup, int64_t{32})}) {
        RC_ASSERT(errors_of(values, 128, dtype_of(bits, false, granularity, group)).largest <=
                  bound);
      }
    }
  }));
}

TEST(MeasureTest, LawLeastSquaresIsNeverWorseThanMinMax) {
  EXPECT_TRUE(rc::check([](uint64_t seed, bool asymmetric) {
    const auto values = testing::random_values(seed, 4 * 96, 1.0F);
    for (const int bits : {4, 8}) {
      for (const Granularity granularity :
           {Granularity::kTensor, Granularity::kChannel, Granularity::kGroup}) {
        const DType dtype = dtype_of(bits, asymmetric, granularity, 32);
        RC_ASSERT(errors_of(values, 96, dtype, {.kind = RangeKind::kMse}).noise <=
                  errors_of(values, 96, dtype).noise * (1 + 1e-12));
      }
    }
  }));
}

// Casts: bf16 keeps 8 bits, fp16 11 above 2^-14.
TEST(MeasureTest, LawCastsAreWithinHalfAUnit) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    const auto values = testing::random_values(seed, 64, 2.0F);
    RC_ASSERT(errors_of(values, 32, DType::kBf16).largest <= 2.0 / 512);
    RC_ASSERT(errors_of(values, 32, DType::kF16).largest <= 2.0 / 4096);
  }));
}

}  // namespace
}  // namespace tidemark

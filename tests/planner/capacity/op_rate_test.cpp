#include "planner/capacity/op_rate.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

// As in the header: 0.05 ns an operation, 1 ns an output, 500 ns an op.
constexpr OpRate kOneToken{.kind = OpKind::kMatMul,
                           .tokens = 1,
                           .rate = OpsPerSecond::of(20'000'000'000),
                           .output_rate = OpsPerSecond::of(1'000'000'000),
                           .overhead = Duration::ns(500)};
constexpr OpSize kProduct{
    .kind = OpKind::kMatMul, .rows = 1, .row_work = 200'000, .row_outputs = 100};

TEST(OpRateTest, AProductByHand) {
  const std::vector<OpRate> rates{kOneToken};
  // 10,000 + 100 + 500.
  EXPECT_EQ(measured_time(rates, kProduct), Duration::ns(10'600));
}

TEST(OpRateTest, BetweenTwoNumbersOfTokensInProportion) {
  // Nine tokens: 1,800,000 operations at 0.0145 ns and a bit: 26,600 ns in all.
  const std::vector<OpRate> rates{kOneToken,
                                  {.kind = OpKind::kMatMul,
                                   .tokens = 9,
                                   .rate = OpsPerSecond::of(72'000'000'000),  // 25,000 ns
                                   .overhead = Duration::ns(1'600)}};
  OpSize product = kProduct;
  product.rows = 9;
  EXPECT_EQ(measured_time(rates, product), Duration::ns(26'600));
  product.rows = 5;
  EXPECT_EQ(measured_time(rates, product), Duration::ns(18'600));
  // Past the last its rates hold: 18 tokens are 50,000 + 1,600.
  product.rows = 18;
  EXPECT_EQ(measured_time(rates, product), Duration::ns(51'600));
}

TEST(OpRateTest, BelowTheFirstItsRatesHold) {
  OpRate of_four = kOneToken;
  of_four.tokens = 4;
  const std::vector<OpRate> rates{of_four};
  EXPECT_EQ(measured_time(rates, kProduct), Duration::ns(10'600));
}

TEST(OpRateTest, AnotherKindOrAnUnknownSizeIsNotMeasured) {
  const std::vector<OpRate> rates{kOneToken};
  OpSize other = kProduct;
  other.kind = OpKind::kRope;
  EXPECT_EQ(measured_time(rates, other), std::nullopt);
  OpSize unknown = kProduct;
  unknown.rows = 0;
  EXPECT_EQ(measured_time(rates, unknown), std::nullopt);
}

TEST(OpRateTest, EveryKindIsParsedByItsName) {
  for (int i = 0; i <= static_cast<int>(OpKind::kPlainLayer); ++i) {
    const auto kind = static_cast<OpKind>(i);
    EXPECT_EQ(parse_op_kind(name_of(kind)), kind);
  }
  EXPECT_EQ(parse_op_kind("matmull"), std::nullopt);
}

}  // namespace
}  // namespace tidemark

#include "sim/quant/error_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "plain.h"
#include "planner/base/check.h"

namespace tidemark {
namespace {

ErrorSums sums_of(const std::vector<float>& values, const std::vector<float>& restored) {
  ErrorSums sums;
  sums.add(values, restored);
  return sums;
}

// 10 log10(25) = 13.9794; sqrt(1 / 2); 21 / sqrt(450).
TEST(ErrorSumsTest, ByHand) {
  const ErrorSums sums = sums_of({3.0F, 4.0F}, {3.0F, 3.0F});
  EXPECT_EQ(sums.count, 2);
  EXPECT_NEAR(sqnr_db(sums), 13.9794, 1e-4);
  EXPECT_EQ(sums.largest, 1.0);
  EXPECT_NEAR(rms_error(sums), 0.70711, 1e-5);
  EXPECT_NEAR(cosine(sums).value_or(0), 0.98995, 1e-5);
}

TEST(ErrorSumsTest, NoErrorIsInfinite) {
  const ErrorSums exact = sums_of({3.0F, -4.0F}, {3.0F, -4.0F});
  EXPECT_EQ(sqnr_db(exact), std::numeric_limits<double>::infinity());
  EXPECT_EQ(rms_error(exact), 0.0);
  EXPECT_EQ(cosine(exact), 1.0);
}

TEST(ErrorSumsTest, ZerosHaveNoAngle) {
  const ErrorSums zeros = sums_of({0.0F, -0.0F}, {0.0F, 0.0F});
  EXPECT_EQ(sqnr_db(zeros), std::numeric_limits<double>::infinity());
  EXPECT_EQ(cosine(zeros), std::nullopt);
  const ErrorSums lost = sums_of({1e-30F}, {0.0F});
  EXPECT_EQ(sqnr_db(lost), 0.0);  // all of the signal is noise
  EXPECT_EQ(cosine(lost), std::nullopt);
  EXPECT_EQ(rms_error(ErrorSums{}), 0.0);
}

TEST(ErrorSumsTest, TheExtremesOfFloatsStayFinite) {
  constexpr float kMost = std::numeric_limits<float>::max();
  constexpr float kLeast = std::numeric_limits<float>::denorm_min();
  const ErrorSums huge = sums_of({kMost, -kMost}, {-kMost, kMost});
  EXPECT_NEAR(sqnr_db(huge), -6.0206, 1e-4);  // the error is twice the signal
  EXPECT_NEAR(cosine(huge).value_or(0), -1.0, 1e-12);
  const ErrorSums tiny = sums_of({kLeast, kLeast}, {0.0F, kLeast});
  EXPECT_NEAR(sqnr_db(tiny), 3.0103, 1e-4);
  EXPECT_EQ(tiny.largest, double{kLeast});
}

TEST(ErrorSumsTest, RefusesUnequalLengths) {
  ErrorSums sums;
  EXPECT_THROW(sums.add(std::vector<float>(2), std::vector<float>(1)), InternalError);
}

TEST(ErrorSumsTest, LawPiecesAddUpToTheWhole) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    const auto values = testing::random_values(seed, 1 + static_cast<int64_t>(seed % 90), 1.0F);
    const auto restored = testing::random_values(seed + 1, std::ssize(values), 1.0F);
    double signal = 0;
    double noise = 0;
    double largest = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const double error = double{values[i]} - double{restored[i]};
      signal += double{values[i]} * values[i];
      noise += error * error;
      largest = std::max(largest, std::abs(error));
    }
    ErrorSums sums;
    const size_t cut = seed % (values.size() + 1);
    sums.add(std::span(values).first(cut), std::span(restored).first(cut));
    sums.add(std::span(values).subspan(cut), std::span(restored).subspan(cut));
    RC_ASSERT(sums.count == std::ssize(values));
    RC_ASSERT(sums.largest == largest);
    RC_ASSERT(std::abs(sums.signal - signal) <= 1e-12 * signal);
    RC_ASSERT(std::abs(sums.noise - noise) <= 1e-12 * noise);
  }));
}

}  // namespace
}  // namespace tidemark

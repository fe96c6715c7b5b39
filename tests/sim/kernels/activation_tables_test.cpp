#include "sim/kernels/activation_tables.h"

#include <gtest/gtest.h>

#include <cmath>

#include "inputs.h"

namespace tidemark {
namespace {

int entry(const ByteTable& table, int q) { return table.at(static_cast<uint8_t>(q)); }

TEST(ActivationTablesTest, LogisticByHand) {
  const ByteTable table = logistic_table({.scale = 0.1F});
  EXPECT_EQ(entry(table, 0), 0);      // 1/2 = 128/256
  EXPECT_EQ(entry(table, 10), 59);    // 0.73106 x 256 = 187.15
  EXPECT_EQ(entry(table, -10), -59);  // 0.26894 x 256 = 68.85
  EXPECT_EQ(entry(table, 127), 127);  // 1 would be 256: the one value that is lost
  EXPECT_EQ(entry(table, -128), -128);
}

TEST(ActivationTablesTest, TanhByHand) {
  const ByteTable table = tanh_table({.scale = 0.1F, .zero_point = 5});
  EXPECT_EQ(entry(table, 5), 0);
  EXPECT_EQ(entry(table, 15), 97);  // 0.76159 x 128 = 97.48
  EXPECT_EQ(entry(table, -5), -97);
  EXPECT_EQ(entry(table, 127), 127);  // 1 would be 128
  EXPECT_EQ(entry(table, -128), -128);
}

TEST(ActivationTablesTest, GeluByHand) {
  // At x = -2.4, Phi(x) = 0.0081975: -0.019674 and, by tanh, -0.019277: 98.4 and 96.4 steps of
  // 0.0002.
  const Affine in{.scale = 0.1F, .zero_point = -100};
  const Affine out{.scale = 0.0002F, .zero_point = 20};
  EXPECT_EQ(entry(gelu_table(in, out, GeluForm::kErf), -124), -98 + 20);
  EXPECT_EQ(entry(gelu_table(in, out, GeluForm::kTanh), -124), -96 + 20);
  const Affine coarse{.scale = 0.02F, .zero_point = 20};
  EXPECT_EQ(entry(gelu_table(in, coarse, GeluForm::kErf), -90), 42 + 20);  // 42.07
  EXPECT_EQ(entry(gelu_table(in, coarse, GeluForm::kErf), -100), 20);
}

TEST(ActivationTablesTest, ReluIsTheIdentityAboveZeroAtEqualParameters) {
  const Affine same{.scale = 0.37F, .zero_point = -30};
  const ByteTable table = relu_table(same, same);
  for (int q = -128; q <= 127; ++q) EXPECT_EQ(entry(table, q), q < -30 ? -30 : q);
}

TEST(ActivationTablesTest, SiluWithoutZeroPointsIsSilu) {
  for (const float in : {0.003F, 0.1F, 2.0F}) {
    EXPECT_EQ(silu_table({.scale = in}, {.scale = 0.02F}), silu_table({.in = in, .out = 0.02F}));
  }
}

// Every entry within half a step of the function, computed another way in long double.
template <typename Function>
void expect_nearest(const ByteTable& table, const Affine& in, const Affine& out,
                    Function function) {
  for (int q = -128; q <= 127; ++q) {
    const long double x = static_cast<long double>(in.scale) * (q - in.zero_point);
    const long double steps = function(x) / static_cast<long double>(out.scale) + out.zero_point;
    const long double kept = std::fmin(127.0L, std::fmax(-128.0L, steps));
    EXPECT_LE(std::abs(entry(table, q) - kept), 0.5L + 1e-9L) << q;
  }
}

TEST(ActivationTablesTest, EveryEntryIsTheFunctionToTheNearestStep) {
  const auto normal = [](long double x) {  // Phi by the erf of a positive number only
    const long double half = std::erf(std::fabs(x) / std::sqrt(2.0L)) / 2.0L;
    return x < 0 ? 0.5L - half : 0.5L + half;
  };
  const Affine out{.scale = 0.03F, .zero_point = 17};
  for (const float scale : {0.001F, 0.05F, 3.0F}) {
    for (const int32_t zero_point : {-128, 0, 60}) {
      const Affine in{.scale = scale, .zero_point = zero_point};
      expect_nearest(logistic_table(in), in, {1.0F / 256.0F, -128},
                     [](long double x) { return (1.0L + std::tanh(x / 2)) / 2.0L; });
      expect_nearest(tanh_table(in), in, {1.0F / 128.0F, 0},
                     [](long double x) { return 1.0L - 2.0L / (std::exp(2 * x) + 1.0L); });
      expect_nearest(gelu_table(in, out, GeluForm::kErf), in, out,
                     [&](long double x) { return x * normal(x); });
      expect_nearest(gelu_table(in, out, GeluForm::kTanh), in, out, [](long double x) {
        const long double inner = 0.797884560802865356L * (x + 0.044715L * x * x * x);
        return x - x / (std::exp(2 * inner) + 1.0L);
      });
      expect_nearest(relu_table(in, out), in, out,
                     [](long double x) { return std::fmax(x, 0.0L); });
    }
  }
}

}  // namespace
}  // namespace tidemark

#include "sim/kernels/softmax.h"

#include <algorithm>
#include <cmath>

#include "planner/base/check.h"
#include "sim/kernels/elementwise.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

// 2^30 x 256 x 2 and a sum of up to 2^33 of 2^30 fit 64 bits.
constexpr int64_t kLongestRow = int64_t{1} << 32;

int8_t probability(int64_t weight, int64_t sum) {
  const int64_t steps = (512 * weight + sum) / (2 * sum);
  return static_cast<int8_t>(std::min<int64_t>(steps, 255) - 128);
}

void softmax_row(const SoftmaxTable& table, std::span<const int8_t> x, std::span<int8_t> out) {
  const int32_t largest = *std::ranges::max_element(x);
  const auto weight = [&](int32_t value) {
    return int64_t{table.weights[static_cast<size_t>(largest - value)]};
  };
  int64_t sum = 0;
  for (const int8_t value : x) sum += weight(value);
  // A row longer than there are values meets each answer again and again.
  if (x.size() > 256) {
    ByteTable answers{};
    for (int32_t value = -128; value <= largest; ++value) {
      answers[static_cast<uint8_t>(value)] = probability(weight(value), sum);
    }
    return apply_table(answers, x, out);
  }
  for (size_t i = 0; i < x.size(); ++i) out[i] = probability(weight(x[i]), sum);
}

}  // namespace

SoftmaxTable softmax_table(float scale, double beta) {
  const double step = double{scale} * beta;
  check(std::isfinite(step) && step >= 0.0, "a softmax's scale is finite and not negative");
  SoftmaxTable table;
  for (size_t d = 0; d < table.weights.size(); ++d) {
    const double weight = std::exp(-step * static_cast<double>(d));
    table.weights[d] = static_cast<uint32_t>(std::llround(std::ldexp(weight, 30)));
  }
  return table;
}

void softmax_rows(const SoftmaxTable& table, int64_t columns, std::span<const int8_t> x,
                  std::span<int8_t> out) {
  check(columns > 0 && columns <= kLongestRow, "a row is not empty");
  check(std::ssize(x) % columns == 0 && x.size() == out.size(), "x and out are [T, N]");
  for (int64_t t = 0; t < std::ssize(x) / columns; ++t) {
    softmax_row(table, row_of(x, t, columns), row_of(out, t, columns));
  }
}

}  // namespace tidemark

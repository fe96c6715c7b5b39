#include "sim/kernels/experts/expert_rows.h"

#include <algorithm>
#include <array>

#include "planner/base/check.h"
#include "planner/base/checked.h"
#include "sim/kernels/requantize_rows.h"
#include "sim/kernels/rows.h"
#include "sim/kernels/scale_loops.h"

namespace tidemark {
namespace {

constexpr int64_t kMostGathered = 32;
constexpr int64_t kRoom = int64_t{64} * 1024;  // bytes for the rows that go in, and that come out

void check_chosen(std::span<const int32_t> chosen, int64_t experts) {
  const bool known = std::ranges::all_of(
      chosen, [experts](int32_t expert) { return expert >= 0 && expert < experts; });
  check(known, "tokens are sent to experts that there are");
}

// Rows of one expert on their way through its product.
class Gathered {
 public:
  Gathered(const ExpertShape& shape, std::span<const int8_t> x, std::span<int8_t> out,
           int64_t rows_of_one, const ExpertProduct& product)
      : shape_(shape), x_(x), out_(out), rows_of_one_(rows_of_one), product_(product) {
    const int64_t widest = std::max({shape.columns, shape.rows, int64_t{1}});
    most_ = std::clamp<int64_t>(kRoom / widest, 1, kMostGathered);
  }

  void add(int64_t expert, int64_t row) {
    rows_[static_cast<size_t>(count_++)] = row;
    if (count_ == most_) multiply(expert);
  }

  void multiply(int64_t expert) {
    if (count_ == 0) return;
    const MatMulShape shape{.tokens = count_, .columns = shape_.columns, .rows = shape_.rows};
    if (count_ == 1) {
      product_(expert, shape, row_in(0), row_out(0));
    } else {
      const auto in = std::span(in_).first(static_cast<size_t>(count_ * shape_.columns));
      const auto made = std::span(made_).first(static_cast<size_t>(count_ * shape_.rows));
      for (int64_t i = 0; i < count_; ++i) {
        std::ranges::copy(row_in(i), row_of(in, i, shape_.columns).begin());
      }
      product_(expert, shape, in, made);
      for (int64_t i = 0; i < count_; ++i) {
        std::ranges::copy(row_of(made, i, shape_.rows), row_out(i).begin());
      }
    }
    count_ = 0;
  }

 private:
  std::span<const int8_t> row_in(int64_t i) const {
    return row_of(x_, rows_[static_cast<size_t>(i)] / rows_of_one_, shape_.columns);
  }
  std::span<int8_t> row_out(int64_t i) const {
    return row_of(out_, rows_[static_cast<size_t>(i)], shape_.rows);
  }

  const ExpertShape& shape_;
  std::span<const int8_t> x_;
  std::span<int8_t> out_;
  int64_t rows_of_one_;  // outputs that a row of x has
  const ExpertProduct& product_;
  int64_t most_ = 1;
  int64_t count_ = 0;
  std::array<int64_t, kMostGathered> rows_{};  // of `out`
  std::array<int8_t, kRoom> in_{};
  std::array<int8_t, kRoom> made_{};
};

}  // namespace

void expert_matmul(const ExpertShape& shape, std::span<const int32_t> chosen,
                   std::span<const int8_t> x, std::span<int8_t> out, const ExpertProduct& product) {
  const int64_t rows = std::ssize(chosen);
  check(shape.used >= 1 && rows % shape.used == 0, "the chosen are [T, U]");
  check_chosen(chosen, shape.experts);
  const bool one_each = std::ssize(x) == checked_mul(rows, shape.columns);
  check_shape(x.size(), {one_each ? rows : rows / shape.used, shape.columns},
              "x is [T, K] or [R, K]");
  check_shape(out.size(), {rows, shape.rows}, "out is [R, M]");
  Gathered gathered(shape, x, out, one_each ? 1 : shape.used, product);
  for (int64_t expert = 0; expert < shape.experts; ++expert) {
    for (int64_t row = 0; row < rows; ++row) {
      if (chosen[static_cast<size_t>(row)] == expert) gathered.add(expert, row);
    }
    gathered.multiply(expert);
  }
}

void expert_matmul_s8(const ExpertShape& shape, std::span<const int32_t> chosen,
                      std::span<const int8_t> x, std::span<const std::byte> weights, Scales scales,
                      std::span<int8_t> out) {
  const int64_t matrix = shape.rows * stored_row_bytes(shape.columns);
  check_shape(weights.size(), {shape.experts, matrix}, "weights are N x M stored rows");
  expert_matmul(shape, chosen, x, out,
                [&](int64_t expert, const MatMulShape& of_rows, std::span<const int8_t> in,
                    std::span<int8_t> made) {
                  matmul_s8(of_rows, in, row_of(weights, expert, matrix), scales, made);
                });
}

void add_expert_bias(int64_t experts, std::span<const int32_t> chosen, std::span<const int8_t> x,
                     std::span<const std::byte> biases, Scales scales, std::span<int8_t> out) {
  constexpr int64_t kFloat = sizeof(float);
  check(experts >= 1 && std::ssize(biases) % (experts * kFloat) == 0, "biases are [N, M]");
  check_chosen(chosen, experts);
  const int64_t width = std::ssize(biases) / (experts * kFloat);
  check_shape(x.size(), {std::ssize(chosen), width}, "x is [R, M]");
  check(x.size() == out.size(), "one output for each input");
  for (int64_t row = 0; row < std::ssize(chosen); ++row) {
    const int32_t expert = chosen[static_cast<size_t>(row)];
    add_bias_s8(row_of(x, row, width), row_of(biases, expert, width * kFloat), scales,
                row_of(out, row, width));
  }
}

void weigh_rows(std::span<const int8_t> x, std::span<const int8_t> weights, BinaryScales scales,
                std::span<int8_t> out) {
  check(x.size() == out.size(), "one output for each input");
  check(!weights.empty() && x.size() % weights.size() == 0, "a weight for each row");
  const double real = double{scales.a} * double{scales.b} / double{scales.out};
  const ProductStep step{.zero_b = -128, .output = {.factor = quantize_multiplier(real)}};
  const int64_t width = std::ssize(x) / std::ssize(weights);
  std::array<int8_t, 256> same{};
  for (int64_t row = 0; row < std::ssize(weights); ++row) {
    same.fill(weights[static_cast<size_t>(row)]);
    const int64_t end = (row + 1) * width;
    for (int64_t from = row * width; from < end; from += std::ssize(same)) {
      const int64_t count = std::min(std::ssize(same), end - from);
      multiply_rows(step, x.data() + from, same.data(), count, out.data() + from);
    }
  }
}

void sum_rows(int64_t used, int64_t columns, std::span<const int8_t> x, Scales scales,
              std::span<int8_t> out) {
  check(used >= 1 && used <= (int64_t{1} << 24), "a sum of int8 fits 32 bits");
  check(columns >= 1 && std::ssize(out) % columns == 0, "out is [T, M]");
  check_shape(x.size(), {used, std::ssize(out)}, "x is [T, U, M]");
  constexpr size_t kBlock = 256;
  std::array<QuantizedMultiplier, kBlock> factors{};
  factors.fill(quantize_multiplier(double{scales.in} / double{scales.out}));
  std::array<int32_t, kBlock> sums{};
  const auto width = static_cast<size_t>(columns);
  for (int64_t t = 0; t < std::ssize(out) / columns; ++t) {
    const auto rows = row_of(x, t, used * columns);
    for (size_t from = 0; from < width; from += kBlock) {
      const size_t count = std::min(kBlock, width - from);
      sums.fill(0);
      for (int64_t u = 0; u < used; ++u) {
        const auto row = row_of(rows, u, columns).subspan(from, count);
        for (size_t m = 0; m < count; ++m) sums[m] += row[m];
      }
      requantize_each(std::span(sums).first(count), std::span(factors).first(count),
                      row_of(out, t, columns).subspan(from, count));
    }
  }
}

}  // namespace tidemark

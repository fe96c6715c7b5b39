#include "sim/kernels/matmul/matmul.h"

#include <vector>

#include "planner/base/check.h"
#include "sim/kernels/requantize_rows.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

WeightRows rows_as_stored(const MatMulShape& shape, std::span<const std::byte> weights) {
  return {.bytes = weights,
          .rows = shape.rows,
          .columns = shape.columns,
          .stride = stored_row_bytes(shape.columns)};
}

void check_operands(const MatMulShape& shape, std::span<const int8_t> x,
                    std::span<const std::byte> weights, size_t out) {
  check(shape.columns <= kMaxReduced, "the reduced dimension fits 32-bit accumulators");
  check_shape(x.size(), {shape.tokens, shape.columns}, "x is [T, K]");
  check_shape(weights.size(), {shape.rows, stored_row_bytes(shape.columns)},
              "weights are N stored rows");
  check_shape(out, {shape.tokens, shape.rows}, "out is [T, N]");
}

// finish(sums, factors, out): the outputs of one token and a block of rows, from its sums and a
// factor for each row that prepare(row scale) has made.
template <typename Out, typename Prepare, typename Finish>
void multiply_rows(const MatMulShape& shape, std::span<const int8_t> x,
                   std::span<const std::byte> weights, std::span<Out> out, const Prepare& prepare,
                   const Finish& finish, const GemmOptions& options) {
  check_operands(shape, x, weights, out.size());
  const auto take = [&](const SumsBlock& block) {
    const auto rows = static_cast<size_t>(block.rows);
    std::vector<decltype(prepare(1.0F))> factors;
    factors.reserve(rows);
    for (int64_t n = block.first_row; n < block.first_row + block.rows; ++n) {
      factors.push_back(prepare(stored_scale(row_of(weights, n, stored_row_bytes(shape.columns)))));
    }
    for (int64_t t = 0; t < block.tokens; ++t) {
      const auto of_token = row_of(out, block.first_token + t, shape.rows);
      finish(std::span(block.sums + t * block.stride, rows), factors,
             of_token.subspan(static_cast<size_t>(block.first_row), rows));
    }
  };
  gemm_blocks(shape.tokens, x, rows_as_stored(shape, weights), take, options);
}

}  // namespace

int32_t dot_s8(std::span<const int8_t> a, std::span<const int8_t> b) { return gemm_dot(a, b); }

void matmul_s32(const MatMulShape& shape, std::span<const int8_t> x,
                std::span<const std::byte> weights, std::span<int32_t> accumulators,
                const GemmOptions& options) {
  check_operands(shape, x, weights, accumulators.size());
  gemm_s32(shape.tokens, x, rows_as_stored(shape, weights), accumulators, options);
}

void matmul_s8(const MatMulShape& shape, std::span<const int8_t> x,
               std::span<const std::byte> weights, Scales scales, std::span<int8_t> out,
               const GemmOptions& options) {
  multiply_rows(
      shape, x, weights, out,
      [scales](float scale) {
        return quantize_multiplier(double{scales.in} * double{scale} / double{scales.out});
      },
      requantize_each, options);
}

void matmul_f32(const MatMulShape& shape, std::span<const int8_t> x,
                std::span<const std::byte> weights, float scale_in, std::span<float> out,
                const GemmOptions& options) {
  multiply_rows(
      shape, x, weights, out, [scale_in](float scale) { return double{scale_in} * double{scale}; },
      [](std::span<const int32_t> sums, std::span<const double> factors, std::span<float> of_rows) {
        for (size_t i = 0; i < sums.size(); ++i) {
          of_rows[i] = static_cast<float>(sums[i] * factors[i]);
        }
      },
      options);
}

}  // namespace tidemark

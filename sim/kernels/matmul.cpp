#include "sim/kernels/matmul.h"

#include "planner/base/check.h"
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

// prepare(row scale) -> convert; out[t][n] = convert(accumulator).
template <typename Out, typename Prepare>
void multiply_rows(const MatMulShape& shape, std::span<const int8_t> x,
                   std::span<const std::byte> weights, std::span<Out> out, Prepare prepare) {
  check_operands(shape, x, weights, out.size());
  const auto take = [&](const SumsBlock& block) {
    for (int64_t r = 0; r < block.rows; ++r) {
      const int64_t n = block.first_row + r;
      const auto convert =
          prepare(stored_scale(row_of(weights, n, stored_row_bytes(shape.columns))));
      for (int64_t t = 0; t < block.tokens; ++t) {
        out[static_cast<size_t>((block.first_token + t) * shape.rows + n)] =
            convert(block.sums[t * block.stride + r]);
      }
    }
  };
  gemm_blocks(shape.tokens, x, rows_as_stored(shape, weights), take);
}

}  // namespace

int32_t dot_s8(std::span<const int8_t> a, std::span<const int8_t> b) { return gemm_dot(a, b); }

void matmul_s32(const MatMulShape& shape, std::span<const int8_t> x,
                std::span<const std::byte> weights, std::span<int32_t> accumulators) {
  check_operands(shape, x, weights, accumulators.size());
  gemm_s32(shape.tokens, x, rows_as_stored(shape, weights), accumulators);
}

void matmul_s8(const MatMulShape& shape, std::span<const int8_t> x,
               std::span<const std::byte> weights, Scales scales, std::span<int8_t> out) {
  multiply_rows(shape, x, weights, out, [scales](float scale) {
    const auto factor = quantize_multiplier(double{scales.in} * double{scale} / double{scales.out});
    return [factor](int32_t accumulator) { return requantize(accumulator, factor); };
  });
}

void matmul_f32(const MatMulShape& shape, std::span<const int8_t> x,
                std::span<const std::byte> weights, float scale_in, std::span<float> out) {
  multiply_rows(shape, x, weights, out, [scale_in](float scale) {
    const double factor = double{scale_in} * double{scale};
    return [factor](int32_t accumulator) { return static_cast<float>(accumulator * factor); };
  });
}

}  // namespace tidemark

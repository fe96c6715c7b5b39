#include "sim/kernels/matmul/matmul_reference.h"

#include <Eigen/Core>

#include "planner/base/check.h"
#include "sim/kernels/rows.h"

namespace tidemark {

void matmul_s32_reference(const MatMulShape& shape, std::span<const int8_t> x,
                          std::span<const std::byte> weights, std::span<int32_t> accumulators) {
  using Bytes8 = Eigen::Matrix<int8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Words32 = Eigen::Matrix<int32_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Stride = Eigen::OuterStride<>;
  check(shape.columns <= kMaxReduced, "the reduced dimension fits 32-bit accumulators");
  check_shape(x.size(), {shape.tokens, shape.columns}, "x is [T, K]");
  check_shape(weights.size(), {shape.rows, stored_row_bytes(shape.columns)},
              "weights are N stored rows");
  check_shape(accumulators.size(), {shape.tokens, shape.rows}, "out is [T, N]");

  const Eigen::Map<const Bytes8> activations(x.data(), shape.tokens, shape.columns);
  const Eigen::Map<const Bytes8, Eigen::Unaligned, Stride> matrix(
      reinterpret_cast<const int8_t*>(weights.data()), shape.rows, shape.columns,
      Stride(stored_row_bytes(shape.columns)));
  const Words32 wide_activations = activations.cast<int32_t>();
  const Words32 wide_matrix = matrix.cast<int32_t>();
  Eigen::Map<Words32>(accumulators.data(), shape.tokens, shape.rows) =
      wide_activations * wide_matrix.transpose();
}

}  // namespace tidemark

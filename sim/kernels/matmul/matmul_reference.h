// The matrix product as its definition, written with Eigen: x times the transpose of the weights,
// in int32. The judge of every faster product. Allocates; slow; for tests and for checking a
// replay.
#pragma once

#include "sim/kernels/matmul/matmul.h"

namespace tidemark {

void matmul_s32_reference(const MatMulShape& shape, std::span<const int8_t> x,
                          std::span<const std::byte> weights, std::span<int32_t> accumulators);

}  // namespace tidemark

// Products of several tokens with rows of Q8_0 or Q4_0, sixteen rows at a time: a panel of them is
// unpacked once for all tokens so that each lane of a vector is one row, and nothing is added
// across lanes.
//
//   panel, block b, j < 8:  4 values of row 0 | of row 1 | ... | of row 15     values 4 j ... of b
//   values are stored plus 128, unsigned; 128 x (the sum of the token's block) is taken off again
//
// Integer sums are exact and floats are added as block_weights.h says, so the bits are the same.
// Scratch: for each thread a panel, 18 K bytes; for all of them, K / 8 bytes a token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "sim/kernels/matmul/block_rows.h"
#include "sim/kernels/matmul/gemm.h"
#include "sim/kernels/matmul/matmul.h"

namespace tidemark {

// Are there vector units for panels, at the level in use (isa.h), and so many tokens that unpacking
// pays?
bool wants_panels(int64_t tokens);

// Before the scale of the input: sums of `token` with the rows from `first_row` on.
using TakeSums = std::function<void(int64_t token, int64_t first_row, std::span<const float> sums)>;

// Requires wants_panels(). With more than one thread `take` is called by several at once.
void multiply_panels(RowFormat format, const MatMulShape& shape, std::span<const int8_t> x,
                     std::span<const std::byte> weights, const TakeSums& take,
                     const GemmOptions& options);

}  // namespace tidemark

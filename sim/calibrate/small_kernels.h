// The kernels that look at each value once: norms, rotations, sums, moves.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "planner/graph/graph.h"

namespace tidemark {

struct SmallKernel {
  OpKind kind = OpKind::kAdd;
  int64_t row_outputs = 0;                                    // values a row
  std::function<std::function<void()>(int64_t rows)> make{};  // one call of it, over so many rows
};

// The kinds of ops that decoders of attention layers have beside products and flash attention; of
// those of experts, what few models have is left out.
std::vector<SmallKernel> small_kernels();

}  // namespace tidemark

// How long the replay's INT8 kernels take on this machine, kind by kind: the same functions that
// sim/replay/executor.cpp calls, at widths of small language models.
//
//   products   columns x rows 2304 x 2304, 576 x 2304, 2304 x 256, the weights from memory: each
//              call reads others of a pool that no cache holds
//   attention  36 heads of 64, over 512 cells, over few, and 4 heads over few; KV caches
//              in f16, from memory as well
//   the rest   one row of 2,304 values and eight rows of as many
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "planner/capacity/op_rate.h"
#include "sim/calibrate/bench.h"
#include "sim/replay/mapping.h"

namespace tidemark {

struct MeasuredOp {
  OpRate rate{};
  Spread spread{};  // of the largest size, in operations (or values) a second
};

struct KernelSizes {
  std::vector<int64_t> product_tokens{1, 2, 4, 8, 16, 64, 256};
  std::vector<int64_t> attention_tokens{1, 16, 128};
  Bytes weight_pool = Bytes::of(int64_t{384} << 20);
};

// Made-up stored rows, in a pool that a call takes its matrix from; one call's lies behind the
// other's. In pages as a replay has its weights in: large ones where the system has them.
class WeightPool {
 public:
  explicit WeightPool(Bytes size);
  // `bytes` at most the pool's size.
  std::span<const std::byte> next(int64_t bytes);

 private:
  Mapping pages_;
  size_t at_ = 0;
};

// Ops of the products first, then attention, then the rest by name. What was not measured when the
// bench was stopped is missing.
std::vector<MeasuredOp> measure_kernels(const Bench& bench, const KernelSizes& sizes,
                                        WeightPool& pool);

// Operations a second of one product of many tokens, `threads` of them side by side, each with
// weights of its own.
Spread product_rate(const Bench& bench, int threads, int64_t tokens);

}  // namespace tidemark

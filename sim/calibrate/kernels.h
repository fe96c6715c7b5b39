// How long the replay's INT8 kernels take on this machine, kind by kind: the same functions that
// sim/replay/executor.cpp calls, at widths of small language models.
//
//   products    columns x rows 2304 x 2304, 576 x 2304, 2304 x 256, the weights from memory: each
//               call reads others of a pool that no cache holds
//   attention   36 heads of 64 with 128 cells before a prompt's tokens; over them alone (a single
//               token: over 32 cells), and 4 heads over those; KV caches in f16, from memory as
//               well
//   experts     8 of 32 for each token, each of columns x rows 2304 x 512, 576 x 512, 2304 x 64,
//   from
//               memory
//   the rest    one row of 2,304 values and eight rows of as many
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planner/capacity/op_rate.h"
#include "sim/calibrate/fit.h"
#include "sim/calibrate/rounds.h"
#include "sim/calibrate/small_kernels.h"
#include "sim/kernels/matmul/matmul.h"
#include "sim/replay/mapping.h"

namespace tidemark {

struct MeasuredOp {
  OpRate rate{};
  Spread spread{};  // of the largest size, in operations (or values) a second
};

struct KernelSizes {
  std::vector<int64_t> product_tokens{1, 2, 4, 8, 16, 64, 256};
  std::vector<int64_t> attention_tokens{1, 16, 128};
  std::vector<int64_t> expert_tokens{1, 16, 128};
  Bytes weight_pool = Bytes::of(int64_t{384} << 20);
};

// Made-up stored rows, in a pool that a call takes its matrix from; one call's lies behind the
// other's. In pages as a replay has its weights in: large ones where the system has them.
class WeightPool {
 public:
  explicit WeightPool(Bytes size);
  // `bytes` at most the pool's size.
  std::span<const std::byte> next(int64_t bytes);
  std::span<const std::byte> all() const { return pages_.bytes(); }

 private:
  Mapping pages_;
  size_t at_ = 0;
};

class KernelProbes {
 public:
  // The pool must outlive the rounds.
  KernelProbes(Rounds& rounds, const KernelSizes& sizes, WeightPool& pool);
  // Products first, then attention, experts, the rest. After the rounds.
  std::vector<MeasuredOp> ops() const;

 private:
  // One size of a kernel.
  struct Sized {
    double operations = 0.0;  // or values written, where a kind counts none
    double outputs = 0.0;
    const Probe* probe = nullptr;

    TimedSize timed() const;
  };
  // What fit.h takes apart: fit_product, or fit_line of `fewer_operations` and `large`.
  struct Kernel {
    OpKind kind{};
    int64_t tokens = 1;
    Sized large{};
    Sized fewer_operations{};
    std::optional<Sized> fewer_outputs{};
  };
  static MeasuredOp fitted(const Kernel& kernel);

  void add_product(int64_t tokens);
  void add_attention(int64_t tokens);
  void add_experts(int64_t tokens);
  void add_small(const SmallKernel& kernel);
  Sized product(const MatMulShape& shape);
  Sized attention(int64_t tokens, int64_t heads, int64_t cells);
  Sized experts(int64_t tokens, int64_t columns, int64_t rows);

  Rounds& rounds_;
  WeightPool& pool_;
  std::vector<Kernel> kernels_{};
};

// Nanoseconds of an operation of one product of many tokens, `threads` of them side by side, each
// with weights of its own.
const Probe& add_product_probe(Rounds& rounds, int threads, int64_t tokens);

}  // namespace tidemark

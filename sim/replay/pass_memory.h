// The tensors of one pass as bytes: all that the plan reserves for each, and the part that this
// pass uses. A pass of fewer tokens than its graph was built for (the last ubatch of a prompt) uses
// the first rows of each tensor.
//
//   graph for 512 tokens, pass of 8: norm [576, 512] reserves 512 rows, uses 8; a tensor after
//   select_rows has as many rows as logits are kept, here 1; scores [cells, 8, heads] use the
//   beginning of [cells, 512, heads], rows of 2 chosen experts [576, 2, 8] that of [576, 2, 512]
#pragma once

#include <span>
#include <vector>

#include "sim/replay/tensor_memory.h"
#include "sim/strategy/passes.h"

namespace tidemark {

class PassMemory {
 public:
  // `phase` must outlive it.
  PassMemory(const PhasePlan& phase, const TensorMemory& memory, const Pass& pass);

  const PhasePlan& phase() const { return phase_; }
  const Pass& pass() const { return pass_; }
  // Of each token of the pass. Attention and the KV cache go by these: what they attend and where
  // they store is known before the pass, while the tensor `positions` is free again after the last
  // rope.
  std::span<const int32_t> positions() const { return positions_; }
  int64_t output_rows() const { return output_rows_; }

  std::span<std::byte> reserved(TensorId id) const { return reserved_[id.index()]; }
  std::span<std::byte> used(TensorId id) const { return reserved(id).first(used_[id.index()]); }
  bool in_arena(TensorId id) const { return in_arena_[id.index()]; }

 private:
  // `parts`: of each row, beside its first dimension: heads, chosen experts.
  size_t used_bytes(const Tensor& tensor, int64_t rows, int64_t parts) const;

  const PhasePlan& phase_;
  Pass pass_;
  int64_t output_rows_ = 0;
  std::vector<int32_t> positions_{};
  std::vector<std::span<std::byte>> reserved_{};
  std::vector<size_t> used_{};
  std::vector<bool> in_arena_{};
};

}  // namespace tidemark

// The ops of attention, each by its kernel: what the graph says of a layer becomes the kernel's
// shapes, cells and views.
//
//   ring         shape[1] of the layer's cache; scores have a column for each of its cells
//   window       that of the layer whose cache is read: a layer that shares one attends what the
//                other attends, and as wide
//   views        k and v of a fused product lie behind q in its rows; v that is k begins where k
//                does, before norm and rope:
//
//   q [4] | k [2] | v [2]    store_kv(k_rope, qkv): k the whole of k_rope, v from 6 on
//                            store_kv(qkv):         k from 4 on, v from 6 on
//                            store_kv(k_rope, k):   v the first values of each row of k
#pragma once

#include <span>

#include "sim/kernels/attention/flash_attention.h"
#include "sim/replay/pass_memory.h"

namespace tidemark {

// One op and what it works on.
struct AttentionOp {
  const TransformerSpec& model;
  const PhasePlan& phase;
  const Op& op;
  const PassMemory& memory;
  std::span<const float> scales;       // by TensorId
  std::span<float> scratch;            // the operators' own memory
  std::span<const std::byte> sinks{};  // of its weight; empty = none
};

// kStoreKv, kFlashAttention, kScores, kSoftmax, kContext; CHECKs that it is one of them.
void run_attention(const AttentionOp& at);

// The layer whose cache the attention of `layer` reads: itself, or the one it shares with.
const AttentionSpec& cache_owner(const TransformerSpec& model, int64_t layer);

}  // namespace tidemark

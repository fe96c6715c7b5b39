// Attention without a scores tensor: online softmax over tiles of cells, one token and one head at
// a time.
//
//   q [T, H, D] s8 at s_q, K and V caches -> context [T, H, Dv] s8 at s_out; Dv, the size of a
//   value, is D unless the caches say otherwise
//   score_j = q . k_j / sqrt(D);  context = sum of e^score_j v_j / sum of e^score_j
//   H query heads share n_head_kv stored ones in order: query head h reads stored head h / (H /
//   n_head_kv). Tiles begin at the first position that the token attends; one that goes around a
//   ring is two runs of cells with one maximum.
//
// Running state (m, l, acc): the largest score so far, the sum of e^(score - m), the same sum times
// v. A tile of scores with maximum m' turns it into, with M = max(m, m'):
//   acc = acc e^(m - M) + sum of e^(score_j - M) v_j;   l = l e^(m - M) + sum of e^(score_j - M);
//   m = M
//
//   two cells, scores 0 and ln 3, v = {0} and {4}: weights 1/4 and 3/4, context 3 whatever the
//   tiles. Checked by FlashAttentionTest.TwoCellsByHand.
//
// A sink is one more logit of a head that has no value (gpt-oss): it takes its share of the sum and
// adds nothing. The state begins with m = sink, l = 1, acc = 0 in place of m = -infinity, l = 0.
//   the same two cells and a sink of ln 4: weights 1/8 and 3/8 (and 4/8 of nothing), context 1.5.
//   Checked by FlashAttentionTest.ASinkByHand.
//
// Scratch is float: acc [Dv], the tile of scores, m and l. Up to eight heads go through the cells
// together, their state on the stack (8 KiB): one after the other they would fetch each cell's row
// many times. Every head meets its cells in the same order, so no bit changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/kernels/attention/kv_rows.h"
#include "sim/kernels/requantize.h"

namespace tidemark {

inline constexpr int64_t kScoreTile = 32;

// In floats; times 4 it is the planner's flash_attention_scratch.
constexpr int64_t flash_attention_scratch_floats(int64_t head_dim) {
  return head_dim + kScoreTile + 2;
}

// The caches of one layer and the tokens that look into them. K and V have the same number of
// heads.
struct AttentionInput {
  int64_t n_head = 1;  // a multiple of n_head_kv
  KvShape key_shape{};
  KvShape value_shape{};
  std::span<const std::byte> keys{};
  std::span<const std::byte> values{};
  TokenCells cells{};
  RowPart queries{};                   // where a token's are in its row of q
  std::span<const std::byte> sinks{};  // [H] f32 as stored, at any address; empty = none
};

// The sink of a head; -infinity, which changes nothing, where there is none or it is no number.
float sink_of(std::span<const std::byte> sinks, int64_t head);

// CHECKs that q is [T, H, D], or [T, stride] if it is a part of wider rows.
void check_queries(const AttentionInput& input, std::span<const int8_t> q);
// One head's queries of a token.
std::span<const int8_t> query_of(const AttentionInput& input, std::span<const int8_t> q,
                                 int64_t token, int64_t head);

// CHECKs that heads and shapes agree; returns the query heads that share one stored head.
int64_t heads_per_kv(const AttentionInput& input);

void flash_attention(const AttentionInput& input, std::span<const int8_t> q, Scales scales,
                     std::span<float> scratch, std::span<int8_t> context);

}  // namespace tidemark

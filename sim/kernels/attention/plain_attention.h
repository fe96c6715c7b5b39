// Attention with flash attention off: three ops and a scores tensor, all int8 like every other
// activation.
//
//   scores   [C, T, H] s8, cells innermost, at a static scale: q . k / sqrt(D); cells after the
//   token's own: -128 softmax  [C, T, H] s8 by TFLite's fixed rule: scale 1/256, zero point -128;
//   masked cells are exactly 0 (-128) context  [T, H, D] s8 at s_out: sum of p_c v_c over the
//   attended cells
//
//   scores {0, 0} at any scale -> softmax {1/2, 1/2} -> stored {0, 0} (128/256); v = {10}, {30}:
//   context 20. Checked by PlainAttentionTest.TwoEqualCells.
//
// Two properties of int8 probabilities that a reader should expect, both TFLite's: 1 is stored as
// 127, that is 255/256; and below 1/512 a probability becomes 0, so more than 512 equal cells
// vanish. Flash attention has neither. No scratch: sums over cells are kept for 32 components at a
// time on the stack.
#pragma once

#include <cstdint>
#include <span>

#include "sim/kernels/attention/flash_attention.h"

namespace tidemark {

// C, the cells each row of scores holds; every position is below it.
struct ScoresShape {
  int64_t cells = 1;
};

// Scales: q in, scores out.
void attention_scores(const AttentionInput& input, ScoresShape shape, std::span<const int8_t> q,
                      Scales scales, std::span<int8_t> scores);

// Probabilities of one row of scores over the cells [0, position]; out may be scores. `positions`
// is [T].
void softmax_s8(ScoresShape shape, std::span<const int32_t> positions,
                std::span<const int8_t> scores, float scale, std::span<int8_t> probabilities);

void attention_context(const AttentionInput& input, ScoresShape shape,
                       std::span<const int8_t> probabilities, float scale_out,
                       std::span<int8_t> context);

}  // namespace tidemark

// Attention with flash attention off: three ops and a scores tensor, all int8 like every other
// activation.
//
//   scores   [C, T, H] s8, cells innermost, at a static scale: q . k / sqrt(D); cells that the
//            token does not attend: -128
//   softmax  [C, T, H] s8 by TFLite's fixed rule: scale 1/256, zero point -128; cells that are not
//            attended are exactly 0 (-128)
//   context  [T, H, Dv] s8 at s_out: sum of p_c v_c over the attended cells
//
// C is the cells that the layer keeps of a sequence, and entry c of a row is cell c of it, whatever
// position that cell holds: in a ring position p % ring (kv_rows.h). Sums go by position all the
// same.
//
//   scores {0, 0} at any scale -> softmax {1/2, 1/2} -> stored {0, 0} (128/256); v = {10}, {30}:
//   context 20. Checked by PlainAttentionTest.TwoEqualCells.
//   window 2 in a ring of 3, position 3: attends the cells 2 and 0; scores {0, ., 0} -> {0, -128,
//   0}. With a sink of 0 as a third logit: {1/3, ., 1/3}, stored {-43, -128, -43}. Checked by
//   PlainAttentionTest.ARingAndASinkByHand.
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

// C, the cells each row of scores holds; every attended cell is below it.
struct ScoresShape {
  int64_t cells = 1;
};

// Scales: q in, scores out. Reads no values: input.value_shape has the heads of key_shape.
void attention_scores(const AttentionInput& input, ScoresShape shape, std::span<const int8_t> q,
                      Scales scales, std::span<int8_t> scores);

// Probabilities of each row of scores over the cells that its token attends; out may be scores.
// `sinks`: [H] f32 as stored, one more logit for each head that has no cell; empty = none.
void softmax_s8(ScoresShape shape, const TokenCells& cells, std::span<const int8_t> scores,
                float scale, std::span<int8_t> probabilities,
                std::span<const std::byte> sinks = {});

void attention_context(const AttentionInput& input, ScoresShape shape,
                       std::span<const int8_t> probabilities, float scale_out,
                       std::span<int8_t> context);

}  // namespace tidemark

// The experts that a token is sent to, and how much each of them counts.
//
//   probabilities [T, N] s8 as softmax.h leaves them: p = (q + 128) / 256
//   chosen  [T, U]  the U experts of the largest p + bias, the largest first; of equals the lower
//   weights [T, U]  s8 at scale 1/256, zero point -128: round(256 p / sum of the U chosen p), at
//                   most 255; half upwards. All chosen p zero: 1/U each.
//
//   p = {64, 32, 0, 160} of 256, U = 2: experts 3 and 0, 160/224 and 64/224 of 256 = 182.9 and 73.1
//   -> 183 - 128 = 55 and 73 - 128 = -55.  With a bias of {0, 1, 0, 0}: experts 1 and 3, by p +
//   bias = 1.125 and 0.625; their shares are 32/192 and 160/192.  Checked by TopKTest.ByHand.
//
// Whatever the bias, shares are of the probabilities alone and sum to about one. No memory of its
// own: each further expert is found by one more look at the row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemark {

struct TopKShape {
  int64_t experts = 0;  // N
  int64_t used = 0;     // U, from 1 to N
};

// `bias` is N f32 at any address, or empty for zeros; NaN comes last.
void top_k(TopKShape shape, std::span<const int8_t> probabilities, std::span<const std::byte> bias,
           std::span<int8_t> weights, std::span<int32_t> chosen);

}  // namespace tidemark

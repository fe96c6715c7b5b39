// Ops that look at one place at a time: SiLU by table, product, residual sum. Output over an input
// is allowed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/kernels/requantize.h"

namespace tidemark {

// One answer for each of the 256 inputs, indexed by the input's bits as unsigned: -1 is entry 255.
using ByteTable = std::array<int8_t, 256>;

// silu(x) = x / (1 + e^-x).
//   scales 0.1 and 0.05, input 10: x = 1, silu = 0.7311, / 0.05 = 14.6 -> 15.  Checked by
//   SiluTest.ByHand.
ByteTable silu_table(Scales scales);

void apply_table(const ByteTable& table, std::span<const int8_t> x, std::span<int8_t> out);

struct BinaryScales {
  float a = 1.0F;
  float b = 1.0F;
  float out = 1.0F;
};

// out = clamp(a x b x (s_a x s_b / s_out)), in integers by multiplier and shift.
//   a = 20 at 0.1, b = 30 at 0.2, s_out = 0.5: 600 x 0.04 = 24, and 2.0 x 6.0 = 12.0 = 24 x 0.5.
void multiply_s8(std::span<const int8_t> a, std::span<const int8_t> b, BinaryScales scales,
                 std::span<int8_t> out);

// TFLite's sum of two scales: both inputs times 2^20, each brought to the common scale 2 x max(s_a,
// s_b) by a factor of at most 1/2, added exactly, and the sum brought to s_out.
//   a = 100 at 0.1, b = -50 at 0.05, s_out = 0.1: 10.0 - 2.5 = 7.5 -> 75.  Checked by
//   AddTest.ByHand.
void add_s8(std::span<const int8_t> a, std::span<const int8_t> b, BinaryScales scales,
            std::span<int8_t> out);

// out [T, E] = clamp(round((x s_in + bias) / s_out)), ties away from zero; bias [E] f32 as stored,
// at any address, the same for every row.
//   x = {10, -3} at 0.5, bias {1.25, -0.25}, s_out 0.25: {6.25, -1.75} -> {25, -7}.  Checked by
//   AddBiasTest.ByHand.
void add_bias_s8(std::span<const int8_t> x, std::span<const std::byte> bias, Scales scales,
                 std::span<int8_t> out);

}  // namespace tidemark

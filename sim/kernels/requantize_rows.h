// requantize.h for many sums at once, each with a factor of its own; the same bits.
#pragma once

#include <cstdint>
#include <span>

#include "sim/kernels/requantize.h"

namespace tidemark {

// out[i] = requantize(sums[i], factors[i]); three of one length.
void requantize_each(std::span<const int32_t> sums, std::span<const QuantizedMultiplier> factors,
                     std::span<int8_t> out);

}  // namespace tidemark

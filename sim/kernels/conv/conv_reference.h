// Convolutions as their definition, with Eigen in 64 bits: the values under a window, less the zero
// point and with zeros for what is outside, as a vector; times the filters as a matrix. The judges
// of conv.h and depthwise_conv.h. They allocate; slow; for tests and for checking a replay.
#pragma once

#include "sim/kernels/conv/conv.h"

namespace tidemark {

void conv2d_reference(const ImageShape& in, std::span<const int8_t> x, const Filters& filters,
                      const ConvSettings& settings, std::span<int8_t> out);

void depthwise_conv2d_reference(const ImageShape& in, std::span<const int8_t> x,
                                const Filters& filters, const ConvSettings& settings,
                                std::span<int8_t> out);

}  // namespace tidemark

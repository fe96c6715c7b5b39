// Quantization once more, plainly and in double: the judge of sim/quant. Shares no code with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace tidemark::testing {

// To the nearest number of 11 significant bits, fewer below 2^-14, as fp16 has them.
inline double plain_fp16(double x) {
  if (x == 0) return 0;
  const double unit = std::exp2(std::max(std::floor(std::log2(std::abs(x))), -14.0) - 10);
  return std::nearbyint(x / unit) * unit;
}

struct PlainIntegers {
  double lowest = -127;
  double highest = 127;
  bool asymmetric = false;
};

inline PlainIntegers plain_integers(int bits, bool asymmetric) {
  const double top = std::exp2(bits - 1);
  return {.lowest = asymmetric ? -top : 1 - top, .highest = top - 1, .asymmetric = asymmetric};
}

// What comes back of values that share one scale, by min-max.
inline std::vector<double> plain_round_trip(const std::vector<double>& values,
                                            PlainIntegers format) {
  double low = 0;
  double high = 0;
  for (const double value : values) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const double exact = format.asymmetric ? (high - low) / (format.highest - format.lowest)
                                         : std::max(high, -low) / format.highest;
  const double scale = plain_fp16(double{static_cast<float>(exact)});  // a float becomes the fp16
  std::vector<double> restored;
  for (const double value : values) {
    if (scale == 0) {
      restored.push_back(0);
      continue;
    }
    const double zero = format.asymmetric ? std::round(format.lowest - low / scale) : 0;
    const double q = std::clamp(std::round(value / scale) + zero, format.lowest, format.highest);
    restored.push_back(scale * (q - zero));
  }
  return restored;
}

// Numbers between -size and size, some of them far out, the same for the same seed everywhere.
inline std::vector<float> random_values(uint64_t seed, int64_t count, float size) {
  std::mt19937_64 engine(seed);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    const auto unit = static_cast<float>(engine() >> 40) / 0x1p24F;  // [0, 1)
    const bool far = engine() % 61 == 0;
    values.push_back((2 * unit - 1) * size * (far ? 1.0F : 0.2F));
  }
  return values;
}

}  // namespace tidemark::testing

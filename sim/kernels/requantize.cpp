#include "sim/kernels/requantize.h"

#include <cmath>

#include "planner/base/check.h"

namespace tidemark {

QuantizedMultiplier quantize_multiplier(double real) {
  check(std::isfinite(real) && real >= 0.0, "a requantization factor is finite and not negative");
  if (real == 0.0) return {};
  int shift = 0;
  const double fraction = std::frexp(real, &shift);  // [0.5, 1)
  int64_t multiplier = std::llround(fraction * 0x1p31);
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    ++shift;
  }
  if (shift < -31) return {};
  if (shift > 30) return {std::numeric_limits<int32_t>::max(), 30};
  return {static_cast<int32_t>(multiplier), shift};
}

}  // namespace tidemark

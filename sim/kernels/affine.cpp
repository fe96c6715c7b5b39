#include "sim/kernels/affine.h"

#include "planner/base/check.h"

namespace tidemark {
namespace {

// The stored value of a real number, kept an int8.
int32_t stored(double real, const Affine& out) {
  return round_to_affine(real / double{out.scale}, out.zero_point);
}

}  // namespace

void check_affine(const Affine& affine) {
  check(std::isfinite(affine.scale) && affine.scale > 0.0F, "a scale is positive");
  check(affine.zero_point >= -128 && affine.zero_point <= 127, "a zero point is an int8");
}

ByteRange activation_range(FusedActivation activation, const Affine& out) {
  check_affine(out);
  switch (activation) {
    case FusedActivation::kNone:
      return {};
    case FusedActivation::kRelu:
      return {.low = out.zero_point};
    case FusedActivation::kRelu6:
      return {.low = out.zero_point, .high = stored(6.0, out)};
    case FusedActivation::kReluN1To1:
      return {.low = stored(-1.0, out), .high = stored(1.0, out)};
  }
  return {};
}

}  // namespace tidemark

#include "planner/import/safetensors_header.h"

#include <algorithm>
#include <array>

namespace tidemark {
namespace {

using enum SafetensorsDType;

// In the order of the enumerators, which are also the indices.
constexpr std::array kFormats = {
    SafetensorsFormat{kBool, "BOOL", 8},
    SafetensorsFormat{kF4, "F4", 4},
    SafetensorsFormat{kF6E2M3, "F6_E2M3", 6},
    SafetensorsFormat{kF6E3M2, "F6_E3M2", 6},
    SafetensorsFormat{kU8, "U8", 8},
    SafetensorsFormat{kI8, "I8", 8},
    SafetensorsFormat{kF8E5M2, "F8_E5M2", 8},
    SafetensorsFormat{kF8E4M3, "F8_E4M3", 8},
    SafetensorsFormat{kF8E8M0, "F8_E8M0", 8},
    SafetensorsFormat{kF8E4M3Fnuz, "F8_E4M3FNUZ", 8},
    SafetensorsFormat{kF8E5M2Fnuz, "F8_E5M2FNUZ", 8},
    SafetensorsFormat{kI16, "I16", 16},
    SafetensorsFormat{kU16, "U16", 16},
    SafetensorsFormat{kF16, "F16", 16},
    SafetensorsFormat{kBf16, "BF16", 16},
    SafetensorsFormat{kI32, "I32", 32},
    SafetensorsFormat{kU32, "U32", 32},
    SafetensorsFormat{kF32, "F32", 32},
    SafetensorsFormat{kC64, "C64", 64},
    SafetensorsFormat{kF64, "F64", 64},
    SafetensorsFormat{kI64, "I64", 64},
    SafetensorsFormat{kU64, "U64", 64},
};

}  // namespace

std::span<const SafetensorsFormat> safetensors_formats() { return kFormats; }

const SafetensorsFormat& format_of(SafetensorsDType dtype) {
  return kFormats.at(static_cast<size_t>(dtype));
}

std::optional<SafetensorsDType> parse_safetensors_dtype(std::string_view name) {
  for (const SafetensorsFormat& format : kFormats) {
    if (format.name == name) return format.dtype;
  }
  return std::nullopt;
}

int64_t element_count(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (const int64_t dim : shape) count = checked_mul(count, dim);
  return count;
}

std::optional<Bytes> whole_bytes(SafetensorsDType dtype, std::span<const int64_t> shape) {
  const int64_t bits = checked_mul(element_count(shape), format_of(dtype).bits);
  if (bits % 8 != 0) return std::nullopt;
  return Bytes::of(bits / 8);
}

const SafetensorsTensor* SafetensorsHeader::find_tensor(std::string_view name) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(),
                   [name](const SafetensorsTensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

}  // namespace tidemark

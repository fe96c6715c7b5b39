#include "planner/model/dtype.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "planner/base/check.h"

namespace tidemark {
namespace {

// In the order of DType. Columns: elements per block, bytes per block, bytes per row besides the
// blocks.
constexpr std::array<Format, 13> kFormats = {{
    {DType::kF32, "f32", 1, 4, 0, false, true},
    {DType::kF16, "f16", 1, 2, 0, false, true},
    {DType::kBf16, "bf16", 1, 2, 0, false, true},
    {DType::kInt8, "int8", 1, 1, 2, true, true},
    {DType::kInt4, "int4", 2, 1, 2, true, true},
    {DType::kQ8_0, "Q8_0", 32, 34, 0, true, true},
    {DType::kQ4_0, "Q4_0", 32, 18, 0, true, true},
    {DType::kQ5_0, "Q5_0", 32, 22, 0, true, false},
    {DType::kQ5_1, "Q5_1", 32, 24, 0, true, false},
    {DType::kQ4K, "Q4_K", 256, 144, 0, true, true},
    {DType::kQ5K, "Q5_K", 256, 176, 0, true, false},
    {DType::kQ6K, "Q6_K", 256, 210, 0, true, true},
    {DType::kI32, "i32", 1, 4, 0, false, false},
}};

struct Alias {
  std::string_view name{};
  DType dtype = DType::kF32;
};

constexpr std::array<Alias, 5> kAliases = {{
    {"fp32", DType::kF32},
    {"float32", DType::kF32},
    {"fp16", DType::kF16},
    {"float16", DType::kF16},
    {"bfloat16", DType::kBf16},
}};

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::span<const Format> formats() { return kFormats; }

const Format& format_of(DType dtype) {
  const Format& format = kFormats.at(static_cast<size_t>(dtype));
  check(format.dtype == dtype, "the format table is in the order of DType");
  return format;
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (const Format& format : kFormats) {
    if (same_ignoring_case(format.name, name)) return format.dtype;
  }
  for (const Alias& alias : kAliases) {
    if (same_ignoring_case(alias.name, name)) return alias.dtype;
  }
  return std::nullopt;
}

Bytes row_bytes(DType dtype, int64_t elements) {
  check(elements >= 0, "a row has no negative length");
  const Format& format = format_of(dtype);
  const int64_t blocks = ceil_div(elements, format.block_elements);
  return Bytes::of(format.block_bytes) * blocks + Bytes::of(format.row_bytes);
}

bool divides(DType dtype, int64_t elements) {
  return elements % format_of(dtype).block_elements == 0;
}

}  // namespace tidemark

#include "planner/capacity/compute_rate.h"

#include <array>

#include "planner/base/check.h"
#include "planner/base/find_by_name.h"

namespace tidemark {
namespace {

constexpr std::array<OpClass, 4> kOps{OpClass::kMatMul, OpClass::kGemv, OpClass::kAttention,
                                      OpClass::kOther};
constexpr std::array<ValueType, 4> kTypes{ValueType::kF32, ValueType::kF16, ValueType::kInt8,
                                          ValueType::kInt4};

}  // namespace

std::string_view name_of(OpClass op) {
  switch (op) {
    case OpClass::kMatMul:
      return "matmul";
    case OpClass::kGemv:
      return "gemv";
    case OpClass::kAttention:
      return "attention";
    case OpClass::kOther:
      return "other";
  }
  check(false, "every class of ops has a name");
  return {};
}

std::optional<OpClass> parse_op_class(std::string_view name) { return find_by_name(kOps, name); }

std::string_view name_of(ValueType type) {
  switch (type) {
    case ValueType::kF32:
      return "f32";
    case ValueType::kF16:
      return "f16";
    case ValueType::kInt8:
      return "int8";
    case ValueType::kInt4:
      return "int4";
  }
  check(false, "every type of values has a name");
  return {};
}

std::optional<ValueType> parse_value_type(std::string_view name) {
  return find_by_name(kTypes, name);
}

ValueType value_type_of(DType dtype) {
  const Format& format = format_of(dtype);
  const int64_t bits = format.block_bytes * 8;  // of a block: scales of its own included
  const int64_t values = format.block_elements;
  if (!format.quantized && bits >= 32 * values) return ValueType::kF32;
  if (!format.quantized && bits >= 16 * values) return ValueType::kF16;
  return bits >= 8 * values ? ValueType::kInt8 : ValueType::kInt4;
}

OpsPerSecond rate_of(std::span<const ComputeRate> rates, OpClass op, std::optional<ValueType> type,
                     OpsPerSecond fallback) {
  if (!type) return fallback;
  for (const ComputeRate& row : rates) {
    if (row.op == op && row.type == *type) return row.rate;
  }
  return fallback;
}

}  // namespace tidemark

// Rates of arithmetic by the kind of an op and the type of its values. A device states `compute`,
// and rows for what it does faster or slower:
//
//   op         what it is                                            its type
//   matmul     a matrix product of several tokens, or rows           of the weights
//   gemv       the same of one: each weight serves one multiply-add  of the weights
//   attention  scores and context against the cached keys, values    of the cache
//   other      scans, convolutions, sums, norms                      of what it writes
//
//   type   formats
//   f32    f32 and wider                 int8  8 bits a value: int8, Q8_0, fp8
//   f16    f16, bf16                     int4  blocks of fewer bits: Q6_K, Q4_K, int4, mxfp4, Q2_K
//
// An op takes the row of its kind and type, and `compute` where there is none.
//
//   compute 100 GOPS; matmul of int8 400 GOPS, gemv of int8 50 GOPS: a product of int8 weights and
//   2,000,000 operations takes 5,000 ns of arithmetic with several tokens, 40,000 ns with one; of
//   f16 weights 20,000 ns. Checked by ComputeRateTest.WorkedInTheHeader.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "planner/base/quantity.h"
#include "planner/model/dtype.h"

namespace tidemark {

enum class OpClass { kMatMul, kGemv, kAttention, kOther };
std::string_view name_of(OpClass op);  // "matmul", "gemv", "attention", "other"
std::optional<OpClass> parse_op_class(std::string_view name);

enum class ValueType { kF32, kF16, kInt8, kInt4 };
std::string_view name_of(ValueType type);  // "f32", "f16", "int8", "int4"
std::optional<ValueType> parse_value_type(std::string_view name);
ValueType value_type_of(DType dtype);

struct ComputeRate {
  OpClass op = OpClass::kMatMul;
  ValueType type = ValueType::kInt8;
  OpsPerSecond rate{};
  bool is_estimate = false;
  bool operator==(const ComputeRate&) const = default;
};

// The row's, or `fallback`: also for an op whose type is not known.
OpsPerSecond rate_of(std::span<const ComputeRate> rates, OpClass op, std::optional<ValueType> type,
                     OpsPerSecond fallback);

}  // namespace tidemark

#include "planner/capacity/compute_rate.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

constexpr OpsPerSecond gops(int64_t count) { return OpsPerSecond::of(count * 1'000'000'000); }

TEST(ComputeRateTest, WorkedInTheHeader) {
  const std::vector<ComputeRate> rows{
      {.op = OpClass::kMatMul, .type = ValueType::kInt8, .rate = gops(400)},
      {.op = OpClass::kGemv, .type = ValueType::kInt8, .rate = gops(50)}};
  const auto takes = [&](OpClass op, std::optional<ValueType> type) {
    return compute_time(2'000'000, rate_of(rows, op, type, gops(100)));
  };
  EXPECT_EQ(takes(OpClass::kMatMul, ValueType::kInt8), Duration::ns(5'000));
  EXPECT_EQ(takes(OpClass::kGemv, ValueType::kInt8), Duration::ns(40'000));
  EXPECT_EQ(takes(OpClass::kMatMul, ValueType::kF16), Duration::ns(20'000));
  EXPECT_EQ(takes(OpClass::kAttention, ValueType::kInt8), Duration::ns(20'000));
  EXPECT_EQ(takes(OpClass::kMatMul, std::nullopt), Duration::ns(20'000));
}

// By the table in the header: 8.5 bits a value of Q8_0 are int8, 6.5625 of Q6_K are not.
TEST(ComputeRateTest, TypesOfFormats) {
  for (const DType wide : {DType::kF32, DType::kF64, DType::kI32}) {
    EXPECT_EQ(value_type_of(wide), ValueType::kF32) << name_of(wide);
  }
  for (const DType half : {DType::kF16, DType::kBf16}) {
    EXPECT_EQ(value_type_of(half), ValueType::kF16) << name_of(half);
  }
  for (const DType byte : {DType::kInt8, DType::kQ8_0, DType::kI8, DType::kFp8E4m3, DType::kInt8G32,
                           DType::kMnnInt8, DType::kGptq8G128}) {
    EXPECT_EQ(value_type_of(byte), ValueType::kInt8) << name_of(byte);
  }
  for (const DType block : {DType::kQ6K, DType::kQ4_0, DType::kQ4K, DType::kInt4, DType::kMxfp4,
                            DType::kQ2K, DType::kInt4G32, DType::kAwq4G128, DType::kGptq4G128}) {
    EXPECT_EQ(value_type_of(block), ValueType::kInt4) << name_of(block);
  }
}

TEST(ComputeRateTest, NamesReadBack) {
  for (const OpClass op :
       {OpClass::kMatMul, OpClass::kGemv, OpClass::kAttention, OpClass::kOther}) {
    EXPECT_EQ(parse_op_class(name_of(op)), op);
  }
  for (const ValueType type :
       {ValueType::kF32, ValueType::kF16, ValueType::kInt8, ValueType::kInt4}) {
    EXPECT_EQ(parse_value_type(name_of(type)), type);
  }
  EXPECT_EQ(parse_op_class("softmax"), std::nullopt);
  EXPECT_EQ(parse_value_type("bf16"), std::nullopt);
}

}  // namespace
}  // namespace tidemark

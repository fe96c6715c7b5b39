// In which formats a replay has weights.
//
//   f32                      vectors, and the small matrices that no format quantizes
//   int8, int4, Q8_0, Q4_0   matrices, by the kernels of sim/kernels/matmul/block_weights.h
//   f16, bf16                those of towers, which are held and not read
//
// One inventory may mix them, as a file type or --tensor-type does; a tensor in any other format is
// refused by name:
//
//   Q4_0 of minicpm-2b has its embedding in Q6_K -> "token_embd.weight is Q6_K", hint "add --pure"
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "planner/base/diagnostic.h"
#include "planner/capacity/memory_plan.h"
#include "sim/kernels/matmul/block_rows.h"

namespace tidemark {

// None of a type whose rows the kernels do not multiply. Rows have the planner's row_bytes().
std::optional<RowFormat> row_format_of(DType dtype);

// Of a matrix that the kernels multiply: CHECKs that it is one.
RowFormat row_format(const WeightTensor& tensor);

// Bytes of one row in the file and in memory.
size_t weight_row_bytes(const WeightTensor& tensor);

// `columns` floats as a row of the tensor's type, rounded or quantized.
void store_row(const WeightTensor& tensor, std::span<const float> values, std::span<std::byte> row);

// The first tensor that the kernels cannot read, the setting that is at fault, and one that works.
std::optional<Diagnostic> unreadable_weight(const Scenario& scenario, const MemoryPlan& plan);

}  // namespace tidemark

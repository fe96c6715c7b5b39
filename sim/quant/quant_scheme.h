// How a storage format of the planner turns floats into itself: the formats whose error can be
// measured here.
//
//   int8          8 bits, symmetric, one scale for each output row
//   int4_g64_zp   4 bits with a zero point, a scale for each 64 values of a row
//   Q4_0          ggml's blocks, by their own rule (sim/kernels/matmul/block_rows.h)
//   bf16          rounded to nearest
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/model/dtype.h"
#include "sim/quant/integer_format.h"

namespace tidemark {

// How many values share a scale.
enum class Granularity { kTensor, kChannel, kGroup };

struct QuantScheme {
  enum class Method { kCast, kInteger, kBlocks };

  DType dtype = DType::kInt8;
  Method method = Method::kInteger;
  IntegerFormat integer{};                          // of kInteger
  Granularity granularity = Granularity::kChannel;  // of kInteger
  int64_t group = 0;                                // columns; of kGroup
  bool operator==(const QuantScheme&) const = default;
};

// One scale for all of a matrix, which is therefore read once before it is measured.
bool is_per_tensor(const QuantScheme& scheme);

// Nothing: the format is known by its size alone.
std::optional<QuantScheme> quant_scheme(DType dtype);

// The planner's format of these integers; it knows groups of 32, 64 and 128.
std::optional<DType> integer_dtype(IntegerFormat format, Granularity granularity, int64_t group);

// Names of all formats that quant_scheme knows, in the order of DType.
std::vector<std::string> measurable_formats();

// Does the format take rows of so many values? As the planner's recipes ask: ggml's blocks must be
// filled, a row of integers may end within a byte or a group.
bool takes_rows_of(DType dtype, int64_t columns);

}  // namespace tidemark

// What holds for one tensor of a GGUF file, whoever made it: the reader and the writer ask here.
#pragma once

#include <cstdint>
#include <string>

#include "planner/base/bytes.h"
#include "planner/import/gguf_header.h"

namespace tidemark {

inline constexpr int64_t kGgufMostDims = 4;
inline constexpr int64_t kGgufLongestName = 1024;  // of a key or a tensor, in bytes

struct GgufTensorSize {
  Bytes bytes{};
  std::string problem{};  // empty: `bytes` holds
  std::string hint{};
};

// Whole blocks row by row: dims {4096, 3} of Q4_K are 3 x 16 x 144 B = 6,912 B.
// Checked by GgmlTypesTest.RowsByHand.
GgufTensorSize size_of(const GgufTensor& tensor);

}  // namespace tidemark

#include "planner/import/gguf_tensor.h"

#include <fmt/core.h>

#include "planner/import/ggml_types.h"

namespace tidemark {
namespace {

constexpr const char* kConvertAgain = "convert the model again with a current converter";

GgufTensorSize refuse(std::string problem, std::string hint = "") {
  return {.bytes = {}, .problem = std::move(problem), .hint = std::move(hint)};
}

}  // namespace

GgufTensorSize size_of(const GgufTensor& tensor) {
  const GgmlType* type = find_ggml_type(tensor.type_id);
  if (type == nullptr) {
    return refuse(fmt::format("unknown tensor type {}", tensor.type_id),
                  fmt::format("known are the types up to {} ({})", ggml_types().back().id,
                              ggml_types().back().name));
  }
  if (is_retired(*type)) {
    return refuse(fmt::format("type {} ({}) was retired", type->id, type->name), kConvertAgain);
  }
  for (const int64_t dim : tensor.dims) {
    if (dim < 0) return refuse("a dimension does not fit into 63 bits");
  }
  const int64_t row = tensor.dims.empty() ? 1 : tensor.dims.front();
  if (row % type->block_elements != 0) {
    return refuse(fmt::format("a row of {} values does not fill blocks of {} ({})", row,
                              type->block_elements, type->name));
  }
  try {
    Bytes bytes = Bytes::of(row / type->block_elements) * type->block_bytes;
    int64_t elements = row;
    for (size_t i = 1; i < tensor.dims.size(); ++i) {
      bytes = bytes * tensor.dims[i];
      elements = checked_mul(elements, tensor.dims[i]);
    }
    return {.bytes = bytes};
  } catch (const std::overflow_error&) {
    return refuse("the product of the dimensions does not fit into 63 bits");
  }
}

}  // namespace tidemark

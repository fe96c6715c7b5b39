// The tensors a spec expects against the tensors a file holds.
//
//   spec: blk.3.attn_k.weight, 4096 x 1024; file: 4096 x 512. A contradiction.
//   spec: blk.0.ssm_ba.weight, 2048 x 64; file: ssm_beta and ssm_alpha, 2048 x 32 each. The same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/import/gguf/tensor_table.h"
#include "planner/model/weights.h"

namespace tidemark {

// The name in the file of a tensor of the spec, which has n_main main layers: draft layers follow
// them as more of the same. Empty when the architecture's files use that name for something else.
std::string file_name(const GgufArchitecture& architecture, const WeightTensor& tensor,
                      int64_t n_main);

struct GgufContradiction {
  std::string tensor{};  // as the file calls it
  std::string message{};
};

struct GgufMatch {
  std::vector<GgufContradiction> contradictions{};  // missing or of another shape
  std::vector<std::string> unexplained{};           // in the file, not in the spec
  // The file's table in its order, under the spec's names where one tensor is one tensor.
  std::vector<StoredTensor> stored{};
  int64_t expected_elements = 0;
  int64_t stored_elements = 0;
};

// Throws std::overflow_error when a product leaves 63 bits. Stacks that are not counted are
// matched as well.
GgufMatch match_tensors(const ModelSpec& model, const TensorTable& table);

// The model with every stack counted: all that a file holds.
ModelSpec with_all_stacks(ModelSpec model);

}  // namespace tidemark

// The weights of a model, tensor by tensor, in file order: token_embd, blk.0.*, ..., output_norm,
// output.
//
//   MiniCPM-2B: 122,753 x 2,304 embedding + 40 x 61,051,392 + 2,304 = 2,724,880,896 parameters
//   (tied). Checked by WeightsTest.MiniCpmParameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/model/model_spec.h"

namespace tidemark {

enum class WeightRole {
  kTokenEmbedding,
  kAttentionNorm,
  kQuery,
  kKey,
  kValue,
  kAttentionOutput,
  kFeedForwardNorm,
  kGate,
  kUp,
  kDown,
  kOutputNorm,
  kOutput,
  kPlain
};

struct WeightTensor {
  std::string name{};  // GGUF's spelling: "blk.0.attn_q.weight"
  WeightRole role = WeightRole::kPlain;
  int64_t layer = -1;          // -1 = outside the layers
  int64_t columns = 0;         // ne0, the reduced dimension
  int64_t rows = 0;            // ne1; 1 for a vector
  DType dtype = DType::kF32;   // as held in memory
  Bytes bytes{};               // rows x row_bytes(dtype, columns); the given size for kPlain
  int64_t parameters() const;  // 0 for kPlain, whose element count is unknown
};

struct WeightsInventory {
  std::vector<WeightTensor> tensors{};  // indexed by WeightId
  int64_t parameters = 0;
  Bytes bytes{};
  // Index of the first tensor with this role in this layer; CHECKs that it exists.
  WeightId find(WeightRole role, int64_t layer = -1) const;
};

// The type tensor (columns x rows) takes when the model is asked for in `requested`. Vectors
// (norms) stay f32 under quantized formats. Rows that do not fill whole blocks fall back as the
// GGUF quantizer does: Q4_K -> Q5_0, Q6_K -> Q8_0, and f16 when 32 does not divide the row either.
DType stored_type(const WeightTensor& tensor, DType requested);

// Every tensor at `requested` (pure: one format for all matrices). A layer list ignores
// `requested`. Throws std::overflow_error when a size leaves 63 bits.
WeightsInventory weights_inventory(const ModelSpec& model, DType requested);

// The textbook's size: parameters x nominal bits / 8 and nothing else (int8 = 8 bits, int4 = 4,
// Q4_0 = 4.5).
Bytes textbook_weight_bytes(int64_t parameters, DType dtype);

}  // namespace tidemark

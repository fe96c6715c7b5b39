// The weights of a model, tensor by tensor, in file order: token_embd, blk.0.*, ..., output_norm,
// output, then encoder, towers and draft heads.
//
//   MiniCPM-2B: 122,753 x 2,304 embedding + 40 x 61,051,392 + 2,304 = 2,724,880,896 parameters
//   (tied). Checked by WeightsTest.MiniCpmParameters.
//
// Names and shapes are GGUF's (ne0 = columns, ne1 = rows, ne2 = count), also for models that have
// no GGUF architecture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/model/model_spec.h"

namespace tidemark {

enum class WeightRole {
  kTokenEmbedding,
  kPositionEmbedding,
  kTokenTypes,
  kEmbeddingNorm,
  kAttentionNorm,  // before the mixer, whatever it is
  kQuery,
  kKey,
  kValue,
  kQkv,  // fused
  kQueryNorm,
  kKeyNorm,
  kSinks,
  kRelativeBias,
  kQueryA,  // MLA: Q = q_b(norm(q_a(x))), latent = norm(kv_a(x)), K and V = kv_b(latent)
  kQueryANorm,
  kQueryB,
  kKvA,
  kKvANorm,
  kKvB,
  kKeyB,
  kValueB,
  kAttentionOutput,
  kAttentionPostNorm,
  kCrossNorm,
  kCrossQuery,
  kCrossKey,
  kCrossValue,
  kCrossOutput,
  kFeedForwardNorm,
  kGate,
  kUp,  // of gate and up in one matrix, that matrix
  kDown,
  kFeedForwardPostNorm,
  kRouter,
  kBalanceBias,
  kExpertGate,
  kExpertUp,
  kExpertDown,
  kSharedRouter,
  kSharedGate,
  kSharedUp,
  kSharedDown,
  kStateIn,  // recurrences: the projections in and out, the convolution, and all else
  kStateConv,
  kStateX,
  kStateDt,
  kStateGates,
  kStateParameter,
  kStateNorm,
  kStateOut,
  kChannelIn,  // RWKV's channel mixing
  kChannelGate,
  kChannelOut,
  kExtra,
  kOutputNorm,
  kOutput,
  kPlain
};

// Is it of all experts of a layer side by side? (Not the router, not a shared expert.)
bool is_expert(WeightRole role);

struct WeightTensor {
  std::string name{};  // "blk.0.attn_q.weight"
  WeightRole role = WeightRole::kPlain;
  bool is_bias = false;        // the bias of that role's matrix or norm
  bool is_parameter = true;    // false: a table, in the file but in no parameter count
  int64_t stack = -1;          // index into TransformerSpec::stacks; -1 = the main layers
  int64_t layer = -1;          // -1 = outside the layers
  int64_t columns = 0;         // ne0, the reduced dimension
  int64_t rows = 0;            // ne1; 1 for a vector
  int64_t count = 1;           // ne2: experts, heads
  DType dtype = DType::kF32;   // as held in memory
  Bytes bytes{};               // of all rows; the given size for kPlain
  int64_t elements() const;    // 0 for kPlain, whose element count is unknown
  int64_t parameters() const;  // elements(), or 0 for a table
};

struct WeightsInventory {
  std::vector<WeightTensor> tensors{};  // indexed by WeightId
  int64_t elements = 0;                 // what the file holds
  int64_t parameters = 0;               // what the model's total counts: no tables
  int64_t active_parameters =
      0;  // of which one token uses: experts that it is not sent to are left out
  Bytes bytes{};
  // Index of the first tensor with this role in this layer of the main stack; CHECKs that it
  // exists.
  WeightId find(WeightRole role, int64_t layer = -1) const;
};

// The type tensor (columns x rows) takes when the model is asked for in `requested`. Vectors
// (norms, biases), routers and the small tables of recurrences stay f32 under quantized formats.
// Rows that do not fill whole blocks fall back as the GGUF quantizer does: Q4_K -> Q5_0,
// Q6_K -> Q8_0, and f16 when 32 does not divide the row either.
DType stored_type(const WeightTensor& tensor, DType requested);

// Names, roles and shapes; dtype f32 and bytes 0 throughout. Throws std::overflow_error when a
// product leaves 63 bits. Draft heads that are not counted are left out.
std::vector<WeightTensor> weight_tensors(const ModelSpec& model);

// Every tensor at `requested` (pure: one format for all matrices). A layer list ignores
// `requested`. Throws std::overflow_error when a size leaves 63 bits.
WeightsInventory weights_inventory(const ModelSpec& model, DType requested);

// Totals of tensors whose dtype is chosen; their bytes are filled in. A layer list's stay as given.
WeightsInventory inventory_of(const ModelSpec& model, std::vector<WeightTensor> tensors);

// Parameters of the model; 0 for a layer list.
int64_t parameter_count(const ModelSpec& model);

// The textbook's size: parameters x nominal bits / 8 and nothing else (int8 = 8 bits, int4 = 4,
// Q4_0 = 4.5).
Bytes textbook_weight_bytes(int64_t parameters, DType dtype);

}  // namespace tidemark

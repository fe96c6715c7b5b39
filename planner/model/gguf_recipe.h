// Which type every tensor of a GGUF file gets: the mixes of llama.cpp's quantizer, tensor by
// tensor.
//
//   Q4_K_M of a model of 32 layers: value and down projections are Q6_K in layers 0-3, 6, 9, 12,
//   15, 18, 21, 24, 27 and 28-31, the output matrix is Q6_K, norms stay f32, all else is Q4_K; a
//   row that 256 does not divide falls back to Q5_0 or Q8_0. Checked by
//   GgufRecipeTest.MoreBitsByHand.
// Source: llama.cpp src/llama-quant.cpp (commit 3f545bec, August 2026) for the mixes,
// conversion/base.py for the types of what is never quantized.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "planner/base/result.h"
#include "planner/model/dtype.h"
#include "planner/model/gguf_file_type.h"
#include "planner/model/tensor_pattern.h"

namespace tidemark {

struct RecipeTensor {
  std::string_view name{};  // GGUF's: "blk.0.attn_q.weight"
  int64_t columns = 0;      // ne0
  int64_t rows = 1;         // ne1
  int64_t count = 1;        // ne2: experts, or heads of MLA's attn_k_b
};

// As the file's metadata states them; 0 = not stated. n_head_kv is that of layer 0: 1 for MLA, 0
// when layer 0 is recurrent.
struct RecipeModel {
  std::string_view architecture{};  // general.architecture
  int64_t n_layer = 0;
  int64_t n_head = 0;
  int64_t n_head_kv = 0;
  int64_t n_expert = 0;
};

// A tensor whose name the pattern finds takes this type instead of the mix's.
struct TypeOverride {
  TensorPattern pattern{};
  DType dtype = DType::kF16;
  bool operator==(const TypeOverride&) const = default;
};

struct RecipeChoice {
  FileType type = FileType::kF16;
  bool pure = false;                      // the base type for everything that is quantized
  bool importance_matrix = false;         // was one given? Some mixes differ
  std::vector<TypeOverride> overrides{};  // the first that fits counts; F32, F16, BF16 ignore them
};

// One type per tensor, in the order of `tensors` (which need not be the file's order). Refused
// where the quantizer refuses: a row that does not fill the blocks of a type without a fallback, or
// a feed-forward tensor of a mixture of experts without a layer number; the diagnostics name the
// first eight such tensors (path = name) and count the rest. A missing importance matrix is no
// refusal: see wants_importance_matrix.
Result<std::vector<DType>> choose_types(const RecipeModel& model,
                                        std::span<const RecipeTensor> tensors,
                                        const RecipeChoice& choice);

// Does the quantizer insist on an importance matrix for this tensor at this type? It plans the file
// all the same, but does not write it.
bool wants_importance_matrix(std::string_view name, DType dtype, FileType type);

// What a converted, unquantized file holds for this tensor: f32 for vectors, norms, routers and
// small recurrent tensors, else `wide` (f32, f16 or bf16).
DType converted_type(const RecipeTensor& tensor, DType wide);

// May the quantizer touch this tensor at all?
bool is_quantizable(const RecipeTensor& tensor);

}  // namespace tidemark

// What --quant names, and the type every tensor takes under it.
//
//   q4_k_m      a GGUF file type: the mix of gguf_recipe.h
//   gptq4_g128  one format: what its own tool leaves alone (embedding, head, norms) stays f16
//   as-stored   whatever the model file holds
// A name that is both a file type and a format (Q4_0, Q8_0, Q6_K, f16, ...) means the file type;
// `pure` turns the mix off.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/result.h"
#include "planner/model/gguf_recipe.h"

namespace tidemark {

enum class QuantKind { kAsStored, kFileType, kFormat };

struct Quantization {
  QuantKind kind = QuantKind::kAsStored;
  FileType file_type = FileType::kF16;  // of kFileType
  DType format = DType::kF16;           // of kFormat
  bool pure = false;                    // kFileType only: no mix
  bool importance_matrix = false;       // kFileType only
  std::vector<TypeOverride> overrides{};
  bool operator==(const Quantization&) const = default;
};

struct QuantizationInfo {
  std::string name{};  // "Q4_K_M", "gptq4_g128", "as-stored"
  QuantKind kind = QuantKind::kAsStored;
  double bits_per_weight = 0;  // for display: of Llama-3.1-8B for a file type, of a large matrix
                               // for a format, 0 = depends on the model
  std::string summary{};
};

// Everything --quant takes, in the order in which it is listed. Without the short names.
std::span<const QuantizationInfo> quantizations();
std::vector<std::string> quantization_names();

// By name or short name (Q4_K = Q4_K_M, fp16 = F16), ignoring case.
std::optional<Quantization> parse_quantization(std::string_view name);

// The canonical name: "Q4_K_M". Says nothing of pure, importance_matrix and overrides.
std::string_view name_of(const Quantization& quantization);

// PATTERN=TYPE,PATTERN=TYPE as tensor_pattern.h understands patterns; types are GGML's by name.
Result<std::vector<TypeOverride>> parse_overrides(std::string_view text);

// One type per tensor, in the order of `tensors`; `stored` holds the types the model states, one
// per tensor. Overrides apply to as-stored and formats as well, to matrices only.
//
// Formats: vectors, norms, routers and small recurrent tensors are never quantized. They stay f32
// under GGML formats, this project's integers, MNN, TFLite and BitNet, f16 under the others, bf16
// under fp8. The embedding and the head
//   are quantized   under GGML formats, this project's integers, MLC, MLX and TFLite;
//   stay f16        under GPTQ, AWQ, bitsandbytes and BitNet, bf16 under fp8;
//   under MNN a tied matrix is quantized, an embedding of its own stays bf16.
// A matrix whose shape the format's tool does not take: GGML's fallbacks, else what the embedding
// would be. The sources stand with the rules in quantization.cpp. Refused as choose_types refuses.
Result<std::vector<DType>> tensor_types(const RecipeModel& model,
                                        std::span<const RecipeTensor> tensors,
                                        std::span<const DType> stored,
                                        const Quantization& quantization);

}  // namespace tidemark

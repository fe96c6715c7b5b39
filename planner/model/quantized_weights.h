// The weights of a model under what --quant names.
//
//   as-stored  the tensor table of the file that was read; else the packing the model states
//              (stored_as); else every tensor at the model's dtype
//   Q4_K_M     the mix of gguf_recipe.h over the main layers and the encoder. Vision and audio
//              towers keep 16 bits: they travel in a file of their own, which is not quantized
//   gptq4_g128 one format, as quantization.h says
#pragma once

#include "planner/base/result.h"
#include "planner/model/quantization.h"
#include "planner/model/weights.h"

namespace tidemark {

// A layer list ignores `quantization`. Refused where the format's own tool refuses. Throws
// std::overflow_error when a size leaves 63 bits.
Result<WeightsInventory> quantized_weights(const ModelSpec& model,
                                           const Quantization& quantization);

// How the model is stored, in one word: the type of all its tensors, the packing of its matrices,
// "sizes only" of a layer list, or "as-stored" when a file's table says it tensor by tensor.
std::string_view stored_name(const ModelSpec& model);

// What the recipes need to know of a model.
RecipeModel recipe_model(const ModelSpec& model);

// The one format that stands for a quantization where a formula knows no other: the base type of a
// file type (Q4_K_M: Q4_K), the format itself, or the model's own dtype.
DType nominal_format(const ModelSpec& model, const Quantization& quantization);

}  // namespace tidemark

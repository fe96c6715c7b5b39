// ModelSpec -> the header of a GGUF file of real dimensions: all keys that sizes need and the
// tensor table, for gguf_writer.h.
//
//   MiniCPM-2B as Q4_K_M: 362 tensors, 1,799,561,826 bytes. Checked by GgufMetadataTest.MiniCpm.
//
// Law: model_of_gguf(gguf_of_model(m)) is m, but for name, source and what the file adds (the
// stored tensors and their types).
#pragma once

#include <optional>
#include <vector>

#include "planner/base/result.h"
#include "planner/import/gguf_header.h"
#include "planner/model/gguf_recipe.h"
#include "planner/model/model_spec.h"

namespace tidemark {

// Tensors in the order of llama.cpp's quantizer: outside the layers first, then by layer, by name
// inside a layer. The file has no tokenizer. Not laid out: write_gguf() and lay_out_gguf() do that.
//
// `file_type` is only written down. types[i] belongs to weight_tensors(model)[i]. Vision and audio
// towers are left out: they have a file of their own. Refused, each by its key or tensor: an
// architecture without GGUF keys here, a layer kind or format that GGUF does not have, a width that
// differs between layers where GGUF has one for all. Throws std::overflow_error when a size leaves
// 63 bits.
Result<GgufHeader> gguf_of_model(const ModelSpec& model, const std::vector<DType>& types,
                                 std::optional<FileType> file_type = std::nullopt);

// The same with the types of a file type's mix, and with draft layers even where they are not
// counted. Refused as choose_types refuses as well.
Result<GgufHeader> gguf_of_model(const ModelSpec& model, const RecipeChoice& choice);

}  // namespace tidemark

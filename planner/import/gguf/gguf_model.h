// The header of a GGUF file -> ModelSpec.
//
//   Llama-3.2-1B: llama.block_count 16, llama.embedding_length 2048, llama.attention.head_count 32,
//   ...head_count_kv 8; no output.weight in the tensor table, so the head is tied;
//   rope_freqs.weight of 32 values becomes an extra that is no parameter. Checked by
//   GgufModelTest.KeysByHand.
//
// Kinds of layers come from the tensor table, widths from the keys. ModelSpec::stored is the table
// itself under this project's names (planner/model/weights.h), so sizes are the file's own whatever
// the spec makes of it.
#pragma once

#include <filesystem>

#include "planner/base/result.h"
#include "planner/import/gguf_header.h"
#include "planner/import/imported_model.h"

namespace tidemark {

// Errors, each with the key or tensor as its path: an architecture nobody here knows (unless
// options.assume_dense), a file that is no model (vocabulary, projector, adapter), a key that a
// layer needs and that is missing or out of range, tensors that contradict the keys. Warnings name
// tensors that the spec does not explain.
Result<ImportedModel> model_of_gguf(const GgufHeader& header, const ImportOptions& options);

// The file at `path`; of a split set any part.
Result<ImportedModel> read_gguf_model(const std::filesystem::path& path,
                                      const ImportOptions& options);

}  // namespace tidemark

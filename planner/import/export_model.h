// A model's header as a file: every key and the whole tensor table of a real file, and a hole where
// the weights would be. For tests, and for people who size a model that they do not have.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "planner/base/bytes.h"
#include "planner/base/result.h"
#include "planner/model/model_spec.h"

namespace tidemark {

struct ExportedFile {
  int64_t tensors = 0;
  Bytes header_bytes{};  // what takes space on disk
  Bytes file_bytes{};    // the length of the file
};

// To `path`, by its extension: .gguf in any file type or GGML format; .safetensors in f32, f16 or
// bf16, with the tensors' names as GGUF spells them. `quant` is what --quant takes; "as-stored" =
// the model's own types. An existing file is replaced only when the new one is whole.
Result<ExportedFile> export_model(const ModelSpec& model, std::string_view quant,
                                  const std::filesystem::path& path);

}  // namespace tidemark

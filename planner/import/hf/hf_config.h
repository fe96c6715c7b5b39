// Hugging Face config.json -> ModelSpec. The keys of a class, the defaults it applies where the
// file is silent, and what its modules hold follow the class's definition in transformers.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "planner/base/result.h"
#include "planner/import/imported_model.h"

namespace tidemark {

// `text` is the whole file, `file` its name in messages. Errors: no JSON object, a key of the wrong
// type or out of range, sizes that do not fit each other, an unknown model_type or an unknown key
// that changes sizes (unless options.assume_dense).
Result<ImportedModel> parse_hf_config(const std::string& file, std::string_view text,
                                      const ImportOptions& options);

// config.json at `path`, or in the folder `path`; with the weight index or the weights that stand
// beside it, `stored` is filled in.
Result<ImportedModel> read_hf_config(const std::filesystem::path& path,
                                     const ImportOptions& options);

}  // namespace tidemark

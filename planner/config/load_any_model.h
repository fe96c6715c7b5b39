// MODEL, whatever it is: a built-in name, a model YAML, a .gguf (also the first of a split set), a
// .safetensors with its config.json beside it, a config.json, or the folder that holds one.
#pragma once

#include <string_view>

#include "planner/base/result.h"
#include "planner/import/imported_model.h"

namespace tidemark {

// Warnings and applied defaults come with the model; a YAML file has none.
Result<ImportedModel> load_any_model(std::string_view name_or_path, const ImportOptions& options);

}  // namespace tidemark

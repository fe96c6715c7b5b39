// A safetensors file without a config.json: its tensors have sizes and names, and nothing says what
// they compute. It becomes a list of sizes, one entry for each numbered block.
//
//   model.layers.3.mlp.up.weight, model.layers.3.mlp.up.bias -> "model.layers.3"
//   model.norm.weight -> "model.norm"
#pragma once

#include "planner/base/result.h"
#include "planner/import/imported_model.h"
#include "planner/import/safetensors_header.h"

namespace tidemark {

// The entries stand in the order in which their first tensors stand in the file. Activations are
// unknown and counted as nothing; a warning says so. Errors: no tensors, or more blocks than a list
// may have (10,000).
Result<ImportedModel> sizes_of_safetensors(const std::string& file,
                                           const SafetensorsHeader& header);

}  // namespace tidemark

// The weights of a model's own file: rows are read as floats and stored in the format that is
// planned. A row that the file has in that very format comes out with the same bytes: a block's
// largest value tells its scale. Names are GGUF's, or those of a Hugging Face checkpoint of a dense
// decoder:
//
//   blk.3.attn_q.weight    model.layers.3.self_attn.q_proj.weight
//   output_norm.weight     model.norm.weight
//
// A GGUF tensor of experts is [columns, rows, experts]: their rows one below the other.
//
// The scales of activations stay those of made-up weights (value_ranges.h), so values may saturate:
// memory and equality of outputs are what a replay is about. NaN and infinite values are refused
// once all rows are read: what is computed from them is NaN whatever was overwritten, and proves
// nothing.
//
//   m.gguf: error: blk.3.attn_q.weight: 2 of 4,096 values are NaN or infinite
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "planner/base/result.h"
#include "planner/capacity/memory_plan.h"
#include "sim/replay/weight_source.h"

namespace tidemark {

// "" for a name that such a checkpoint of a dense decoder does not have.
std::string checkpoint_name(std::string_view gguf_name);

// Errors: a file that cannot be read, a tensor of the model that is not in it, has another shape
// there, or values that are no floats. Tensors beyond those of the model are left alone.
Result<std::shared_ptr<WeightSource>> weights_from_file(const WeightsInventory& weights,
                                                        const std::filesystem::path& path);

}  // namespace tidemark

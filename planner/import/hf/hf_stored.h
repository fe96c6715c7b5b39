// What the files of a checkpoint hold, told from the names in its index and the sizes of its
// config.
//
//   falcon-180b-chat: 178,557,088,768 parameters, the tied head stored again as lm_head.weight:
//   + 65,024 x 14,848 = 179,522,565,120 elements of 2 bytes = the index's 359,045,130,240.
//   llama-2-7b in f32 with 32 buffers of 64 frequencies: 4 x (6,738,415,616 + 2,048).
// Checked by HfStoredTest.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "planner/base/result.h"
#include "planner/import/hf/hf_import.h"

namespace tidemark {

// The names of all tensors of a checkpoint, and the bytes that it says they have together.
struct CheckpointNames {
  std::vector<std::string> tensors{};
  std::optional<Bytes> stated{};
};

// From the index or the weights in `folder`; nothing when there is none. Errors as
// read_checkpoint_index and read_safetensors.
Result<std::optional<CheckpointNames>> read_checkpoint_names(const std::filesystem::path& folder);

// Fills import.imported.stored. Buffers are taken in the type that makes the stated size exact, if
// one does, else in the model's own. A config that leaves its type out takes 16 bits when the
// stated size is that exactly. Any other disagreement is a warning.
// Errors: a quantization whose tool refuses the model's shapes.
Diagnostics compare_with_checkpoint(HfImport& import, const CheckpointNames& names);

}  // namespace tidemark

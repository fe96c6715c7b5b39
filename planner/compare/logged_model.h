// The model of a log. Dimensions that it prints are looked up among known models; if none has them,
// the model is built from the log after a known one of its architecture. A log without dimensions
// is matched by its model's name.
//
//   "n_layer = 32, n_embd = 4096, n_head_kv = 8, n_ff = 14336, n_vocab = 128256, arch = llama"
//     -> llama-3-8b, and says so
//   the same with n_vocab = 128259: llama-3-8b with another vocabulary
//   Checked by LoggedModelTest.WorkedInTheHeader.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planner/base/result.h"
#include "planner/compare/logged_run.h"
#include "planner/model/quantized_weights.h"

namespace tidemark {

struct LoggedModel {
  ModelSpec spec{};
  std::string how{};                 // where it came from, one sentence
  std::vector<std::string> notes{};  // what was taken from elsewhere
};

// Refused when neither dimensions nor a known name are in the log, with what would help.
Result<LoggedModel> model_of_log(const LoggedRun& run, std::span<const ModelSpec> known);

// What the log knows better than a known model: vocabulary, tied or not, an uncompressed latent
// cache.
void adjust_to_log(const LoggedRun& run, ModelSpec& spec, std::vector<std::string>& notes);

// "Q4_K - Medium", "mostly Q4_0", "all F32", "Q4_K_M" -> a file type; nothing for what is none.
std::optional<FileType> file_type_of_log(std::string_view text);

struct LoggedWeights {
  std::optional<WeightsInventory> inventory{};  // nothing: the mix is not known
  std::string how{};                            // how it was found and checked, or why not
};

// The tensor table of the log, or the mix of its file type if the counts of types, or else the
// size of all tensors, agree with the log. Never a mix that contradicts the log.
LoggedWeights weights_of_log(const LoggedRun& run, const ModelSpec& spec);

}  // namespace tidemark

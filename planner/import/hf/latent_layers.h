// What the spellings of DeepSeek's models share.
#pragma once

#include <cstdint>

#include "planner/model/model_spec.h"

namespace tidemark {

// `moe` instead of the dense feed-forward in every step'th layer from n_dense on.
void set_latent_experts(TransformerSpec& spec, const MoeSpec& moe, int64_t n_dense, int64_t step);

// Draft layers of DeepSeek-V3 (arXiv 2412.19437, 2.2), each with an embedding and a head of its own
// in the files; the model's total does not count them.
//   DeepSeek-V3: one of 13,463,426,304 parameters.
StackSpec latent_draft(const TransformerSpec& spec, int64_t n_draft);

}  // namespace tidemark

// Three other spellings of the same facts, told by their keys, since none of them names itself:
//
//   DeepSeek's inference configs   dim, inter_dim, n_routed_experts, kv_lora_rank
//   ExecuTorch's params            dim, hidden_dim, use_hf_rope
//   Mistral's params.json          dim, hidden_dim, head_dim, norm_eps, and nothing of the above
#pragma once

#include "planner/import/hf/families.h"

namespace tidemark {

struct OtherFormat {
  HfFamily family{};          // model_type: what the format is called
  DType dtype = DType::kF32;  // where the file says nothing of it
};

// nullptr: none of them.
const OtherFormat* find_other_format(const ConfigReader& reader);

// dtype and, when it is fp8, the format of the matrices.
void read_other_dtype(ConfigReader& reader, const OtherFormat& format, ModelSpec& model);

}  // namespace tidemark

// Weights placed by hand, whatever layer they are of: llama.cpp's --override-tensor and its
// shorthands for experts.
//
//   -ot 'blk\.([0-9]|1[0-9])\.ffn_.*_exps=CPU,attn_k=CUDA1', two devices
//     blk.3.ffn_up_exps.weight    the first is found in it: the CPU
//     blk.3.attn_k.weight         the second: device 1
//     blk.3.attn_k_norm.weight    the second as well: a pattern is found anywhere in a name
//     blk.20.ffn_up_exps.weight   none: where its layer is
//   Checked by LlamaOverrideTest.WorkedInTheHeader.
//
// The first pattern that is found decides; patterns stand before the shorthands. A buffer is CPU,
// or a device as that engine spells it (CUDA0, Vulkan1, Metal) or as the plans do (GPU, GPU0).
// Source: llama.cpp, common/arg.cpp (parse_tensor_buffer_overrides), common/common.h
// (llm_ffn_exps_block_regex), src/llama-model-loader.cpp (create_tensor).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/result.h"
#include "planner/model/tensor_pattern.h"

namespace tidemark {

struct LlamaOverride {
  TensorPattern pattern{};
  std::optional<size_t> device{};  // none: the CPU
  bool operator==(const LlamaOverride&) const = default;
};

inline constexpr size_t kMostLlamaOverrides = 32;  // each is looked for in every name

// PATTERN=BUFFER, separated by commas, so no pattern holds one. Of patterns: tensor_pattern.h;
// groups may begin with ?:. Refused: more than 32, and devices beyond `n_devices`.
Result<std::vector<LlamaOverride>> parse_buffer_overrides(std::string_view text, size_t n_devices);

// Is it a matrix of all experts of a layer (or its bias), not of those that every token uses?
bool is_of_experts(std::string_view name);

}  // namespace tidemark

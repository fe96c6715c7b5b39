// What several kinds of Qwen share.
#pragma once

#include "planner/import/hf/decoder_shape.h"

namespace tidemark {

// With use_sliding_window, the layers from max_window_layers on see only sliding_window tokens.
void set_qwen_windows(ConfigReader& reader, TransformerSpec& spec);

// `moe` instead of the dense feed-forward in every decoder_sparse_step'th layer that
// mlp_only_layers does not name. Nothing without experts.
void set_qwen_experts(ConfigReader& reader, TransformerSpec& spec, const MoeSpec& moe);

}  // namespace tidemark

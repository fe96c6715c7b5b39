// Keys that change sizes in some class. A family that does not read one of them does not know what
// it means, and a number that leaves it out would be a guess.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "planner/import/hf/config_reader.h"
#include "planner/import/problems.h"

namespace tidemark {
namespace {

constexpr std::array kSizeKeys = std::to_array<std::string_view>({
    // widths and counts
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "v_head_dim",
    "ffn_dim",
    "ffn_hidden_size",
    "n_inner",
    "num_layers",
    "decoder_layers",
    "encoder_layers",
    "num_encoder_layers",
    "word_embed_proj_dim",
    "embedding_size",
    "hidden_size_per_layer_input",
    "vocab_size_per_layer_input",
    "intermediate_size_mlp",
    "shared_intermediate_size",
    "mlp_intermediate_size",
    "laurel_rank",
    "altup_num_inputs",
    "num_kv_shared_layers",
    "global_head_dim",
    "num_global_key_value_heads",
    "type_vocab_size",
    "original_vocab_size",
    // experts
    "num_experts",
    "num_local_experts",
    "n_routed_experts",
    "n_shared_experts",
    "num_shared_experts",
    "num_shared_expert",
    "moe_num_experts",
    "moe_intermediate_size",
    "moe_num_shared_experts",
    "shared_expert_intermediate_size",
    "expert_ffn_hidden_size",
    "first_k_dense_replace",
    "moe_layer_freq",
    "decoder_sparse_step",
    "mlp_only_layers",
    "moe_layers",
    "moe_layer_interval",
    "interleave_moe_layer_step",
    "num_dense_layers",
    // latent attention, recurrences
    "q_lora_rank",
    "kv_lora_rank",
    "qk_nope_head_dim",
    "qk_rope_head_dim",
    "o_lora_rank",
    "mamba_d_state",
    "mamba_expand",
    "mamba_n_heads",
    "ssm_state_size",
    "state_size",
    "conv_kernel",
    "linear_num_key_heads",
    "linear_num_value_heads",
    "full_attention_interval",
    "attn_layer_period",
    "index_n_heads",
    "index_head_dim",
    "index_topk",
    // switches
    "attention_bias",
    "mlp_bias",
    "use_bias",
    "use_qkv_bias",
    "qkv_bias",
    "add_qkv_bias",
    "add_bias_linear",
    "lm_head_bias",
    "use_qk_norm",
    "qk_layernorm",
    "qk_norm",
    "attn_output_gate",
    "use_post_norm",
    "attention_k_eq_v",
    "enable_moe_block",
    "use_double_wide_mlp",
    // what a token sees
    "sliding_window",
    "sliding_window_pattern",
    "attention_chunk_size",
    "layer_types",
    // parts besides the main layers
    "num_nextn_predict_layers",
    "mtp_num_hidden_layers",
    "mtp_num_layers",
    "vision_config",
    "audio_config",
    "visual",
    "encoder",
    "decoder",
    "text_config",
    "cross_attention_layers",
    "add_cross_attention",
    "adapter_layers",
    "hybrid_layer_ids",
});

void visit(ConfigNotes& notes, const ConfigValue& object, const std::string& path) {
  for (size_t i = 0; i < object.keys.size(); ++i) {
    const std::string& key = object.keys[i];
    const ConfigValue& value = object.items[i];
    const std::string full = path.empty() ? key : fmt::format("{}.{}", path, key);
    const bool was_read = notes.read.contains(full);
    if (was_read && value.kind == ConfigKind::kObject) visit(notes, value, full);
    if (was_read || value.is_off() || std::ranges::find(kSizeKeys, key) == kSizeKeys.end()) {
      continue;
    }
    if (notes.options.assume_dense) {
      notes.warnings.push_back(
          fmt::format("{} can change sizes and is left out of account.", printable(full)));
      continue;
    }
    if (std::ssize(notes.problems) >= kMostProblems) return;
    notes.problems.push_back(
        {.where = position_of(notes.file, notes.text, value.byte),
         .path = printable(full),
         .message = "changes sizes in some classes, and nothing is known of it in this one",
         .hint = "--assume-dense leaves it out of account"});
  }
}

}  // namespace

void refuse_unread_sizes(ConfigNotes& notes, const ConfigValue& object) {
  visit(notes, object, "");
}

}  // namespace tidemark

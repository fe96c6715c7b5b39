// One layer: what mixes tokens (attention or a recurrence), and what works on each token alone.
// Widths only; every field that changes a size is here, and nothing else (no rope base, no
// activation function).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "planner/base/ids.h"

namespace tidemark {

// What a norm stores for a width of E. kPlain normalizes without parameters (OLMo 1).
enum class NormKind {
  kNone,           // no norm at all
  kPlain,          // 0 values
  kScale,          // E: RMSNorm, or LayerNorm without bias
  kScaleAndShift,  // 2 E: LayerNorm
};
std::string_view name_of(NormKind kind);  // "none", "plain", "scale", "scale-and-shift"

// Norms of queries and keys before their product.
enum class QkNormKind {
  kNone,
  kHead,   // head_dim values, the same for every head (Qwen3, Gemma 3)
  kWidth,  // n_head x head_dim values for Q, n_head_kv x head_dim for K (OLMo 2, Command-R+)
};
std::string_view name_of(QkNormKind kind);  // "none", "head", "width"

struct AttentionBias {
  bool q = false;
  bool k = false;
  bool v = false;
  bool out = false;
  bool operator==(const AttentionBias&) const = default;
};

// Softmax attention: MHA (n_head_kv = n_head), GQA, MQA (n_head_kv = 1).
struct AttentionSpec {
  int64_t n_head = 0;
  int64_t n_head_kv = 0;
  int64_t head_dim = 0;    // of queries and keys
  int64_t head_dim_v = 0;  // of values; 0 = head_dim
  AttentionBias bias{};
  bool fused_qkv = false;  // one matrix for Q, K and V
  QkNormKind qk_norm = QkNormKind::kNone;
  bool qk_norm_bias = false;
  int64_t window = 0;           // a token sees this many tokens back (sliding); 0 = all
  int64_t chunk = 0;            // a token sees its own chunk of this many; 0 = all
  bool sinks = false;           // one learned logit for each head (gpt-oss)
  bool output_gate = false;     // Q makes a gate of its own width as well (Qwen3-Next)
  bool value_is_key = false;    // no V matrix: V is K before its norm (Gemma 4's full layers)
  int64_t shares_kv_with = -1;  // reads this layer's cache and stores none
  int64_t n_bucket = 0;         // rows of a relative position bias, n_head wide (T5)

  int64_t value_dim() const { return head_dim_v == 0 ? head_dim : head_dim_v; }
  bool operator==(const AttentionSpec&) const = default;
};

// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, 2.1).
struct MlaSpec {
  int64_t n_head = 0;
  int64_t q_lora = 0;  // 0 = Q straight from n_embd
  int64_t kv_lora = 0;
  int64_t qk_nope = 0;
  int64_t qk_rope = 0;
  int64_t v_head = 0;
  bool latent_cache = true;  // caches kv_lora + qk_rope values a token; else every head's K and V
  bool split_kv_b = true;  // k_b and v_b as two matrices by head, as absorbed attention needs them
  bool operator==(const MlaSpec&) const = default;
};

// Selective state space, first kind (arXiv 2312.00752, 3.4).
struct MambaSpec {
  int64_t d_conv = 0;
  int64_t d_inner = 0;
  int64_t d_state = 0;
  int64_t dt_rank = 0;
  bool conv_bias = true;
  bool proj_bias = false;
  bool inner_norms = false;  // of dt, B and C (Jamba)
  bool operator==(const MambaSpec&) const = default;
};

// Second kind: scalar decay by head, B and C by group (arXiv 2405.21060).
struct Mamba2Spec {
  int64_t d_conv = 0;
  int64_t d_inner = 0;
  int64_t d_state = 0;
  int64_t n_head = 0;
  int64_t n_group = 1;
  bool conv_bias = true;
  bool proj_bias = false;
  bool gated_norm = true;
  bool operator==(const Mamba2Spec&) const = default;
};

// Gated delta rule (arXiv 2412.06464), as in Qwen3-Next.
struct GatedDeltaSpec {
  int64_t n_key_head = 0;
  int64_t n_value_head = 0;
  int64_t key_dim = 0;    // of one head
  int64_t value_dim = 0;  // of one head
  int64_t d_conv = 0;
  bool operator==(const GatedDeltaSpec&) const = default;
};

// Linear attention with a state of head_dim x head_dim for each head, as in MiniMax-Text-01.
struct LinearAttentionSpec {
  int64_t n_head = 0;
  int64_t head_dim = 0;
  bool operator==(const LinearAttentionSpec&) const = default;
};

// Time mixing and channel mixing of RWKV; n_ff belongs to the latter.
struct RwkvSpec {
  int64_t version = 6;    // 4, 6 or 7
  int64_t head_size = 0;  // 0 in version 4
  int64_t n_ff = 0;
  int64_t lora_mix = 0;    // version 6: of the token shift; 7: unused
  int64_t lora_decay = 0;  // 6 and 7
  int64_t lora_iclr = 0;   // 7: in-context learning rate
  int64_t lora_value = 0;  // 7: value residual; absent in layer 0
  int64_t lora_gate = 0;   // 7
  bool operator==(const RwkvSpec&) const = default;
};

// Short gated convolution (LFM2).
struct ShortConvSpec {
  int64_t d_conv = 0;
  bool bias = false;
  bool operator==(const ShortConvSpec&) const = default;
};

// No tokens are mixed: a feed-forward alone.
struct NoMixer {
  bool operator==(const NoMixer&) const = default;
};

using Mixer = std::variant<AttentionSpec, MlaSpec, MambaSpec, Mamba2Spec, GatedDeltaSpec,
                           LinearAttentionSpec, RwkvSpec, ShortConvSpec, NoMixer>;
std::string_view mixer_name(const Mixer& mixer);  // "attention", "mla", "mamba", "mamba2", ...

// Attention over the states of an encoder; its K and V are made once for a whole generation.
struct CrossAttentionSpec {
  AttentionSpec attention{};        // n_head 0 = none
  int64_t source_width = 0;         // of the encoder's states; 0 = n_embd
  NormKind norm = NormKind::kNone;  // before it
  bool operator==(const CrossAttentionSpec&) const = default;
};

// Gated: down(act(gate(x)) * up(x)); else down(act(up(x))).
struct FeedForwardSpec {
  int64_t n_ff = 0;  // 0 = none
  bool gated = true;
  bool fused_gate_up = false;  // one matrix of 2 n_ff rows
  bool bias = false;
  bool operator==(const FeedForwardSpec&) const = default;
};

// Mixture of experts: a router, n_expert feed-forwards of which n_expert_used run for a token, and
// a shared one that always runs.
struct MoeSpec {
  int64_t n_expert = 0;  // 0 = none
  int64_t n_expert_used = 0;
  int64_t n_ff_exp = 0;
  int64_t n_ff_shared = 0;  // of all shared experts together; 0 = none
  bool gated = true;
  bool shared_gate = false;   // a learned weight of the shared expert (Qwen2-MoE)
  bool router_bias = false;   // one value an expert, added to the router's product
  bool balance_bias = false;  // one value an expert, for the choice only (DeepSeek-V3)
  bool expert_bias = false;
  bool shared_bias = false;
  bool operator==(const MoeSpec&) const = default;
};

// A tensor that no width above describes. A vector has one row.
struct ExtraWeight {
  std::string name{};  // "patch_embd.weight"; in a layer without "blk.N."
  int64_t columns = 0;
  int64_t rows = 1;
  int64_t count = 1;
  bool is_parameter = true;  // false: a table that training never touched (rope factors)
  bool operator==(const ExtraWeight&) const = default;
};

struct LayerNorms {
  NormKind before_mixer = NormKind::kScale;
  NormKind after_mixer = NormKind::kNone;
  NormKind before_ffn =
      NormKind::kScale;  // kNone beside a parallel feed-forward: one norm for both
  NormKind after_ffn = NormKind::kNone;
  bool operator==(const LayerNorms&) const = default;
};

struct LayerSpec {
  Mixer mixer{};
  CrossAttentionSpec cross{};
  FeedForwardSpec feed_forward{};
  MoeSpec moe{};
  LayerNorms norms{};
  bool is_parallel = false;  // mixer and feed-forward read the same input and are added together
  std::vector<ExtraWeight> extras{};

  // The mixer as softmax attention; nullptr for any other kind.
  const AttentionSpec* attention() const { return std::get_if<AttentionSpec>(&mixer); }
  bool operator==(const LayerSpec&) const = default;
};

}  // namespace tidemark

// What a mixer needs, what follows from other keys, and what they may not contradict.
#include <fmt/core.h>

#include "planner/config/layer_reader.h"

namespace tidemark {
namespace {

constexpr std::string_view kTurnsPairs = "rotary position embedding turns pairs of values";

void check_divides(LayerKeys& keys, std::string_view part_key, int64_t part,
                   std::string_view whole_key, int64_t whole, std::string hint) {
  if (part <= 0 || whole <= 0 || whole % part == 0) return;
  keys.error(part_key, fmt::format("{} does not divide {} {}", part, whole_key, whole),
             std::move(hint));
}

int64_t default_head_dim(LayerKeys& keys, int64_t n_embd, int64_t n_head) {
  if (n_embd == 0 || n_head == 0) return 0;
  if (n_embd % n_head == 0) return n_embd / n_head;
  keys.error("n_head", fmt::format("{} does not divide n_embd {}", n_head, n_embd),
             "state head_dim when it is not n_embd / n_head");
  return 0;
}

void complete(LayerKeys keys, const LayerContext& context, AttentionSpec& spec) {
  keys.require("n_head");
  const bool stated = keys.has("head_dim");
  if (!keys.has("n_head_kv")) spec.n_head_kv = spec.n_head;
  if (!stated) spec.head_dim = default_head_dim(keys, context.n_embd, spec.n_head);
  check_divides(keys, "n_head_kv", spec.n_head_kv, "n_head", spec.n_head,
                "grouped-query attention needs n_head to be a multiple of n_head_kv");
  if (context.rotates && spec.n_bucket == 0 && spec.head_dim % 2 != 0) {
    keys.error(stated ? "head_dim" : "n_embd",
               stated ? fmt::format("{} is odd", spec.head_dim)
                      : fmt::format("{} / n_head {} gives an odd head_dim of {}", context.n_embd,
                                    spec.n_head, spec.head_dim),
               std::string(kTurnsPairs));
  }
  if (spec.window > 0 && spec.chunk > 0) {
    keys.error("chunk", "stands beside window", "a layer sees a window or a chunk, not both");
  }
}

void complete(LayerKeys keys, const LayerContext& context, MlaSpec& spec) {
  keys.require_all({"n_head", "kv_lora", "qk_nope", "qk_rope", "v_head"});
  if (context.rotates && spec.qk_rope % 2 != 0) {
    keys.error("qk_rope", fmt::format("{} is odd", spec.qk_rope), std::string(kTurnsPairs));
  }
}

void complete(LayerKeys keys, const LayerContext&, MambaSpec&) {
  keys.require_all({"d_conv", "d_inner", "d_state", "dt_rank"});
}

void complete(LayerKeys keys, const LayerContext&, Mamba2Spec& spec) {
  keys.require_all({"d_conv", "d_inner", "d_state", "n_head"});
  check_divides(keys, "n_group", spec.n_group, "d_inner", spec.d_inner,
                "B and C are shared by groups of equal width");
}

void complete(LayerKeys keys, const LayerContext&, GatedDeltaSpec& spec) {
  keys.require_all({"n_key_head", "n_value_head", "key_dim", "value_dim", "d_conv"});
  check_divides(keys, "n_key_head", spec.n_key_head, "n_value_head", spec.n_value_head,
                "every key head serves the same number of value heads");
}

void complete(LayerKeys keys, const LayerContext&, LinearAttentionSpec&) {
  keys.require_all({"n_head", "head_dim"});
}

void complete(LayerKeys keys, const LayerContext& context, RwkvSpec& spec) {
  keys.require("n_ff_channel");
  if (spec.version != 0 && spec.version != 4 && spec.version != 6 && spec.version != 7) {
    keys.error("version", fmt::format("{} is not described", spec.version), "there are: 4, 6, 7");
  }
  if (spec.version == 4) return;
  keys.require_all({"head_size", "lora_decay"});
  if (spec.version == 6) keys.require("lora_mix");
  if (spec.version == 7) keys.require_all({"lora_iclr", "lora_gate"});
  check_divides(keys, "head_size", spec.head_size, "n_embd", context.n_embd,
                "the heads of RWKV fill n_embd");
}

void complete(LayerKeys keys, const LayerContext&, ShortConvSpec&) { keys.require("d_conv"); }

void complete(LayerKeys, const LayerContext&, NoMixer&) {}

void check_experts(LayerKeys& keys, const MoeSpec& moe) {
  const bool mentions = keys.has("n_expert_used") || keys.has("n_ff_exp");
  if (mentions) keys.require("n_expert");
  if (moe.n_expert == 0) return;
  keys.require_all({"n_expert_used", "n_ff_exp"});
  if (moe.n_expert_used > moe.n_expert) {
    keys.error("n_expert_used", fmt::format("{} of {} experts", moe.n_expert_used, moe.n_expert),
               "no token can use more experts than there are");
  }
}

}  // namespace

void complete_layer(LayerKeys keys, bool inherits_mixer, const LayerContext& context,
                    LayerSpec& layer) {
  const LayerKeys of_mixer = inherits_mixer ? keys : keys.without_inherited();
  std::visit([&](auto& spec) { complete(of_mixer, context, spec); }, layer.mixer);
  if (must_state_n_ff(layer) && !keys.has("n_expert")) keys.require("n_ff");
  check_experts(keys, layer.moe);
  // Of a part that a kind does not have, it takes over nothing.
  if (layer.feed_forward.n_ff == 0) layer.feed_forward = {};
  if (layer.moe.n_expert == 0) layer.moe = {};
  const LayerNorms defaults = default_norms(layer);
  if (!keys.has("before_mixer")) layer.norms.before_mixer = defaults.before_mixer;
  if (!keys.has("before_ffn")) layer.norms.before_ffn = defaults.before_ffn;
}

}  // namespace tidemark

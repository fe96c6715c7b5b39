#include "family_specs.h"

#include <rapidcheck.h>

#include <algorithm>
#include <string>

namespace tidemark::testing {
namespace {

int64_t some(int64_t least, int64_t most) { return *rc::gen::inRange<int64_t>(least, most + 1); }
bool chance() { return *rc::gen::arbitrary<bool>(); }
int64_t maybe(int64_t most) { return chance() ? some(1, most) : 0; }

NormKind some_norm() { return chance() ? NormKind::kScale : NormKind::kScaleAndShift; }
NormKind maybe_norm() { return chance() ? some_norm() : NormKind::kNone; }

enum class Recurrence { kNone, kMamba, kMamba2, kGatedDelta, kShortConv, kRwkv };

class Maker {
 public:
  explicit Maker(const GgufArchitecture& architecture) : a_(architecture) {
    const bool plain = a_.rwkv_version == 0 && !a_.is_encoder_decoder;
    if (a_.rwkv_version > 0) recurrence_ = Recurrence::kRwkv;
    if (plain && chance()) recurrence_ = static_cast<Recurrence>(some(1, 4));
    latent_ = plain && some(0, 3) == 0;
    window_ = plain && !latent_ && chance() ? some(1, 100) : 0;
    window_head_ = window_ > 0 && chance() ? some(2, 16) : head_dim_;
    has_experts_ = chance();
  }

  ModelSpec make() {
    TransformerSpec spec{.n_embd = n_embd_, .n_vocab = some(1, 50)};
    spec.n_ctx_train = Tokens(some(0, 5000));
    spec.is_causal = a_.is_encoder_decoder || a_.is_encoder == chance();
    spec.has_head = spec.is_causal || chance();
    spec.tied_embeddings = spec.is_causal && chance();
    spec.head_bias = spec.has_head && chance();
    spec.n_position = maybe(40);
    spec.n_token_type = maybe(3);
    spec.embedding_norm = is_taken("token_embd_norm") ? NormKind::kNone : maybe_norm();
    spec.final_norm = a_.plain_norms ? NormKind::kPlain : maybe_norm();
    spec.layers = layers(some(1, 7), a_.is_encoder_decoder);
    if (!a_.is_encoder_decoder) share_caches(spec);
    if (a_.is_encoder_decoder) {
      spec.stacks.push_back({.role = StackRole::kEncoder,
                             .n_embd = n_embd_,
                             .layers = layers(some(1, 7), false),
                             .final_norm = maybe_norm()});
    } else if (chance()) {
      spec.stacks.push_back(draft());
    }
    if (chance()) {
      spec.extras = {{.name = "rope_freqs.weight", .columns = some(1, 9), .is_parameter = false}};
    }
    set_parallel(spec);
    return {.name = "made up", .architecture = std::string(a_.name), .dims = spec};
  }

 private:
  bool is_taken(std::string_view stem) const {
    return std::ranges::find(a_.renames, stem, &GgufRename::file) != a_.renames.end();
  }

  std::vector<LayerSpec> layers(int64_t count, bool with_cross) {
    std::vector<LayerSpec> made;
    for (int64_t i = 0; i < count; ++i) made.push_back(layer(with_cross));
    return made;
  }

  LayerSpec layer(bool with_cross) {
    LayerSpec spec;
    spec.mixer = mixer();
    if (with_cross) {
      AttentionSpec heads = same_heads();
      heads.bias = {.q = chance(), .k = chance(), .v = chance(), .out = chance()};
      spec.cross = {.attention = heads, .norm = maybe_norm()};
    }
    const bool is_rwkv = std::holds_alternative<RwkvSpec>(spec.mixer);
    if (!is_rwkv && (a_.is_encoder_decoder || chance())) spec.feed_forward = feed_forward();
    if (!is_rwkv && has_experts_ && chance()) spec.moe = experts();
    const bool no_mixer = std::holds_alternative<NoMixer>(spec.mixer);
    spec.norms = {.before_mixer = no_mixer ? some_norm() : maybe_norm(),
                  .after_mixer = is_taken("post_attention_norm") ? NormKind::kNone : maybe_norm(),
                  .before_ffn = maybe_norm(),
                  .after_ffn = maybe_norm()};
    if (a_.plain_norms && spec.norms.before_mixer == NormKind::kNone) {
      spec.norms.before_mixer = NormKind::kPlain;
    }
    if (a_.plain_norms && spec.norms.before_ffn == NormKind::kNone) {
      spec.norms.before_ffn = NormKind::kPlain;
    }
    if (chance()) spec.extras = {{.name = "ffn_sub_norm.weight", .columns = some(1, 9)}};
    return spec;
  }

  Mixer mixer() {
    if (recurrence_ == Recurrence::kRwkv) return rwkv();
    if (recurrence_ != Recurrence::kNone && chance()) return recurrent();
    if (!a_.is_encoder_decoder && some(0, 5) == 0) return NoMixer{};
    if (latent_) return mla();
    return attention();
  }

  // What keys state once, for both stacks.
  AttentionSpec same_heads() const {
    return {.n_head = 3, .n_head_kv = 2, .head_dim = head_dim_, .head_dim_v = value_dim_};
  }

  AttentionSpec attention() {
    AttentionSpec spec = same_heads();
    if (!a_.is_encoder_decoder) {
      spec.n_head = some(2, 5);
      spec.n_head_kv = some(1, 4);
    }
    const int64_t span = window_ > 0 && chance() ? window_ : 0;
    if (span > 0) {
      (a_.chunked ? spec.chunk : spec.window) = span;
      spec.head_dim = window_head_;
      if (spec.head_dim_v == spec.head_dim) spec.head_dim_v = 0;
    }
    spec.fused_qkv = chance();
    if (spec.fused_qkv) {
      const bool bias = chance();
      spec.bias = {.q = bias, .k = bias, .v = bias};
    } else {
      spec.bias = {.q = chance(), .k = chance(), .v = chance()};
      spec.value_is_key = a_.value_is_key && !spec.bias.v && chance();
    }
    spec.bias.out = chance();
    spec.qk_norm = static_cast<QkNormKind>(some(0, 2));
    spec.qk_norm_bias = spec.qk_norm != QkNormKind::kNone && chance();
    spec.sinks = chance();
    spec.output_gate = a_.output_gate;
    spec.n_bucket = chance() ? 7 : 0;
    return spec;
  }

  MlaSpec mla() {
    return {.n_head = some(1, 5),
            .q_lora = q_lora_,
            .kv_lora = 6,
            .qk_nope = 4,
            .qk_rope = 2,
            .v_head = v_head_,
            .latent_cache = split_,
            .split_kv_b = split_};
  }

  Mixer recurrent() {
    if (recurrence_ == Recurrence::kMamba) {
      return MambaSpec{.d_conv = 4,
                       .d_inner = 12,
                       .d_state = 5,
                       .dt_rank = 3,
                       .conv_bias = chance(),
                       .proj_bias = chance(),
                       .inner_norms = chance()};
    }
    if (recurrence_ == Recurrence::kMamba2) {
      return Mamba2Spec{.d_conv = 4,
                        .d_inner = 12,
                        .d_state = 5,
                        .n_head = 3,
                        .n_group = 2,
                        .conv_bias = chance(),
                        .proj_bias = chance(),
                        .gated_norm = chance()};
    }
    if (recurrence_ == Recurrence::kShortConv) {
      return ShortConvSpec{.d_conv = 3, .bias = chance()};
    }
    return GatedDeltaSpec{
        .n_key_head = 2, .n_value_head = 4, .key_dim = 3, .value_dim = 5, .d_conv = 4};
  }

  RwkvSpec rwkv() {
    RwkvSpec spec{.version = a_.rwkv_version, .head_size = 4, .n_ff = some(1, 40)};
    spec.lora_decay = 3;
    if (spec.version == 6) {
      spec.lora_mix = 5;
      return spec;
    }
    spec.lora_iclr = 2;
    spec.lora_value = chance() ? 6 : 0;
    spec.lora_gate = 7;
    return spec;
  }

  FeedForwardSpec feed_forward() {
    FeedForwardSpec spec{.n_ff = a_.is_encoder_decoder ? 33 : some(1, 40)};
    spec.gated = chance();
    spec.fused_gate_up = spec.gated && chance();
    spec.bias = chance();
    return spec;
  }

  MoeSpec experts() {
    MoeSpec spec{.n_expert = n_expert_,
                 .n_expert_used = std::min<int64_t>(2, n_expert_),
                 .n_ff_exp = n_ff_exp_,
                 .n_ff_shared = n_ff_shared_};
    spec.gated = chance();
    spec.router_bias = chance();
    spec.balance_bias = chance();
    spec.expert_bias = chance();
    spec.shared_gate = n_ff_shared_ > 0 && chance();
    spec.shared_bias = n_ff_shared_ > 0 && chance();
    return spec;
  }

  StackSpec draft() {
    StackSpec stack{.role = StackRole::kDraft, .n_embd = n_embd_, .is_counted = false};
    stack.layers = layers(some(1, 2), false);
    for (LayerSpec& one : stack.layers) {
      one.norms.before_mixer = some_norm();
      one.extras = {{.name = "nextn.eh_proj.weight", .columns = 2 * n_embd_, .rows = n_embd_}};
    }
    return stack;
  }

  // From some layer on all read the cache of the last one of their kind before it.
  void share_caches(TransformerSpec& spec) {
    const auto n = static_cast<int64_t>(spec.layers.size());
    const auto heads = [&](int64_t i) {
      return std::get_if<AttentionSpec>(&spec.layers[static_cast<size_t>(i)].mixer);
    };
    for (int64_t i = 0; i < n; ++i) {
      if (heads(i) == nullptr) return;
    }
    const int64_t n_own = some(1, n);
    std::vector<int64_t> from(static_cast<size_t>(n), -1);
    for (int64_t i = n_own; i < n; ++i) {
      int64_t k = n_own - 1;
      const auto slides = [&](int64_t j) { return heads(j)->window + heads(j)->chunk > 0; };
      while (k >= 0 && slides(k) != slides(i)) --k;
      if (k < 0) return;
      from[static_cast<size_t>(i)] = k;
    }
    for (int64_t i = 0; i < n; ++i) heads(i)->shares_kv_with = from[static_cast<size_t>(i)];
  }

  // Either as the norms have it, or the same everywhere.
  void set_parallel(TransformerSpec& spec) {
    const bool by_norms = chance();
    const bool same = chance();
    const auto set = [&](LayerSpec& layer) {
      const bool concerns = !std::holds_alternative<NoMixer>(layer.mixer) &&
                            (layer.feed_forward.n_ff > 0 || layer.moe.n_expert > 0);
      const NormKind before = layer.norms.before_mixer;
      const bool shares = (before == NormKind::kScale || before == NormKind::kScaleAndShift) &&
                          layer.norms.before_ffn == NormKind::kNone;
      layer.is_parallel = concerns && (by_norms ? shares || a_.parallel : same);
    };
    for (LayerSpec& layer : spec.layers) set(layer);
    for (StackSpec& stack : spec.stacks) {
      if (stack.role == StackRole::kDraft) std::ranges::for_each(stack.layers, set);
    }
    if (!a_.is_encoder_decoder) return;
    // An encoder goes by what the decoder's layers say.
    for (LayerSpec& layer : spec.layers) layer.norms.before_ffn = NormKind::kScale;
    for (LayerSpec& layer : spec.layers) layer.is_parallel = false;
    for (LayerSpec& layer : spec.stacks.front().layers) layer.norms.before_ffn = NormKind::kScale;
  }

  const GgufArchitecture& a_;
  int64_t n_embd_ = 4 * some(2, 8);
  int64_t head_dim_ = some(2, 16);
  int64_t value_dim_ = chance() ? 17 : 0;
  int64_t q_lora_ = maybe(9);
  int64_t v_head_ = some(1, 9);
  int64_t n_expert_ = some(1, 6);
  int64_t n_ff_exp_ = some(1, 20);
  int64_t n_ff_shared_ = maybe(40);
  bool split_ = chance();
  bool latent_ = false;
  bool has_experts_ = false;
  int64_t window_ = 0;
  int64_t window_head_ = 0;
  Recurrence recurrence_ = Recurrence::kNone;
};

}  // namespace

ModelSpec random_model(const GgufArchitecture& architecture) { return Maker(architecture).make(); }

}  // namespace tidemark::testing

#include "random_models.h"

#include <rapidcheck.h>

#include <array>

namespace tidemark::testing {
namespace {

int64_t number(int64_t least, int64_t most) { return *rc::gen::inRange<int64_t>(least, most + 1); }
bool flag() { return *rc::gen::arbitrary<bool>(); }
int64_t maybe(int64_t least, int64_t most) { return flag() ? number(least, most) : 0; }

NormKind norm() {
  return *rc::gen::element(NormKind::kNone, NormKind::kPlain, NormKind::kScale,
                           NormKind::kScaleAndShift);
}

std::string text() {
  return *rc::gen::element<std::string>("llama", "a card, page 2", "x", "7", "null", "true", "- y",
                                        "it says: \"so\" # here", "back\\slash", " edge ", "~",
                                        "caf\xc3\xa9", "a'b", "[list]", "{map}", "&a", "*a", "!t",
                                        "100 %", "@at", "`tick", "a|b", ">fold", "?q", "0x10");
}

AttentionSpec heads() {
  AttentionSpec spec;
  spec.n_head_kv = number(1, 4);
  spec.n_head = spec.n_head_kv * number(1, 3);
  spec.head_dim = 2 * number(1, 20);
  spec.head_dim_v = maybe(1, 40);
  spec.bias = {.q = flag(), .k = flag(), .v = flag(), .out = flag()};
  spec.fused_qkv = flag();
  spec.qk_norm = *rc::gen::element(QkNormKind::kNone, QkNormKind::kHead, QkNormKind::kWidth);
  spec.qk_norm_bias = flag();
  return spec;
}

AttentionSpec attention() {
  AttentionSpec spec = heads();
  const int64_t span = number(0, 2);
  if (span == 1) spec.window = number(1, 100);
  if (span == 2) spec.chunk = number(1, 100);
  spec.sinks = flag();
  spec.output_gate = flag();
  spec.value_is_key = flag();
  spec.n_bucket = maybe(1, 32);
  return spec;
}

RwkvSpec rwkv() {
  RwkvSpec spec{.version = *rc::gen::element<int64_t>(4, 6, 7), .n_ff = number(1, 50)};
  if (spec.version == 4) return spec;
  spec.head_size = *rc::gen::element<int64_t>(1, 2, 4);  // each divides every n_embd drawn below
  spec.lora_decay = number(1, 9);
  spec.lora_mix = spec.version == 6 ? number(1, 9) : maybe(1, 9);
  if (spec.version == 6) return spec;
  spec.lora_iclr = number(1, 9);
  spec.lora_value = maybe(1, 9);
  spec.lora_gate = number(1, 9);
  return spec;
}

Mamba2Spec mamba2() {
  const int64_t n_group = number(1, 4);
  return {.d_conv = number(1, 5),
          .d_inner = n_group * number(1, 20),
          .d_state = number(1, 16),
          .n_head = number(1, 8),
          .n_group = n_group,
          .conv_bias = flag(),
          .proj_bias = flag(),
          .gated_norm = flag()};
}

Mixer recurrent_mixer(int64_t index) {
  switch (index) {
    case 2:
      return MambaSpec{.d_conv = number(1, 5),
                       .d_inner = number(1, 60),
                       .d_state = number(1, 16),
                       .dt_rank = number(1, 9),
                       .conv_bias = flag(),
                       .proj_bias = flag(),
                       .inner_norms = flag()};
    case 3:
      return mamba2();
    case 4: {
      const int64_t n_key_head = number(1, 4);
      return GatedDeltaSpec{.n_key_head = n_key_head,
                            .n_value_head = n_key_head * number(1, 3),
                            .key_dim = number(1, 9),
                            .value_dim = number(1, 9),
                            .d_conv = number(1, 5)};
    }
    case 5:
      return LinearAttentionSpec{.n_head = number(1, 9), .head_dim = number(1, 9)};
    case 6:
      return rwkv();
    case 7:
      return ShortConvSpec{.d_conv = number(1, 5), .bias = flag()};
    default:
      return NoMixer{};
  }
}

Mixer mixer() {
  const int64_t index = number(0, std::variant_size_v<Mixer> - 1);
  if (index == 0) return attention();
  if (index > 1) return recurrent_mixer(index);
  return MlaSpec{.n_head = number(1, 8),
                 .q_lora = maybe(1, 20),
                 .kv_lora = number(1, 20),
                 .qk_nope = number(1, 20),
                 .qk_rope = 2 * number(1, 8),
                 .v_head = number(1, 20),
                 .latent_cache = flag(),
                 .split_kv_b = flag()};
}

FeedForwardSpec feed_forward() {
  return {.n_ff = number(1, 90), .gated = flag(), .fused_gate_up = flag(), .bias = flag()};
}

MoeSpec experts() {
  MoeSpec moe{.n_expert = number(1, 8)};
  moe.n_expert_used = number(1, moe.n_expert);
  moe.n_ff_exp = number(1, 50);
  moe.n_ff_shared = maybe(1, 50);
  moe.gated = flag();
  moe.shared_gate = flag();
  moe.router_bias = flag();
  moe.balance_bias = flag();
  moe.expert_bias = flag();
  moe.shared_bias = flag();
  return moe;
}

std::vector<ExtraWeight> extras() {
  std::vector<ExtraWeight> list(static_cast<size_t>(maybe(1, 3)));
  for (ExtraWeight& extra : list) {
    extra = {.name = text(),
             .columns = number(1, 100),
             .rows = number(1, 3),
             .count = number(1, 3),
             .is_parameter = flag()};
  }
  return list;
}

LayerSpec layer() {
  LayerSpec layer;
  layer.mixer = mixer();
  if (number(0, 4) == 0) {
    layer.cross = {.attention = heads(), .source_width = maybe(1, 90), .norm = norm()};
  }
  if (flag()) layer.feed_forward = feed_forward();
  if (flag()) layer.moe = experts();
  layer.norms = {
      .before_mixer = norm(), .after_mixer = norm(), .before_ffn = norm(), .after_ffn = norm()};
  layer.is_parallel = flag();
  layer.extras = extras();
  return layer;
}

// The later ones of two like attention layers read the cache of the first.
void share_caches(std::vector<LayerSpec>& layers) {
  const AttentionSpec* first = layers.front().attention();
  if (first == nullptr) return;
  AttentionSpec shared = *first;
  shared.shares_kv_with = 0;
  for (size_t i = 1; i < layers.size(); ++i) {
    if (layers[i] == layers[0] && number(0, 1) == 0) layers[i].mixer = shared;
  }
}

std::vector<LayerSpec> layers(int64_t n_layer) {
  std::vector<LayerSpec> kinds(static_cast<size_t>(number(1, 4)));
  for (LayerSpec& kind : kinds) {
    // Kinds that have much in common, as in real models, or nothing.
    kind = &kind == kinds.data() || flag() ? layer() : kinds.front();
    if (flag()) kind.feed_forward.n_ff = number(1, 90);
  }
  const int64_t period = number(1, 6);
  std::vector<size_t> pattern;
  for (int64_t i = 0; i < period; ++i) {
    pattern.push_back(static_cast<size_t>(number(0, std::ssize(kinds) - 1)));
  }
  std::vector<LayerSpec> list;
  for (int64_t i = 0; i < n_layer; ++i) {
    list.push_back(kinds[pattern[static_cast<size_t>(i % period)]]);
  }
  if (!list.empty() && number(0, 3) == 0) share_caches(list);
  return list;
}

StackSpec stack() {
  StackSpec stack;
  stack.role = *rc::gen::element(StackRole::kEncoder, StackRole::kVision, StackRole::kAudio,
                                 StackRole::kDraft);
  stack.n_embd = 4 * number(1, 30);
  stack.layers = layers(number(0, 5));
  stack.final_norm = norm();
  stack.extras = extras();
  if (flag()) {
    stack.image = {.image_size = maybe(1, 999),
                   .patch_size = number(1, 32),
                   .merge = number(1, 4),
                   .extra_tokens = maybe(1, 9)};
  }
  stack.n_tokens = Tokens(maybe(1, 1500));
  stack.is_counted = flag();
  return stack;
}

TransformerSpec transformer_dims() {
  TransformerSpec spec;
  spec.n_embd = 4 * number(1, 30);
  spec.n_vocab = number(1, 500);
  spec.n_ctx_train = Tokens(maybe(1, 9999));
  spec.tied_embeddings = flag();
  spec.has_head = flag();
  spec.head_bias = flag();
  spec.is_causal = flag();
  spec.n_position = maybe(1, 512);
  spec.n_token_type = maybe(1, 4);
  spec.embedding_norm = norm();
  spec.final_norm = norm();
  spec.layers = layers(number(1, 14));
  spec.stacks.resize(static_cast<size_t>(maybe(1, 2)));
  for (StackSpec& one : spec.stacks) one = stack();
  spec.extras = extras();
  return spec;
}

LayerListSpec layer_list() {
  LayerListSpec spec;
  const int64_t n_layer = number(1, 5);
  for (int64_t i = 0; i < n_layer; ++i) {
    const int64_t unit = *rc::gen::element<int64_t>(1, 1000, 1024, 1000000, int64_t{1} << 30);
    spec.layers.push_back({.name = "layer" + std::to_string(i),
                           .weights = Bytes::of(unit * number(0, 4000)),
                           .activation = Bytes::of(unit * number(0, 9)),
                           .operations = unit * number(0, 2)});
  }
  return spec;
}

}  // namespace

ModelSpec random_model() {
  ModelSpec model{.name = text(), .source = text()};
  if (number(0, 9) == 0) {
    model.architecture = "layer-list";
    model.dims = layer_list();
    return model;
  }
  model.architecture = text();
  model.dtype = *rc::gen::element(DType::kF32, DType::kF16, DType::kBf16, DType::kQ4_0);
  if (flag()) {
    const std::vector<std::string> names = quantization_names();
    model.stored_as = parse_quantization(*rc::gen::elementOf(names)).value();
  }
  model.dims = transformer_dims();
  return model;
}

}  // namespace tidemark::testing

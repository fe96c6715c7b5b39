#include "planner/engine/llama_cpp/llama_context.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "planner/base/check.h"
#include "planner/engine/llama_cpp/ggml_builder.h"

namespace tidemark {
namespace {

constexpr int64_t kCellMultiple = 256;
constexpr int64_t kSmallestRotation = 64;

// Families whose loader reads a window; all others see the whole context, whatever was published.
//   Source: src/llama-model.cpp, src/models: who sets swa_type.
constexpr std::array kWindowed{
    std::string_view("afmoe"),  std::string_view("cohere2"),      std::string_view("exaone4"),
    std::string_view("gemma2"), std::string_view("gemma3"),       std::string_view("gemma3n"),
    std::string_view("gemma4"), std::string_view("gpt-oss"),      std::string_view("llama4"),
    std::string_view("mellum"), std::string_view("mimo2"),        std::string_view("olmo2"),
    std::string_view("plamo3"), std::string_view("smallthinker"), std::string_view("step35")};

int64_t padded(int64_t n) { return checked_mul(ceil_div(n, kCellMultiple), kCellMultiple); }

int64_t head_width_k(const Mixer& mixer) {
  if (const auto* mla = std::get_if<MlaSpec>(&mixer)) {
    return mla->latent_cache ? checked_add(mla->kv_lora, mla->qk_rope)
                             : checked_add(mla->qk_nope, mla->qk_rope);
  }
  const auto* attention = std::get_if<AttentionSpec>(&mixer);
  return attention == nullptr ? 0 : attention->head_dim;
}

int64_t head_width_v(const Mixer& mixer) {
  if (const auto* mla = std::get_if<MlaSpec>(&mixer)) {
    return mla->latent_cache ? mla->kv_lora : mla->v_head;
  }
  const auto* attention = std::get_if<AttentionSpec>(&mixer);
  return attention == nullptr ? 0 : attention->value_dim();
}

bool is_latent(const TransformerSpec& spec) {
  return std::ranges::any_of(spec.layers, [](const LayerSpec& layer) {
    const auto* mla = std::get_if<MlaSpec>(&layer.mixer);
    return mla != nullptr && mla->latent_cache;
  });
}

// The width that all attention layers share; 0 when they differ or there is none.
int64_t shared_width(const TransformerSpec& spec, int64_t (*width_of)(const Mixer&)) {
  int64_t shared = 0;
  for (const LayerSpec& layer : spec.layers) {
    const int64_t width = width_of(layer.mixer);
    if (width == 0) continue;
    if (shared != 0 && shared != width) return 0;
    shared = width;
  }
  return shared;
}

bool is_rotated(DType type, int64_t width) {
  return format_of(type).quantized && width > 0 && width % kSmallestRotation == 0;
}

// The largest 64 x 2^k that divides the width.
int64_t largest_rotation(int64_t width) {
  int64_t side = kSmallestRotation;
  while (width % (2 * side) == 0) side *= 2;
  return side;
}

std::string undivided(std::string_view side, DType type, int64_t width) {
  return fmt::format("{} cache type {} with block size {} does not divide n_embd_head_{}={}", side,
                     ggml_type_name(type), format_of(type).block_elements, side == "K" ? "k" : "v",
                     width);
}

// Blocks of a quantized cache must fill heads. Without flash attention that engine does not say so:
// it fails an assertion when it first looks at the cache.
std::string block_rejection(const TransformerSpec& spec, const LlamaSettings& settings) {
  for (const LayerSpec& layer : spec.layers) {
    const int64_t k = head_width_k(layer.mixer);
    if (k > 0 && !divides(settings.type_k, k)) return undivided("K", settings.type_k, k);
    const int64_t v = head_width_v(layer.mixer);
    if (v > 0 && !divides(settings.type_v, v)) return undivided("V", settings.type_v, v);
  }
  return {};
}

std::string rejection_of(const TransformerSpec& spec, const LlamaSettings& settings) {
  const bool off = settings.flash == LlamaFlash::kOff;
  if (is_latent(spec) && settings.type_k != settings.type_v) {
    return fmt::format("model does not support different K ({}) and V ({}) cache types",
                       ggml_type_name(settings.type_k), ggml_type_name(settings.type_v));
  }
  if (off && format_of(settings.type_v).quantized) {
    return "quantized V cache requires flash_attn to be enabled";
  }
  return block_rejection(spec, settings);
}

void round_sizes(const LlamaSettings& asked, int64_t n_ctx_train, LlamaContext& context) {
  int64_t n_ctx = asked.n_ctx > 0 ? asked.n_ctx : std::max<int64_t>(n_ctx_train, 1);
  const int64_t n_batch = std::max<int64_t>(asked.n_batch, 1);
  context.n_seq = std::max<int64_t>(asked.n_seq, 1);
  context.n_batch = std::min(n_ctx, n_batch);
  context.n_ubatch = std::min(context.n_batch, asked.n_ubatch > 0 ? asked.n_ubatch : n_batch);
  context.n_outputs_max = asked.n_outputs_max > 0 ? asked.n_outputs_max : context.n_batch;
  n_ctx = padded(n_ctx);
  context.n_ctx_seq =
      asked.kv_unified ? n_ctx : padded(std::max<int64_t>(n_ctx / context.n_seq, 1));
  context.n_ctx = asked.kv_unified ? n_ctx : checked_mul(context.n_ctx_seq, context.n_seq);
}

}  // namespace

ModelSpec as_llama_cpp_sees(ModelSpec model) {
  auto* spec = std::get_if<TransformerSpec>(&model.dims);
  if (spec == nullptr || std::ranges::binary_search(kWindowed, model.architecture)) return model;
  for (LayerSpec& layer : spec->layers) {
    auto* attention = std::get_if<AttentionSpec>(&layer.mixer);
    if (attention != nullptr) attention->window = attention->chunk = 0;
  }
  return model;
}

LlamaContext llama_context(const ModelSpec& model, const LlamaSettings& settings) {
  LlamaContext context{.flash = settings.flash != LlamaFlash::kOff,
                       .type_k = settings.type_k,
                       .type_v = settings.type_v,
                       .kv_unified = settings.kv_unified,
                       .swa_full = settings.swa_full};
  const TransformerSpec* spec = model.transformer();
  check(spec != nullptr, "a list of sizes has no context");
  context.rejection = rejection_of(*spec, settings);
  round_sizes(settings, spec->n_ctx_train.count(), context);
  context.n_stream = context.kv_unified ? 1 : context.n_seq;
  context.cells = context.n_ctx_seq;
  context.cells_swa = state_sizes(model, state_options(context)).window_cells;

  const int64_t width_k = shared_width(*spec, head_width_k);
  const int64_t width_v = shared_width(*spec, head_width_v);
  context.says_rotated_k = is_rotated(settings.type_k, width_k);
  context.says_rotated_v = is_rotated(settings.type_v, width_v) && !is_latent(*spec);
  if (!is_latent(*spec)) {
    if (context.says_rotated_k) context.rotation.k = largest_rotation(width_k);
    if (context.says_rotated_v) context.rotation.v = kSmallestRotation;
  }

  const int64_t tokens = std::min(context.n_ctx, context.n_ubatch);
  context.n_tokens = checked_mul(ceil_div(tokens, context.n_seq), context.n_seq);
  context.n_outputs = std::min(tokens, context.n_outputs_max);
  return context;
}

StateOptions state_options(const LlamaContext& context) {
  return {.n_cells = context.n_ctx_seq,
          .n_seq = context.n_seq,
          .n_ubatch = context.n_ubatch,
          .type_k = context.type_k,
          .type_v = context.type_v,
          .unified = context.kv_unified,
          .swa_full = context.swa_full,
          .cell_multiple = kCellMultiple};
}

}  // namespace tidemark

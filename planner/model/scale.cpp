#include "planner/model/scale.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "planner/base/check.h"
#include "planner/base/checked.h"

namespace tidemark {
namespace {

constexpr int64_t kWidthStep = 32;

double times(int64_t width, double factor) { return static_cast<double>(width) * factor; }

// Absent parts stay absent; a width below the step stays as it is.
int64_t nearest_multiple(int64_t width, double factor) {
  const int64_t steps = std::llround(times(width, factor) / static_cast<double>(kWidthStep));
  return std::min(width, std::max<int64_t>(steps, 1) * kWidthStep);
}

int64_t fewer(int64_t count, double factor) {
  return count == 0 ? 0 : std::max<int64_t>(std::llround(times(count, factor)), 1);
}

int64_t nearest_divisor(int64_t number, double wished) {
  int64_t nearest = 1;
  const auto distance = [wished](int64_t n) { return std::abs(static_cast<double>(n) - wished); };
  for (int64_t candidate = 2; candidate <= number; ++candidate) {
    if (number % candidate == 0 && distance(candidate) < distance(nearest)) nearest = candidate;
  }
  return nearest;
}

// How wide layers are before and after.
struct Widths {
  int64_t before = 0;
  int64_t after = 0;
};

int64_t followed(int64_t side, const Widths& widths) {
  return side == widths.before ? widths.after : side;
}

void shrink(AttentionSpec& spec, double factor) {
  if (spec.n_head == 0) return;
  spec.n_head = fewer(spec.n_head, factor);
  spec.n_head_kv = nearest_divisor(spec.n_head, times(spec.n_head_kv, factor));
}

void shrink(MlaSpec& spec, double factor) {
  spec.n_head = fewer(spec.n_head, factor);
  spec.q_lora = nearest_multiple(spec.q_lora, factor);
  spec.kv_lora = nearest_multiple(spec.kv_lora, factor);
}

// The inner width where it is a multiple of n_embd; dt_rank n_embd / 16 where it was that.
void shrink(MambaSpec& spec, double factor, const Widths& widths) {
  constexpr int64_t kWidthsOfRank = 16;
  spec.d_inner = widths.before > 0 && spec.d_inner % widths.before == 0
                     ? spec.d_inner / widths.before * widths.after
                     : nearest_multiple(spec.d_inner, factor);
  spec.dt_rank = spec.dt_rank == ceil_div(widths.before, kWidthsOfRank)
                     ? ceil_div(widths.after, kWidthsOfRank)
                     : fewer(spec.dt_rank, factor);
}

void shrink(Mamba2Spec& spec, double factor) {
  const int64_t head = std::max<int64_t>(spec.d_inner / std::max<int64_t>(spec.n_head, 1), 1);
  spec.n_head = fewer(spec.n_head, factor);
  spec.n_group = nearest_divisor(spec.n_head, times(spec.n_group, factor));
  spec.d_inner = checked_mul(spec.n_head, head);
}

void shrink(GatedDeltaSpec& spec, double factor) {
  const int64_t values =
      std::max<int64_t>(spec.n_value_head / std::max<int64_t>(spec.n_key_head, 1), 1);
  spec.n_key_head = fewer(spec.n_key_head, factor);
  spec.n_value_head = checked_mul(spec.n_key_head, values);
}

void shrink(RwkvSpec& spec, double factor) {
  for (int64_t* width : {&spec.n_ff, &spec.lora_mix, &spec.lora_decay, &spec.lora_iclr,
                         &spec.lora_value, &spec.lora_gate}) {
    *width = nearest_multiple(*width, factor);
  }
}

void shrink(Mixer& mixer, double factor, const Widths& widths) {
  if (auto* attention = std::get_if<AttentionSpec>(&mixer)) shrink(*attention, factor);
  if (auto* mla = std::get_if<MlaSpec>(&mixer)) shrink(*mla, factor);
  if (auto* mamba = std::get_if<MambaSpec>(&mixer)) shrink(*mamba, factor, widths);
  if (auto* mamba2 = std::get_if<Mamba2Spec>(&mixer)) shrink(*mamba2, factor);
  if (auto* delta = std::get_if<GatedDeltaSpec>(&mixer)) shrink(*delta, factor);
  if (auto* rwkv = std::get_if<RwkvSpec>(&mixer)) shrink(*rwkv, factor);
  if (auto* linear = std::get_if<LinearAttentionSpec>(&mixer)) {
    linear->n_head = fewer(linear->n_head, factor);
  }
}

// Head size of the layers' RWKV, if they have one.
std::optional<int64_t> rwkv_head_size(const std::vector<LayerSpec>& layers) {
  for (const LayerSpec& layer : layers) {
    const auto* rwkv = std::get_if<RwkvSpec>(&layer.mixer);
    if (rwkv != nullptr && rwkv->head_size > 0) return rwkv->head_size;
  }
  return std::nullopt;
}

// The heads that fill the width in every attention layer; none if they do not.
std::optional<AttentionSpec> filling_heads(const std::vector<LayerSpec>& layers, int64_t width) {
  std::optional<AttentionSpec> heads;
  for (const LayerSpec& layer : layers) {
    const AttentionSpec* attention = layer.attention();
    if (attention == nullptr) continue;
    if (checked_mul(attention->n_head, attention->head_dim) != width) return std::nullopt;
    if (!heads) heads = *attention;
  }
  return heads;
}

int64_t shrunk_width(const std::vector<LayerSpec>& layers, int64_t width, double factor) {
  if (const auto size = rwkv_head_size(layers); size && width % *size == 0) {
    return checked_mul(fewer(width / *size, factor), *size);
  }
  if (const auto heads = filling_heads(layers, width); heads && heads->n_head > 0) {
    return checked_mul(fewer(heads->n_head, factor), heads->head_dim);
  }
  return nearest_multiple(width, factor);
}

void shrink(std::vector<ExtraWeight>& extras, const Widths& own, const Widths& main) {
  for (ExtraWeight& extra : extras) {
    for (int64_t* side : {&extra.columns, &extra.rows}) {
      *side = *side == own.before ? own.after : followed(*side, main);
    }
  }
}

void shrink(std::vector<LayerSpec>& layers, double factor, const Widths& own, const Widths& main) {
  for (LayerSpec& layer : layers) {
    shrink(layer.mixer, factor, own);
    shrink(layer.cross.attention, factor);
    layer.feed_forward.n_ff = nearest_multiple(layer.feed_forward.n_ff, factor);
    layer.moe.n_ff_exp = nearest_multiple(layer.moe.n_ff_exp, factor);
    layer.moe.n_ff_shared = nearest_multiple(layer.moe.n_ff_shared, factor);
    shrink(layer.extras, own, main);
  }
}

// Cross-attention reads the states of the encoder, as wide as that has become.
void follow_encoder(std::vector<LayerSpec>& layers, const Widths& encoder) {
  for (LayerSpec& layer : layers) {
    layer.cross.source_width = followed(layer.cross.source_width, encoder);
  }
}

}  // namespace

ModelSpec scale_widths(ModelSpec model, double factor) {
  check(factor >= kLeastModelScale && factor <= 1.0, "a scale shrinks, and leaves something");
  auto* spec = std::get_if<TransformerSpec>(&model.dims);
  if (spec == nullptr || factor == 1.0) return model;
  model.stored.clear();
  const Widths main{spec->n_embd, shrunk_width(spec->layers, spec->n_embd, factor)};
  for (StackSpec& stack : spec->stacks) {
    Widths own{stack.n_embd, followed(stack.n_embd, main)};
    if (own.before != main.before) own.after = shrunk_width(stack.layers, own.before, factor);
    shrink(stack.layers, factor, own, main);
    shrink(stack.extras, own, main);
    stack.n_embd = own.after;
    if (own.before > 0) follow_encoder(spec->layers, own);
  }
  shrink(spec->layers, factor, main, main);
  shrink(spec->extras, main, main);
  spec->n_embd = main.after;
  return model;
}

}  // namespace tidemark

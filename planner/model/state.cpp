#include "planner/model/state.h"

#include <algorithm>

#include "planner/base/check.h"

namespace tidemark {
namespace {

// Values of one cached row; 0 for a layer that caches none of its own.
int64_t key_width(const Mixer& mixer) {
  if (const auto* mla = std::get_if<MlaSpec>(&mixer)) {
    if (mla->latent_cache) return checked_add(mla->kv_lora, mla->qk_rope);
    return checked_mul(mla->n_head, checked_add(mla->qk_nope, mla->qk_rope));
  }
  const auto* attention = std::get_if<AttentionSpec>(&mixer);
  if (attention == nullptr || attention->shares_kv_with >= 0) return 0;
  return checked_mul(attention->n_head_kv, attention->head_dim);
}

int64_t value_width(const Mixer& mixer) {
  if (const auto* mla = std::get_if<MlaSpec>(&mixer)) {
    return mla->latent_cache ? 0 : checked_mul(mla->n_head, mla->v_head);
  }
  const auto* attention = std::get_if<AttentionSpec>(&mixer);
  if (attention == nullptr || attention->shares_kv_with >= 0) return 0;
  return checked_mul(attention->n_head_kv, attention->value_dim());
}

// What a format adds to a whole matrix, fp8's scale, is not added to each cell.
Bytes bytes_of(DType dtype, int64_t width) {
  if (width == 0) return {};
  return row_bytes(dtype, width) - Bytes::of(format_of(dtype).extras.matrix_bytes);
}

// How far back a token sees; 0 = to the beginning.
int64_t span_of(const LayerSpec& layer) {
  const AttentionSpec* attention = layer.attention();
  if (attention == nullptr) return 0;
  return attention->window > 0 ? attention->window : attention->chunk;
}

Bytes floats(int64_t a, int64_t b) { return row_bytes(DType::kF32, checked_mul(a, b)); }

RecurrentState state_of(const RwkvSpec& spec, int64_t n_embd) {
  // Version 4 keeps five vectors: the token before in both mixings, numerator, denominator,
  // maximum.
  if (spec.version == 4) return {.convolution = floats(2, n_embd), .state = floats(3, n_embd)};
  return {.convolution = floats(2, n_embd), .state = floats(n_embd, spec.head_size)};
}

RecurrentState state_of(const GatedDeltaSpec& spec) {
  const int64_t keys = checked_mul(spec.n_key_head, spec.key_dim);
  const int64_t values = checked_mul(spec.n_value_head, spec.value_dim);
  return {.convolution = floats(spec.d_conv - 1, checked_add(checked_mul(2, keys), values)),
          .state = floats(values, spec.key_dim)};
}

RecurrentState state_of(const Mamba2Spec& spec) {
  const int64_t b_and_c = checked_mul(2, checked_mul(spec.n_group, spec.d_state));
  return {.convolution = floats(spec.d_conv - 1, checked_add(spec.d_inner, b_and_c)),
          .state = floats(spec.d_state, spec.d_inner)};
}

Bytes cross_bytes(const LayerSpec& layer, const StateOptions& options) {
  const AttentionSpec& heads = layer.cross.attention;
  if (heads.n_head == 0) return {};
  const Bytes cell = bytes_of(options.type_k, checked_mul(heads.n_head_kv, heads.head_dim)) +
                     bytes_of(options.type_v, checked_mul(heads.n_head_kv, heads.value_dim()));
  return cell * checked_mul(options.n_source, options.n_seq);
}

}  // namespace

Bytes key_bytes_per_cell(const LayerSpec& layer, DType type_k) {
  return bytes_of(type_k, key_width(layer.mixer));
}

Bytes value_bytes_per_cell(const LayerSpec& layer, DType type_v) {
  return bytes_of(type_v, value_width(layer.mixer));
}

int64_t cells_of(const LayerSpec& layer, const StateOptions& options) {
  if (key_width(layer.mixer) == 0) return 0;
  const int64_t span = span_of(layer);
  if (span == 0 || options.swa_full) return options.n_cells;
  const int64_t windows = options.unified ? checked_mul(span, options.n_seq) : span;
  const int64_t wanted = std::min(options.n_cells, checked_add(windows, options.n_ubatch));
  return checked_mul(ceil_div(wanted, options.cell_multiple), options.cell_multiple);
}

RecurrentState recurrent_state_of(const LayerSpec& layer, int64_t n_embd) {
  if (const auto* spec = std::get_if<MambaSpec>(&layer.mixer)) {
    return {.convolution = floats(spec->d_conv - 1, spec->d_inner),
            .state = floats(spec->d_state, spec->d_inner)};
  }
  if (const auto* spec = std::get_if<Mamba2Spec>(&layer.mixer)) return state_of(*spec);
  if (const auto* spec = std::get_if<GatedDeltaSpec>(&layer.mixer)) return state_of(*spec);
  if (const auto* spec = std::get_if<RwkvSpec>(&layer.mixer)) return state_of(*spec, n_embd);
  if (const auto* spec = std::get_if<ShortConvSpec>(&layer.mixer)) {
    return {.convolution = floats(spec->d_conv - 1, n_embd)};
  }
  if (const auto* spec = std::get_if<LinearAttentionSpec>(&layer.mixer)) {
    return {.state = floats(checked_mul(spec->n_head, spec->head_dim), spec->head_dim)};
  }
  return {};
}

StateSizes state_sizes(const ModelSpec& model, const StateOptions& options) {
  check(options.cell_multiple > 0, "cells are rounded up to a positive number");
  StateSizes sizes;
  const TransformerSpec* spec = model.transformer();
  if (spec == nullptr || !spec->is_causal) return sizes;
  const int64_t n_stream = options.unified ? 1 : options.n_seq;
  for (const LayerSpec& layer : spec->layers) {
    const int64_t cells = cells_of(layer, options);
    const Bytes cell =
        key_bytes_per_cell(layer, options.type_k) + value_bytes_per_cell(layer, options.type_v);
    const Bytes cache = cell * checked_mul(cells, n_stream);
    if (span_of(layer) > 0) {
      sizes.kv_window += cache;
      sizes.window_cells = std::max(sizes.window_cells, cells);
    } else {
      sizes.kv_full += cache;
    }
    sizes.cross += cross_bytes(layer, options);
    sizes.recurrent += recurrent_state_of(layer, spec->n_embd).total() * options.n_seq;
  }
  return sizes;
}

int64_t source_tokens(const ModelSpec& model) {
  const TransformerSpec* spec = model.transformer();
  if (spec == nullptr) return 0;
  for (const StackSpec& stack : spec->stacks) {
    if (stack.role != StackRole::kEncoder) continue;
    return stack.n_tokens > Tokens(0) ? stack.n_tokens.count() : spec->n_ctx_train.count();
  }
  return 0;
}

Bytes kv_bytes_per_token(const ModelSpec& model, DType type_k, DType type_v) {
  Bytes total;
  const TransformerSpec* spec = model.transformer();
  if (spec == nullptr || !spec->is_causal) return total;
  for (const LayerSpec& layer : spec->layers) {
    total += key_bytes_per_cell(layer, type_k) + value_bytes_per_cell(layer, type_v);
  }
  return total;
}

}  // namespace tidemark

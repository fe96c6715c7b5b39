#include "planner/import/gguf/widths.h"

#include <fmt/core.h>

#include <algorithm>

namespace tidemark {
namespace {

// The product of two stays inside 63 bits.
constexpr int64_t kLargest = int64_t{1} << 31;

int64_t layer_count(const GgufKeys& keys, std::string_view key, int64_t n_tensor, int64_t absent) {
  const int64_t count = keys.number(key, absent);
  if (count <= n_tensor) return count;
  keys.wrong(key, fmt::format("{} layers in {} tensors", count, n_tensor));
  return 0;
}

// Which layers slide, by the file's pattern or the architecture's.
std::vector<int64_t> slides(const GgufKeys& keys, const GgufArchitecture& architecture,
                            int64_t n_layer) {
  constexpr std::string_view kPattern = "attention.sliding_window_pattern";
  if (keys.is_array(kPattern)) return keys.per_layer(kPattern, n_layer, 0);
  const int64_t period = keys.number(kPattern, architecture.window_period);
  std::vector<int64_t> slides(static_cast<size_t>(n_layer), 0);
  if (period == 0) return slides;
  for (int64_t i = 0; i < n_layer; ++i) {
    slides[static_cast<size_t>(i)] = i % period < period - 1 ? 1 : 0;
  }
  return slides;
}

void read_heads(const GgufKeys& keys, GgufWidths& widths) {
  const int64_t n = widths.n_layer;
  widths.n_head = keys.per_layer("attention.head_count", n, 0);
  widths.n_head_kv = keys.has("attention.head_count_kv")
                         ? keys.per_layer("attention.head_count_kv", n, 0)
                         : widths.n_head;
  widths.n_ff = keys.per_layer("feed_forward_length", n, 0);
  widths.key_length = keys.number("attention.key_length");
  widths.value_length = keys.number("attention.value_length");
  widths.key_length_window = keys.number("attention.key_length_swa");
  widths.value_length_window = keys.number("attention.value_length_swa");
  widths.key_length_mla = keys.number("attention.key_length_mla");
  widths.q_lora = keys.number("attention.q_lora_rank");
  widths.kv_lora = keys.number("attention.kv_lora_rank");
  widths.rope_dims =
      keys.is_array("rope.dimension_count") ? 0 : keys.number("rope.dimension_count");
}

void read_windows(const GgufKeys& keys, const GgufArchitecture& architecture, GgufWidths& widths) {
  const int64_t window = keys.number("attention.sliding_window", architecture.default_window);
  widths.window = slides(keys, architecture, widths.n_layer);
  for (int64_t& one : widths.window) one = one == 0 ? 0 : window;
  const int64_t n_main = widths.n_layer - widths.n_draft;
  widths.n_own_cache = architecture.n_own_cache < n_main ? architecture.n_own_cache : 0;
  if (!keys.has("attention.shared_kv_layers")) return;
  const int64_t n_shared = keys.number("attention.shared_kv_layers");
  widths.n_own_cache = n_shared > 0 && n_shared < n_main ? n_main - n_shared : 0;
}

}  // namespace

void GgufKeys::wrong(std::string_view key, std::string_view message) const {
  const std::string name = full(key);
  problems_.add(name, header_.find(name)->file_offset, message);
}

void GgufKeys::missing(std::string_view key) const {
  problems_.add(full(key), "the file lacks this key");
}

int64_t GgufKeys::bounded(std::string_view key, int64_t value) const {
  if (value >= 0 && value <= kLargest) return value;
  wrong(key, fmt::format("{} is out of range", value));
  return 0;
}

bool GgufKeys::is_array(std::string_view key) const {
  const GgufValue* value = header_.find(full(key));
  return value != nullptr && value->type == GgufType::kArray;
}

int64_t GgufKeys::number(std::string_view key, int64_t absent) const {
  const std::string name = full(key);
  if (!has(key)) return absent;
  if (const auto value = header_.integer(name)) return bounded(key, *value);
  const auto list = header_.integers(name);
  const bool is_uniform = list && !list->empty() &&
                          std::ranges::all_of(*list, [&](int64_t v) { return v == list->front(); });
  if (is_uniform) return bounded(key, list->front());
  wrong(key, "must be one integer");
  return 0;
}

std::vector<int64_t> GgufKeys::per_layer(std::string_view key, int64_t n_layer,
                                         int64_t absent) const {
  const auto n = static_cast<size_t>(n_layer);
  if (!is_array(key)) return std::vector<int64_t>(n, number(key, absent));
  std::optional<std::vector<int64_t>> list = header_.integers(full(key));
  if (!list || list->size() < n) {
    wrong(key, fmt::format("must be an array of {} integers, one a layer", n_layer));
    return std::vector<int64_t>(n, 0);
  }
  list->resize(n);
  for (int64_t& value : *list) value = bounded(key, value);
  return *std::move(list);
}

bool GgufKeys::flag(std::string_view key, bool absent) const {
  return header_.boolean(full(key)).value_or(absent);
}

GgufWidths read_widths(const GgufKeys& keys, const GgufArchitecture& architecture,
                       int64_t n_tensor) {
  GgufWidths widths;
  for (const auto* key : {"block_count", "embedding_length"}) {
    if (!keys.has(key)) keys.missing(key);
  }
  widths.n_embd = keys.number("embedding_length");
  widths.n_block = layer_count(keys, "block_count", n_tensor, 0);
  widths.n_decoder = layer_count(keys, "decoder_block_count", n_tensor, widths.n_block);
  widths.n_layer =
      architecture.is_encoder_decoder ? std::max(widths.n_block, widths.n_decoder) : widths.n_block;
  widths.n_draft = std::min(keys.number("nextn_predict_layers"), widths.n_layer);
  read_heads(keys, widths);
  read_windows(keys, architecture, widths);
  widths.n_expert = keys.number("expert_count");
  widths.n_expert_used = keys.number("expert_used_count");
  if (!keys.is_array("expert_feed_forward_length")) {
    widths.n_ff_exp = keys.number("expert_feed_forward_length");
  }
  widths.d_conv = keys.number("ssm.conv_kernel");
  widths.d_inner = keys.number("ssm.inner_size");
  widths.d_state = keys.number("ssm.state_size");
  widths.dt_rank = keys.number("ssm.time_step_rank");
  widths.n_group = keys.number("ssm.group_count");
  widths.short_conv = keys.number("shortconv.l_cache");
  widths.wkv_head = keys.number("wkv.head_size");
  return widths;
}

}  // namespace tidemark

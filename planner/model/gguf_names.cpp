#include "planner/model/gguf_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace tidemark {
namespace {

struct Mark {
  std::string_view text{};
  TensorKindByName kind = TensorKindByName::kOther;
};

constexpr std::array<Mark, 9> kMarks = {{
    {"attn_qkv.weight", TensorKindByName::kFusedQkv},
    {"attn_kv_b.weight", TensorKindByName::kKvB},
    {"attn_v.weight", TensorKindByName::kValue},
    {"attn_k.weight", TensorKindByName::kKey},
    {"attn_q.weight", TensorKindByName::kQuery},
    {"attn_output.weight", TensorKindByName::kAttentionOutput},
    {"ffn_up", TensorKindByName::kUp},
    {"ffn_gate", TensorKindByName::kGate},
    {"ffn_down", TensorKindByName::kDown},
}};

constexpr std::string_view kNeverQuantized[] = {
    "_norm.weight",
    "ffn_gate_inp.weight",
    "ffn_gate_tid2eid.weight",
    "altup",
    "laurel",
    "per_layer_model_proj",
    "ssm_conv1d",
    "shortconv.conv.weight",
    "indexer.k_proj.weight",
    "indexer.q_proj.weight",
    "time_mix_first.weight",
    "time_mix_w0.weight",
    "time_mix_w1.weight",
    "time_mix_w2.weight",
    "time_mix_v0.weight",
    "time_mix_v1.weight",
    "time_mix_v2.weight",
    "time_mix_a0.weight",
    "time_mix_a1.weight",
    "time_mix_a2.weight",
    "time_mix_g1.weight",
    "time_mix_g2.weight",
    "time_mix_decay_w1.weight",
    "time_mix_decay_w2.weight",
    "time_mix_lerp_fused.weight",
    "attn_rel_b.weight",
    ".position_embd",
    "sam.pos_embd",
    "sam.neck.",
    "sam.net_",
    ".rel_pos",
    ".patch_embd",
    ".patch_merger",
    "a.rvq.codebook",
    "mm.a.code_embd",
};

// conversion/base.py: what every converted file holds in f32.
constexpr std::string_view kConvertedToF32[] = {
    "_norm.weight",
    "ffn_gate_inp",  // and ffn_gate_inp_shexp
    "ssm_conv1d",
    "shortconv.conv.weight",
    "time_mix_first.weight",
    "time_mix_w1.weight",
    "time_mix_w2.weight",
    "time_mix_decay_w1.weight",
    "time_mix_decay_w2.weight",
    "time_mix_lerp_fused.weight",
    "posnet.",
    ".position_embd",
    "altup_correct_coef",
    "altup_predict_coef",
};

bool contains(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

bool contains_any(std::string_view name, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return contains(name, part); });
}

bool is_position_or_type(std::string_view name) {
  return name == "position_embd.weight" || name == "token_types.weight";
}

}  // namespace

TensorKindByName kind_by_name(std::string_view name) {
  if (name == "output.weight") return TensorKindByName::kOutput;
  if (name == "token_embd.weight" || name == "per_layer_token_embd.weight") {
    return TensorKindByName::kEmbedding;
  }
  const auto found =
      std::ranges::find_if(kMarks, [&](const Mark& mark) { return contains(name, mark.text); });
  return found == kMarks.end() ? TensorKindByName::kOther : found->kind;
}

bool is_value_like(TensorKindByName kind) {
  return kind == TensorKindByName::kValue || kind == TensorKindByName::kFusedQkv ||
         kind == TensorKindByName::kKvB;
}

std::optional<int64_t> layer_of_name(std::string_view name) {
  constexpr std::string_view kPrefix = "blk.";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  int32_t layer = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), layer);
  if (error != std::errc{} || end == name.data() + name.size() || *end != '.' || layer < 0) {
    return std::nullopt;
  }
  return layer;
}

bool visited_before(std::string_view a, std::string_view b) {
  const int64_t layer_a = layer_of_name(a).value_or(-1);
  const int64_t layer_b = layer_of_name(b).value_or(-1);
  return layer_a != layer_b ? layer_a < layer_b : a < b;
}

bool is_kept_by_name(std::string_view name) {
  return !name.ends_with("weight") || contains_any(name, kNeverQuantized) ||
         is_position_or_type(name);
}

bool is_f32_by_name(std::string_view name) {
  return !name.ends_with(".weight") || contains_any(name, kConvertedToF32) ||
         is_position_or_type(name);
}

}  // namespace tidemark

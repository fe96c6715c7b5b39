#include "planner/engine/llama_cpp/graph_traits.h"

#include <algorithm>
#include <array>

namespace tidemark {
namespace {

template <typename Kind>
bool has_mixer(const TransformerSpec& spec) {
  return std::ranges::any_of(spec.layers, [](const LayerSpec& layer) {
    return std::holds_alternative<Kind>(layer.mixer);
  });
}

bool has_experts(const TransformerSpec& spec) {
  return std::ranges::any_of(spec.layers,
                             [](const LayerSpec& layer) { return layer.moe.n_expert > 0; });
}

bool has_balance_bias(const TransformerSpec& spec) {
  return std::ranges::any_of(spec.layers,
                             [](const LayerSpec& layer) { return layer.moe.balance_bias; });
}

GraphTraits minicpm() {
  return {.scaled_embedding = true, .scaled_residual = true, .logit_scale = LogitScale::kAfter};
}

GraphTraits granite(const TransformerSpec& spec) {
  GraphTraits traits = minicpm();
  traits.rope = !has_mixer<Mamba2Spec>(spec);
  traits.normed_weights = true;
  return traits;
}

GraphTraits deepseek(const TransformerSpec& spec) {
  const bool third = has_balance_bias(spec);
  return {.normed_weights = third, .sigmoid_router = third, .scaled_weights = third};
}

GraphTraits named(std::string_view name, const TransformerSpec& spec) {
  if (name == "minicpm") return minicpm();
  if (name == "minicpm3") {
    return {.scaled_embedding = true, .scaled_residual = true, .logit_scale = LogitScale::kBefore};
  }
  if (name.starts_with("granite")) return granite(spec);
  if (name == "gemma2") {
    return {.scaled_embedding = true,
            .capped_logits = true,
            .capped_scores = true,
            .scaled_query = true};
  }
  if (name.starts_with("gemma")) return {.scaled_embedding = true, .scaled_query = true};
  if (name == "phi3" || name == "phimoe") {
    return {.scaled_query = true,
            .residual_before_ffn = true,
            .split_gate_up = false,
            .normed_weights = true};
  }
  if (name == "jamba") {
    return {.rope = false, .residual_before_ffn = true, .residual_before_mixer = true};
  }
  if (name == "deepseek2") return deepseek(spec);
  if (name == "glm4" || name == "chatglm") return {.split_gate_up = false};
  if (name == "command-r" || name == "cohere2") {
    return {.logit_scale = LogitScale::kAfter, .layer_norm = true};
  }
  if (name == "dbrx") return {.normed_weights = true, .layer_norm = true};
  if (name == "qwen2moe" || name == "olmoe") return {};
  return {.normed_weights = true};
}

// Architectures whose graphs were compared with dumps, and the parts that those dumps held.
bool is_known(std::string_view name, const TransformerSpec& spec) {
  constexpr std::array kDense{
      std::string_view("gemma2"),  std::string_view("gemma3"),   std::string_view("granitehybrid"),
      std::string_view("jamba"),   std::string_view("llama"),    std::string_view("mamba"),
      std::string_view("minicpm"), std::string_view("minicpm3"), std::string_view("phi3"),
      std::string_view("qwen2"),   std::string_view("qwen3")};
  if (name == "qwen3moe") return true;
  if (name == "deepseek2") return !has_balance_bias(spec);
  return std::ranges::binary_search(kDense, name) && !has_experts(spec);
}

}  // namespace

GraphTraits graph_traits(const ModelSpec& model) {
  const TransformerSpec* spec = model.transformer();
  if (spec == nullptr) return {};
  GraphTraits traits = named(model.architecture, *spec);
  traits.is_known = is_known(model.architecture, *spec);
  return traits;
}

}  // namespace tidemark

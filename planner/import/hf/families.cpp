#include "planner/import/hf/families.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "planner/base/diagnostic.h"
#include "planner/import/hf/decoder_shape.h"
#include "planner/import/hf/families_encoder.h"
#include "planner/import/hf/families_multimodal.h"
#include "planner/import/hf/families_recurrent.h"

namespace tidemark {
namespace {

using Lister = std::span<const HfFamily> (*)();
constexpr auto kListers = std::to_array<Lister>({
    llama_families,
    qwen_families,
    qwen_next_families,
    gemma_families,
    gemma_next_families,
    mla_families,
    moe_families,
    phi_families,
    glm_families,
    hybrid_families,
    recent_families,
    classic_families,
    encoder_families,
    encoder_decoder_families,
    recurrent_families,
    recurrent_hybrid_families,
    recurrent_mixed_families,
    multimodal_families,
    multimodal_qwen_families,
    multimodal_gemma_families,
});

// "Qwen2MoeForCausalLM" -> "qwen2moe", "QWenLMHeadModel" -> "qwen": lower-case letters and digits
// of what stands before the task.
std::string class_stem(std::string_view name) {
  for (const std::string_view task : {"For", "LMHead", "Model", "LM"}) {
    const size_t at = name.find(task);
    if (at != std::string_view::npos && at > 0) {
      name = name.substr(0, at);
      break;
    }
  }
  std::string stem;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') stem += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) stem += c;
  }
  return stem;
}

std::string without_underscores(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != '_' && c != '-') out += c;
  }
  return out;
}

}  // namespace

std::vector<std::string_view> hf_model_types() {
  std::vector<std::string_view> types;
  for (const Lister list : kListers) {
    for (const HfFamily& family : list()) types.push_back(family.model_type);
  }
  std::ranges::sort(types);
  return types;
}

const HfFamily* find_hf_family(std::string_view model_type) {
  for (const Lister list : kListers) {
    for (const HfFamily& family : list()) {
      if (family.model_type == model_type) return &family;
    }
  }
  return nullptr;
}

const HfFamily* find_hf_family_of_class(std::string_view architecture) {
  const std::string stem = class_stem(architecture);
  for (const Lister list : kListers) {
    for (const HfFamily& family : list()) {
      if (without_underscores(family.model_type) == stem) return &family;
    }
  }
  return nullptr;
}

TransformerSpec read_hf_text(ConfigReader& reader, std::string_view otherwise) {
  const std::string type = reader.text({"model_type"}, otherwise, "the nesting class's default");
  const HfFamily* family = find_hf_family(type);
  if (family == nullptr) {
    reader.refuse("model_type", fmt::format("unknown model {}", in_quotes(type)));
    return {};
  }
  reader.set_config_class(family->config_class);
  return family->read(reader);
}

}  // namespace tidemark

// One function for each kind of model: the keys of its config.json -> its layers.
//
//   a family reads   widths, counts and switches of its class, with the class's defaults
//   it leaves out    name, dtype, quantization (hf_config.cpp does those for all)
//
// A function may be given a nested object ("text_config") just as well as the whole file: it only
// sees the reader. What is wrong ends up in the reader's notes, and the spec is then of no use.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "planner/import/hf/config_reader.h"
#include "planner/model/model_spec.h"

namespace tidemark {

struct HfFamily {
  std::string_view model_type{};    // of the file
  std::string_view config_class{};  // in transformers, or in the model's own code
  std::string_view architecture{};  // GGUF's name for it; where it has none, the model_type
  TransformerSpec (*read)(ConfigReader&) = nullptr;
};

// Each file of families lists its own.
std::span<const HfFamily> llama_families();       // families_llama.cpp
std::span<const HfFamily> qwen_families();        // families_qwen.cpp
std::span<const HfFamily> qwen_next_families();   // families_qwen_next.cpp
std::span<const HfFamily> gemma_families();       // families_gemma.cpp
std::span<const HfFamily> gemma_next_families();  // families_gemma_next.cpp
std::span<const HfFamily> recent_families();      // families_recent.cpp
std::span<const HfFamily> mla_families();         // families_deepseek.cpp
std::span<const HfFamily> moe_families();         // families_moe.cpp
std::span<const HfFamily> classic_families();     // families_classic.cpp
std::span<const HfFamily> phi_families();         // families_phi.cpp
std::span<const HfFamily> glm_families();         // families_glm.cpp
std::span<const HfFamily> hybrid_families();      // families_hybrid.cpp

// Of all families, sorted.
std::vector<std::string_view> hf_model_types();

// nullptr: nobody knows it.
const HfFamily* find_hf_family(std::string_view model_type);

// The family an architecture ("LlamaForCausalLM") belongs to; nullptr: nobody knows it.
const HfFamily* find_hf_family_of_class(std::string_view architecture);

// The text part of a model that nests it: by its own model_type, or `otherwise` if it names none.
// `reader` is the nested one. An unknown model_type is a problem in the notes.
TransformerSpec read_hf_text(ConfigReader& reader, std::string_view otherwise);

}  // namespace tidemark

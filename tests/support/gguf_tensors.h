// The tensors of a GGUF file by architecture, as llama.cpp's converters name and shape them, and
// the dimensions of 21 published models. Written out here independently of the planner's inventory.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/model/gguf_recipe.h"

namespace tidemark::testing {

struct GgufModel {
  std::string_view name{};
  std::string_view architecture{};
  int64_t n_layer = 0;
  int64_t n_embd = 0;
  int64_t n_ff = 0;
  int64_t n_head = 0;
  int64_t n_head_kv = 0;
  int64_t head_dim = 0;
  int64_t n_vocab = 0;
  bool tied = true;
  bool qkv_bias = false;
  int64_t rope_freqs = 0;    // elements of rope_freqs.weight
  int64_t rope_factors = 0;  // elements of each of the two rope_factors_*.weight
  int64_t n_expert = 0;
  int64_t n_ff_exp = 0;
  int64_t n_shared = 0;      // shared experts
  int64_t n_dense_lead = 0;  // layers without experts at the front
  int64_t q_lora = 0;
  int64_t kv_lora = 0;
  int64_t qk_nope = 0;
  int64_t qk_rope = 0;
  int64_t v_head = 0;
  int64_t d_conv = 0;
  int64_t d_inner = 0;
  int64_t d_state = 0;
  int64_t dt_rank = 0;
  int64_t n_group = 0;
  std::array<int64_t, 4> attention_layers{-1, -1, -1, -1};  // hybrids: all others are recurrent
};

struct GgufTensor {
  std::string name{};
  int64_t columns = 0;
  int64_t rows = 1;
  int64_t count = 1;
};

std::span<const GgufModel> gguf_models();
const GgufModel& gguf_model(std::string_view name);
std::vector<GgufTensor> gguf_tensors(const GgufModel& model);

// For choose_types; the views point into `tensors`.
std::vector<RecipeTensor> recipe_tensors(const std::vector<GgufTensor>& tensors);
RecipeModel recipe_model(const GgufModel& model);

}  // namespace tidemark::testing

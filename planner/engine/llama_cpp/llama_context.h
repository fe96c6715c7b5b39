// What llama.cpp makes of the sizes it is asked for: contexts and batches after its rounding, cells
// of the caches, which caches are rotated; or why it refuses.
//
//   n_ctx 1000, batch 2048, ubatch 512, 3 sequences apart:
//     n_batch = min(1000, 2048) = 1000, n_ubatch = min(1000, 512) = 512
//     n_ctx = 1000 -> 1024; a sequence 1024 / 3 = 341 -> 512; together 3 x 512 = 1536
//     a prompt of 512 tokens is reserved for: 512 -> 513, the next multiple of 3
//   Checked by LlamaContextTest.WorkedInTheHeader.
//
// Source: llama.cpp at 3f545beccee69d9975f466ec7e45fd9aacd8ba90 (its build 10573 and 14 commits):
// src/llama-context.cpp, src/llama-kv-cache.cpp, src/llama-kv-cache-iswa.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "planner/model/state.h"

namespace tidemark {

enum class LlamaFlash { kOff, kOn, kAuto };  // auto ends up on, on a CPU

// As asked for; the numbers are the defaults of its command-line tools.
struct LlamaSettings {
  int64_t n_ctx = 0;  // of all sequences together; 0 = as trained
  int64_t n_batch = 2048;
  int64_t n_ubatch = 512;  // 0 = n_batch
  int64_t n_seq = 1;
  int64_t n_outputs_max = 0;  // rows of logits of one batch; 0 = n_batch. Its server: n_seq
  LlamaFlash flash = LlamaFlash::kAuto;
  DType type_k = DType::kF16;
  DType type_v = DType::kF16;
  bool kv_unified = false;
  bool swa_full = false;
};

// Side of the rotation matrix of a quantized cache; 0 = not rotated.
struct LlamaRotation {
  int64_t k = 0;
  int64_t v = 0;
  bool operator==(const LlamaRotation&) const = default;
};

struct LlamaContext {
  std::string rejection{};  // its own words; empty = accepted. Nothing below counts otherwise.
  int64_t n_ctx = 0;
  int64_t n_ctx_seq = 0;  // of one sequence
  int64_t n_batch = 0;
  int64_t n_ubatch = 0;
  int64_t n_seq = 1;
  int64_t n_outputs_max = 0;
  bool flash = true;
  DType type_k = DType::kF16;
  DType type_v = DType::kF16;
  bool kv_unified = false;
  bool swa_full = false;
  int64_t n_stream = 1;   // caches side by side
  int64_t cells = 0;      // of one stream, in layers that see everything
  int64_t cells_swa = 0;  // in layers that see a window; 0 = no such layer
  LlamaRotation rotation{};
  bool says_rotated_k = false;  // what its log claims; of a latent cache, not what it does
  bool says_rotated_v = false;
  int64_t n_tokens = 0;   // of the prompt graph that it reserves
  int64_t n_outputs = 0;  // of that graph
};

// The model as that engine sees it: windows which it ignores are gone (Mistral's, Phi-3's).
ModelSpec as_llama_cpp_sees(ModelSpec model);

// `model` as_llama_cpp_sees it. Throws std::overflow_error when a number leaves 63 bits. Settings
// below 1 that have no meaning of their own count as 1.
LlamaContext llama_context(const ModelSpec& model, const LlamaSettings& settings);

// For state_sizes: the same caches in our own terms.
StateOptions state_options(const LlamaContext& context);

}  // namespace tidemark

// What sets one GGUF architecture apart from the next, as far as sizes go. One reader and one
// writer serve them all; where they differ, they ask here.
//
//   bert  has its norms after attention and feed-forward and calls them attn_output_norm and
//         layer_output_norm; this project calls the same tensors post_attention_norm and
//         post_ffw_norm, whatever the architecture. That is two renames.
// Source: llama.cpp src/llama-arch.cpp (names) and src/models (tensors, patterns), August 2026.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

// A tensor's name without its layer and its ".weight".
struct GgufRename {
  std::string_view ours{};
  std::string_view file{};
};

struct GgufArchitecture {
  std::string_view name{};
  std::span<const GgufRename> renames{};
  std::string_view main_prefix{};  // before "blk." and "output_norm" of the main layers: "dec."
  // Layer i slides when i % window_period < window_period - 1; 0 = a stated window is ignored.
  // A pattern in the file goes before this.
  int64_t window_period = 0;
  int64_t default_window = 0;  // when the file states none
  int64_t n_own_cache = 0;     // layers from here on read the cache of an earlier one; 0 = none
  int64_t rwkv_version = 0;
  bool chunked = false;             // its windows are chunks
  bool parallel = false;            // attention and feed-forward side by side, with a norm each
  bool plain_norms = false;         // norms without parameters
  bool layer_norm = false;          // LayerNorm rather than RMSNorm, for the epsilon's key
  bool output_gate = false;         // Q makes a gate as well
  bool value_is_key = false;        // a layer without attn_v takes K as V
  bool splits_beta_alpha = false;   // ssm_ba is two tensors
  bool is_encoder = false;          // not causal, unless the file says so
  bool is_encoder_decoder = false;  // a second stack, "enc.blk."
};

std::span<const GgufArchitecture> gguf_architectures();

// nullptr: nobody here knows it.
const GgufArchitecture* find_architecture(std::string_view name);

// The one that is read for a name nobody knows, when asked to: a dense decoder.
const GgufArchitecture& generic_architecture();

// Up to three known names that are closest to `name`, the closest first.
std::vector<std::string_view> nearest_architectures(std::string_view name);

// "ffn_norm.weight" as the architecture's files call it; the other way round, empty when the files
// use that name for something else.
std::string file_stem(const GgufArchitecture& architecture, std::string_view ours);

// One tensor here that files may hold in parts.
struct GgufParts {
  std::string_view whole{};
  std::vector<std::string_view> parts{};
};
std::span<const GgufParts> gguf_parts();

// Tensors beside those that the widths describe, without layer and suffix: "altup_proj".
bool is_known_extra(std::string_view stem);
// Of these the ones that training never touched.
bool is_table(std::string_view stem);

}  // namespace tidemark

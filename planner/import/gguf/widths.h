// The keys of a GGUF file, spread over its layers.
//
//   llama.attention.head_count_kv = 8 in a file of 32 layers: n_head_kv is 32 times 8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/import/gguf/architecture.h"
#include "planner/import/gguf_header.h"
#include "planner/import/problems.h"

namespace tidemark {

// Reads "<architecture>.<key>". Values below 0 or above 2^31 are problems, and read as 0.
class GgufKeys {
 public:
  GgufKeys(const GgufHeader& header, std::string prefix, Problems& problems)
      : header_(header), prefix_(std::move(prefix)), problems_(problems) {}

  std::string full(std::string_view key) const { return prefix_ + "." + std::string(key); }
  bool has(std::string_view key) const { return header_.find(full(key)) != nullptr; }
  // An array of equal numbers counts as that number.
  int64_t number(std::string_view key, int64_t absent = 0) const;
  // One value a layer: a number for all, or an array with at least `n_layer` numbers.
  std::vector<int64_t> per_layer(std::string_view key, int64_t n_layer, int64_t absent) const;
  bool is_array(std::string_view key) const;
  bool flag(std::string_view key, bool absent) const;
  void missing(std::string_view key) const;
  // The key must be there.
  void wrong(std::string_view key, std::string_view message) const;

 private:
  int64_t bounded(std::string_view key, int64_t value) const;

  const GgufHeader& header_;
  std::string prefix_;
  Problems& problems_;
};

// 0 = not stated, everywhere.
struct GgufWidths {
  int64_t n_embd = 0;
  int64_t n_layer = 0;    // with the draft layers, which come last; the length of the lists
  int64_t n_block = 0;    // as stated; of the encoder where there are two stacks
  int64_t n_decoder = 0;  // of the decoder there
  int64_t n_draft = 0;
  int64_t n_expert = 0;
  int64_t n_expert_used = 0;
  int64_t n_ff_exp = 0;
  int64_t key_length = 0;
  int64_t value_length = 0;
  int64_t key_length_window = 0;
  int64_t value_length_window = 0;
  int64_t key_length_mla = 0;
  int64_t q_lora = 0;
  int64_t kv_lora = 0;
  int64_t rope_dims = 0;
  int64_t d_conv = 0;
  int64_t d_inner = 0;
  int64_t d_state = 0;
  int64_t dt_rank = 0;
  int64_t n_group = 0;
  int64_t short_conv = 0;
  int64_t wkv_head = 0;
  int64_t n_own_cache = 0;           // layers from here on store no K and V; 0 = all store
  std::vector<int64_t> n_head{};     // per layer, as the three below
  std::vector<int64_t> n_head_kv{};  // 0 = no attention there
  std::vector<int64_t> n_ff{};
  std::vector<int64_t> window{};
};

// At most `n_tensor` layers: each must have a tensor.
GgufWidths read_widths(const GgufKeys& keys, const GgufArchitecture& architecture,
                       int64_t n_tensor);

}  // namespace tidemark

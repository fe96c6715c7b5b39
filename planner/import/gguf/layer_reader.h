// One layer of a GGUF file as a LayerSpec. What is there is read from the tensor table, how wide it
// is from the keys; widths that no key states come from the tensors.
//
//   blk.7 with ssm_conv1d and no ssm_x is Mamba-2, whatever the architecture: granitehybrid,
//   nemotron_h and mamba2 need no code of their own.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "planner/import/gguf/tensor_table.h"
#include "planner/import/gguf/widths.h"

namespace tidemark {

class LayerReader {
 public:
  // All must outlive the reader. A key that is needed and missing is reported once.
  LayerReader(const GgufKeys& keys, const GgufWidths& widths) : keys_(keys), widths_(widths) {}

  // `layer` is the place in the file, which counts draft layers too; `block` holds its tensors.
  LayerSpec read(int64_t layer, const TensorBlock& block);

 private:
  Mixer mixer(int64_t layer, const TensorBlock& block);
  AttentionSpec attention(int64_t layer, const TensorBlock& block);
  void read_norms_of_heads(const TensorBlock& block, AttentionSpec& spec);
  int64_t shared_with(int64_t layer) const;
  MlaSpec mla(int64_t layer, const TensorBlock& block);
  MambaSpec mamba(const TensorBlock& block);
  Mamba2Spec mamba2(const TensorBlock& block);
  GatedDeltaSpec gated_delta();
  RwkvSpec rwkv(int64_t layer, const TensorBlock& block);
  CrossAttentionSpec cross(int64_t layer, const TensorBlock& block);
  FeedForwardSpec feed_forward(int64_t layer, const TensorBlock& block);
  MoeSpec experts(const TensorBlock& block);
  bool is_parallel(const LayerSpec& spec, const TensorBlock& block);
  // The value, which must be more than 0; else the key is missing.
  int64_t need(std::string_view key, int64_t value);

  const GgufKeys& keys_;
  const GgufWidths& widths_;
  std::set<std::string, std::less<>> reported_{};
};

}  // namespace tidemark

// The tensors of one layer, kind by kind. Used by weights.cpp alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/model/weights.h"

namespace tidemark {

// Collects the tensors of one layer; `prefix` is "blk.3.".
class LayerWeights {
 public:
  LayerWeights(std::vector<WeightTensor>& tensors, std::string prefix, int64_t stack, int64_t layer,
               int64_t n_embd)
      : tensors_(tensors),
        prefix_(std::move(prefix)),
        stack_(stack),
        layer_(layer),
        n_embd_(n_embd) {}

  void add_layer(const LayerSpec& layer);

  // "<prefix><stem>.weight" of columns x rows x count.
  void matrix(WeightRole role, std::string_view stem, int64_t columns, int64_t rows,
              int64_t count = 1);
  // "<prefix><stem>.bias" of `columns` values, for each of `rows`.
  void bias(WeightRole role, std::string_view stem, int64_t columns, int64_t rows = 1);
  // Both, the second if wished.
  void linear(WeightRole role, std::string_view stem, int64_t columns, int64_t rows,
              bool with_bias);
  void norm(WeightRole role, std::string_view stem, NormKind kind, int64_t width);
  // "<prefix><stem>", which is neither called weight nor bias.
  void table(WeightRole role, std::string_view stem, int64_t columns, int64_t rows = 1);
  void extra(const ExtraWeight& extra);

 private:
  void add_attention(const AttentionSpec& spec);
  void add_projections(const AttentionSpec& spec);
  void add_cross(const CrossAttentionSpec& spec);
  void add_mla(const MlaSpec& spec);
  void add_feed_forward(const FeedForwardSpec& spec);
  void add_experts(const MoeSpec& spec);
  void add_mamba(const MambaSpec& spec);
  void add_mamba2(const Mamba2Spec& spec);
  void add_gated_delta(const GatedDeltaSpec& spec);
  void add_linear_attention(const LinearAttentionSpec& spec);
  void add_short_conv(const ShortConvSpec& spec);
  void add_rwkv(const RwkvSpec& spec);
  void add_rwkv4(const RwkvSpec& spec);
  void add_rwkv6(const RwkvSpec& spec);
  void add_rwkv7(const RwkvSpec& spec);
  void add(WeightTensor tensor);

  std::vector<WeightTensor>& tensors_;
  std::string prefix_{};
  int64_t stack_ = -1;
  int64_t layer_ = -1;
  int64_t n_embd_ = 0;
};

}  // namespace tidemark

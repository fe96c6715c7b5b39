// What a model is, as far as memory goes: widths and kinds, layer by layer, never weights.
//
//   ModelSpec
//     TransformerSpec   n_embd, n_vocab, ... and one LayerSpec per layer, so kinds may mix:
//       LayerSpec         norms, one mixer (attention, MLA, Mamba, ...), cross-attention,
//                         a dense feed-forward, experts
//       StackSpec         layers besides the main ones: encoder, vision or audio tower, draft heads
//     or LayerListSpec  names and sizes only
//
//   Gemma-3-1B is 26 layers in the order sliding x 5, full, ...: the same AttentionSpec, but for
//   `window`, which is 512 or 0. Checked by WeightsTest.GemmaThree.
//
// A zero width means that the part is absent, unless a comment says otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/ids.h"
#include "planner/model/dtype.h"
#include "planner/model/layer_spec.h"
#include "planner/model/quantization.h"

namespace tidemark {

enum class StackRole { kEncoder, kVision, kAudio, kDraft };
std::string_view name_of(StackRole role);  // "encoder", "vision", "audio", "draft"

// How an image becomes tokens: a square image in square patches, merge x merge patches to a token.
//   896 pixels, patch 14, merge 4: (896/14)^2 / 4^2 = 256 tokens. Checked by
//   ModelSpecTest.TokensOfAnImage.
struct ImageSpec {
  int64_t image_size = 0;  // pixels a side; 0 = any size
  int64_t patch_size = 0;
  int64_t merge = 1;         // patches a side that become one token
  int64_t extra_tokens = 0;  // class token and its like, kept on the way to the decoder
  bool operator==(const ImageSpec&) const = default;
};

// Tokens that one square image of `pixels` a side puts into the context; partial patches are
// rounded down. 0 without a patch size.
Tokens tokens_of_image(const ImageSpec& image, int64_t pixels);

struct StackSpec {
  StackRole role = StackRole::kEncoder;
  int64_t n_embd = 0;
  std::vector<LayerSpec> layers{};
  NormKind final_norm = NormKind::kNone;
  std::vector<ExtraWeight> extras{};  // patch and position embedding, projector, ...
  ImageSpec image{};
  Tokens n_tokens{0};      // length of its input where it is fixed (whisper: 1,500 frames); else 0
  bool is_counted = true;  // in the model's published parameter total, and loaded with it
  bool operator==(const StackSpec&) const = default;
};

struct TransformerSpec {
  int64_t n_embd = 0;
  int64_t n_vocab = 0;
  Tokens n_ctx_train{0};  // 0 = unknown
  bool tied_embeddings = false;
  bool has_head = true;  // a backbone ("...Model") has none
  bool head_bias = false;
  bool is_causal = true;     // false: encoder-only, no KV cache
  int64_t n_position = 0;    // rows of a learned position embedding
  int64_t n_token_type = 0;  // rows of a token type embedding
  NormKind embedding_norm = NormKind::kNone;
  NormKind final_norm = NormKind::kScale;
  std::vector<LayerSpec> layers{};
  std::vector<StackSpec> stacks{};
  std::vector<ExtraWeight> extras{};  // whatever else the file holds
  bool operator==(const TransformerSpec&) const = default;
};

// The shortest spelling: sizes only. Layer i reads the activation of layer i-1 and makes its own.
struct PlainLayer {
  std::string name{};
  Bytes weights{};
  Bytes activation{};
  int64_t operations = 0;  // of one pass, whatever its tokens
  bool operator==(const PlainLayer&) const = default;
};

struct LayerListSpec {
  std::vector<PlainLayer> layers{};
  bool operator==(const LayerListSpec&) const = default;
};

// A tensor of a file that was read: what it really is, whatever the widths say.
struct StoredTensor {
  std::string name{};
  DType dtype = DType::kF32;
  int64_t columns = 0;  // ne0
  int64_t rows = 1;     // ne1
  int64_t count = 1;    // ne2 x ne3
  bool operator==(const StoredTensor&) const = default;
};

struct ModelSpec {
  std::string name{};
  std::string architecture{};  // "minicpm", "llama"; "layer-list" for a LayerListSpec
  std::string source{};        // where the dimensions come from
  DType dtype = DType::kF16;   // as stored; meaningless for a layer list
  Quantization stored_as{};    // how the file packs its matrices; as-stored = not at all
  std::variant<TransformerSpec, LayerListSpec> dims{};
  std::vector<StoredTensor> stored{};  // of a GGUF file; empty when only widths are known

  const TransformerSpec* transformer() const { return std::get_if<TransformerSpec>(&dims); }
  const LayerListSpec* layer_list() const { return std::get_if<LayerListSpec>(&dims); }
  int64_t n_layer() const;
  bool operator==(const ModelSpec&) const = default;
};

}  // namespace tidemark

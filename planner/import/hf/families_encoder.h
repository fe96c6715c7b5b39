// Encoders (BERT and its kin) and encoder-decoders (T5, BART, Whisper), and the parts that towers
// of other models share with them.
//
//   BERT base: (30,522 + 512 + 2) x 768 + 1,536 for the embeddings, 12 layers of 7,087,872, a
//   pooler of 590,592: 109,482,240. Checked by HfEncoderTest.BertByHand.
//
// An encoder alone is the model's main layers with is_causal = false. Of an encoder-decoder the
// decoder is the main layers and the encoder a stack; source_width 0 = the decoder's own width.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "planner/import/hf/families.h"

namespace tidemark {

std::span<const HfFamily> encoder_families();          // families_encoder.cpp
std::span<const HfFamily> encoder_decoder_families();  // families_encoder_decoder.cpp

// Four square projections and two matrices, each with a bias, and two LayerNorms: before them (ViT,
// Whisper) or after them (BERT, BART).
struct EncoderShape {
  int64_t n_embd = 0;
  int64_t n_layer = 0;
  int64_t n_head = 0;
  int64_t n_ff = 0;
};
enum class NormPlace { kBefore, kAfter };
LayerSpec encoder_layer(const EncoderShape& shape, NormPlace place);

// Heads fill the width, or it is a problem under `key`.
void check_heads(ConfigReader& reader, const EncoderShape& shape, std::string_view key);

// `layer` n_layer times; none once the file has a problem.
std::vector<LayerSpec> repeat(const ConfigReader& reader, const LayerSpec& layer, int64_t n_layer);

// "<stem>.weight" of columns x rows, and "<stem>.bias" of rows.
void add_linear(std::vector<ExtraWeight>& extras, std::string_view stem, int64_t columns,
                int64_t rows, bool bias = true);
// "<stem>.weight" and, for a LayerNorm, "<stem>.bias".
void add_norm(std::vector<ExtraWeight>& extras, std::string_view stem, int64_t width,
              NormKind kind = NormKind::kScaleAndShift);

// The encoder of Whisper, which audio models use as it is: two convolutions of three frames, fixed
// positions that the files hold as a parameter, `n_embd` features.
struct WhisperEncoderDefaults {
  int64_t n_mel = 0;
  int64_t n_source = 0;
  EncoderShape shape{};
};
StackSpec read_whisper_encoder(ConfigReader& reader, const WhisperEncoderDefaults& defaults,
                               StackRole role);

}  // namespace tidemark

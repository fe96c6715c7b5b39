// What nearly every decoder's config.json states, under the names that its classes use, and the
// plain decoder that follows from it.
//
//   {"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, ...}
//     head_dim = 64 / 4 = 16; K and V have 2 x 16 features.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/import/hf/config_reader.h"
#include "planner/model/model_spec.h"

namespace tidemark {

struct DecoderShape {
  int64_t n_embd = 0;
  int64_t n_layer = 0;
  int64_t n_vocab = 0;
  int64_t n_ctx = 0;
  int64_t n_head = 0;
  int64_t n_head_kv = 0;
  int64_t head_dim = 0;
  int64_t n_ff = 0;
};

// What a class takes for a key that is not there. 0: the key is needed; of n_head_kv and head_dim:
// n_head, and n_embd / n_head; of n_ctx: unknown.
struct ShapeDefaults {
  int64_t n_embd = 0;
  int64_t n_layer = 0;
  int64_t n_vocab = 0;
  int64_t n_ctx = 0;
  int64_t n_head = 0;
  int64_t n_head_kv = 0;
  int64_t head_dim = 0;
  int64_t n_ff = 0;
  int64_t n_ff_times = 0;  // n_ff as a multiple of n_embd
};

// Sizes that do not fit each other are problems: n_head_kv must divide n_head, and n_head must
// divide n_embd where head_dim is not given.
DecoderShape read_shape(ConfigReader& reader, const ShapeDefaults& defaults = {});

// One switch for the biases of all four projections.
inline AttentionBias all_biases(bool on) { return {.q = on, .k = on, .v = on, .out = on}; }
// Of Q, K and V alone.
inline AttentionBias qkv_biases(bool on) { return {.q = on, .k = on, .v = on}; }

// The attention of `shape`: no biases, no norms, the whole context.
AttentionSpec attention_of(const DecoderShape& shape);

// RMS norm, attention, RMS norm, gated feed-forward: Llama's layer.
LayerSpec llama_layer(const DecoderShape& shape);

// `layer` n_layer times between embedding and head. Reads tie_word_embeddings; whether there is a
// head follows from the architecture's name.
TransformerSpec make_decoder(ConfigReader& reader, const DecoderShape& shape,
                             const LayerSpec& layer, bool tied_by_default);

// tie_word_embeddings of the file, else of this object, else the class's default.
bool read_tied(ConfigReader& reader, bool otherwise);

// Has the architecture a head over the vocabulary? One whose name ends in "Model" has none, nor has
// one for another task ("...ForSequenceClassification").
bool has_lm_head(const ConfigNotes& notes);

// The same norm before the mixer and before the feed-forward, and at the end.
void set_norms(TransformerSpec& spec, NormKind kind);

// layer_types, one of `known` for each layer; empty when the file has none. Another name, or too
// few of them, is a problem. A surplus is cut off.
std::vector<std::string> read_layer_types(ConfigReader& reader, int64_t n_layer, ConfigKeys known);

// The window of every layer: "sliding_attention" in layer_types where the file has them, else
// `is_windowed(i)`. `window` 0: none.
template <class IsWindowed>
void set_windows(ConfigReader& reader, TransformerSpec& spec, int64_t window,
                 const IsWindowed& is_windowed) {
  const std::vector<std::string> types =
      read_layer_types(reader, std::ssize(spec.layers), {"sliding_attention", "full_attention"});
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    auto* attention = std::get_if<AttentionSpec>(&spec.layers[i].mixer);
    if (attention == nullptr) continue;
    const bool windowed =
        types.empty() ? is_windowed(static_cast<int64_t>(i)) : types[i] == "sliding_attention";
    attention->window = windowed ? window : 0;
  }
}

// How many features of a head turn, where the class stores its frequencies with the weights.
void note_rotary(ConfigReader& reader, int64_t head_dim, double otherwise);

// floor(value x factor) as Python's int() makes it; a problem under `key` when it is no width.
int64_t scaled_width(ConfigReader& reader, std::string_view key, int64_t value, double factor);

}  // namespace tidemark

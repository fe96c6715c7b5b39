#include "planner/import/hf/decoder_shape.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "planner/base/diagnostic.h"

namespace tidemark {
namespace {

const ConfigKeys kKvKeys = {"num_key_value_heads", "num_kv_heads", "n_head_kv"};
const ConfigKeys kTiedKeys = {"tie_word_embeddings", "tie_lm_head"};
const ConfigKeys kFeedForwardKeys = {"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"};
const ConfigKeys kContextKeys = {"max_position_embeddings", "n_positions", "max_seq_len",
                                 "max_sequence_length",     "seq_length",  "n_ctx"};

int64_t read_or(ConfigReader& reader, ConfigKeys keys, IntegerRange range, int64_t otherwise) {
  return otherwise > 0 ? reader.integer(keys, range, otherwise) : reader.integer(keys, range);
}

// A null num_key_value_heads means as many as heads, a missing one the class's default.
int64_t read_heads_kv(ConfigReader& reader, int64_t n_head, int64_t otherwise) {
  const bool is_null = reader.mentions("num_key_value_heads") && !reader.has(kKvKeys);
  if (otherwise > 0 && !is_null) return reader.integer(kKvKeys, kHeads, otherwise);
  return reader.integer(kKvKeys, kHeads, n_head, "as many as heads");
}

int64_t read_head_dim(ConfigReader& reader, const DecoderShape& shape, int64_t otherwise) {
  if (reader.has({"head_dim"})) return reader.integer({"head_dim"}, kWidths);
  const bool is_null = reader.mentions("head_dim");
  if (otherwise > 0 && !is_null) return reader.integer({"head_dim"}, kWidths, otherwise);
  if (shape.n_embd % shape.n_head != 0) {
    reader.refuse("num_attention_heads",
                  fmt::format("{} does not divide hidden_size {}", shape.n_head, shape.n_embd),
                  "give head_dim where heads do not fill hidden_size");
    return 1;
  }
  return reader.integer({"head_dim"}, kWidths, shape.n_embd / shape.n_head,
                        "hidden_size / num_attention_heads");
}

int64_t read_n_ff(ConfigReader& reader, int64_t n_embd, const ShapeDefaults& defaults) {
  if (defaults.n_ff_times == 0) return read_or(reader, kFeedForwardKeys, kWidths, defaults.n_ff);
  return reader.integer(kFeedForwardKeys, kWidths, defaults.n_ff_times * n_embd,
                        fmt::format("{} x hidden_size", defaults.n_ff_times));
}

bool ends_in(std::string_view text, std::string_view ending) { return text.ends_with(ending); }

}  // namespace

DecoderShape read_shape(ConfigReader& reader, const ShapeDefaults& defaults) {
  DecoderShape shape;
  shape.n_embd =
      read_or(reader, {"hidden_size", "n_embd", "d_model", "n_embed"}, kWidths, defaults.n_embd);
  shape.n_layer = read_or(reader, {"num_hidden_layers", "n_layer", "n_layers", "num_layers"},
                          kLayers, defaults.n_layer);
  shape.n_vocab = read_or(reader, {"vocab_size"}, kVocab, defaults.n_vocab);
  shape.n_head =
      read_or(reader, {"num_attention_heads", "n_head", "n_heads"}, kHeads, defaults.n_head);
  shape.n_head_kv = read_heads_kv(reader, shape.n_head, defaults.n_head_kv);
  shape.head_dim = read_head_dim(reader, shape, defaults.head_dim);
  shape.n_ff = read_n_ff(reader, shape.n_embd, defaults);
  shape.n_ctx = defaults.n_ctx > 0 ? reader.integer(kContextKeys, kTokens, defaults.n_ctx)
                                   : reader.optional_integer(kContextKeys, kTokens).value_or(0);
  if (shape.n_head % shape.n_head_kv != 0) {
    reader.refuse("num_key_value_heads", fmt::format("{} does not divide num_attention_heads {}",
                                                     shape.n_head_kv, shape.n_head));
  }
  return shape;
}

AttentionSpec attention_of(const DecoderShape& shape) {
  return {.n_head = shape.n_head, .n_head_kv = shape.n_head_kv, .head_dim = shape.head_dim};
}

LayerSpec llama_layer(const DecoderShape& shape) {
  return {.mixer = attention_of(shape), .feed_forward = {.n_ff = shape.n_ff}};
}

TransformerSpec make_decoder(ConfigReader& reader, const DecoderShape& shape,
                             const LayerSpec& layer, bool tied_by_default) {
  TransformerSpec spec{.n_embd = shape.n_embd,
                       .n_vocab = shape.n_vocab,
                       .n_ctx_train = Tokens{shape.n_ctx},
                       .tied_embeddings = read_tied(reader, tied_by_default),
                       .has_head = has_lm_head(reader.notes())};
  if (reader.ok()) spec.layers.assign(static_cast<size_t>(shape.n_layer), layer);
  return spec;
}

void set_norms(TransformerSpec& spec, NormKind kind) {
  spec.final_norm = kind;
  for (LayerSpec& layer : spec.layers) {
    layer.norms.before_mixer = kind;
    layer.norms.before_ffn = layer.is_parallel ? NormKind::kNone : kind;
  }
}

std::vector<std::string> read_layer_types(ConfigReader& reader, int64_t n_layer, ConfigKeys known) {
  std::vector<std::string> types = reader.texts("layer_types");
  if (types.empty() || n_layer == 0) return {};
  if (std::ssize(types) < n_layer) {
    reader.refuse("layer_types", fmt::format("has {} values for {} layers", types.size(), n_layer));
    return {};
  }
  types.resize(static_cast<size_t>(n_layer));
  for (const std::string& type : types) {
    if (std::ranges::find(known, type) == known.end()) {
      reader.refuse("layer_types", fmt::format("{} is unknown here", in_quotes(type)));
      return {};
    }
  }
  return types;
}

bool read_tied(ConfigReader& reader, bool otherwise) {
  const ConfigReader* parent = reader.parent();
  if (parent != nullptr && parent->has(kTiedKeys)) {
    reader.pass_over(kTiedKeys);
    ConfigReader above = *parent;
    return above.boolean(kTiedKeys, otherwise);
  }
  return reader.boolean(kTiedKeys, otherwise);
}

bool has_lm_head(const ConfigNotes& notes) {
  if (notes.architectures.empty()) return true;
  const std::string& name = notes.architectures.front();
  if (ends_in(name, "LMHeadModel")) return true;
  return !ends_in(name, "Model") && !ends_in(name, "Classification") &&
         !ends_in(name, "QuestionAnswering") && !ends_in(name, "MultipleChoice");
}

void note_rotary(ConfigReader& reader, int64_t head_dim, double otherwise) {
  const double part = reader.optional_number({"partial_rotary_factor", "rotary_pct", "rope_pct"})
                          .value_or(otherwise);
  if (!(part > 0 && part <= 1)) {
    reader.refuse("partial_rotary_factor", "must be a part of a head, more than 0 and at most 1");
    return;
  }
  reader.notes().rotary_dim = static_cast<int64_t>(static_cast<double>(head_dim) * part);
}

int64_t scaled_width(ConfigReader& reader, std::string_view key, int64_t value, double factor) {
  const double scaled = std::floor(static_cast<double>(value) * factor);
  if (scaled >= 1 && scaled <= static_cast<double>(kWidths.most)) {
    return static_cast<int64_t>(scaled);
  }
  reader.refuse(key, fmt::format("makes a width of {} that is none", value));
  return 1;
}

}  // namespace tidemark

// The parts of a layer, one function a kind: x [E,T] in, what is added to it [E,T] out. Used in
// planner/graph alone.
#pragma once

#include <optional>

#include "planner/graph/graph_writer.h"

namespace tidemark {

// Keys and values that queries meet: a cache, or this pass's own where nothing is cached.
struct Cells {
  Value keys{};
  Value values{};
  int64_t count = 0;  // columns of the scores
  Bytes key_bytes{};  // read of the cache for one cell, all sequences
  Bytes value_bytes{};
  bool is_context = true;     // their number grows with the context
  int64_t most_attended = 0;  // of a window; 0 = all
  // Of the cached rows; rows of this pass are floats, or multiplied as they are.
  DType key_type = DType::kF32;
  DType value_type = DType::kF32;
};

// What layers hand on besides x.
struct LayerContext {
  GraphWriter& writer;
  const TransformerSpec& spec;
  std::optional<Value> positions{};            // of the tokens; none in a model that reads none
  std::vector<std::optional<Cells>> caches{};  // by layer, of the layers done
  std::optional<Value> position_bias{};        // T5: made in one layer, used by those after it
  std::optional<Value> first_values{};         // RWKV 7: V of the first layer
  const LayerSpec& layer() const { return spec.layers.at(static_cast<size_t>(writer.layer())); }
};

// One layer: the norms and sums around its parts. x [E,T] in and out.
Value layer_graph(LayerContext& context, const LayerSpec& spec, const Value& x);

// Weights that no width describes are read whole, but for a table with a row for each word, which
// is looked up. What is computed with them is unknown: nothing is counted, and x keeps its shape.
Value extras_graph(LayerContext& context, const Value& x);

// Does anything turn queries or look distances up?
bool layers_read_positions(const TransformerSpec& spec);

// Rope, unless the model learns its positions.
bool turns_queries(const TransformerSpec& spec, const AttentionSpec& attention);

// x: normed; returns what the output projection makes of the context.
Value attention_graph(LayerContext& context, const AttentionSpec& spec, const Value& x);
Value mla_graph(LayerContext& context, const MlaSpec& spec, const Value& x);
// x: before its norm.
Value cross_attention_graph(LayerContext& context, const CrossAttentionSpec& spec, const Value& x);

// Once for a source: K and V of the encoder's states [W,S] into the cache, of n_seq sequences, that
// the layer's cross-attention reads.
void cross_cache_graph(GraphWriter& writer, const CrossAttentionSpec& spec, int64_t n_seq,
                       const Value& states);

struct Heads {
  int64_t count = 0;
  int64_t key_dim = 0;
  int64_t value_dim = 0;
};

// What is added to the scores.
struct ScoreTerms {
  std::optional<Value> position_bias{};
  std::vector<WeightId> sinks{};
};

// Softmax attention of q [count*key_dim,T] over `cells` -> [count*value_dim,T], as one op or as
// scores, softmax and context. `stem` stands before their names.
Value attend(GraphWriter& writer, const std::string& stem, const Heads& heads, const Value& q,
             const Cells& cells, const ScoreTerms& terms = {});

// Stores this pass's rows in the layer's cache: keys [key_width], values [value_width] (0 = none:
// values are a part of the keys). Without a cache (not causal) they are what queries meet.
struct Stored {
  std::vector<TensorId> rows{};  // inputs of the store, each once
  Value keys{};
  Value values{};
  int64_t key_width = 0;
  int64_t value_width = 0;
};
Cells store(LayerContext& context, const Stored& stored);

// A convolution of each channel over the last d_conv tokens, and its state [d_conv-1, width, S] for
// S sequences.
Value conv_graph(GraphWriter& writer, int64_t d_conv, const Value& x);

// A recurrence: reads `inputs`, writes y [width,T] and its state, `state` by sequence.
struct Recurrence {
  OpKind kind = OpKind::kScan;
  std::vector<TensorId> inputs{};
  std::vector<WeightId> weights{};
  int64_t width = 0;
  std::array<int64_t, 2> state{};
};
Value recurrence_graph(GraphWriter& writer, std::string_view name, Recurrence recurrence);

// f32 state of all sequences, [rows of `shape`] x S, outside the arena.
Value recurrent_state(GraphWriter& writer, std::string_view name, std::array<int64_t, 2> shape);
// Read once and written once.
Bytes moved_by(const Value& state);

Value mamba_graph(LayerContext& context, const MambaSpec& spec, const Value& x);
Value mamba2_graph(LayerContext& context, const Mamba2Spec& spec, const Value& x);
Value gated_delta_graph(LayerContext& context, const GatedDeltaSpec& spec, const Value& x);
Value linear_attention_graph(LayerContext& context, const LinearAttentionSpec& spec,
                             const Value& x);
Value short_conv_graph(LayerContext& context, const ShortConvSpec& spec, const Value& x);

Value rwkv_time_graph(LayerContext& context, const RwkvSpec& spec, const Value& x);
Value rwkv_channel_graph(LayerContext& context, const RwkvSpec& spec, const Value& x);

Value feed_forward_graph(LayerContext& context, const FeedForwardSpec& spec, const Value& x);
Value expert_graph(LayerContext& context, const MoeSpec& spec, const Value& x);

}  // namespace tidemark

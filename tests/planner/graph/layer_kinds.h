// A tiny model of each layer kind, and the table of ops that its graph is compared by.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "planner/graph/build_graph.h"

namespace tidemark::testing {

// n_embd 8, vocabulary 10, tied.
inline ModelSpec model_of(const LayerSpec& layer, size_t n_layer = 1) {
  return {.name = "tiny",
          .architecture = "tiny",
          .dims = TransformerSpec{.n_embd = 8,
                                  .n_vocab = 10,
                                  .tied_embeddings = true,
                                  .layers = std::vector<LayerSpec>(n_layer, layer)}};
}

inline TransformerSpec& dims_of(ModelSpec& model) { return std::get<TransformerSpec>(model.dims); }

// 4 heads of 2, 2 of them stored.
inline constexpr AttentionSpec kHeads{.n_head = 4, .n_head_kv = 2, .head_dim = 2};
inline constexpr AttentionBias kEveryBias{.q = true, .k = true, .v = true, .out = true};

struct LayerKind {
  std::string name{};
  LayerSpec layer{};
};

inline LayerSpec attention_with(AttentionSpec spec) {
  return {.mixer = spec, .feed_forward = {.n_ff = 6}};
}

inline std::vector<LayerKind> attention_kinds() {
  std::vector<LayerKind> kinds;
  const auto add = [&kinds](const char* name, auto change) {
    AttentionSpec spec = kHeads;
    change(spec);
    kinds.push_back({name, attention_with(spec)});
  };
  add("dense", [](AttentionSpec&) {});
  add("bias", [](AttentionSpec& a) { a.bias = kEveryBias; });
  add("fused", [](AttentionSpec& a) { a.fused_qkv = true; });
  add("fused with bias", [](AttentionSpec& a) { a.fused_qkv = a.bias.q = a.bias.out = true; });
  add("head norm", [](AttentionSpec& a) { a.qk_norm = QkNormKind::kHead; });
  add("width norm with bias", [](AttentionSpec& a) {
    a.qk_norm = QkNormKind::kWidth;
    a.qk_norm_bias = true;
  });
  add("fused with norm", [](AttentionSpec& a) {
    a.fused_qkv = true;
    a.qk_norm = QkNormKind::kHead;
  });
  add("window", [](AttentionSpec& a) { a.window = 2; });
  add("chunk", [](AttentionSpec& a) { a.chunk = 2; });
  add("sinks", [](AttentionSpec& a) { a.sinks = true; });
  add("output gate", [](AttentionSpec& a) { a.output_gate = true; });
  add("value is key", [](AttentionSpec& a) { a.value_is_key = true; });
  add("wide values", [](AttentionSpec& a) { a.head_dim_v = 3; });
  add("buckets", [](AttentionSpec& a) { a.n_bucket = 4; });
  return kinds;
}

inline constexpr MlaSpec kMla{
    .n_head = 4, .q_lora = 3, .kv_lora = 5, .qk_nope = 2, .qk_rope = 2, .v_head = 3};

inline std::vector<LayerKind> mla_kinds() {
  std::vector<LayerKind> kinds;
  for (const bool latent : {true, false}) {
    for (const bool split : {true, false}) {
      MlaSpec spec = kMla;
      spec.latent_cache = latent;
      spec.split_kv_b = split;
      if (latent != split) spec.q_lora = 0;
      kinds.push_back({fmt::format("mla latent {} split {}", latent, split),
                       {.mixer = spec, .feed_forward = {.n_ff = 6}}});
    }
  }
  return kinds;
}

inline constexpr NormKind kNoNorm = NormKind::kNone;

inline std::vector<LayerKind> recurrent_kinds() {
  const LayerNorms alone{.before_ffn = kNoNorm};
  const MambaSpec mamba{.d_conv = 4, .d_inner = 16, .d_state = 3, .dt_rank = 2};
  MambaSpec jamba = mamba;
  jamba.inner_norms = jamba.proj_bias = true;
  jamba.conv_bias = false;
  const Mamba2Spec mamba2{.d_conv = 4, .d_inner = 16, .d_state = 3, .n_head = 2, .n_group = 2};
  Mamba2Spec plain2 = mamba2;
  plain2.gated_norm = plain2.conv_bias = false;
  plain2.proj_bias = true;
  const RwkvSpec rwkv4{.version = 4, .n_ff = 12};
  const RwkvSpec rwkv6{.version = 6, .head_size = 4, .n_ff = 12, .lora_mix = 2, .lora_decay = 3};
  const RwkvSpec rwkv7{.version = 7,
                       .head_size = 4,
                       .n_ff = 12,
                       .lora_decay = 2,
                       .lora_iclr = 3,
                       .lora_value = 4,
                       .lora_gate = 5};
  const LayerNorms shifts{.before_mixer = NormKind::kScaleAndShift,
                          .before_ffn = NormKind::kScaleAndShift};
  return {{"mamba", {.mixer = mamba, .norms = alone}},
          {"jamba", {.mixer = jamba, .feed_forward = {.n_ff = 6}}},
          {"mamba2", {.mixer = mamba2, .norms = alone}},
          {"mamba2 plain", {.mixer = plain2, .norms = alone}},
          {"gated delta",
           {.mixer =
                GatedDeltaSpec{
                    .n_key_head = 2, .n_value_head = 4, .key_dim = 3, .value_dim = 2, .d_conv = 4},
            .feed_forward = {.n_ff = 6}}},
          {"linear attention",
           {.mixer = LinearAttentionSpec{.n_head = 2, .head_dim = 3}, .feed_forward = {.n_ff = 6}}},
          {"short conv", {.mixer = ShortConvSpec{.d_conv = 3}, .feed_forward = {.n_ff = 6}}},
          {"short conv with bias",
           {.mixer = ShortConvSpec{.d_conv = 3, .bias = true}, .feed_forward = {.n_ff = 6}}},
          {"rwkv4", {.mixer = rwkv4, .norms = shifts}},
          {"rwkv6", {.mixer = rwkv6, .norms = shifts}},
          {"rwkv7", {.mixer = rwkv7, .norms = shifts}}};
}

// 8 experts of which 2 run.
inline constexpr MoeSpec kExperts{.n_expert = 8, .n_expert_used = 2, .n_ff_exp = 6};

inline std::vector<LayerKind> feed_forward_kinds() {
  MoeSpec shared = kExperts;
  shared.n_ff_shared = 5;
  MoeSpec everything = shared;
  everything.shared_gate = everything.router_bias = everything.balance_bias = true;
  everything.expert_bias = everything.shared_bias = true;
  MoeSpec plain = everything;
  plain.gated = false;
  const LayerNorms around{.before_mixer = kNoNorm,
                          .after_mixer = NormKind::kScale,
                          .before_ffn = NormKind::kPlain,
                          .after_ffn = NormKind::kScaleAndShift};
  const LayerNorms one{.before_ffn = kNoNorm};
  CrossAttentionSpec cross{
      .attention = kHeads, .source_width = 7, .norm = NormKind::kScaleAndShift};
  cross.attention.bias = kEveryBias;
  const std::vector<ExtraWeight> extras = {
      {.name = "scale", .columns = 8},
      {.name = "word_embd.weight", .columns = 4, .rows = 10},
      {.name = "rope_freqs.weight", .columns = 3, .is_parameter = false}};
  return {
      {"feed-forward bias", {.mixer = kHeads, .feed_forward = {.n_ff = 6, .bias = true}}},
      {"ungated", {.mixer = kHeads, .feed_forward = {.n_ff = 6, .gated = false, .bias = true}}},
      {"fused gate and up",
       {.mixer = kHeads, .feed_forward = {.n_ff = 6, .fused_gate_up = true, .bias = true}}},
      {"experts", {.mixer = kHeads, .moe = kExperts}},
      {"shared expert", {.mixer = kHeads, .moe = shared}},
      {"experts with everything", {.mixer = kHeads, .moe = everything}},
      {"ungated experts", {.mixer = kHeads, .moe = plain}},
      {"dense beside experts", {.mixer = kHeads, .feed_forward = {.n_ff = 6}, .moe = kExperts}},
      {"norms around", {.mixer = kHeads, .feed_forward = {.n_ff = 6}, .norms = around}},
      {"parallel, one norm",
       {.mixer = kHeads, .feed_forward = {.n_ff = 6}, .norms = one, .is_parallel = true}},
      {"parallel, two norms", {.mixer = kHeads, .feed_forward = {.n_ff = 6}, .is_parallel = true}},
      {"no mixer", {.mixer = NoMixer{}, .feed_forward = {.n_ff = 6}, .norms = one}},
      {"no mixer, two norms", {.mixer = NoMixer{}, .feed_forward = {.n_ff = 6}}},
      {"cross-attention", {.mixer = kHeads, .cross = cross, .feed_forward = {.n_ff = 6}}},
      {"extras", {.mixer = kHeads, .feed_forward = {.n_ff = 6}, .extras = extras}}};
}

inline std::vector<LayerKind> all_kinds() {
  std::vector<LayerKind> all;
  for (const auto& kinds :
       {attention_kinds(), mla_kinds(), recurrent_kinds(), feed_forward_kinds()}) {
    all.insert(all.end(), kinds.begin(), kinds.end());
  }
  return all;
}

// 3 tokens of one sequence, 5 cells.
inline constexpr GraphOptions kThree{.n_tokens = 3, .n_outputs = 1, .n_cells = 5};

// "attn_q.weight" of "blk.0.attn_q.weight".
inline std::string short_name(const std::string& name) {
  return name.starts_with("blk.0.") ? name.substr(6) : name;
}

// Of the ops from the first whose name is `from` to the last one before `to`, one line each:
//   q = matmul(attn_norm) with attn_q.weight -> q [8,3]
inline std::string op_table(const Graph& graph, const WeightsInventory& weights,
                            const std::string& from, const std::string& to) {
  std::string text = "\n";
  bool is_inside = false;
  for (const Op& op : graph.ops()) {
    const std::string name = short_name(op.name);
    is_inside = (is_inside || name == from) && name != to;
    if (!is_inside) continue;
    std::string inputs;
    std::string outputs;
    std::string read;
    for (const TensorId id : op.inputs) {
      inputs += (inputs.empty() ? "" : ", ") + short_name(graph.tensor(id).name);
    }
    for (const WeightId id : op.weights) {
      read += (read.empty() ? " with " : ", ") + short_name(weights.tensors[id.index()].name);
    }
    for (const TensorId id : op.outputs) {
      const Tensor& tensor = graph.tensor(id);
      size_t rank = 4;
      while (rank > 2 && tensor.shape[rank - 1] == 1) --rank;
      const std::vector<int64_t> shape(tensor.shape.begin(),
                                       tensor.shape.begin() + static_cast<std::ptrdiff_t>(rank));
      outputs += fmt::format("{}{} [{}]", outputs.empty() ? "" : ", ", short_name(tensor.name),
                             fmt::join(shape, ","));
    }
    text += fmt::format("{} = {}({}){} -> {}\n", name, name_of(op.kind), inputs, read, outputs);
  }
  return text;
}

inline std::string op_table(const ModelSpec& model, const GraphOptions& options,
                            const std::string& from, const std::string& to) {
  const WeightsInventory weights = weights_inventory(model, DType::kF16);
  return op_table(build_graph(model, weights, options), weights, from, to);
}

inline Graph graph_of(const ModelSpec& model, const GraphOptions& options,
                      DType quant = DType::kF16) {
  return build_graph(model, weights_inventory(model, quant), options);
}

inline const Op& op_named(const Graph& graph, std::string_view name) {
  for (const Op& op : graph.ops()) {
    if (short_name(op.name) == name) return op;
  }
  throw std::invalid_argument("no op named " + std::string(name));
}

inline const Tensor& tensor_named(const Graph& graph, std::string_view name) {
  for (const Tensor& tensor : graph.tensors()) {
    if (short_name(tensor.name) == name) return tensor;
  }
  throw std::invalid_argument("no tensor named " + std::string(name));
}

}  // namespace tidemark::testing

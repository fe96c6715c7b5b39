#include "planner/engine/llama_cpp/llama_graph.h"

#include <algorithm>

#include "planner/base/check.h"
#include "planner/engine/llama_cpp/graph_faults.h"
#include "planner/engine/llama_cpp/graph_scope.h"

namespace tidemark {
namespace {

bool has_window(const LayerSpec& layer) {
  const AttentionSpec* attention = layer.attention();
  return attention != nullptr && (attention->window > 0 || attention->chunk > 0);
}

// The widest values of any layer: without flash attention all store by one index, value by value.
int64_t widest_values(const GraphScope& scope) {
  int64_t widest = 0;
  for (const LayerSpec& layer : scope.spec.layers) {
    int64_t row = 0;
    if (const auto* mla = std::get_if<MlaSpec>(&layer.mixer)) {
      row = checked_mul(mla->n_head, mla->v_head);
    } else if (const AttentionSpec* attention = layer.attention()) {
      row = checked_mul(attention->n_head_kv, attention->value_dim());
    }
    widest = std::max(widest, row);
  }
  return widest;
}

CacheInputs cache_inputs(GraphScope& scope, bool window) {
  const LlamaContext& context = scope.context;
  const int64_t n_tokens = scope.run.n_tokens;
  const LlamaRotation& sides = context.rotation;
  CacheInputs in{.cells = window ? context.cells_swa : context.cells};
  const int64_t asked = window ? scope.run.n_kv_window : scope.run.n_kv;
  in.n_kv = asked > 0 ? std::min(asked, in.cells) : in.cells;
  GgmlBuilder& build = scope.build;
  if (sides.k > 0)
    in.rotation_k = build.input("attn_inp_k_rot", DType::kF32, {sides.k, sides.k, 1, 1});
  if (sides.v > 0)
    in.rotation_v = build.input("attn_inp_v_rot", DType::kF32, {sides.v, sides.v, 1, 1});
  const int64_t values = context.flash ? 1 : std::max<int64_t>(widest_values(scope), 1);
  in.index_k = build.input("", DType::kI64, {n_tokens, 1, 1, 1});
  in.index_v = build.input("", DType::kI64, {checked_mul(n_tokens, values), 1, 1, 1});
  in.mask = build.input("attn_inp_kq_mask", context.flash ? DType::kF16 : DType::kF32,
                        {in.n_kv, n_tokens / context.n_stream, 1, context.n_stream});
  return in;
}

// Factors of the rotation by position: one table, or a short and a long one.
void find_rope_factors(GraphScope& scope) {
  for (const char* name : {"rope_freqs.weight", "rope_factors_short.weight"}) {
    const auto found = scope.weights.find(name);
    if (found == scope.weights.end()) continue;
    scope.inputs.rope_factors = scope.weight(name, {found->second->columns, 1, 1, 1});
    scope.inputs.has_rope_factors = true;
    return;
  }
}

void make_inputs(GraphScope& scope) {
  GgmlBuilder& build = scope.build;
  GraphInputs& in = scope.inputs;
  const int64_t n_seq = scope.context.n_seq;
  in.positions = build.input("", DType::kI32, {scope.run.n_tokens, 1, 1, 1});
  in.outputs = build.input("", DType::kI32, {scope.run.n_outputs, 1, 1, 1});
  in.full = cache_inputs(scope, false);
  if (scope.windows) in.window = cache_inputs(scope, true);
  const int64_t end = n_seq * 4;
  in.state_copy = build.input("", DType::kI32, {n_seq, 1, 1, 1});
  in.state_main = build.view(in.state_copy, {n_seq, 1, 1, 1}, {end, end, end}, 0);
  in.state_extra = build.view(in.state_copy, {0, 1, 1, 1}, {0, 0, 0}, end);
  find_rope_factors(scope);
}

// Rows of the table, or embeddings given from outside: both stand in the graph.
BuiltId add_embedding(GraphScope& scope) {
  GgmlBuilder& build = scope.build;
  const int64_t n_embd = scope.spec.n_embd;
  const int64_t n_tokens = scope.run.n_tokens;
  const BuiltId table = scope.weight("token_embd.weight", {n_embd, scope.spec.n_vocab, 1, 1});
  const BuiltId tokens = build.input("inp_tokens", DType::kI32, {n_tokens, 1, 1, 1});
  BuiltId cur = build.op("GET_ROWS", {n_embd, n_tokens, 1, 1}, {table, tokens});
  build.expand(cur);
  build.expand(build.input("inp_embd", DType::kF32, {n_embd, n_tokens, 1, 1}));
  build.name(cur, "embd");
  if (scope.spec.n_position > 0) {
    const BuiltId places =
        scope.weight("position_embd.weight", {n_embd, scope.spec.n_position, 1, 1});
    const BuiltId rows =
        build.op("GET_ROWS", {n_embd, n_tokens, 1, 1}, {places, scope.inputs.positions});
    cur = build.map("ADD", {cur, rows});
  }
  if (scope.traits.scaled_embedding) {
    cur = build.map("SCALE", {cur});
    build.name(cur, "inp_scaled");
  }
  build.expand(cur);  // before a recurrent layer states its caches
  return cur;
}

BuiltId add_mixer(GraphScope& scope, BuiltId x, const LayerSpec& layer) {
  if (const auto* spec = std::get_if<AttentionSpec>(&layer.mixer))
    return add_attention(scope, x, *spec);
  if (const auto* spec = std::get_if<MlaSpec>(&layer.mixer)) return add_mla(scope, x, *spec);
  if (const auto* spec = std::get_if<MambaSpec>(&layer.mixer)) return add_mamba(scope, x, *spec);
  if (const auto* spec = std::get_if<Mamba2Spec>(&layer.mixer)) return add_mamba2(scope, x, *spec);
  return add_other_recurrence(scope, x, layer);
}

BuiltId rows_of_outputs(GraphScope& scope, BuiltId x) {
  return scope.build.op("GET_ROWS", {scope.build[x].ne[0], scope.run.n_outputs, 1, 1},
                        {x, scope.inputs.outputs});
}

// `part` on the residual, in the order of the architecture.
BuiltId add_residual(GraphScope& scope, BuiltId part, BuiltId residual, bool residual_first) {
  if (scope.traits.scaled_residual) part = scope.build.map("SCALE", {part});
  if (residual_first) return scope.build.map("ADD", {residual, part});
  return scope.build.map("ADD", {part, residual});
}

bool has_ffn(const LayerSpec& layer) {
  return layer.moe.n_expert > 0 || layer.feed_forward.n_ff > 0;
}

BuiltId add_ffn(GraphScope& scope, BuiltId x, const LayerSpec& layer) {
  if (layer.moe.n_expert == 0) return add_feed_forward(scope, x, layer.feed_forward);
  const BuiltId cur = add_experts(scope, x, layer.moe);
  if (layer.feed_forward.n_ff == 0) return cur;
  return scope.build.map("ADD", {cur, add_feed_forward(scope, x, layer.feed_forward)});
}

// Mixer and feed-forward side by side: both on the same input.
BuiltId add_parallel(GraphScope& scope, BuiltId mixed, BuiltId normed, BuiltId residual,
                     const LayerSpec& layer) {
  BuiltId in = normed;
  if (layer.norms.before_ffn != NormKind::kNone) {
    in = add_norm(scope, residual, layer.norms.before_ffn, "ffn_norm");
  } else if (scope.is_last_layer()) {
    in = rows_of_outputs(scope, normed);
  }
  const BuiltId cur = scope.build.map("ADD", {add_ffn(scope, in, layer), residual});
  return scope.build.map("ADD", {cur, mixed});
}

BuiltId add_layer(GraphScope& scope, BuiltId residual, const LayerSpec& layer) {
  const BuiltId normed = add_norm(scope, residual, layer.norms.before_mixer, "attn_norm");
  BuiltId cur = normed;
  if (!std::holds_alternative<NoMixer>(layer.mixer)) {
    cur = add_mixer(scope, normed, layer);
    if (scope.is_last_layer()) {
      cur = rows_of_outputs(scope, cur);
      residual = rows_of_outputs(scope, residual);
    }
    cur = add_norm(scope, cur, layer.norms.after_mixer, "post_attention_norm");
    if (layer.is_parallel) return add_parallel(scope, cur, normed, residual, layer);
    cur = add_residual(scope, cur, residual, scope.traits.residual_before_mixer);
  } else {
    cur = scope.is_last_layer() ? rows_of_outputs(scope, residual) : residual;
  }
  if (!has_ffn(layer)) return cur;
  scope.name(cur, "ffn_inp");
  residual = cur;
  cur = add_norm(scope, cur, layer.norms.before_ffn, "ffn_norm");
  cur = add_ffn(scope, cur, layer);
  cur = add_norm(scope, cur, layer.norms.after_ffn, "post_ffw_norm");
  return add_residual(scope, cur, residual, scope.traits.residual_before_ffn);
}

BuiltId capped(GraphScope& scope, BuiltId x) {
  const BuiltId scaled = scope.build.map("SCALE", {x});
  return scope.build.map("SCALE", {scope.build.map("UNARY", {scaled})});
}

BuiltId head_matrix(GraphScope& scope) {
  const GgmlShape ne{scope.spec.n_embd, scope.spec.n_vocab, 1, 1};
  if (!scope.spec.tied_embeddings) return scope.weight("output.weight", ne);
  const BuiltId table = scope.weight("token_embd.weight", ne);
  if (!scope.run.own_head) return table;
  return scope.build.weight("output.weight", scope.build[table].type, ne);
}

void add_head(GraphScope& scope, BuiltId x) {
  GgmlBuilder& build = scope.build;
  const int64_t n_embd = scope.spec.n_embd;
  // The norm behind the layers has no number.
  BuiltId cur = x;
  if (scope.spec.final_norm != NormKind::kNone) {
    const bool is_rms = scope.spec.final_norm == NormKind::kScale && !scope.traits.layer_norm;
    cur = build.map(is_rms ? "RMS_NORM" : "NORM", {cur});
    build.name(cur, "norm");
    if (scope.spec.final_norm != NormKind::kPlain) {
      cur = build.map("MUL", {cur, scope.weight("output_norm.weight", {n_embd, 1, 1, 1})});
    }
    if (scope.spec.final_norm == NormKind::kScaleAndShift) {
      cur = build.map("ADD", {cur, scope.weight("output_norm.bias", {n_embd, 1, 1, 1})});
    }
  }
  build.name(cur, "result_norm");
  build.output(cur);
  if (scope.spec.has_head) {
    if (scope.traits.logit_scale == LogitScale::kBefore) {
      cur = build.map("SCALE", {cur});
      build.name(cur, "lmhead_scaling");
    }
    cur = build.mul_mat(head_matrix(scope), cur);
    if (scope.spec.head_bias) {
      cur = build.map("ADD", {cur, scope.weight("output.bias", {scope.spec.n_vocab, 1, 1, 1})});
    }
    if (scope.traits.logit_scale == LogitScale::kAfter) cur = build.map("SCALE", {cur});
    if (scope.traits.capped_logits) cur = capped(scope, cur);
    build.name(cur, "result_output");
    build.output(cur);
  }
  build.expand(cur);
}

Diagnostics refusal(const ModelSpec& model) {
  const TransformerSpec* spec = model.transformer();
  if (spec == nullptr) return one_error("model", "a list of sizes has no graph");
  if (!spec->is_causal) return one_error("model", "an encoder has no decoder's graph");
  if (spec->layers.empty()) return one_error("model", "it has no layers");
  if (const std::string fault = graph_fault(*spec); !fault.empty()) {
    return one_error("model", fault);
  }
  return {};
}

GraphScope scope_of(const ModelSpec& model, const WeightsInventory& weights,
                    const LlamaContext& context, const LlamaRun& run) {
  const TransformerSpec& spec = *model.transformer();
  GraphScope scope{.spec = spec, .context = context};
  scope.traits = graph_traits(model);
  scope.run = run;
  scope.windows = std::ranges::any_of(spec.layers, has_window);
  for (const WeightTensor& tensor : weights.tensors) {
    if (tensor.stack < 0) scope.weights.emplace(tensor.name, &tensor);
  }
  return scope;
}

}  // namespace

LlamaRun prompt_run(const LlamaContext& context) {
  return {.n_tokens = context.n_tokens, .n_outputs = context.n_outputs};
}

LlamaRun generation_run(const LlamaContext& context) {
  return {.n_tokens = context.n_seq, .n_outputs = context.n_seq};
}

Result<LlamaGraph> llama_graph(const ModelSpec& model, const WeightsInventory& weights,
                               const LlamaContext& context, const LlamaRun& run) {
  if (Diagnostics refused = refusal(model); !refused.empty()) return refused;
  check(context.rejection.empty(), "a context that was accepted");
  check(run.n_tokens > 0 && run.n_tokens % context.n_seq == 0, "as many tokens of each sequence");
  GraphScope scope = scope_of(model, weights, context, run);
  make_inputs(scope);
  BuiltId cur = add_embedding(scope);
  for (const LayerSpec& layer : scope.spec.layers) {
    cur = add_layer(scope, cur, layer);
    scope.name(cur, "l_out");
    ++scope.layer;
  }
  add_head(scope, cur);

  LlamaGraph made{.graph = scope.build.graph(), .exact_for_architecture = scope.traits.is_known};
  made.n_leaves = std::ranges::count_if(made.graph.tensors, &GgmlTensor::leaf);
  made.n_nodes = std::ssize(made.graph.tensors) - made.n_leaves;
  return made;
}

}  // namespace tidemark

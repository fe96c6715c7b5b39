// New keys and values into the caches of a layer, and the attention over what the caches hold.
#include "planner/base/check.h"
#include "planner/engine/llama_cpp/graph_scope.h"

namespace tidemark {
namespace {

// One cache of the layer at work: [row, cells, streams].
struct LayerCache {
  BuiltId tensor{};
  DType type = DType::kF16;
  int64_t row = 0;  // values of a cell
  int64_t cells = 0;
};

struct Attending {
  const AttentionHeads& heads;
  const CacheInputs& in;
  LayerCache k{};
  LayerCache v{};  // unused where the values are a view of the keys
};

LayerCache layer_cache(GraphScope& scope, char side, int64_t layer, DType type, int64_t row,
                       int64_t cells) {
  const std::string name = std::string("cache_") + side + "_l" + std::to_string(layer);
  const auto held = scope.held.find(name);
  const BuiltId tensor =
      held != scope.held.end()
          ? held->second
          : scope.build.weight(name, type, {row, cells, scope.context.n_stream, 1});
  scope.held[name] = tensor;
  return {.tensor = tensor, .type = type, .row = row, .cells = cells};
}

// Rows of `x` [width, heads, tokens] as [width x heads, tokens], whatever lies between them.
BuiltId as_rows(GraphScope& scope, BuiltId x, int64_t row) {
  const BuiltTensor& seen = scope.build[x];
  const int64_t stride = seen.nb[2];
  const int64_t end = checked_mul(stride, seen.ne[2]);
  return scope.build.view(x, {row, seen.ne[2], 1, 1}, {stride, end, end}, 0);
}

void store_rows(GraphScope& scope, BuiltId x, const LayerCache& cache, BuiltId index) {
  const BuiltId rows = as_rows(scope, x, cache.row);
  const int64_t n_stream = scope.context.n_stream;
  const BuiltId target =
      n_stream == 1 ? cache.tensor
                    : scope.build.reshape(cache.tensor, {cache.row, cache.cells * n_stream, 1, 1});
  scope.build.expand(scope.build.into("SET_ROWS", target, {rows, index, target}));
}

// Without flash attention the values are kept transposed, one by one.
void store_transposed(GraphScope& scope, BuiltId x, const LayerCache& cache, BuiltId index) {
  const GgmlShape shape = scope.build[x].ne;
  const GgmlShape rows{cache.row, shape[2], 1, 1};
  const BuiltId packed =
      scope.build.is_contiguous(x) ? scope.build.reshape(x, rows) : scope.build.cont(x, rows);
  const BuiltId single = scope.build.reshape(packed, {1, checked_mul(cache.row, shape[2]), 1, 1});
  const int64_t all = checked_mul(checked_mul(cache.row, cache.cells), scope.context.n_stream);
  const BuiltId target = scope.build.reshape(cache.tensor, {1, all, 1, 1});
  scope.build.expand(scope.build.into("SET_ROWS", target, {single, index, target}));
}

// All cells: [width, heads, cells, streams].
BuiltId read_rows(GraphScope& scope, const LayerCache& cache, int64_t width, int64_t n_head,
                  int64_t n_kv) {
  const int64_t row = row_bytes(cache.type, cache.row).count();
  return scope.build.view(cache.tensor, {width, n_head, n_kv, scope.context.n_stream},
                          {.nb1 = row_bytes(cache.type, width).count(),
                           .nb2 = row,
                           .nb3 = checked_mul(row, cache.cells)},
                          0);
}

// The transposed values: [cells, heads, width, streams].
BuiltId read_transposed(GraphScope& scope, const LayerCache& cache, int64_t width, int64_t n_head,
                        int64_t n_kv) {
  const int64_t column = row_bytes(cache.type, cache.cells).count();
  return scope.build.view(
      cache.tensor, {n_kv, n_head, width, scope.context.n_stream},
      {.nb1 = checked_mul(column, width), .nb2 = column, .nb3 = checked_mul(column, cache.row)}, 0);
}

BuiltId heads_first(GraphScope& scope, BuiltId x) { return scope.build.permute(x, {0, 2, 1, 3}); }

BuiltId query_by_stream(GraphScope& scope, BuiltId q) {
  const BuiltTensor& seen = scope.build[q];
  const int64_t n_stream = scope.context.n_stream;
  const GgmlShape ne{seen.ne[0], seen.ne[1], seen.ne[2] / n_stream, n_stream};
  const GgmlStrides strides{seen.nb[1], seen.nb[2], seen.nb[3] / n_stream};
  return heads_first(scope, scope.build.view(q, ne, strides, 0));
}

struct KeysAndValues {
  BuiltId k{};  // [width, cells, heads, streams]
  BuiltId v{};  // with flash attention likewise, else [cells, width, heads, streams]
};

KeysAndValues read_caches(GraphScope& scope, const Attending& at) {
  const AttentionHeads& heads = at.heads;
  const BuiltId k = read_rows(scope, at.k, heads.width_k, heads.n_head_kv, at.in.n_kv);
  if (heads.is_latent) {
    const BuiltTensor seen = scope.build[k];
    const BuiltId v =
        heads_first(scope, scope.build.view(k, {heads.width_v, seen.ne[1], seen.ne[2], seen.ne[3]},
                                            {seen.nb[1], seen.nb[2], seen.nb[3]}, 0));
    if (scope.context.flash) return {heads_first(scope, k), v};
    const BuiltId turned = scope.build.cont(scope.build.transpose(v));
    scope.name(turned, "v_cont");
    return {heads_first(scope, k), turned};
  }
  const BuiltId v = scope.context.flash
                        ? read_rows(scope, at.v, heads.width_v, heads.n_head_kv, at.in.n_kv)
                        : read_transposed(scope, at.v, heads.width_v, heads.n_head_kv, at.in.n_kv);
  return {heads_first(scope, k), heads_first(scope, v)};
}

// Values of the latent cache, [latent, tokens, heads, streams], as those of the heads.
BuiltId out_of_latent(GraphScope& scope, const AttentionHeads& heads, BuiltId x,
                      std::string_view name) {
  const BuiltId values = scope.build.mul_mat(heads.latent_to_v, x);
  scope.name(values, name);
  return heads_first(scope, values);
}

BuiltId flash_attention(GraphScope& scope, const Attending& at, BuiltId q) {
  const KeysAndValues kv = read_caches(scope, at);
  const GgmlShape by = scope.build[q].ne;  // [width, tokens, heads, streams]
  std::vector<BuiltId> sources{q, kv.k, kv.v, at.in.mask};
  if (at.heads.sinks) sources.push_back(scope.layer_weight("attn_sinks.weight", {by[2], 1, 1, 1}));
  BuiltId cur =
      scope.build.op("FLASH_ATTN_EXT", {at.heads.width_v, by[2], by[1], by[3]}, std::move(sources));
  if (at.heads.is_latent) {
    cur = out_of_latent(scope, at.heads, heads_first(scope, cur), "fattn_mla");
    cur = scope.build.cont(cur);
  }
  const GgmlShape out = scope.build[cur].ne;
  return scope.build.reshape(cur, {out[0] * out[1], out[2] * out[3], 1, 1});
}

BuiltId capped(GraphScope& scope, BuiltId x) {
  const BuiltId scaled = scope.build.map("SCALE", {x});
  scope.name(scaled, "kq_scaled_1");
  const BuiltId bent = scope.build.map("UNARY", {scaled});
  scope.name(bent, "kq_tanh");
  const BuiltId back = scope.build.map("SCALE", {bent});
  scope.name(back, "kq_scaled_2");
  return back;
}

BuiltId plain_attention(GraphScope& scope, const Attending& at, BuiltId q) {
  const KeysAndValues kv = read_caches(scope, at);
  BuiltId scores = scope.build.mul_mat(kv.k, q);
  scope.name(scores, "kq");
  if (scope.traits.capped_scores) scores = capped(scope, scores);
  std::vector<BuiltId> sources{scores, at.in.mask};
  if (at.heads.sinks) {
    const int64_t n_head = scope.build[scores].ne[2];
    sources.push_back(scope.layer_weight("attn_sinks.weight", {n_head, 1, 1, 1}));
  }
  scores = scope.build.map("SOFT_MAX", std::move(sources));
  scope.name(scores, "kq_soft_max");
  const BuiltId product = scope.build.mul_mat(kv.v, scores);
  scope.name(product, "kqv");
  const BuiltId cur = at.heads.is_latent ? out_of_latent(scope, at.heads, product, "kqv_mla")
                                         : heads_first(scope, product);
  const GgmlShape out = scope.build[cur].ne;
  return scope.build.cont(cur, {out[0] * out[1], out[2] * out[3], 1, 1});
}

// Stated first so that no later part moves between them; a model with window layers states K
// before V.
void expand_inputs(GraphScope& scope, BuiltId q, BuiltId k, const std::optional<BuiltId>& v) {
  scope.build.expand(q);
  if (scope.windows) scope.build.expand(k);
  if (v) scope.build.expand(*v);
  scope.build.expand(k);
}

}  // namespace

BuiltId add_rotation(GraphScope& scope, BuiltId rotation, BuiltId x) {
  const GgmlShape shape = scope.build[x].ne;
  const int64_t side = scope.build[rotation].ne[0];
  const int64_t all = shape[0] * shape[1] * shape[2] * shape[3];
  const GgmlShape rows{side, all / side, 1, 1};
  const BuiltId packed =
      scope.build.is_contiguous(x) ? scope.build.reshape(x, rows) : scope.build.cont(x, rows);
  return scope.build.reshape(scope.build.mul_mat(rotation, packed), shape);
}

BuiltId add_cached_attention(GraphScope& scope, AttentionHeads heads) {
  const LlamaContext& context = scope.context;
  const CacheInputs& in = heads.window ? scope.inputs.window : scope.inputs.full;
  const int64_t layer = heads.reads_layer.value_or(scope.layer);
  const bool turn_k = context.rotation.k > 0 && !heads.is_latent;
  const bool turn_v = context.rotation.v > 0 && !heads.is_latent;
  if (turn_k) heads.q = add_rotation(scope, in.rotation_k, heads.q);

  Attending at{.heads = heads, .in = in};
  at.k = layer_cache(scope, 'k', layer, context.type_k, heads.width_k * heads.n_head_kv, in.cells);
  if (!heads.is_latent) {
    at.v =
        layer_cache(scope, 'v', layer, context.type_v, heads.width_v * heads.n_head_kv, in.cells);
  }
  if (heads.reads_layer) {
    scope.build.expand(heads.q);
  } else {
    BuiltId k = turn_k ? add_rotation(scope, in.rotation_k, heads.k) : heads.k;
    std::optional<BuiltId> v;
    if (!heads.is_latent) v = turn_v ? add_rotation(scope, in.rotation_v, heads.v) : heads.v;
    expand_inputs(scope, heads.q, k, v);
    store_rows(scope, k, at.k, in.index_k);
    if (v && context.flash) store_rows(scope, *v, at.v, in.index_v);
    if (v && !context.flash) store_transposed(scope, *v, at.v, in.index_v);
  }
  const BuiltId q = query_by_stream(scope, heads.q);
  const BuiltId cur = context.flash ? flash_attention(scope, at, q) : plain_attention(scope, at, q);
  scope.name(cur, "kqv_out");
  scope.build.expand(cur);
  return turn_v ? add_rotation(scope, in.rotation_v, cur) : cur;
}

}  // namespace tidemark

// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, 2.1). H heads, N = qk_nope,
// R = qk_rope, L = kv_lora, Z = v_head:
//
//   x -> q_a -> q_a_norm -> q [H*(N+R),T] -> rope turns the last R values of each head
//   x -> kv_a [L+R,T] -> rope turns the last R -> latent = norm of the first L
//   absorbed (the cache holds latents, one row of L+R for all heads):
//     store latent, turned key;  q_latent [H*L,T] = k_b(q);  q_cat [H*(L+R),T] = q_latent, turned q
//     context [H*L,T] = attention(q_cat, cache);  values [H*Z,T] = v_b(context)
//   expanded (the cache holds every head's K and V):
//     k [H*(N+R),T], v [H*Z,T] = kv_b(latent); store;  context [H*Z,T] = attention(q, K, V)
//
// Where k_b and v_b are one matrix kv_b, absorbed attention reads its rows in two parts.
#include "planner/graph/layer_graph.h"

namespace tidemark {
namespace {

Value rope(LayerContext& context, std::string_view name, const Value& x) {
  return context.writer.elementwise(name, OpKind::kRope, x, context.positions->id);
}

Value queries(LayerContext& context, const MlaSpec& spec, const Value& x) {
  GraphWriter& writer = context.writer;
  if (spec.q_lora == 0) return rope(context, "q_rope", writer.matmul("q", WeightRole::kQuery, x));
  const Value low = writer.matmul("q_a", WeightRole::kQueryA, x);
  const Value normed = writer.norm("q_a_norm", WeightRole::kQueryANorm, low);
  return rope(context, "q_rope", writer.matmul("q", WeightRole::kQueryB, normed));
}

Value concat(GraphWriter& writer, std::string_view name, int64_t width, const Value& a,
             const Value& b) {
  return writer.emit(name, {width, a.shape[1], 1, 1},
                     {.kind = OpKind::kConcat, .inputs = each_once({a.id, b.id})});
}

// `width` values for each head from the matrix of that role, or from those rows of kv_b. `columns`
// values of each head go in.
Value by_head(GraphWriter& writer, std::string_view name, const MlaSpec& spec, WeightRole role,
              int64_t width, const Value& x) {
  const Shape shape{checked_mul(spec.n_head, width), writer.n_tokens(), 1, 1};
  if (spec.split_kv_b) return writer.emit(name, shape, writer.product_op(writer.weight(role), x));
  const WeightId id = writer.weight(WeightRole::kKvB);
  const WeightTensor& whole = writer.tensor(id);
  const int64_t rows =
      checked_mul(spec.n_head, role == WeightRole::kKeyB ? spec.qk_nope : spec.v_head);
  Op op = writer.product_op(id, x);
  op.weights_read = row_bytes(whole.dtype, whole.columns) * rows;
  op.operations = checked_mul(checked_mul(2, checked_mul(rows, whole.columns)), writer.n_tokens());
  return writer.emit(name, shape, std::move(op));
}

Value absorbed(LayerContext& context, const MlaSpec& spec, const Value& q, const Value& latent,
               const Value& turned) {
  GraphWriter& writer = context.writer;
  const int64_t row = checked_add(spec.kv_lora, spec.qk_rope);
  const Cells cells =
      store(context,
            {.rows = {latent.id, turned.id}, .keys = turned, .values = latent, .key_width = row});
  context.caches.at(static_cast<size_t>(writer.layer())) = cells;
  const Value q_latent = by_head(writer, "q_latent", spec, WeightRole::kKeyB, spec.kv_lora, q);
  const Value q_cat = concat(writer, "q_cat", checked_mul(spec.n_head, row), q_latent, q);
  const Value mixed = attend(writer, "", {spec.n_head, row, spec.kv_lora}, q_cat, cells);
  return by_head(writer, "values", spec, WeightRole::kValueB, spec.v_head, mixed);
}

Value expanded(LayerContext& context, const MlaSpec& spec, const Value& q, const Value& latent,
               const Value& turned) {
  GraphWriter& writer = context.writer;
  const int64_t key = checked_mul(spec.n_head, checked_add(spec.qk_nope, spec.qk_rope));
  const int64_t value = checked_mul(spec.n_head, spec.v_head);
  Value k;
  Value v;
  if (spec.split_kv_b) {
    k = by_head(writer, "k_nope", spec, WeightRole::kKeyB, spec.qk_nope, latent);
    v = by_head(writer, "v", spec, WeightRole::kValueB, spec.v_head, latent);
  } else {
    k = writer.matmul("kv", WeightRole::kKvB, latent);
    v = view(k, value);
  }
  k = concat(writer, "k", key, k, turned);
  const Cells cells =
      store(context,
            {.rows = {k.id, v.id}, .keys = k, .values = v, .key_width = key, .value_width = value});
  context.caches.at(static_cast<size_t>(writer.layer())) = cells;
  return attend(writer, "", {spec.n_head, checked_add(spec.qk_nope, spec.qk_rope), spec.v_head}, q,
                cells);
}

}  // namespace

Value mla_graph(LayerContext& context, const MlaSpec& spec, const Value& x) {
  GraphWriter& writer = context.writer;
  const Value q = queries(context, spec, x);
  const Value low = writer.matmul("kv_a", WeightRole::kKvA, x);
  const Value turned = rope(context, "k_rope", low);
  const Value latent = writer.norm("kv_a_norm", WeightRole::kKvANorm, view(turned, spec.kv_lora));
  const Value attended = spec.latent_cache ? absorbed(context, spec, q, latent, turned)
                                           : expanded(context, spec, q, latent, turned);
  return writer.linear("attn_out", WeightRole::kAttentionOutput, attended);
}

}  // namespace tidemark

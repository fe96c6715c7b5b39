// Recurrences: the state of each sequence is looked up, moved on by the tokens, and written back.
// n = sequences, t = tokens of one of them.
#include "planner/engine/llama_cpp/graph_scope.h"

namespace tidemark {
namespace {

constexpr int64_t kFloat = 4;

// One of the two caches of a layer, [size, n].
struct StateCache {
  BuiltId tensor{};
  BuiltId rows{};  // reshaped to [size, n]
  int64_t size = 0;
};

int64_t n_seq(const GraphScope& scope) { return scope.context.n_seq; }
int64_t seq_tokens(const GraphScope& scope) { return scope.run.n_tokens / n_seq(scope); }

// The first of `size` values at `offset`, nothing between them.
BuiltId stretch(GraphScope& scope, BuiltId x, GgmlShape ne, int64_t offset) {
  const int64_t nb1 = checked_mul(kFloat, ne[0]);
  const int64_t nb2 = checked_mul(nb1, ne[1]);
  return scope.build.view(x, ne, {.nb1 = nb1, .nb2 = nb2, .nb3 = checked_mul(nb2, ne[2])}, offset);
}

// Clears the cell of a sequence that begins.
StateCache open_cache(GraphScope& scope, char side, int64_t size) {
  const std::string name = std::string("cache_") + side + "_l" + std::to_string(scope.layer);
  StateCache cache{.size = size};
  const GgmlShape ne{size, n_seq(scope), 1, 1};
  cache.tensor = scope.build.weight(name, DType::kF32, ne);
  cache.rows = scope.build.reshape(cache.tensor, ne);
  const BuiltId first = stretch(scope, cache.rows, {size, 1, 1, 1}, 0);
  scope.build.expand(scope.build.into("SCALE", first, {first}));
  return cache;
}

void copy_into(GraphScope& scope, BuiltId from, BuiltId to) {
  const BuiltId copy = scope.build.into("CPY", to, {from, to});
  scope.build.name(copy, scope.build[to].name + " (copy of " + scope.build[from].name + ")");
  scope.build.expand(copy);
}

// The cells that no sequence of this batch owns keep their places: none, while it reserves.
void keep_others(GraphScope& scope, const StateCache& cache) {
  const BuiltId others =
      scope.build.op("GET_ROWS", {cache.size, 0, 1, 1}, {cache.rows, scope.inputs.state_extra});
  const int64_t end = checked_mul(checked_mul(cache.size, kFloat), n_seq(scope));
  copy_into(scope, others, stretch(scope, cache.tensor, {cache.size, 0, 1, 1}, end));
}

// The last d_conv - 1 inputs of each sequence: [d_conv - 1, width, n].
struct Convolution {
  StateCache cache{};
  BuiltId window{};
  int64_t width = 0;
  int64_t reach = 0;
};

Convolution open_convolution(GraphScope& scope, int64_t d_conv, int64_t width) {
  Convolution made{.width = width, .reach = d_conv - 1};
  made.cache = open_cache(scope, 'r', checked_mul(made.reach, width));
  const BuiltId rows = scope.build.op("GET_ROWS", {made.cache.size, n_seq(scope), 1, 1},
                                      {made.cache.rows, scope.inputs.state_main});
  scope.build.expand(rows);
  keep_others(scope, made.cache);
  made.window = scope.build.reshape(rows, {made.reach, width, n_seq(scope), 1});
  return made;
}

// Part of the columns of `x` [columns, t, n].
BuiltId columns_of(GraphScope& scope, BuiltId x, int64_t width, int64_t first) {
  const BuiltTensor& seen = scope.build[x];
  const int64_t end = checked_mul(seen.nb[2], seen.ne[2]);
  return scope.build.view(x, {width, seen.ne[1], seen.ne[2], 1}, {seen.nb[1], seen.nb[2], end},
                          first * kFloat);
}

// Likewise, each column split into [width, heads].
BuiltId heads_of(GraphScope& scope, BuiltId x, int64_t width, int64_t n_head, int64_t first) {
  const BuiltTensor& seen = scope.build[x];
  return scope.build.view(x, {width, n_head, seen.ne[1], seen.ne[2]},
                          {width * kFloat, seen.nb[1], seen.nb[2]}, first * kFloat);
}

// The convolved input [width, t, n]; the window moves on. Mamba-1 copies it as one row.
BuiltId convolve(GraphScope& scope, const Convolution& conv, BuiltId x, bool has_bias,
                 bool one_row) {
  const int64_t n = n_seq(scope);
  const BuiltId padded =
      scope.build.op("CONCAT", {conv.reach + seq_tokens(scope), conv.width, n, 1},
                     {conv.window, scope.build.transpose(x)});
  const BuiltTensor& seen = scope.build[padded];
  const BuiltId last = scope.build.view(padded, {conv.reach, conv.width, n, 1},
                                        {seen.nb[1], seen.nb[2], checked_mul(seen.nb[2], n)},
                                        seq_tokens(scope) * kFloat);
  const GgmlShape target = one_row ? GgmlShape{checked_mul(conv.cache.size, n), 1, 1, 1}
                                   : GgmlShape{conv.cache.size, n, 1, 1};
  copy_into(scope, last, stretch(scope, conv.cache.tensor, target, 0));
  BuiltId cur = scope.build.op(
      "SSM_CONV", {conv.width, seq_tokens(scope), n, 1},
      {padded, scope.layer_weight("ssm_conv1d.weight", {conv.reach + 1, conv.width, 1, 1})});
  if (has_bias) {
    const BuiltId bias = scope.layer_weight("ssm_conv1d.bias", {conv.width, 1, 1, 1});
    cur = scope.build.map("ADD", {cur, bias});
  }
  return scope.build.map("UNARY", {cur});
}

struct Scan {
  int64_t d_state = 0;
  int64_t head_dim = 1;
  int64_t n_head = 0;
  BuiltId x{};  // [head_dim, heads, t, n]
  BuiltId dt{};
  BuiltId a{};
  BuiltId b{};
  BuiltId c{};
  int64_t state_size() const { return checked_mul(d_state, checked_mul(head_dim, n_head)); }
};

// The scan's outputs and, behind them, the states; these go back into the cache.
BuiltId add_scan(GraphScope& scope, const StateCache& cache, const Scan& scan, bool one_row) {
  const int64_t n = n_seq(scope);
  const BuiltId states =
      scope.build.reshape(cache.rows, {scan.d_state, scan.head_dim, scan.n_head, n});
  const GgmlShape x = scope.build[scan.x].ne;
  const int64_t outputs = checked_mul(checked_mul(x[0], x[1]), checked_mul(x[2], x[3]));
  const int64_t kept = checked_mul(cache.size, n);
  const BuiltId made =
      scope.build.op("SSM_SCAN", {checked_add(outputs, kept), 1, 1, 1},
                     {states, scan.x, scan.dt, scan.a, scan.b, scan.c, scope.inputs.state_main});
  scope.build.expand(made);
  keep_others(scope, cache);
  const GgmlShape block = one_row ? GgmlShape{kept, 1, 1, 1} : GgmlShape{cache.size, n, 1, 1};
  const BuiltId from = stretch(scope, made, block, checked_mul(outputs, kFloat));
  copy_into(scope, from, stretch(scope, cache.tensor, block, 0));
  return made;
}

BuiltId by_sequence(GraphScope& scope, BuiltId x) {
  return scope.build.reshape(x, {scope.build[x].ne[0], seq_tokens(scope), n_seq(scope), 1});
}

BuiltId all_tokens(GraphScope& scope, BuiltId x) {
  return scope.build.reshape(x, {scope.build[x].ne[0], scope.run.n_tokens, 1, 1});
}

// dt, B and C of Mamba-1 out of one product, [dt_rank + 2 d_state, t, n].
void select(GraphScope& scope, BuiltId x, const MambaSpec& spec, Scan& scan) {
  const int64_t rows = checked_add(spec.dt_rank, checked_mul(2, spec.d_state));
  const BuiltId joint = add_linear(scope, x, "ssm_x", rows);
  const auto norm = [&](BuiltId part, std::string_view name) {
    return spec.inner_norms ? add_norm(scope, part, NormKind::kScale, name) : part;
  };
  const BuiltId dt = norm(columns_of(scope, joint, spec.dt_rank, 0), "ssm_dt_norm");
  scan.b = norm(heads_of(scope, joint, spec.d_state, 1, spec.dt_rank), "ssm_b_norm");
  scan.c = norm(heads_of(scope, joint, spec.d_state, 1, spec.dt_rank + spec.d_state), "ssm_c_norm");
  scan.dt = add_linear(scope, dt, "ssm_dt", spec.d_inner, true);
}

}  // namespace

BuiltId add_mamba(GraphScope& scope, BuiltId x, const MambaSpec& spec) {
  const Convolution conv = open_convolution(scope, spec.d_conv, spec.d_inner);
  const BuiltId both = add_linear(scope, by_sequence(scope, x), "ssm_in",
                                  checked_mul(2, spec.d_inner), spec.proj_bias);
  const BuiltId gate = columns_of(scope, both, spec.d_inner, spec.d_inner);
  const BuiltId in =
      convolve(scope, conv, columns_of(scope, both, spec.d_inner, 0), spec.conv_bias, true);
  Scan scan{.d_state = spec.d_state, .n_head = spec.d_inner};
  select(scope, in, spec, scan);
  scan.x = scope.build.reshape(in, {1, spec.d_inner, seq_tokens(scope), n_seq(scope)});
  scan.a = scope.layer_weight("ssm_a", {spec.d_state, spec.d_inner, 1, 1});
  const StateCache states = open_cache(scope, 's', scan.state_size());
  const BuiltId scanned = add_scan(scope, states, scan, true);

  BuiltId y = stretch(scope, scanned, scope.build[in].ne, 0);
  const BuiltId skip =
      scope.build.map("MUL", {in, scope.layer_weight("ssm_d", {spec.d_inner, 1, 1, 1})});
  y = scope.build.map("ADD", {y, skip});
  y = scope.build.map("GLU", {scope.build.cont(gate), y});
  const BuiltId out = add_linear(scope, y, "ssm_out", scope.spec.n_embd, spec.proj_bias);
  return all_tokens(scope, out);
}

BuiltId add_mamba2(GraphScope& scope, BuiltId x, const Mamba2Spec& spec) {
  const int64_t groups = checked_mul(spec.n_group, spec.d_state);
  const int64_t convolved = checked_add(spec.d_inner, checked_mul(2, groups));
  const int64_t head_dim = spec.d_inner / spec.n_head;
  const Convolution conv = open_convolution(scope, spec.d_conv, convolved);
  const BuiltId joint =
      add_linear(scope, by_sequence(scope, x), "ssm_in",
                 checked_add(checked_add(spec.d_inner, convolved), spec.n_head), spec.proj_bias);
  const BuiltId gate = heads_of(scope, joint, head_dim, spec.n_head, 0);
  const BuiltId in = convolve(scope, conv, columns_of(scope, joint, convolved, spec.d_inner),
                              spec.conv_bias, false);
  Scan scan{.d_state = spec.d_state, .head_dim = head_dim, .n_head = spec.n_head};
  scan.x = heads_of(scope, in, head_dim, spec.n_head, 0);
  scan.b = heads_of(scope, in, spec.d_state, spec.n_group, spec.d_inner);
  scan.c = heads_of(scope, in, spec.d_state, spec.n_group, spec.d_inner + groups);
  const BuiltId dt =
      scope.build.cont(columns_of(scope, joint, spec.n_head, spec.d_inner + convolved));
  scan.dt = scope.build.map("ADD", {dt, scope.layer_weight("ssm_dt.bias", {spec.n_head, 1, 1, 1})});
  scan.a = scope.layer_weight("ssm_a", {1, spec.n_head, 1, 1});
  const StateCache states = open_cache(scope, 's', scan.state_size());
  const BuiltId scanned = add_scan(scope, states, scan, false);

  BuiltId y = stretch(scope, scanned, scope.build[scan.x].ne, 0);
  const BuiltId skip =
      scope.build.map("MUL", {scan.x, scope.layer_weight("ssm_d", {1, spec.n_head, 1, 1})});
  y = scope.build.map("ADD", {y, skip});
  scope.name(y, "mamba2_y_add_d");
  y = scope.build.map("GLU", {scope.build.cont(gate), y});
  const int64_t t = seq_tokens(scope);
  if (spec.gated_norm) {
    y = scope.build.reshape(y, {spec.d_inner / spec.n_group, spec.n_group, t, n_seq(scope)});
    y = add_norm(scope, y, NormKind::kScale, "ssm_norm");
  }
  y = scope.build.reshape(y, {spec.d_inner, t, n_seq(scope), 1});
  const BuiltId out =
      all_tokens(scope, add_linear(scope, y, "ssm_out", scope.spec.n_embd, spec.proj_bias));
  scope.name(out, "mamba_out");
  return out;
}

BuiltId add_other_recurrence(GraphScope& scope, BuiltId x, const LayerSpec& layer) {
  const RecurrentState sizes = recurrent_state_of(layer, scope.spec.n_embd);
  const int64_t state = sizes.total().count() / kFloat;
  const int64_t width = checked_mul(2, scope.spec.n_embd);
  if (state > 0) {
    const StateCache cache = open_cache(scope, 's', state);
    const BuiltId rows = scope.build.op("GET_ROWS", {state, n_seq(scope), 1, 1},
                                        {cache.rows, scope.inputs.state_main});
    copy_into(scope, rows, stretch(scope, cache.tensor, {state, n_seq(scope), 1, 1}, 0));
  }
  const BuiltId in = add_linear(scope, x, "ssm_in", width);
  const BuiltId bent = scope.build.map("UNARY", {in});
  return add_linear(scope, bent, "ssm_out", scope.spec.n_embd);
}

}  // namespace tidemark

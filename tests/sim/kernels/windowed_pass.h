// A pass of tokens that do not see everything, and attention by its definition: a sum over all
// positions in double, with a question for each.
#pragma once

#include "attention_inputs.h"

namespace tidemark::testing {

inline constexpr float kStored = 1.0F / 32;  // scale of the caches

// A pass of consecutive tokens, and all that was stored before: once in a ring, once in a cell
// each.
struct WindowedPass {
  int64_t n_head = 1;
  KvShape keys{};
  KvShape values{};
  int64_t ring = 1;
  int64_t window = 0;
  int64_t chunk = 0;
  RowPart queries{};
  std::vector<int32_t> positions{};
  std::vector<int8_t> q{};
  std::vector<float> sinks{};
  std::vector<std::byte> sink_bytes{};
  std::vector<std::byte> ring_keys{};
  std::vector<std::byte> ring_values{};
  std::vector<std::byte> all_keys{};
  std::vector<std::byte> all_values{};

  int64_t tokens() const { return std::ssize(positions); }
  int64_t all_cells() const { return positions.back() + 1; }
  AttentionInput input(bool in_ring) const {
    return {.n_head = n_head,
            .key_shape = keys,
            .value_shape = values,
            .keys = in_ring ? ring_keys : all_keys,
            .values = in_ring ? ring_values : all_values,
            .cells = {.positions = positions,
                      .ring = in_ring ? ring : 0,
                      .window = window,
                      .chunk = chunk},
            .queries = queries,
            .sinks = std::span(sink_bytes).subspan(1)};  // at an odd address
  }
  bool attends(int64_t token, int64_t position) const {
    const int64_t last = positions[static_cast<size_t>(token)];
    return position <= last && (window == 0 || last - position < window) &&
           (chunk == 0 || position / chunk == last / chunk);
  }
};

inline void store_all(Inputs& inputs, const KvShape& shape, const WindowedPass& pass,
                      std::vector<std::byte>& in_ring, std::vector<std::byte>& in_all) {
  in_ring.resize(static_cast<size_t>(pass.ring * kv_row_bytes(shape)));
  in_all.resize(static_cast<size_t>(pass.all_cells() * kv_row_bytes(shape)));
  for (int32_t p = 0; p < pass.all_cells(); ++p) {
    const auto row = inputs.values(shape.n_head_kv * shape.head_dim);
    store_kv(shape, row, kStored, {.positions = {&p, 1}, .ring = pass.ring}, in_ring);
    store_kv(shape, row, kStored, {.positions = {&p, 1}}, in_all);
  }
}

inline WindowedPass random_pass(Inputs& inputs) {
  WindowedPass pass;
  const auto type = [&] { return inputs.between(0, 1) == 0 ? KvType::kInt8 : KvType::kF16; };
  const int64_t n_head_kv = inputs.between(1, 3);
  pass.keys = {type(), n_head_kv, inputs.between(1, 20)};
  pass.values = {type(), n_head_kv, inputs.between(1, 40)};
  pass.n_head = n_head_kv * inputs.between(1, 10);
  pass.window = inputs.between(0, 2) == 0 ? 0 : inputs.between(1, 80);
  pass.chunk = pass.window > 0 && inputs.between(0, 2) > 0 ? 0 : inputs.between(1, 80);
  const int64_t tokens = inputs.between(1, 5);
  const int64_t first = inputs.between(0, 150);
  for (int64_t t = 0; t < tokens; ++t) pass.positions.push_back(static_cast<int32_t>(first + t));
  pass.ring = (pass.window > 0 ? pass.window : pass.chunk) + tokens + inputs.between(-1, 2);
  store_all(inputs, pass.keys, pass, pass.ring_keys, pass.all_keys);
  store_all(inputs, pass.values, pass, pass.ring_values, pass.all_values);
  const int64_t width = pass.n_head * pass.keys.head_dim;
  if (inputs.between(0, 1) == 0) {
    pass.queries.first = inputs.between(0, 3);
    pass.queries.stride = width + pass.queries.first + inputs.between(0, 3);
  }
  pass.q = inputs.values(tokens * std::max(width, pass.queries.stride));
  pass.sink_bytes.resize(1);
  if (inputs.between(0, 1) == 0) return pass;
  for (int64_t h = 0; h < pass.n_head; ++h) {
    pass.sinks.push_back(static_cast<float>(inputs.between(-40, 40)) / 8);
  }
  const auto bytes = std::as_bytes(std::span(pass.sinks));
  pass.sink_bytes.insert(pass.sink_bytes.end(), bytes.begin(), bytes.end());
  return pass;
}

inline double score_by_definition(const WindowedPass& pass, int64_t token, int64_t head,
                                  int64_t position, double scale_q) {
  const int64_t dim = pass.keys.head_dim;
  const int64_t stride = pass.queries.stride == 0 ? pass.n_head * dim : pass.queries.stride;
  const int64_t head_kv = head * pass.keys.n_head_kv / pass.n_head;
  double dot = 0.0;
  for (int64_t d = 0; d < dim; ++d) {
    const int64_t at = token * stride + pass.queries.first + head * dim + d;
    dot += pass.q[static_cast<size_t>(at)] *
           kv_element(pass.keys, pass.all_keys, position, head_kv * dim + d);
  }
  return dot * scale_q / std::sqrt(static_cast<double>(dim));
}

// e^score for every position, 0 where the token does not look; and their sum, with the sink's.
struct Weights {
  std::vector<double> of_positions{};
  double total = 0.0;
};

inline Weights weights_by_definition(const WindowedPass& pass, int64_t token, int64_t head,
                                     double scale_q) {
  Weights made;
  if (!pass.sinks.empty()) made.total = std::exp(double{pass.sinks[static_cast<size_t>(head)]});
  for (int64_t p = 0; p < pass.all_cells(); ++p) {
    const double weight =
        pass.attends(token, p) ? std::exp(score_by_definition(pass, token, head, p, scale_q)) : 0.0;
    made.of_positions.push_back(weight);
    made.total += weight;
  }
  return made;
}

inline double value_by_definition(const WindowedPass& pass, const std::vector<double>& weights,
                                  int64_t head, int64_t d) {
  const int64_t head_kv = head * pass.values.n_head_kv / pass.n_head;
  double sum = 0.0;
  for (size_t p = 0; p < weights.size(); ++p) {
    sum += weights[p] * kv_element(pass.values, pass.all_values, static_cast<int64_t>(p),
                                   head_kv * pass.values.head_dim + d);
  }
  return sum;
}

}  // namespace tidemark::testing

// A random layer's caches and queries, and attention by its definition: two passes, in double.
#pragma once

#include "inputs.h"
#include "sim/kernels/attention/flash_attention.h"
#include "sim/kernels/attention/kv_rows.h"

namespace tidemark::testing {

struct AttentionCase {
  int64_t n_head = 1;
  KvShape shape{};
  int64_t cells_per_sequence = 1;
  std::vector<int32_t> positions{};
  std::vector<int64_t> first_cells{};
  std::vector<std::byte> keys{};
  std::vector<std::byte> values{};
  std::vector<int8_t> q{};

  int64_t tokens() const { return std::ssize(positions); }
  AttentionInput input() const {
    return {n_head, shape,  shape,
            keys,   values, {.positions = positions, .first_cells = first_cells}};
  }
};

// Two sequences of cells, all written; int8 values at scale 1/32, so that scores spread over a few
// units.
inline AttentionCase random_attention(Inputs& inputs, KvType type) {
  AttentionCase c;
  c.shape = {type, inputs.between(1, 3), 2 * inputs.between(1, 9)};
  c.n_head = c.shape.n_head_kv * inputs.between(1, 3);
  c.cells_per_sequence = inputs.between(1, 80);
  const int64_t all_cells = 2 * c.cells_per_sequence;
  std::vector<int32_t> every(static_cast<size_t>(all_cells));
  for (size_t i = 0; i < every.size(); ++i) every[i] = static_cast<int32_t>(i);
  const TokenCells written{.positions = every};
  const int64_t elements = c.shape.n_head_kv * c.shape.head_dim;
  c.keys.resize(static_cast<size_t>(all_cells * kv_row_bytes(c.shape)));
  c.values.resize(c.keys.size());
  store_kv(c.shape, inputs.values(all_cells * elements), 1.0F / 32, written, c.keys);
  store_kv(c.shape, inputs.values(all_cells * elements), 1.0F / 32, written, c.values);
  for (int64_t t = 0; t < 3; ++t) {
    c.positions.push_back(static_cast<int32_t>(inputs.between(0, c.cells_per_sequence - 1)));
    c.first_cells.push_back(inputs.between(0, 1) * c.cells_per_sequence);
  }
  c.q = inputs.values(c.tokens() * c.n_head * c.shape.head_dim);
  return c;
}

// The real number stored for element `index` of row `cell`.
inline double kv_element(const KvShape& shape, std::span<const std::byte> cache, int64_t cell,
                         int64_t index) {
  const int64_t elements = shape.n_head_kv * shape.head_dim;
  if (shape.type == KvType::kF16)
    return half_at(cache, static_cast<size_t>((cell * elements + index) * 2));
  const auto row = cache.subspan(static_cast<size_t>(cell * (elements + 2)));
  return static_cast<int8_t>(row[static_cast<size_t>(index)]) *
         half_at(row, static_cast<size_t>(elements));
}

// Scores of one token and head over its own cells: q . k s_q / sqrt(D).
inline std::vector<double> scores_by_definition(const AttentionCase& c, int64_t token, int64_t head,
                                                double scale_q) {
  const int64_t dim = c.shape.head_dim;
  const int64_t head_kv = head * c.shape.n_head_kv / c.n_head;
  std::vector<double> scores;
  for (int64_t p = 0; p <= c.positions[static_cast<size_t>(token)]; ++p) {
    const int64_t cell = c.first_cells[static_cast<size_t>(token)] + p;
    double dot = 0.0;
    for (int64_t d = 0; d < dim; ++d) {
      dot += c.q[static_cast<size_t>((token * c.n_head + head) * dim + d)] *
             kv_element(c.shape, c.keys, cell, head_kv * dim + d);
    }
    scores.push_back(dot * scale_q / std::sqrt(static_cast<double>(dim)));
  }
  return scores;
}

inline std::vector<double> softmax_by_definition(std::vector<double> scores) {
  double largest = scores.front();
  for (const double score : scores) largest = std::fmax(largest, score);
  double total = 0.0;
  for (double& score : scores) total += score = std::exp(score - largest);
  for (double& score : scores) score /= total;
  return scores;
}

inline double context_by_definition(const AttentionCase& c,
                                    const std::vector<double>& probabilities, int64_t token,
                                    int64_t head, int64_t d) {
  const int64_t head_kv = head * c.shape.n_head_kv / c.n_head;
  double sum = 0.0;
  for (size_t p = 0; p < probabilities.size(); ++p) {
    const int64_t cell = c.first_cells[static_cast<size_t>(token)] + static_cast<int64_t>(p);
    sum += probabilities[p] * kv_element(c.shape, c.values, cell, head_kv * c.shape.head_dim + d);
  }
  return sum;
}

}  // namespace tidemark::testing

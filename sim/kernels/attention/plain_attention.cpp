#include "sim/kernels/attention/plain_attention.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "planner/base/check.h"
#include "planner/base/checked.h"
#include "sim/kernels/attention/kv_tiles.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

constexpr int8_t kLowest = -128;              // a masked score, and a probability of 0
constexpr int32_t kProbabilityZero = -128;    // zero point
constexpr float kProbabilityScale = 0x1p-8F;  // 1/256
constexpr int64_t kComponentTile = 32;

// e^(-d x scale) for d = 0..255: all that a softmax of int8 scores can ask for.
using ExponentTable = std::array<double, 256>;

ExponentTable exponent_table(float scale) {
  ExponentTable table{};
  for (size_t d = 0; d < table.size(); ++d) {
    table[d] = std::exp(-static_cast<double>(d) * double{scale});
  }
  return table;
}

void softmax_row(const ExponentTable& table, std::span<const int8_t> scores,
                 std::span<int8_t> out) {
  const int maximum = *std::ranges::max_element(scores);
  const auto weight_of = [&](int8_t score) { return table[static_cast<size_t>(maximum - score)]; };
  double total = 0.0;
  for (const int8_t score : scores) total += weight_of(score);
  for (size_t c = 0; c < scores.size(); ++c) {
    const auto steps = static_cast<int32_t>(std::round(weight_of(scores[c]) / total * 256.0));
    out[c] = clamp_to_s8(steps + kProbabilityZero);
  }
}

struct HeadQuery {
  std::span<const int8_t> q;
  int64_t head_kv = 0;
  float factor = 1.0F;  // from a dot product of stored q and real k to a stored score
};

void check_token(int64_t position, ScoresShape shape) {
  check(position < shape.cells, "a position is a cell of the scores");
}

// One head of one token, and its row of probabilities.
struct HeadWeights {
  int64_t token = 0;
  int64_t head_kv = 0;
  std::span<const int8_t> probabilities;
};

// sums[d] += p_c v_c[d] over the attended cells, for sums.size() elements of a row from
// first_element on.
void sum_cells(const AttentionInput& input, const HeadWeights& head, int64_t first_element,
               std::span<float> sums) {
  const int64_t first_cell = input.cells.first_cell(head.token);
  const int64_t cells = input.cells.position(head.token) + 1;
  std::array<float, kScoreTile> tile{};
  for (int64_t c = 0; c < cells; c += kScoreTile) {
    const auto weights =
        std::span(tile).first(static_cast<size_t>(std::min(kScoreTile, cells - c)));
    for (size_t j = 0; j < weights.size(); ++j) {
      const int32_t steps = head.probabilities[static_cast<size_t>(c) + j] - kProbabilityZero;
      weights[j] = static_cast<float>(steps) * kProbabilityScale;
    }
    kv_accumulate({input.value_shape, input.values, first_cell + c}, first_element, weights, sums);
  }
}

void scores_row(const AttentionInput& input, const HeadQuery& query, int64_t token,
                std::span<int8_t> out) {
  std::ranges::fill(out, kLowest);
  const int64_t first_cell = input.cells.first_cell(token);
  const int64_t cells = input.cells.position(token) + 1;
  std::array<float, kScoreTile> tile{};
  for (int64_t c = 0; c < cells; c += kScoreTile) {
    const auto dots = std::span(tile).first(static_cast<size_t>(std::min(kScoreTile, cells - c)));
    kv_dots({input.key_shape, input.keys, first_cell + c}, query.head_kv, query.q, dots);
    for (size_t j = 0; j < dots.size(); ++j) {
      out[static_cast<size_t>(c) + j] = round_to_s8(query.factor * dots[j]);
    }
  }
}

void context_head(const AttentionInput& input, const HeadWeights& head, float scale_out,
                  std::span<int8_t> out) {
  const int64_t head_dim = std::ssize(out);
  std::array<float, kComponentTile> tile{};
  for (int64_t d = 0; d < head_dim; d += kComponentTile) {
    const auto sums =
        std::span(tile).first(static_cast<size_t>(std::min(kComponentTile, head_dim - d)));
    std::ranges::fill(sums, 0.0F);
    sum_cells(input, head, head.head_kv * head_dim + d, sums);
    for (size_t i = 0; i < sums.size(); ++i) {
      out[static_cast<size_t>(d) + i] = round_to_s8(sums[i] / scale_out);
    }
  }
}

}  // namespace

void attention_scores(const AttentionInput& input, ScoresShape shape, std::span<const int8_t> q,
                      Scales scales, std::span<int8_t> scores) {
  const int64_t sharing = heads_per_kv(input);
  const int64_t head_dim = input.key_shape.head_dim;
  const int64_t tokens = input.cells.tokens();
  check_shape(q.size(), {tokens, input.n_head, head_dim}, "q is [T, H, D]");
  check_shape(scores.size(), {shape.cells, tokens, input.n_head}, "scores are [C, T, H]");
  const float factor = scales.in / std::sqrt(static_cast<float>(head_dim)) / scales.out;
  for (int64_t h = 0; h < input.n_head; ++h) {
    for (int64_t t = 0; t < tokens; ++t) {
      check_token(input.cells.position(t), shape);
      const HeadQuery query{
          .q = row_of(q, t * input.n_head + h, head_dim), .head_kv = h / sharing, .factor = factor};
      scores_row(input, query, t, row_of(scores, h * tokens + t, shape.cells));
    }
  }
}

void softmax_s8(ScoresShape shape, std::span<const int32_t> positions,
                std::span<const int8_t> scores, float scale, std::span<int8_t> probabilities) {
  check(scores.size() == probabilities.size(), "one probability for each score");
  const int64_t tokens = std::ssize(positions);
  const int64_t row_elements = checked_mul(tokens, shape.cells);
  check(row_elements > 0 && std::ssize(scores) % row_elements == 0, "scores are [C, T, H]");
  const ExponentTable table = exponent_table(scale);
  for (int64_t r = 0; r < std::ssize(scores) / shape.cells; ++r) {
    const int64_t position = positions[static_cast<size_t>(r % tokens)];
    check(position >= 0, "a position is not negative");
    check_token(position, shape);
    const auto attended = static_cast<size_t>(position + 1);
    const auto out = row_of(probabilities, r, shape.cells);
    softmax_row(table, row_of(scores, r, shape.cells).first(attended), out.first(attended));
    std::ranges::fill(out.subspan(attended), kLowest);
  }
}

void attention_context(const AttentionInput& input, ScoresShape shape,
                       std::span<const int8_t> probabilities, float scale_out,
                       std::span<int8_t> context) {
  const int64_t sharing = heads_per_kv(input);
  const int64_t head_dim = input.value_shape.head_dim;
  const int64_t tokens = input.cells.tokens();
  check_shape(probabilities.size(), {shape.cells, tokens, input.n_head},
              "probabilities are [C, T, H]");
  check_shape(context.size(), {tokens, input.n_head, head_dim}, "context is [T, H, D]");
  for (int64_t h = 0; h < input.n_head; ++h) {
    for (int64_t t = 0; t < tokens; ++t) {
      check_token(input.cells.position(t), shape);
      const HeadWeights head{.token = t,
                             .head_kv = h / sharing,
                             .probabilities = row_of(probabilities, h * tokens + t, shape.cells)};
      context_head(input, head, scale_out, row_of(context, t * input.n_head + h, head_dim));
    }
  }
}

}  // namespace tidemark

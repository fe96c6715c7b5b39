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

// The cells that a token attends, by position.
CellRuns attended_by(const TokenCells& cells, int64_t token, ScoresShape shape) {
  const CellRuns runs = cells.runs(cells.first_attended(token), cells.position(token) + 1);
  check(runs[0].first + runs[0].count <= shape.cells, "an attended cell is one of the scores");
  return runs;
}

template <typename T>
std::span<T> of_run(std::span<T> row, CellRun run) {
  return row.subspan(static_cast<size_t>(run.first), static_cast<size_t>(run.count));
}

// The largest score and, in units of its weight, the weights of all.
struct Denominator {
  int maximum = kLowest;
  double total = 0.0;
};

Denominator denominator_of(const ExponentTable& table, const CellRuns& cells,
                           std::span<const int8_t> scores) {
  Denominator made;
  for (const CellRun& run : cells) {
    for (const int8_t score : of_run(scores, run))
      made.maximum = std::max<int>(made.maximum, score);
  }
  for (const CellRun& run : cells) {
    for (const int8_t score : of_run(scores, run)) {
      made.total += table[static_cast<size_t>(made.maximum - score)];
    }
  }
  return made;
}

// Between the second run, which begins at cell 0, and the first; and behind that.
void mask_others(const CellRuns& cells, std::span<int8_t> out) {
  const auto end = [](CellRun run) { return static_cast<size_t>(run.first + run.count); };
  const auto begin = static_cast<size_t>(cells[0].first);
  std::ranges::fill(out.first(begin).subspan(end(cells[1])), kLowest);
  std::ranges::fill(out.subspan(end(cells[0])), kLowest);
}

struct HeadQuery {
  std::span<const int8_t> q;
  int64_t head_kv = 0;
  float factor = 1.0F;  // from a dot product of stored q and real k to a stored score
};

void scores_row(const AttentionInput& input, const HeadQuery& query, int64_t token,
                ScoresShape shape, std::span<int8_t> out) {
  std::ranges::fill(out, kLowest);
  const int64_t sequence = input.cells.first_cell(token);
  std::array<float, kScoreTile> tile{};
  for (const CellRun& run : attended_by(input.cells, token, shape)) {
    for (int64_t c = 0; c < run.count; c += kScoreTile) {
      const int64_t count = std::min(kScoreTile, run.count - c);
      const auto dots = std::span(tile).first(static_cast<size_t>(count));
      const int64_t cell = run.first + c;
      kv_dots({input.key_shape, input.keys, sequence + cell}, query.head_kv, query.q, dots);
      for (size_t j = 0; j < dots.size(); ++j) {
        out[static_cast<size_t>(cell) + j] = round_to_s8(query.factor * dots[j]);
      }
    }
  }
}

// One head of one token, and its row of probabilities.
struct HeadWeights {
  int64_t sequence = 0;  // the first cell
  CellRuns cells{};      // attended
  int64_t head_kv = 0;
  std::span<const int8_t> probabilities;
};

// sums[d] += p_c v_c[d] over the attended cells, for sums.size() elements of a row from
// first_element on.
void sum_cells(const AttentionInput& input, const HeadWeights& head, int64_t first_element,
               std::span<float> sums) {
  std::array<float, kScoreTile> tile{};
  for (const CellRun& run : head.cells) {
    for (int64_t c = 0; c < run.count; c += kScoreTile) {
      const int64_t cell = run.first + c;
      const auto weights =
          std::span(tile).first(static_cast<size_t>(std::min(kScoreTile, run.count - c)));
      for (size_t j = 0; j < weights.size(); ++j) {
        const int32_t steps = head.probabilities[static_cast<size_t>(cell) + j] - kProbabilityZero;
        weights[j] = static_cast<float>(steps) * kProbabilityScale;
      }
      kv_accumulate({input.value_shape, input.values, head.sequence + cell}, first_element, weights,
                    sums);
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
  const int64_t tokens = input.cells.tokens();
  check_queries(input, q);
  check_shape(scores.size(), {shape.cells, tokens, input.n_head}, "scores are [C, T, H]");
  const float factor =
      scales.in / std::sqrt(static_cast<float>(input.key_shape.head_dim)) / scales.out;
  for (int64_t h = 0; h < input.n_head; ++h) {
    for (int64_t t = 0; t < tokens; ++t) {
      const HeadQuery query{
          .q = query_of(input, q, t, h), .head_kv = h / sharing, .factor = factor};
      scores_row(input, query, t, shape, row_of(scores, h * tokens + t, shape.cells));
    }
  }
}

void softmax_s8(ScoresShape shape, const TokenCells& cells, std::span<const int8_t> scores,
                float scale, std::span<int8_t> probabilities, std::span<const std::byte> sinks) {
  check(scores.size() == probabilities.size(), "one probability for each score");
  const int64_t tokens = cells.tokens();
  const int64_t row_elements = checked_mul(tokens, shape.cells);
  check(row_elements > 0 && std::ssize(scores) % row_elements == 0, "scores are [C, T, H]");
  const int64_t heads = std::ssize(scores) / row_elements;
  check(sinks.empty() || std::ssize(sinks) == heads * int64_t{sizeof(float)},
        "a sink for each head");
  const ExponentTable table = exponent_table(scale);
  for (int64_t r = 0; r < heads * tokens; ++r) {
    const CellRuns attended = attended_by(cells, r % tokens, shape);
    const auto row = row_of(scores, r, shape.cells);
    const auto out = row_of(probabilities, r, shape.cells);
    Denominator sum = denominator_of(table, attended, row);
    sum.total += std::exp(double{sink_of(sinks, r / tokens)} - sum.maximum * double{scale});
    for (const CellRun& run : attended) {
      const auto from = of_run(row, run);
      const auto to = of_run(out, run);
      for (size_t c = 0; c < from.size(); ++c) {
        const double weight = table[static_cast<size_t>(sum.maximum - from[c])];
        const auto steps = static_cast<int32_t>(std::round(weight / sum.total * 256.0));
        to[c] = clamp_to_s8(steps + kProbabilityZero);
      }
    }
    mask_others(attended, out);
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
  check_shape(context.size(), {tokens, input.n_head, head_dim}, "context is [T, H, Dv]");
  for (int64_t h = 0; h < input.n_head; ++h) {
    for (int64_t t = 0; t < tokens; ++t) {
      const HeadWeights head{.sequence = input.cells.first_cell(t),
                             .cells = attended_by(input.cells, t, shape),
                             .head_kv = h / sharing,
                             .probabilities = row_of(probabilities, h * tokens + t, shape.cells)};
      context_head(input, head, scale_out, row_of(context, t * input.n_head + h, head_dim));
    }
  }
}

}  // namespace tidemark

#include "sim/kernels/flash_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "planner/base/check.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

// The scratch of one head, by name.
struct Running {
  std::span<float> sums;    // acc
  std::span<float> scores;  // the tile
  float& maximum;           // m
  float& total;             // l
};

Running split(std::span<float> scratch, int64_t head_dim) {
  const auto dim = static_cast<size_t>(head_dim);
  const auto tile = static_cast<size_t>(kScoreTile);
  return {.sums = scratch.first(dim),
          .scores = scratch.subspan(dim, tile),
          .maximum = scratch[dim + tile],
          .total = scratch[dim + tile + 1]};
}

struct HeadQuery {
  std::span<const int8_t> q;
  int64_t head_kv = 0;
  float factor = 1.0F;  // from a dot product of stored q and real k to a score
};

void attend_tile(const AttentionInput& input, const HeadQuery& query, int64_t first, int64_t count,
                 const Running& running) {
  const auto scores = running.scores.first(static_cast<size_t>(count));
  for (int64_t j = 0; j < count; ++j) {
    const auto row = kv_row(input.key_shape, input.keys, first + j);
    scores[static_cast<size_t>(j)] =
        query.factor * kv_dot(input.key_shape, row, query.head_kv, query.q);
  }
  const float maximum = std::max(running.maximum, *std::ranges::max_element(scores));
  const float correction = std::exp(running.maximum - maximum);  // 0 at the first tile
  running.maximum = maximum;
  running.total *= correction;
  for (float& sum : running.sums) sum *= correction;
  for (int64_t j = 0; j < count; ++j) {
    const float weight = std::exp(scores[static_cast<size_t>(j)] - maximum);
    running.total += weight;
    kv_accumulate(input.value_shape, kv_row(input.value_shape, input.values, first + j),
                  query.head_kv * input.value_shape.head_dim, weight, running.sums);
  }
}

void attend_head(const AttentionInput& input, const HeadQuery& query, int64_t token,
                 const Running& running) {
  std::ranges::fill(running.sums, 0.0F);
  running.maximum = -std::numeric_limits<float>::infinity();
  running.total = 0.0F;
  const int64_t begin = input.cells.first_cell(token);
  const int64_t end = begin + input.cells.position(token) + 1;
  for (int64_t cell = begin; cell < end; cell += kScoreTile) {
    attend_tile(input, query, cell, std::min(kScoreTile, end - cell), running);
  }
}

}  // namespace

int64_t heads_per_kv(const AttentionInput& input) {
  const KvShape& keys = input.key_shape;
  const KvShape& values = input.value_shape;
  check(keys.n_head_kv == values.n_head_kv && keys.head_dim == values.head_dim,
        "K and V have the same heads");
  check(keys.n_head_kv > 0 && keys.head_dim > 0, "there are heads");
  check(input.n_head > 0 && input.n_head % keys.n_head_kv == 0,
        "n_head is a multiple of n_head_kv");
  return input.n_head / keys.n_head_kv;
}

void flash_attention(const AttentionInput& input, std::span<const int8_t> q, Scales scales,
                     std::span<float> scratch, std::span<int8_t> context) {
  const int64_t sharing = heads_per_kv(input);
  const int64_t head_dim = input.key_shape.head_dim;
  check_shape(q.size(), {input.cells.tokens(), input.n_head, head_dim}, "q is [T, H, D]");
  check(context.size() == q.size(), "context is [T, H, D]");
  check(std::ssize(scratch) >= flash_attention_scratch_floats(head_dim), "scratch holds one head");
  const Running running = split(scratch, head_dim);
  const float factor = scales.in / std::sqrt(static_cast<float>(head_dim));
  for (int64_t t = 0; t < input.cells.tokens(); ++t) {
    for (int64_t h = 0; h < input.n_head; ++h) {
      const int64_t index = t * input.n_head + h;
      attend_head(input,
                  {.q = row_of(q, index, head_dim), .head_kv = h / sharing, .factor = factor}, t,
                  running);
      const auto out = row_of(context, index, head_dim);
      for (size_t d = 0; d < out.size(); ++d) {
        out[d] = round_to_s8(running.sums[d] / running.total / scales.out);
      }
    }
  }
}

}  // namespace tidemark

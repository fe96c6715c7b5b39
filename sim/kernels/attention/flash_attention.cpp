#include "sim/kernels/attention/flash_attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "planner/base/check.h"
#include "sim/kernels/attention/kv_tiles.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

// The state of one head, by name.
struct Running {
  std::span<float> sums{};                                  // acc
  float maximum = -std::numeric_limits<float>::infinity();  // m
  float total = 0.0F;                                       // l
};

// Heads that go through the cells together, so that what they read of a cell lies side by side. A
// head that is too long for the stack goes alone, in the scratch.
constexpr int64_t kGroupFloats = 2048;
constexpr int64_t kGroupHeads = 8;

struct HeadQuery {
  std::span<const int8_t> q;
  int64_t head_kv = 0;
  float factor = 1.0F;  // from a dot product of stored q and real k to a score
};

// `cells`: of the tile, as many as there is room for in `scores`.
void attend_tile(const AttentionInput& input, const HeadQuery& query, const CellRuns& cells,
                 std::span<float> scores, Running& running) {
  const auto of_first = static_cast<size_t>(cells[0].count);
  const std::array parts{scores.first(of_first), scores.subspan(of_first)};
  for (size_t i = 0; i < cells.size() && !parts[i].empty(); ++i) {
    kv_dots({input.key_shape, input.keys, cells[i].first}, query.head_kv, query.q, parts[i]);
  }
  for (float& score : scores) score *= query.factor;
  const float maximum = std::max(running.maximum, *std::ranges::max_element(scores));
  const float correction = std::exp(running.maximum - maximum);  // 0 at the first tile
  running.maximum = maximum;
  running.total *= correction;
  for (float& sum : running.sums) sum *= correction;
  for (float& score : scores) {  // becomes its weight
    score = std::exp(score - maximum);
    running.total += score;
  }
  for (size_t i = 0; i < cells.size() && !parts[i].empty(); ++i) {
    kv_accumulate({input.value_shape, input.values, cells[i].first},
                  query.head_kv * input.value_shape.head_dim, parts[i], running.sums);
  }
}

// The heads [first, first + running.size()) of one token.
struct Group {
  int64_t token = 0;
  int64_t first = 0;
  float factor = 1.0F;
};

void attend_group(const AttentionInput& input, const Group& group, std::span<const int8_t> q,
                  std::span<float> tile, std::span<Running> running) {
  const int64_t sharing = heads_per_kv(input);
  const int64_t sequence = input.cells.first_cell(group.token);
  const int64_t end = input.cells.position(group.token) + 1;
  for (int64_t from = input.cells.first_attended(group.token); from < end; from += kScoreTile) {
    const int64_t count = std::min(kScoreTile, end - from);
    const auto scores = tile.first(static_cast<size_t>(count));
    CellRuns cells = input.cells.runs(from, from + count);
    for (CellRun& run : cells) run.first += sequence;
    for (size_t i = 0; i < running.size(); ++i) {
      const int64_t head = group.first + static_cast<int64_t>(i);
      const HeadQuery query{.q = query_of(input, q, group.token, head),
                            .head_kv = head / sharing,
                            .factor = group.factor};
      attend_tile(input, query, cells, scores, running[i]);
    }
  }
}

void finish(const Running& running, float scale_out, std::span<int8_t> context) {
  for (size_t d = 0; d < context.size(); ++d) {
    context[d] = round_to_s8(running.sums[d] / running.total / scale_out);
  }
}

// As a head begins: with its sink, if it has one.
Running start_of(const AttentionInput& input, int64_t head, std::span<float> sums) {
  Running running{.sums = sums, .maximum = sink_of(input.sinks, head)};
  if (std::isfinite(running.maximum)) running.total = 1.0F;
  std::ranges::fill(running.sums, 0.0F);
  return running;
}

}  // namespace

float sink_of(std::span<const std::byte> sinks, int64_t head) {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  if (sinks.empty()) return kNone;
  const float sink = load_f32(sinks, static_cast<size_t>(head));
  return std::isfinite(sink) ? sink : kNone;
}

void check_queries(const AttentionInput& input, std::span<const int8_t> q) {
  const int64_t width = input.n_head * input.key_shape.head_dim;
  const int64_t stride = input.queries.stride == 0 ? width : input.queries.stride;
  check_shape(q.size(), {input.cells.tokens(), stride}, "q is [T, H, D]");
}

std::span<const int8_t> query_of(const AttentionInput& input, std::span<const int8_t> q,
                                 int64_t token, int64_t head) {
  const int64_t head_dim = input.key_shape.head_dim;
  return row_of(part_of_row(q, input.queries, token, input.n_head * head_dim), head, head_dim);
}

int64_t heads_per_kv(const AttentionInput& input) {
  const KvShape& keys = input.key_shape;
  const KvShape& values = input.value_shape;
  check(keys.n_head_kv == values.n_head_kv, "K and V have the same heads");
  check(keys.n_head_kv > 0 && keys.head_dim > 0 && values.head_dim > 0, "there are heads");
  check(input.sinks.empty() || std::ssize(input.sinks) == input.n_head * int64_t{sizeof(float)},
        "a sink for each head");
  check(input.n_head > 0 && input.n_head % keys.n_head_kv == 0,
        "n_head is a multiple of n_head_kv");
  return input.n_head / keys.n_head_kv;
}

void flash_attention(const AttentionInput& input, std::span<const int8_t> q, Scales scales,
                     std::span<float> scratch, std::span<int8_t> context) {
  heads_per_kv(input);  // checks
  check_queries(input, q);
  const int64_t head_dim = input.value_shape.head_dim;
  check_shape(context.size(), {input.cells.tokens(), input.n_head, head_dim},
              "context is [T, H, Dv]");
  check(std::ssize(scratch) >= flash_attention_scratch_floats(head_dim), "scratch holds one head");
  const float factor = scales.in / std::sqrt(static_cast<float>(input.key_shape.head_dim));
  const bool grouped = head_dim <= kGroupFloats;
  std::array<float, kGroupFloats> stack{};
  const auto sums =
      grouped ? std::span<float>(stack) : scratch.first(static_cast<size_t>(head_dim));
  const auto tile = scratch.subspan(static_cast<size_t>(head_dim), kScoreTile);
  const int64_t together = std::min(kGroupHeads, std::ssize(sums) / head_dim);
  for (int64_t t = 0; t < input.cells.tokens(); ++t) {
    for (int64_t h = 0; h < input.n_head; h += together) {
      std::array<Running, kGroupHeads> states{};
      const auto running =
          std::span(states).first(static_cast<size_t>(std::min(together, input.n_head - h)));
      for (size_t i = 0; i < running.size(); ++i) {
        const auto index = static_cast<int64_t>(i);
        running[i] = start_of(input, h + index, row_of(sums, index, head_dim));
      }
      attend_group(input, {.token = t, .first = h, .factor = factor}, q, tile, running);
      for (size_t i = 0; i < running.size(); ++i) {
        const int64_t head = t * input.n_head + h + static_cast<int64_t>(i);
        finish(running[i], scales.out, row_of(context, head, head_dim));
      }
    }
  }
}

}  // namespace tidemark

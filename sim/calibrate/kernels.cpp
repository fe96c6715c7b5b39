#include "sim/calibrate/kernels.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "planner/base/check.h"
#include "sim/calibrate/fit.h"
#include "sim/calibrate/small_kernels.h"
#include "sim/kernels/flash_attention.h"
#include "sim/kernels/matmul.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

constexpr Scales kScales{.in = 0.05F, .out = 0.05F};

struct Timed {
  TimedSize size{};
  Spread spread{};
};

std::vector<int8_t> values(int64_t count) {
  std::vector<int8_t> made(static_cast<size_t>(count));
  std::iota(made.begin(), made.end(), int8_t{0});
  return made;
}

Timed time_product(const Bench& bench, const MatMulShape& shape, WeightPool& pool) {
  const std::vector<int8_t> x = values(shape.tokens * shape.columns);
  std::vector<int8_t> out(static_cast<size_t>(shape.tokens * shape.rows));
  const Spread spread = bench.time([&] {
    matmul_s8(shape, x, pool.next(shape.rows * stored_row_bytes(shape.columns)), kScales, out);
  });
  const auto outputs = static_cast<double>(shape.tokens * shape.rows);
  return {.size = {.operations = 2.0 * outputs * static_cast<double>(shape.columns),
                   .outputs = outputs,
                   .ns = spread.median},
          .spread = spread};
}

MeasuredOp measure_product(const Bench& bench, int64_t tokens, WeightPool& pool) {
  const auto at = [&](int64_t columns, int64_t rows) {
    return time_product(bench, {.tokens = tokens, .columns = columns, .rows = rows}, pool);
  };
  const Timed large = at(2304, 2304);
  MeasuredOp op{.rate = fit_product(large.size, at(576, 2304).size, at(2304, 256).size),
                .spread = inverse(large.spread, large.size.operations * 1e9)};
  op.rate.kind = OpKind::kMatMul;
  op.rate.tokens = tokens;
  return op;
}

// The caches come from the pool, too: between two layers' attention their weights were read.
Timed time_attention(const Bench& bench, int64_t tokens, int64_t heads, int64_t cells,
                     WeightPool& pool) {
  const KvShape shape{.type = KvType::kF16, .n_head_kv = heads, .head_dim = 64};
  const int64_t cache = cells * kv_row_bytes(shape);
  std::vector<int32_t> positions(static_cast<size_t>(tokens));
  std::iota(positions.begin(), positions.end(), static_cast<int32_t>(cells - tokens));
  const std::vector<int8_t> q = values(tokens * heads * shape.head_dim);
  std::vector<int8_t> context(q.size());
  std::vector<float> scratch(static_cast<size_t>(flash_attention_scratch_floats(shape.head_dim)));
  AttentionInput input{
      .n_head = heads, .key_shape = shape, .value_shape = shape, .cells = {.positions = positions}};
  const Spread spread = bench.time([&] {
    input.keys = pool.next(cache);
    input.values = pool.next(cache);
    flash_attention(input, q, kScales, scratch, context);
  });
  const auto outputs = static_cast<double>(q.size());
  const double attended = static_cast<double>(2 * cells - tokens + 1) / 2.0;
  return {.size = {.operations = 4.0 * outputs * attended, .outputs = outputs, .ns = spread.median},
          .spread = spread};
}

MeasuredOp measure_attention(const Bench& bench, int64_t tokens, WeightPool& pool) {
  const int64_t few = std::max<int64_t>(tokens, 32);  // a prompt's first tokens, or a short context
  const Timed large = time_attention(bench, tokens, 36, tokens + 512, pool);
  const Timed near = time_attention(bench, tokens, 36, few, pool);
  const Timed narrow = time_attention(bench, tokens, 4, few, pool);
  MeasuredOp op{.rate = fit_product(large.size, near.size, narrow.size),
                .spread = inverse(large.spread, large.size.operations * 1e9)};
  op.rate.kind = OpKind::kFlashAttention;
  op.rate.tokens = tokens;
  return op;
}

MeasuredOp measure_small(const Bench& bench, const SmallKernel& kernel) {
  constexpr int64_t kRows = 8;
  const auto at = [&](int64_t rows) { return bench.time(kernel.make(rows)); };
  const auto width = static_cast<double>(kernel.row_outputs);
  const Spread small = at(1);
  const Spread large = at(kRows);
  const TimedSize one{.operations = width, .outputs = width, .ns = small.median};
  const TimedSize all{.operations = width * kRows, .outputs = width * kRows, .ns = large.median};
  MeasuredOp op{.rate = fit_line(one, all), .spread = inverse(large, all.operations * 1e9)};
  op.rate.kind = kernel.kind;
  return op;
}

}  // namespace

WeightPool::WeightPool(Bytes size) : pages_(size, Fault::kNow) {
  // Bytes that are no rows make scales that read as zeros or as numbers; both cost the same.
  uint32_t state = 1;
  for (std::byte& byte : pages_.bytes()) {
    state = state * 1'664'525U + 1'013'904'223U;
    byte = static_cast<std::byte>(state >> 26U);  // 0 to 63: any two of them are a small scale
  }
}

std::span<const std::byte> WeightPool::next(int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  const std::span<const std::byte> all = pages_.bytes();
  check(size <= all.size(), "a matrix is smaller than the pool");
  if (at_ + size > all.size()) at_ = 0;
  const std::span<const std::byte> taken = all.subspan(at_, size);
  at_ += (size + 63) / 64 * 64;
  return taken;
}

std::vector<MeasuredOp> measure_kernels(const Bench& bench, const KernelSizes& sizes,
                                        WeightPool& pool) {
  std::vector<MeasuredOp> ops;
  for (const int64_t tokens : sizes.product_tokens) {
    if (bench.stopped()) return ops;
    bench.say(fmt::format("products of {} tokens", tokens));
    ops.push_back(measure_product(bench, tokens, pool));
  }
  for (const int64_t tokens : sizes.attention_tokens) {
    if (bench.stopped()) return ops;
    bench.say(fmt::format("attention of {} tokens", tokens));
    ops.push_back(measure_attention(bench, tokens, pool));
  }
  for (const SmallKernel& kernel : small_kernels()) {
    if (bench.stopped()) return ops;
    bench.say(name_of(kernel.kind));
    ops.push_back(measure_small(bench, kernel));
  }
  return ops;
}

Spread product_rate(const Bench& bench, int threads, int64_t tokens) {
  constexpr int64_t kColumns = 2304;
  constexpr int64_t kRows = 1024;
  const MatMulShape shape{.tokens = tokens, .columns = kColumns, .rows = kRows};
  const auto matrix = static_cast<size_t>(kRows * stored_row_bytes(kColumns));
  const std::vector<int8_t> x = values(tokens * kColumns);
  const auto work = [&](std::span<const std::byte> weights, std::span<int8_t> out) {
    matmul_s8(shape, x, weights, kScales, out);
  };
  const std::vector<std::byte> weights(matrix * static_cast<size_t>(threads), std::byte{5});
  std::vector<int8_t> out(static_cast<size_t>(tokens * kRows * threads));
  const Spread spread = bench.time([&] {
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i) {
      const auto index = static_cast<size_t>(i);
      const size_t results = out.size() / static_cast<size_t>(threads);
      running.emplace_back(work, std::span(weights).subspan(index * matrix, matrix),
                           std::span(out).subspan(index * results, results));
    }
  });
  const double operations = 2.0 * kColumns * kRows * static_cast<double>(tokens) * threads;
  return inverse(spread, operations * 1e9);
}

}  // namespace tidemark

#include "sim/calibrate/kernels.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "planner/base/check.h"
#include "sim/calibrate/fit.h"
#include "sim/calibrate/small_kernels.h"
#include "sim/kernels/attention/flash_attention.h"
#include "sim/kernels/experts/expert_rows.h"
#include "sim/kernels/matmul/matmul.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

constexpr Scales kScales{.in = 0.05F, .out = 0.05F};

std::vector<int8_t> values(int64_t count) {
  std::vector<int8_t> made(static_cast<size_t>(count));
  std::iota(made.begin(), made.end(), int8_t{0});
  return made;
}

}  // namespace

WeightPool::WeightPool(Bytes size) : pages_(size, Fault::kNow) {
  // Bytes that are no rows make scales that read as zeros or as numbers; both cost the same.
  const std::span<std::byte> all = pages_.bytes();
  const std::span<std::byte> block = all.first(std::min(all.size(), size_t{1} << 20));
  uint32_t state = 1;
  for (std::byte& byte : block) {
    state = state * 1'664'525U + 1'013'904'223U;
    byte = static_cast<std::byte>(state >> 26U);  // 0 to 63: any two of them are a small scale
  }
  for (size_t at = block.size(); at < all.size(); at += block.size()) {
    std::ranges::copy(block.first(std::min(block.size(), all.size() - at)),
                      all.begin() + static_cast<std::ptrdiff_t>(at));
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

KernelProbes::KernelProbes(Rounds& rounds, const KernelSizes& sizes, WeightPool& pool)
    : rounds_(rounds), pool_(pool) {
  for (const int64_t tokens : sizes.product_tokens) add_product(tokens);
  for (const int64_t tokens : sizes.attention_tokens) add_attention(tokens);
  for (const int64_t tokens : sizes.expert_tokens) add_experts(tokens);
  for (const SmallKernel& kernel : small_kernels()) add_small(kernel);
}

void KernelProbes::add_product(int64_t tokens) {
  const auto at = [&](int64_t columns, int64_t rows) {
    return product({.tokens = tokens, .columns = columns, .rows = rows});
  };
  kernels_.push_back({.kind = OpKind::kMatMul,
                      .tokens = tokens,
                      .large = at(2304, 2304),
                      .fewer_operations = at(576, 2304),
                      .fewer_outputs = at(2304, 256)});
}

void KernelProbes::add_attention(int64_t tokens) {
  const int64_t few = tokens > 1 ? tokens : 32;
  kernels_.push_back({.kind = OpKind::kFlashAttention,
                      .tokens = tokens,
                      .large = attention(tokens, 36, few + 128),
                      .fewer_operations = attention(tokens, 36, few),
                      .fewer_outputs = attention(tokens, 4, few)});
}

void KernelProbes::add_experts(int64_t tokens) {
  kernels_.push_back({.kind = OpKind::kExpertMatMul,
                      .tokens = tokens,
                      .large = experts(tokens, 2304, 512),
                      .fewer_operations = experts(tokens, 576, 512),
                      .fewer_outputs = experts(tokens, 2304, 64)});
}

void KernelProbes::add_small(const SmallKernel& kernel) {
  const auto at = [&](int64_t rows) {
    const auto written = static_cast<double>(kernel.row_outputs * rows);
    const Probe& probe =
        rounds_.add(std::string(name_of(kernel.kind)), rounds_.timed(kernel.make(rows)));
    return Sized{.operations = written, .outputs = written, .probe = &probe};
  };
  kernels_.push_back({.kind = kernel.kind, .large = at(8), .fewer_operations = at(1)});
}

KernelProbes::Sized KernelProbes::product(const MatMulShape& shape) {
  const auto work = [this, shape, x = values(shape.tokens * shape.columns),
                     out = values(shape.tokens * shape.rows)]() mutable {
    const auto weights = pool_.next(shape.rows * stored_row_bytes(shape.columns));
    matmul_s8(shape, x, weights, kScales, out);
  };
  const auto outputs = static_cast<double>(shape.tokens * shape.rows);
  return {.operations = 2.0 * outputs * static_cast<double>(shape.columns),
          .outputs = outputs,
          .probe = &rounds_.add(fmt::format("products of {} tokens", shape.tokens),
                                rounds_.timed(work))};
}

// The caches come from the pool, too: between two layers' attention their weights were read.
KernelProbes::Sized KernelProbes::attention(int64_t tokens, int64_t heads, int64_t cells) {
  const KvShape shape{.type = KvType::kF16, .n_head_kv = heads, .head_dim = 64};
  std::vector<int32_t> positions(static_cast<size_t>(tokens));
  std::iota(positions.begin(), positions.end(), static_cast<int32_t>(cells - tokens));
  const auto floats = static_cast<size_t>(flash_attention_scratch_floats(shape.head_dim));
  const int64_t written = tokens * heads * shape.head_dim;
  const auto work = [this, shape, positions, cache = cells * kv_row_bytes(shape),
                     q = values(written), context = values(written),
                     scratch = std::vector<float>(floats)]() mutable {
    const auto keys = pool_.next(cache);
    const AttentionInput input{.n_head = shape.n_head_kv,
                               .key_shape = shape,
                               .value_shape = shape,
                               .keys = keys,
                               .values = pool_.next(cache),
                               .cells = {.positions = positions}};
    flash_attention(input, q, kScales, scratch, context);
  };
  const auto outputs = static_cast<double>(written);
  const double attended = static_cast<double>(2 * cells - tokens + 1) / 2.0;
  return {
      .operations = 4.0 * outputs * attended,
      .outputs = outputs,
      .probe = &rounds_.add(fmt::format("attention of {} tokens", tokens), rounds_.timed(work))};
}

// Token t goes to the experts 7 t, 7 t + 5, 7 t + 10 ... of 32: eight different ones.
KernelProbes::Sized KernelProbes::experts(int64_t tokens, int64_t columns, int64_t rows) {
  const ExpertShape shape{.experts = 32, .used = 8, .columns = columns, .rows = rows};
  std::vector<int32_t> chosen;
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t u = 0; u < shape.used; ++u) {
      chosen.push_back(static_cast<int32_t>((7 * t + 5 * u) % shape.experts));
    }
  }
  const int64_t written = tokens * shape.used * rows;
  const auto work = [this, shape, chosen, x = values(tokens * columns),
                     out = values(written)]() mutable {
    const auto weights = pool_.next(shape.experts * shape.rows * stored_row_bytes(shape.columns));
    expert_matmul_s8(shape, chosen, x, weights, kScales, out);
  };
  const auto outputs = static_cast<double>(written);
  return {.operations = 2.0 * outputs * static_cast<double>(columns),
          .outputs = outputs,
          .probe = &rounds_.add(fmt::format("experts of {} tokens", tokens), rounds_.timed(work))};
}

TimedSize KernelProbes::Sized::timed() const {
  return {.operations = operations, .outputs = outputs, .ns = probe->spread().mean};
}

MeasuredOp KernelProbes::fitted(const Kernel& kernel) {
  const TimedSize large = kernel.large.timed();
  const TimedSize fewer = kernel.fewer_operations.timed();
  MeasuredOp op{.rate = kernel.fewer_outputs
                            ? fit_product(large, fewer, kernel.fewer_outputs->timed())
                            : fit_line(fewer, large),
                .spread = inverse(kernel.large.probe->spread(), large.operations * 1e9)};
  op.rate.kind = kernel.kind;
  op.rate.tokens = kernel.tokens;
  return op;
}

std::vector<MeasuredOp> KernelProbes::ops() const {
  std::vector<MeasuredOp> ops;
  for (const Kernel& kernel : kernels_) ops.push_back(fitted(kernel));
  return ops;
}

const Probe& add_product_probe(Rounds& rounds, int threads, int64_t tokens) {
  constexpr int64_t kColumns = 2304;
  constexpr int64_t kRows = 1024;
  const MatMulShape shape{.tokens = tokens, .columns = kColumns, .rows = kRows};
  const auto matrix = static_cast<size_t>(kRows * stored_row_bytes(kColumns));
  const auto work =
      [shape, threads, matrix, x = values(tokens * kColumns),
       weights = std::vector<std::byte>(matrix * static_cast<size_t>(threads), std::byte{5}),
       out = values(tokens * kRows * threads)]() mutable {
        std::vector<std::jthread> running;
        const size_t results = out.size() / static_cast<size_t>(threads);
        for (size_t i = 0; i < static_cast<size_t>(threads); ++i) {
          running.emplace_back([&, i] {
            matmul_s8(shape, x, std::span(weights).subspan(i * matrix, matrix), kScales,
                      std::span(out).subspan(i * results, results));
          });
        }
      };
  const double operations = 2.0 * kColumns * kRows * static_cast<double>(tokens) * threads;
  return rounds.add(fmt::format("products, {} threads", threads),
                    [operations, timed = rounds.timed(work)] { return timed() / operations; });
}

}  // namespace tidemark

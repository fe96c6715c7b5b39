#include "sim/kernels/matmul/gemm.h"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "planner/base/check.h"
#include "sim/kernels/isa.h"
#include "sim/kernels/matmul/gemm_activations.h"
#include "sim/kernels/matmul/gemm_kernels.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

// Near caches: laid out activations of one block of tokens, and weights of one block of rows.
constexpr int64_t kTokenBlockBytes = int64_t{1} << 20;
constexpr int64_t kRowBlockBytes = int64_t{1} << 18;
constexpr int64_t kPanel = 32;  // blocks are whole panels, of tokens and of rows

int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

// At least one panel, at most `limit` bytes if that is more, never more than there is.
int64_t block_length(int64_t bytes_each, int64_t limit, int64_t length) {
  const int64_t panels = std::max<int64_t>(1, limit / std::max<int64_t>(bytes_each, 1) / kPanel);
  return std::min(panels * kPanel, length);
}

GemmJob job_of(const WeightRows& weights) {
  return {.weights = reinterpret_cast<const int8_t*>(weights.bytes.data()),
          .row_stride = weights.stride,
          .group_stride = kGroupRows * weights.stride,
          .block_stride = kBlockColumns,
          .rows = weights.rows,
          .columns = weights.columns};
}

GemmJob job_of(const PackedWeights& weights) {
  return {.weights = weights.tiles(),
          .row_stride = kBlockColumns,
          .group_stride = kGroupRows * weights.padded_columns(),
          .block_stride = kTileBytes,
          .rows = weights.rows(),
          .columns = weights.padded_columns()};
}

// Rows [first, first + count) of a job on all rows; `first` is whole panels.
GemmJob rows_of(GemmJob job, int64_t first, int64_t count) {
  job.weights += first / kGroupRows * job.group_stride;
  if (job.row_sums != nullptr) job.row_sums += first;
  job.rows = count;
  return job;
}

template <typename Body>
void for_each_block(int64_t length, int64_t block, int threads, const Body& body) {
  const int64_t count = (length + block - 1) / block;
  const auto run = [&](int64_t i) { body(i * block, std::min(block, length - i * block)); };
  if (threads == 1 || count <= 1) {
    for (int64_t i = 0; i < count; ++i) run(i);
    return;
  }
  tbb::task_arena arena(std::min(threads, tbb::info::default_concurrency()));
  arena.execute([&] { tbb::parallel_for(int64_t{0}, count, run); });
}

struct Operands {
  int64_t tokens = 0;
  int64_t columns = 0;  // of x
  std::span<const int8_t> x{};
  GemmJob weights{};
  WeightFacts facts{};
};

// Calls body(job, first token, first row) for blocks of tokens and rows, all of them together
// everything; the job wants only its `out`.
template <typename Body>
void multiply(const Operands& operands, const GemmOptions& options, const Body& body) {
  check(options.threads >= 1, "a product has a thread at least");
  if (operands.tokens == 0 || operands.weights.rows == 0) return;
  const int64_t row_bytes = round_up(std::max<int64_t>(operands.columns, 1), kBlockColumns);
  const int64_t token_block = block_length(row_bytes, kTokenBlockBytes, operands.tokens);
  int64_t row_block = block_length(row_bytes, kRowBlockBytes, operands.weights.rows);
  if (options.threads > 1) {  // a few blocks for each thread
    const int64_t share = operands.weights.rows / (4 * int64_t{options.threads});
    row_block = std::min(row_block, std::max(kPanel, share / kPanel * kPanel));
  }
  for (int64_t t = 0; t < operands.tokens; t += token_block) {
    const int64_t tokens = std::min(token_block, operands.tokens - t);
    const auto x = row_of(operands.x, t, operands.columns).data();
    const Activations activations(x, tokens, operands.columns, operands.facts);
    const GemmJob job = activations.added_to(operands.weights);
    for_each_block(operands.weights.rows, row_block, options.threads,
                   [&](int64_t first, int64_t count) {
                     body(activations.kernel(), rows_of(job, first, count), t, first);
                   });
  }
}

void multiply_into(const Operands& operands, std::span<int32_t> out, const GemmOptions& options) {
  const int64_t rows = operands.weights.rows;
  check_shape(operands.x.size(), {operands.tokens, operands.columns}, "x is [T, K]");
  check_shape(out.size(), {operands.tokens, rows}, "out is [T, N]");
  multiply(operands, options,
           [&](GemmKernel kernel, GemmJob job, int64_t first_token, int64_t first_row) {
             job.out = out.data() + first_token * rows + first_row;
             job.out_stride = rows;
             kernel(job);
           });
}

}  // namespace

void check_weights(const WeightRows& weights) {
  check(weights.columns >= 0 && weights.columns <= kMaxReduced,
        "the reduced dimension fits 32-bit accumulators");
  check(weights.rows >= 0 && weights.stride >= weights.columns, "rows do not overlap");
  const int64_t room = std::ssize(weights.bytes) - weights.columns;
  check(weights.rows == 0 ||
            (room >= 0 && (weights.stride == 0 || weights.rows - 1 <= room / weights.stride)),
        "the bytes hold every row");
}

void gemm_s32(int64_t tokens, std::span<const int8_t> x, const WeightRows& weights,
              std::span<int32_t> out, const GemmOptions& options) {
  check_weights(weights);
  multiply_into({tokens, weights.columns, x, job_of(weights), {}}, out, options);
}

void gemm_s32(int64_t tokens, std::span<const int8_t> x, const PackedWeights& weights,
              std::span<int32_t> out, const GemmOptions& options) {
  const WeightFacts facts{
      .packed = true, .largest = weights.largest(), .row_sums = weights.row_sums().data()};
  multiply_into({tokens, weights.columns(), x, job_of(weights), facts}, out, options);
}

void gemm_blocks(int64_t tokens, std::span<const int8_t> x, const WeightRows& weights,
                 const std::function<void(const SumsBlock&)>& take, const GemmOptions& options) {
  check_weights(weights);
  check_shape(x.size(), {tokens, weights.columns}, "x is [T, K]");
  multiply({tokens, weights.columns, x, job_of(weights), {}}, options,
           [&](GemmKernel kernel, GemmJob job, int64_t first_token, int64_t first_row) {
             std::vector<int32_t> sums(static_cast<size_t>(job.tokens * job.rows));
             job.out = sums.data();
             job.out_stride = job.rows;
             kernel(job);
             take({first_token, job.tokens, first_row, job.rows, sums.data(), job.rows});
           });
}

int32_t gemm_dot(std::span<const int8_t> a, std::span<const int8_t> b) {
  check(a.size() == b.size() && std::ssize(a) <= kMaxReduced,
        "equal lengths that fit 32-bit accumulators");
  return dot_kernel(isa_in_use())(a.data(), b.data(), std::ssize(a));
}

}  // namespace tidemark

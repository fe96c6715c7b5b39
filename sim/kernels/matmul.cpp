#include "sim/kernels/matmul.h"

#include <array>

#include "planner/base/check.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

constexpr int64_t kTokenTile = 4;

using TileSums = std::array<int32_t, kTokenTile>;

// Plain loops; the compiler makes vector code of them. They are inlined into one copy for the
// baseline instruction set and one for AVX2, chosen once at run time; integer sums make the two
// agree to the bit.
[[gnu::always_inline]] inline int32_t dot_loop(const int8_t* a, const int8_t* b, size_t length) {
  int32_t sum = 0;
  for (size_t i = 0; i < length; ++i) sum += int32_t{a[i]} * int32_t{b[i]};
  return sum;
}

// The dot products of w with kTokenTile consecutive rows of x.
[[gnu::always_inline]] inline TileSums tile_loop(const int8_t* w, const int8_t* x, size_t length) {
  int32_t s0 = 0;
  int32_t s1 = 0;
  int32_t s2 = 0;
  int32_t s3 = 0;
  for (size_t i = 0; i < length; ++i) {
    s0 += int32_t{w[i]} * int32_t{x[i]};
    s1 += int32_t{w[i]} * int32_t{x[i + length]};
    s2 += int32_t{w[i]} * int32_t{x[i + 2 * length]};
    s3 += int32_t{w[i]} * int32_t{x[i + 3 * length]};
  }
  return {s0, s1, s2, s3};
}

struct Loops {
  int32_t (*dot)(const int8_t*, const int8_t*, size_t);
  TileSums (*tile)(const int8_t*, const int8_t*, size_t);
};

int32_t dot_baseline(const int8_t* a, const int8_t* b, size_t length) {
  return dot_loop(a, b, length);
}
TileSums tile_baseline(const int8_t* w, const int8_t* x, size_t length) {
  return tile_loop(w, x, length);
}

#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target("avx2")]] int32_t dot_avx2(const int8_t* a, const int8_t* b, size_t length) {
  return dot_loop(a, b, length);
}
[[gnu::target("avx2")]] TileSums tile_avx2(const int8_t* w, const int8_t* x, size_t length) {
  return tile_loop(w, x, length);
}

Loops choose_loops() {
  if (__builtin_cpu_supports("avx2")) return {dot_avx2, tile_avx2};
  return {dot_baseline, tile_baseline};
}
#else
Loops choose_loops() { return {dot_baseline, tile_baseline}; }
#endif

const Loops& loops() {
  static const Loops chosen = choose_loops();
  return chosen;
}

void check_operands(const MatMulShape& shape, std::span<const int8_t> x,
                    std::span<const std::byte> weights, size_t out) {
  check(shape.columns <= kMaxReduced, "the reduced dimension fits 32-bit accumulators");
  check_shape(x.size(), {shape.tokens, shape.columns}, "x is [T, K]");
  check_shape(weights.size(), {shape.rows, stored_row_bytes(shape.columns)},
              "weights are N stored rows");
  check_shape(out, {shape.tokens, shape.rows}, "out is [T, N]");
}

// Calls store(t, accumulator) for the dot product of `values` with every row of x.
template <typename Store>
void dot_with_all_tokens(const MatMulShape& shape, std::span<const int8_t> x,
                         std::span<const int8_t> values, Store store) {
  int64_t t = 0;
  for (; t + kTokenTile <= shape.tokens; t += kTokenTile) {
    const TileSums sums =
        loops().tile(values.data(), row_of(x, t, shape.columns).data(), values.size());
    for (int64_t i = 0; i < kTokenTile; ++i) store(t + i, sums[static_cast<size_t>(i)]);
  }
  for (; t < shape.tokens; ++t) {
    store(t, loops().dot(values.data(), row_of(x, t, shape.columns).data(), values.size()));
  }
}

// prepare(row scale) -> convert; out[t][n] = convert(accumulator).
template <typename Out, typename Prepare>
void multiply_rows(const MatMulShape& shape, std::span<const int8_t> x,
                   std::span<const std::byte> weights, std::span<Out> out, Prepare prepare) {
  check_operands(shape, x, weights, out.size());
  for (int64_t n = 0; n < shape.rows; ++n) {
    const auto row = row_of(weights, n, stored_row_bytes(shape.columns));
    const auto convert = prepare(stored_scale(row));
    dot_with_all_tokens(shape, x, stored_values(row), [&](int64_t t, int32_t accumulator) {
      out[static_cast<size_t>(t * shape.rows + n)] = convert(accumulator);
    });
  }
}

}  // namespace

int32_t dot_s8(std::span<const int8_t> a, std::span<const int8_t> b) {
  check(a.size() == b.size() && std::ssize(a) <= kMaxReduced,
        "equal lengths that fit 32-bit accumulators");
  return loops().dot(a.data(), b.data(), a.size());
}

void matmul_s32(const MatMulShape& shape, std::span<const int8_t> x,
                std::span<const std::byte> weights, std::span<int32_t> accumulators) {
  multiply_rows(shape, x, weights, accumulators,
                [](float /*scale*/) { return [](int32_t accumulator) { return accumulator; }; });
}

void matmul_s8(const MatMulShape& shape, std::span<const int8_t> x,
               std::span<const std::byte> weights, Scales scales, std::span<int8_t> out) {
  multiply_rows(shape, x, weights, out, [scales](float scale) {
    const auto factor = quantize_multiplier(double{scales.in} * double{scale} / double{scales.out});
    return [factor](int32_t accumulator) { return requantize(accumulator, factor); };
  });
}

void matmul_f32(const MatMulShape& shape, std::span<const int8_t> x,
                std::span<const std::byte> weights, float scale_in, std::span<float> out) {
  multiply_rows(shape, x, weights, out, [scale_in](float scale) {
    const double factor = double{scale_in} * double{scale};
    return [factor](int32_t accumulator) { return static_cast<float>(accumulator * factor); };
  });
}

}  // namespace tidemark

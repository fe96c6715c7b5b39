// The dot-product kernels of AArch64 against their definition, as a program of its own that needs
// nothing but the kernels: it is compiled for AArch64 and run by an emulator on whatever machine
// runs the tests. Prints the first difference and fails.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "sim/kernels/matmul/gemm_kernels.h"

namespace tidemark {
namespace {

uint64_t state = 1;

int below(int limit) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return static_cast<int>((state >> 33) % static_cast<uint64_t>(limit));
}

// One in four at an end of int8.
int8_t value() {
  const int kind = below(8);
  if (kind == 0) return -128;
  if (kind == 1) return 127;
  return static_cast<int8_t>(below(256) - 128);
}

std::vector<int8_t> values(int64_t count) {
  std::vector<int8_t> result;
  for (int64_t i = 0; i < count; ++i) result.push_back(value());
  return result;
}

struct Case {
  int64_t tokens = 0;
  int64_t columns = 0;
  int64_t rows = 0;
  int64_t stride = 0;
  std::vector<int8_t> x{};  // tokens one behind another
  std::vector<int8_t> w{};
};

Case make_case(int64_t tokens, int64_t columns, int64_t rows) {
  Case c{tokens, columns, rows, columns + below(3)};
  c.x = values(tokens * columns);
  c.w = values(rows * c.stride);
  return c;
}

int64_t sum_of(const Case& c, int64_t token, int64_t row) {
  int64_t sum = 0;
  for (int64_t k = 0; k < c.columns; ++k) {
    sum += int64_t{c.x[static_cast<size_t>(token * c.columns + k)]} *
           c.w[static_cast<size_t>(row * c.stride + k)];
  }
  return sum;
}

bool as_defined(const Case& c, const std::vector<int32_t>& out, const char* name) {
  for (int64_t t = 0; t < c.tokens; ++t) {
    for (int64_t n = 0; n < c.rows; ++n) {
      const int64_t found = out[static_cast<size_t>(t * c.rows + n)];
      if (found == sum_of(c, t, n)) continue;
      std::printf("%s, %ld x %ld x %ld: token %ld, row %ld: %ld, not %ld\n", name,
                  static_cast<long>(c.tokens), static_cast<long>(c.columns),
                  static_cast<long>(c.rows), static_cast<long>(t), static_cast<long>(n),
                  static_cast<long>(found), static_cast<long>(sum_of(c, t, n)));
      return false;
    }
  }
  return true;
}

bool rows_as_they_lie(const Case& c, GemmKernel kernel, const char* name) {
  std::vector<int32_t> out(static_cast<size_t>(c.tokens * c.rows), -1);
  kernel({.weights = c.w.data(),
          .row_stride = c.stride,
          .group_stride = kGroupRows * c.stride,
          .block_stride = kBlockColumns,
          .x = c.x.data(),
          .x_stride = c.columns,
          .tokens = c.tokens,
          .rows = c.rows,
          .columns = c.columns,
          .out = out.data(),
          .out_stride = c.rows});
  return as_defined(c, out, name);
}

bool packed(const Case& c, GemmKernel kernel, const char* name) {
  const int64_t columns = (c.columns + kBlockColumns - 1) / kBlockColumns * kBlockColumns;
  const int64_t groups = (c.rows + kGroupRows - 1) / kGroupRows;
  std::vector<int8_t> tiles(static_cast<size_t>(groups * kGroupRows * columns));
  std::vector<int8_t> x(static_cast<size_t>(c.tokens * columns));
  for (int64_t k = 0; k < c.columns; ++k) {
    for (int64_t n = 0; n < c.rows; ++n) {
      const int64_t place = n / kGroupRows * kGroupRows * columns + k / kBlockColumns * kTileBytes +
                            n % kGroupRows * kBlockColumns + k % kBlockColumns;
      tiles[static_cast<size_t>(place)] = c.w[static_cast<size_t>(n * c.stride + k)];
    }
    for (int64_t t = 0; t < c.tokens; ++t) {
      x[static_cast<size_t>(t * columns + k)] = c.x[static_cast<size_t>(t * c.columns + k)];
    }
  }
  std::vector<int32_t> out(static_cast<size_t>(c.tokens * c.rows), -1);
  kernel({.weights = tiles.data(),
          .row_stride = kBlockColumns,
          .group_stride = kGroupRows * columns,
          .block_stride = kTileBytes,
          .x = x.data(),
          .x_stride = columns,
          .tokens = c.tokens,
          .rows = c.rows,
          .columns = columns,
          .out = out.data(),
          .out_stride = c.rows});
  return as_defined(c, out, name);
}

bool longest_row_holds() {
  const std::vector<int8_t> most(131'071, -128);  // kMaxReduced
  return dot_neon(most.data(), most.data(), 131'071) == 2'147'467'264;
}

bool everything_holds() {
  for (int i = 0; i < 150; ++i) {
    const Case c = make_case(1 + below(9), below(i % 10 == 0 ? 700 : 90), 1 + below(30));
    if (!rows_as_they_lie(c, gemm_neon, "neon") || !packed(c, gemm_neon, "neon, packed") ||
        !rows_as_they_lie(c, gemm_baseline, "baseline") ||
        !packed(c, gemm_baseline, "baseline, packed")) {
      return false;
    }
    const int32_t dot = dot_neon(c.x.data(), c.w.data(), c.columns);
    if (dot != sum_of(c, 0, 0)) {
      std::printf("dot of %ld: %d\n", static_cast<long>(c.columns), dot);
      return false;
    }
  }
  return longest_row_holds();
}

}  // namespace
}  // namespace tidemark

int main() {
  if (!tidemark::everything_holds()) return 1;
  std::printf("the kernels agree with their definition\n");
  return 0;
}

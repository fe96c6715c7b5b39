#include "sim/kernels/matmul/block_weights.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <vector>

#include "planner/base/check.h"
#include "sim/kernels/matmul/block_loops.h"
#include "sim/kernels/matmul/block_panels.h"
#include "sim/kernels/parallel.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

using Lanes = std::array<float, kBlockLanes>;

// From so many tokens on unpacking rows of int4 once for all of them is the faster way.
constexpr int64_t kTokensForTiles = 4;

void check_operands(RowFormat format, const MatMulShape& shape, std::span<const int8_t> x,
                    std::span<const std::byte> weights, size_t out) {
  check(shape.columns > 0 && shape.columns <= kMaxReduced,
        "the reduced dimension fits 32-bit accumulators");
  check_shape(x.size(), {shape.tokens, shape.columns}, "x is [T, K]");
  check_shape(weights.size(), {shape.rows, row_format_bytes(format, shape.columns)},
              "weights are N rows of the format");
  check_shape(out, {shape.tokens, shape.rows}, "out is [T, N]");
}

float sum_in_order(const Lanes& lanes) {
  float sum = 0.0F;
  for (const float lane : lanes) sum += lane;
  return sum;
}

// The sum over blocks of Q8_0 and Q4_0. A started block is multiplied with x padded by zeros.
float block_sum(RowFormat format, std::span<const std::byte> row, std::span<const int8_t> x) {
  const auto loop = format == RowFormat::kQ8_0 ? block_loops().q8_0 : block_loops().q4_0;
  const int64_t whole = std::ssize(x) / kBlockValues;
  Lanes lanes{};
  loop(row.data(), x.data(), whole, lanes.data());
  const auto rest = x.subspan(static_cast<size_t>(whole * kBlockValues));
  if (!rest.empty()) {
    std::array<int8_t, kBlockValues> padded{};
    std::ranges::copy(rest, padded.begin());
    const auto offset = static_cast<size_t>(row_format_bytes(format, whole * kBlockValues));
    loop(row.subspan(offset).data(), padded.data(), 1,
         &lanes[static_cast<size_t>(whole % kBlockLanes)]);
  }
  return sum_in_order(lanes);
}

int32_t int4_dot(std::span<const std::byte> row, std::span<const int8_t> x) {
  const int64_t whole = std::ssize(x) / kBlockValues;
  int32_t dot = block_loops().int4(row.data(), x.data(), whole);
  const auto rest = x.subspan(static_cast<size_t>(whole * kBlockValues));
  if (!rest.empty()) {
    std::array<int8_t, kBlockValues> padded{};
    std::array<std::byte, kBlockValues / 2> packed{};
    std::ranges::copy(rest, padded.begin());
    const auto offset = static_cast<size_t>(whole * kBlockValues / 2);
    std::ranges::copy(row.subspan(offset, (rest.size() + 1) / 2), packed.begin());
    dot += block_loops().int4(packed.data(), padded.data(), 1);
  }
  return dot;
}

// Calls prepare(row) -> product(place of the output, x row) for every row of the weights and every
// token.
template <typename Prepare>
void for_each_row(RowFormat format, const MatMulShape& shape, std::span<const int8_t> x,
                  std::span<const std::byte> weights, const GemmOptions& options,
                  const Prepare& prepare) {
  constexpr int64_t kRowsAtATime = 64;
  const int64_t row_bytes = row_format_bytes(format, shape.columns);
  for_each_part(shape.rows, kRowsAtATime, options.threads, [&](int64_t first, int64_t count) {
    for (int64_t n = first; n < first + count; ++n) {
      const auto product = prepare(row_of(weights, n, row_bytes));
      for (int64_t t = 0; t < shape.tokens; ++t) {
        product(static_cast<size_t>(t * shape.rows + n), row_of(x, t, shape.columns));
      }
    }
  });
}

// int4 of several tokens, a tile of rows at a time as the int8 rows it stands for:
// multiply(shape, stored rows, out) is the product of int8.
template <typename Out, typename Multiply>
void multiply_as_int8(const MatMulShape& shape, std::span<const std::byte> weights,
                      std::span<Out> out, const GemmOptions& options, const Multiply& multiply) {
  constexpr int64_t kTileBytes = int64_t{256} << 10;
  constexpr int64_t kPanel = 16;
  const int64_t most =
      std::clamp(kTileBytes / shape.columns / kPanel * kPanel, kPanel, kPanel * 16);
  const int64_t row_bytes = row_format_bytes(RowFormat::kInt4, shape.columns);
  for_each_part(shape.rows, most, options.threads, [&](int64_t first, int64_t count) {
    const int64_t stored_bytes = stored_row_bytes(shape.columns);
    std::vector<std::byte> tile(static_cast<size_t>(count * stored_bytes));
    for (int64_t n = 0; n < count; ++n) {
      const auto packed = row_of(weights, first + n, row_bytes);
      const auto stored = row_of(std::span(tile), n, stored_bytes);
      const auto values = stored.first(stored.size() - 2);
      unpack_row(RowFormat::kInt4, packed,
                 {reinterpret_cast<int8_t*>(values.data()), values.size()});
      std::ranges::copy(packed.last(2), stored.last(2).begin());
    }
    std::vector<Out> part(static_cast<size_t>(shape.tokens * count));
    multiply(MatMulShape{shape.tokens, shape.columns, count}, std::span<const std::byte>(tile),
             std::span(part));
    for (int64_t t = 0; t < shape.tokens; ++t) {
      std::ranges::copy(row_of(std::span(part), t, count),
                        row_of(out, t, shape.rows).begin() + first);
    }
  });
}

// finish(sum) for every token and row of Q8_0 and Q4_0, by panels.
template <typename Out, typename Finish>
void multiply_by_panels(RowFormat format, const MatMulShape& shape, std::span<const int8_t> x,
                        std::span<const std::byte> weights, std::span<Out> out,
                        const GemmOptions& options, const Finish& finish) {
  const auto take = [&](int64_t token, int64_t first_row, std::span<const float> sums) {
    std::ranges::transform(sums, row_of(out, token, shape.rows).begin() + first_row, finish);
  };
  multiply_panels(format, shape, x, weights, take, options);
}

}  // namespace

void block_matmul_f32(RowFormat format, const MatMulShape& shape, std::span<const int8_t> x,
                      std::span<const std::byte> weights, float scale_in, std::span<float> out,
                      const GemmOptions& options) {
  check_operands(format, shape, x, weights, out.size());
  if (format == RowFormat::kInt8) return matmul_f32(shape, x, weights, scale_in, out, options);
  if (format == RowFormat::kInt4 && shape.tokens >= kTokensForTiles) {
    return multiply_as_int8(shape, weights, out, options, [&](auto tile, auto rows, auto part) {
      matmul_f32(tile, x, rows, scale_in, part);
    });
  }
  if (format == RowFormat::kInt4) {
    return for_each_row(format, shape, x, weights, options, [&](auto row) {
      const double factor = double{scale_in} * double{stored_scale(row)};
      return [out, row, factor](size_t place, auto values) {
        out[place] = static_cast<float>(int4_dot(row, values) * factor);
      };
    });
  }
  const auto finish = [=](float sum) { return sum * scale_in; };
  if (wants_panels(shape.tokens)) {
    return multiply_by_panels(format, shape, x, weights, out, options, finish);
  }
  for_each_row(format, shape, x, weights, options, [&](auto row) {
    return [=](size_t place, auto values) { out[place] = finish(block_sum(format, row, values)); };
  });
}

void block_matmul_s8(RowFormat format, const MatMulShape& shape, std::span<const int8_t> x,
                     std::span<const std::byte> weights, Scales scales, std::span<int8_t> out,
                     const GemmOptions& options) {
  check_operands(format, shape, x, weights, out.size());
  if (format == RowFormat::kInt8) return matmul_s8(shape, x, weights, scales, out, options);
  if (format == RowFormat::kInt4 && shape.tokens >= kTokensForTiles) {
    return multiply_as_int8(shape, weights, out, options, [&](auto tile, auto rows, auto part) {
      matmul_s8(tile, x, rows, scales, part);
    });
  }
  if (format == RowFormat::kInt4) {
    return for_each_row(format, shape, x, weights, options, [&](auto row) {
      const double real = double{scales.in} * double{stored_scale(row)} / double{scales.out};
      return [out, row, factor = quantize_multiplier(real)](size_t place, auto values) {
        out[place] = requantize(int4_dot(row, values), factor);
      };
    });
  }
  const auto factor = static_cast<float>(double{scales.in} / double{scales.out});
  const auto finish = [=](float sum) { return round_to_s8(sum * factor); };
  if (wants_panels(shape.tokens)) {
    return multiply_by_panels(format, shape, x, weights, out, options, finish);
  }
  for_each_row(format, shape, x, weights, options, [&](auto row) {
    return [=](size_t place, auto values) { out[place] = finish(block_sum(format, row, values)); };
  });
}

void block_matmul_f32_reference(RowFormat format, const MatMulShape& shape,
                                std::span<const int8_t> x, std::span<const std::byte> weights,
                                float scale_in, std::span<float> out) {
  using Row = Eigen::Map<const Eigen::Matrix<int8_t, Eigen::Dynamic, 1>>;
  check_operands(format, shape, x, weights, out.size());
  const bool blocks = format == RowFormat::kQ8_0 || format == RowFormat::kQ4_0;
  const int64_t group = blocks ? kBlockValues : shape.columns;  // values that share a scale
  std::vector<int8_t> unpacked(static_cast<size_t>(shape.columns));
  for_each_row(format, shape, x, weights, {}, [&](auto row) {
    unpack_row(format, row, unpacked);
    return [&, row](size_t place, auto values) {
      Lanes lanes{};
      double whole = 0.0;
      for (int64_t first = 0; first < shape.columns; first += group) {
        const int64_t count = std::min(group, shape.columns - first);
        const Row w(unpacked.data() + first, count);
        const int32_t dot =
            w.cast<int32_t>().dot(Row(values.data() + first, count).template cast<int32_t>());
        const float scale = row_scale(format, row, first);
        lanes[static_cast<size_t>(first / group % kBlockLanes)] += static_cast<float>(dot) * scale;
        whole = dot * (double{scale_in} * double{scale});
      }
      out[place] = blocks ? sum_in_order(lanes) * scale_in : static_cast<float>(whole);
    };
  });
}

}  // namespace tidemark

#include "sim/kernels/attention/kv_rows.h"

#include <algorithm>
#include <array>

#include "planner/base/check.h"
#include "sim/kernels/half.h"
#include "sim/kernels/matmul/matmul.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

void store_int8(std::span<const int8_t> values, float scale, std::span<std::byte> row) {
  std::ranges::transform(values, row.begin(),
                         [](int8_t value) { return static_cast<std::byte>(value); });
  const uint16_t bits = float_to_half(scale);
  check(bits > 0 && bits <= kHalfMax, "a static KV scale is positive and in fp16's range");
  store_u16(row.last(2), 0, bits);
}

void store_f16(std::span<const int8_t> values, float scale, std::span<std::byte> row) {
  for (size_t i = 0; i < values.size(); ++i) {
    store_u16(row, i, float_to_half(static_cast<float>(values[i]) * scale));
  }
}

float dot_f16(std::span<const std::byte> k, std::span<const int8_t> q) {
  constexpr size_t kLanes = 8;
  std::array<float, kLanes> partial{};
  size_t i = 0;
  for (; i + kLanes <= q.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      partial[lane] += static_cast<float>(q[i + lane]) * half_to_float(load_u16(k, i + lane));
    }
  }
  for (size_t lane = 0; i < q.size(); ++i, ++lane) {
    partial[lane] += static_cast<float>(q[i]) * half_to_float(load_u16(k, i));
  }
  float sum = 0.0F;
  for (const float part : partial) sum += part;
  return sum;
}

}  // namespace

int64_t TokenCells::position(int64_t token) const {
  const int64_t value = positions[static_cast<size_t>(token)];
  check(value >= 0, "a position is not negative");
  return value;
}

int64_t TokenCells::first_cell(int64_t token) const {
  if (first_cells.empty()) return 0;
  check(first_cells.size() == positions.size(), "a first cell for each token, or none at all");
  return first_cells[static_cast<size_t>(token)];
}

int64_t TokenCells::first_attended(int64_t token) const {
  const int64_t last = position(token);
  const int64_t of_window = window > 0 ? std::max<int64_t>(last - window + 1, 0) : 0;
  const int64_t of_chunk = chunk > 0 ? last - last % chunk : 0;
  return std::max(of_window, of_chunk);
}

CellRuns TokenCells::runs(int64_t from, int64_t to) const {
  check(from >= 0 && to >= from, "positions are a range");
  if (ring == 0) return {CellRun{.first = from, .count = to - from}, CellRun{}};
  check(to - from <= ring, "a ring holds what is attended");
  const int64_t first = from % ring;
  const int64_t before_wrap = std::min(to - from, ring - first);
  return {CellRun{.first = first, .count = before_wrap},
          CellRun{.first = 0, .count = to - from - before_wrap}};
}

std::span<const int8_t> part_of_row(std::span<const int8_t> rows, RowPart part, int64_t token,
                                    int64_t width) {
  const int64_t stride = part.stride == 0 ? width : part.stride;
  check(part.first >= 0 && width >= 0 && part.first <= stride - width, "a part is of a row");
  check(token >= 0 && token < std::ssize(rows) / stride, "a token has a row");
  return row_of(rows, token, stride)
      .subspan(static_cast<size_t>(part.first), static_cast<size_t>(width));
}

void store_kv(const KvShape& shape, std::span<const int8_t> rows, float scale,
              const TokenCells& cells, std::span<std::byte> cache, RowPart part) {
  const int64_t elements = shape.n_head_kv * shape.head_dim;
  const int64_t row_bytes = kv_row_bytes(shape);
  check(elements > 0, "a row is not empty");
  check_shape(rows.size(), {cells.tokens(), part.stride == 0 ? elements : part.stride},
              "rows are [T, n_head_kv x head_dim], or wider");
  for (int64_t t = 0; t < cells.tokens(); ++t) {
    const int64_t cell = cells.first_cell(t) + cells.cell(cells.position(t));
    check(cell >= 0 && cell < std::ssize(cache) / row_bytes, "a stored cell is in the cache");
    const auto values = part_of_row(rows, part, t, elements);
    const auto row = row_of(cache, cell, row_bytes);
    if (shape.type == KvType::kInt8) store_int8(values, scale, row);
    if (shape.type == KvType::kF16) store_f16(values, scale, row);
  }
}

std::span<const std::byte> kv_row(const KvShape& shape, std::span<const std::byte> cache,
                                  int64_t cell) {
  const int64_t row_bytes = kv_row_bytes(shape);
  check(cell >= 0 && cell < std::ssize(cache) / row_bytes, "an attended cell is in the cache");
  return row_of(cache, cell, row_bytes);
}

float kv_dot(const KvShape& shape, std::span<const std::byte> row, int64_t head_kv,
             std::span<const int8_t> q) {
  if (shape.type == KvType::kF16) return dot_f16(row_of(row, head_kv, shape.head_dim * 2), q);
  const auto k = row_of(stored_values(row), head_kv, shape.head_dim);
  return static_cast<float>(dot_s8(k, q)) * stored_scale(row);
}

void kv_accumulate(const KvShape& shape, std::span<const std::byte> row, int64_t first_element,
                   float weight, std::span<float> sums) {
  const auto first = static_cast<size_t>(first_element);
  if (shape.type == KvType::kF16) {
    const auto v = row.subspan(first * 2, sums.size() * 2);
    for (size_t d = 0; d < sums.size(); ++d) sums[d] += weight * half_to_float(load_u16(v, d));
    return;
  }
  const auto v = stored_values(row).subspan(first, sums.size());
  const float factor = weight * stored_scale(row);
  for (size_t d = 0; d < sums.size(); ++d) sums[d] += factor * static_cast<float>(v[d]);
}

}  // namespace tidemark

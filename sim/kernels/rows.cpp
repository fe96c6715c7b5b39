#include "sim/kernels/rows.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "planner/base/check.h"
#include "planner/base/checked.h"
#include "sim/kernels/half.h"
#include "sim/kernels/requantize.h"

namespace tidemark {

static_assert(std::endian::native == std::endian::little, "stored rows are read as they lie");

void check_shape(size_t elements, std::initializer_list<int64_t> dimensions, std::string_view what,
                 std::source_location where) {
  int64_t product = 1;
  for (const int64_t dimension : dimensions) {
    check(dimension >= 0, what, where);
    product = checked_mul(product, dimension);
  }
  check(elements == static_cast<size_t>(product), what, where);
}

std::span<const int8_t> stored_values(std::span<const std::byte> row) {
  check(row.size() >= 2, "a stored row ends in its scale");
  return {reinterpret_cast<const int8_t*>(row.data()), row.size() - 2};
}

float stored_scale(std::span<const std::byte> row) {
  check(row.size() >= 2, "a stored row ends in its scale");
  const float scale = half_to_float(load_u16(row.last(2), 0));
  return std::isfinite(scale) && scale > 0.0F ? scale : 0.0F;
}

void quantize_row(std::span<const float> values, std::span<std::byte> row) {
  check(row.size() == values.size() + 2, "a stored row is its values and two bytes");
  float largest = 0.0F;
  for (const float value : values) largest = std::max(largest, std::abs(value));  // passes over NaN
  const uint16_t scale_bits = std::min(float_to_half(largest / 127.0F), kHalfMax);
  const float scale = half_to_float(scale_bits);
  for (size_t i = 0; i < values.size(); ++i) {
    const int8_t value = scale > 0.0F ? round_to_s8(values[i] / scale) : int8_t{0};
    row[i] = static_cast<std::byte>(std::max(value, int8_t{-127}));
  }
  store_u16(row.last(2), 0, scale_bits);
}

void quantize_s8(std::span<const float> values, float scale, std::span<int8_t> out) {
  check(values.size() == out.size(), "one int8 for each float");
  check(std::isfinite(scale) && scale > 0.0F, "a static scale is positive");
  for (size_t i = 0; i < values.size(); ++i) out[i] = round_to_s8(values[i] / scale);
}

void embedding_lookup(int64_t columns, std::span<const int32_t> ids,
                      std::span<const std::byte> table, float scale_out, std::span<int8_t> out) {
  const int64_t row_bytes = stored_row_bytes(columns);
  const int64_t tokens = std::ssize(ids);
  check(columns >= 0 && std::ssize(table) % row_bytes == 0, "the table is whole rows");
  check_shape(out.size(), {tokens, columns}, "out is [T, K]");
  for (int64_t t = 0; t < tokens; ++t) {
    const int64_t id = ids[static_cast<size_t>(t)];
    check(id >= 0 && id < std::ssize(table) / row_bytes, "a token id is a row of the table");
    const auto row = row_of(table, id, row_bytes);
    const auto values = stored_values(row);
    const auto out_row = row_of(out, t, columns);
    const auto factor = quantize_multiplier(double{stored_scale(row)} / double{scale_out});
    for (size_t i = 0; i < values.size(); ++i) out_row[i] = requantize(values[i], factor);
  }
}

void float_lookup(int64_t columns, std::span<const int32_t> ids, std::span<const std::byte> table,
                  float scale_out, std::span<int8_t> out) {
  const int64_t row_bytes = columns * int64_t{sizeof(float)};
  check(columns > 0 && std::ssize(table) % row_bytes == 0, "the table is whole rows");
  check_shape(out.size(), {std::ssize(ids), columns}, "out is [T, K]");
  for (size_t t = 0; t < ids.size(); ++t) {
    check(ids[t] >= 0 && ids[t] < std::ssize(table) / row_bytes, "an id is a row of the table");
    const auto row = row_of(table, ids[t], row_bytes);
    const auto out_row = row_of(out, static_cast<int64_t>(t), columns);
    for (size_t i = 0; i < out_row.size(); ++i) {
      out_row[i] = round_to_s8(load_f32(row, i) / scale_out);
    }
  }
}

void add_to_rows(std::span<const std::byte> bias, std::span<float> x) {
  if (bias.empty()) return;
  const size_t width = bias.size() / sizeof(float);
  check(x.size() % width == 0, "rows as long as the bias");
  for (size_t i = 0; i < x.size(); ++i) x[i] += load_f32(bias, i % width);
}

void select_rows(int64_t columns, std::span<const int32_t> rows, std::span<const int8_t> x,
                 std::span<int8_t> out) {
  check(columns > 0 && std::ssize(x) % columns == 0, "x is whole rows");
  check_shape(out.size(), {std::ssize(rows), columns}, "out is [O, K]");
  for (size_t o = 0; o < rows.size(); ++o) {
    check(rows[o] >= 0 && rows[o] < std::ssize(x) / columns, "a selected row is a row of x");
    std::ranges::copy(row_of(x, rows[o], columns),
                      row_of(out, static_cast<int64_t>(o), columns).begin());
  }
}

}  // namespace tidemark

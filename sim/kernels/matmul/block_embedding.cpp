#include "sim/kernels/matmul/block_embedding.h"

#include <algorithm>

#include "planner/base/check.h"
#include "sim/kernels/requantize.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

// `values` are the row's integers, and become its outputs.
void bring_to_scale(RowFormat format, std::span<const std::byte> row, float scale_out,
                    std::span<int8_t> values) {
  if (format == RowFormat::kInt4) {
    const auto factor = quantize_multiplier(double{stored_scale(row)} / double{scale_out});
    for (int8_t& value : values) value = requantize(value, factor);
    return;
  }
  constexpr auto kBlock = static_cast<size_t>(kBlockValues);
  for (size_t first = 0; first < values.size(); first += kBlock) {
    const float d = row_scale(format, row, static_cast<int64_t>(first));
    for (int8_t& value : values.subspan(first, std::min(kBlock, values.size() - first))) {
      value = round_to_s8(static_cast<float>(value) * d / scale_out);
    }
  }
}

}  // namespace

void block_embedding_lookup(RowFormat format, int64_t columns, std::span<const int32_t> ids,
                            std::span<const std::byte> table, float scale_out,
                            std::span<int8_t> out) {
  if (format == RowFormat::kInt8) return embedding_lookup(columns, ids, table, scale_out, out);
  check(columns > 0, "a row has columns");
  const int64_t row_bytes = row_format_bytes(format, columns);
  check(std::ssize(table) % row_bytes == 0, "the table is whole rows");
  check_shape(out.size(), {std::ssize(ids), columns}, "out is [T, K]");
  for (size_t t = 0; t < ids.size(); ++t) {
    check(ids[t] >= 0 && ids[t] < std::ssize(table) / row_bytes, "an id is a row of the table");
    const auto row = row_of(table, ids[t], row_bytes);
    const auto values = row_of(out, static_cast<int64_t>(t), columns);
    unpack_row(format, row, values);
    bring_to_scale(format, row, scale_out, values);
  }
}

}  // namespace tidemark

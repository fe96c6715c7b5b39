#include "planner/model/dtype.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "planner/base/check.h"
#include "planner/model/format_table.h"

namespace tidemark {
namespace {

struct Alias {
  std::string_view name{};
  DType dtype = DType::kF32;
};

constexpr std::array<Alias, 5> kAliases = {{
    {"fp32", DType::kF32},
    {"float32", DType::kF32},
    {"fp16", DType::kF16},
    {"float16", DType::kF16},
    {"bfloat16", DType::kBf16},
}};

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// Groups of `group` columns in a row of `columns`; a started group counts.
int64_t groups_of(int64_t group, int64_t columns) {
  if (group == 0) return 0;
  if (group == FormatExtras::kWholeRow) return 1;
  return ceil_div(columns, group);
}

// The zero points of one group, those of all rows packed into words.
Bytes packed_bytes(const FormatExtras& extras, int64_t rows) {
  const int64_t words = ceil_div(checked_mul(rows, extras.packed_bits), 8 * extras.word_bytes);
  return Bytes::of(extras.word_bytes) * words;
}

Bytes block_bytes(const Format& format, int64_t columns) {
  const int64_t blocks = ceil_div(columns, format.block_elements);
  return Bytes::of(format.block_bytes) * blocks + Bytes::of(format.row_bytes);
}

}  // namespace

std::span<const Format> formats() { return format_table(); }

const Format& format_of(DType dtype) {
  const auto place = static_cast<size_t>(dtype);
  check(place < formats().size(), "every DType has a format");
  const Format& format = formats()[place];
  check(format.dtype == dtype, "the format table is in the order of DType");
  return format;
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (const Format& format : formats()) {
    if (same_ignoring_case(format.name, name)) return format.dtype;
  }
  for (const Alias& alias : kAliases) {
    if (same_ignoring_case(alias.name, name)) return alias.dtype;
  }
  return std::nullopt;
}

std::optional<DType> dtype_of_ggml_id(int64_t id) {
  if (id < 0) return std::nullopt;
  const auto found =
      std::ranges::find_if(formats(), [&](const Format& format) { return format.ggml_id == id; });
  return found == formats().end() ? std::nullopt : std::optional(found->dtype);
}

bool is_row_wise(DType dtype) {
  const FormatExtras& extras = format_of(dtype).extras;
  return !extras.flat && extras.packed_bits == 0 && extras.column_bytes == 0 &&
         extras.matrix_bytes == 0 && extras.tile == 0;
}

Bytes row_bytes(DType dtype, int64_t elements) { return matrix_bytes(dtype, elements, 1); }

Bytes matrix_bytes(DType dtype, int64_t columns, int64_t rows) {
  check(columns >= 0 && rows >= 0, "a matrix has no negative side");
  const Format& format = format_of(dtype);
  const FormatExtras& extras = format.extras;
  if (extras.flat) {
    columns = checked_mul(columns, rows);
    rows = 1;
  }
  const int64_t groups = groups_of(extras.group, columns);
  Bytes row = block_bytes(format, columns);
  row += Bytes::of(extras.group_bytes) * groups;
  row += Bytes::of(extras.outer_bytes) * groups_of(extras.outer_group, columns);
  Bytes total = row * rows + packed_bytes(extras, rows) * groups;
  total += Bytes::of(extras.column_bytes) * columns + Bytes::of(extras.matrix_bytes);
  if (extras.tile > 0) {
    const int64_t tiles = checked_mul(ceil_div(columns, extras.tile), ceil_div(rows, extras.tile));
    total += Bytes::of(extras.tile_bytes) * tiles;
  }
  return total;
}

bool divides(DType dtype, int64_t elements) {
  return elements % format_of(dtype).block_elements == 0;
}

bool fits(DType dtype, int64_t columns, int64_t rows) {
  const FormatExtras& extras = format_of(dtype).extras;
  return columns % extras.fit_columns == 0 && rows % extras.fit_rows == 0;
}

double bits_per_weight(DType dtype) {
  const Format& format = format_of(dtype);
  const FormatExtras& extras = format.extras;
  const auto share = [](int64_t bits, int64_t elements) {
    return elements > 0 ? static_cast<double>(bits) / static_cast<double>(elements) : 0.0;
  };
  const int64_t tile = extras.tile;
  return share(8 * format.block_bytes, format.block_elements) +
         share(8 * extras.group_bytes + extras.packed_bits, extras.group) +
         share(8 * extras.outer_bytes, extras.outer_group) +
         share(8 * extras.tile_bytes, tile * tile);
}

}  // namespace tidemark

#include "planner/alloc/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "planner/alloc/csv_cells.h"

namespace tidemark {
namespace {

enum class Column {
  kId,
  kLower,
  kUpper,
  kEnd,
  kSize,
  kAlignment,
  kGaps,
  kOffset,
  kHint,
  kGroup,
  kGroupOffset,
  kPool,
  kNotIn,
  kApart,
  kCost,
};

struct ColumnName {
  std::string_view name{};
  Column column = Column::kId;
};

constexpr std::array kColumns{
    ColumnName{"id", Column::kId},
    ColumnName{"buffer", Column::kId},
    ColumnName{"buffer_id", Column::kId},
    ColumnName{"lower", Column::kLower},
    ColumnName{"start", Column::kLower},
    ColumnName{"begin", Column::kLower},
    ColumnName{"upper", Column::kUpper},
    ColumnName{"end", Column::kEnd},
    ColumnName{"size", Column::kSize},
    ColumnName{"alignment", Column::kAlignment},
    ColumnName{"gaps", Column::kGaps},
    ColumnName{"offset", Column::kOffset},
    ColumnName{"hint", Column::kHint},
    ColumnName{"group", Column::kGroup},
    ColumnName{"group_offset", Column::kGroupOffset},
    ColumnName{"pool", Column::kPool},
    ColumnName{"not_in", Column::kNotIn},
    ColumnName{"apart", Column::kApart},
    ColumnName{"cost", Column::kCost},
};

using csv::Field;
using csv::number;
using csv::split;
using csv::trimmed;

// A buffer whose name stands in an `apart` cell, to be looked up once all names are known.
struct Named {
  size_t buffer = 0;
  int line = 0;
  int column = 0;
  std::string name{};
};

class CsvReader {
 public:
  CsvReader(std::string_view file, std::vector<Pool> pools) : file_(file) {
    result_.problem.pools = std::move(pools);
  }

  Result<CsvProblem> read(std::string_view text) {
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
      return one_error(std::string(file_), "is UTF-16", "save it as UTF-8");
    }
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark says nothing
    while (!text.empty() && errors_.size() < kMostCsvErrors) {
      const size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      ++line_;
      if (!trimmed(line).empty()) read_line(line);
    }
    if (columns_.empty() && errors_.empty()) fail(1, "", "no header", "id,lower,upper,size");
    if (errors_.empty()) resolve_pairs();
    if (!errors_.empty()) return std::move(errors_);
    return std::move(result_);
  }

 private:
  void read_line(std::string_view line) {
    if (const auto bad = csv::first_not_utf8(line)) {
      return fail(static_cast<int>(*bad) + 1, "", "not UTF-8 from here on", "save it as UTF-8");
    }
    const std::vector<Field> fields = split(line, ',', 1);
    if (columns_.empty()) return read_header(fields);
    if (fields.size() != columns_.size()) {
      return fail(1, "",
                  fmt::format("{} fields, the header has {}", fields.size(), columns_.size()));
    }
    if (result_.problem.buffers.size() == kMostCsvBuffers) {
      return fail(1, "", fmt::format("more than {} buffers", kMostCsvBuffers));
    }
    read_buffer(fields);
  }

  void read_header(const std::vector<Field>& fields) {
    for (const Field& field : fields) {
      const auto found = std::ranges::find(kColumns, trimmed(field.text), &ColumnName::name);
      if (found == kColumns.end()) {
        fail(field.column, "", "unknown column " + in_quotes(trimmed(field.text)),
             "columns are id, lower, upper (or start, end), size, alignment, gaps, offset, hint, "
             "group, group_offset, pool, not_in, apart, cost");
      } else if (std::ranges::count(columns_, found->column) > 0) {
        fail(field.column, std::string(found->name), "stands twice in the header");
      }
      columns_.push_back(found == kColumns.end() ? Column::kId : found->column);
    }
    const auto has = [&](Column column) { return std::ranges::count(columns_, column) > 0; };
    if (has(Column::kUpper) && has(Column::kEnd)) fail(1, "end", "stands beside upper");
    for (const auto& [name, column] :
         {ColumnName{"id", Column::kId}, {"lower", Column::kLower}, {"size", Column::kSize}}) {
      if (!has(column)) fail(1, std::string(name), "the column is missing");
    }
    if (!has(Column::kUpper) && !has(Column::kEnd)) fail(1, "upper", "the column is missing");
    result_.closed_ends = has(Column::kEnd);
  }

  void read_buffer(const std::vector<Field>& fields) {
    Buffer buffer;
    const size_t errors = errors_.size();
    for (size_t i = 0; i < fields.size(); ++i) {
      const Field field{trimmed(fields[i].text), fields[i].column};
      read_field(columns_[i], field, buffer);
      if (columns_[i] == Column::kId) check_name(field);
    }
    if (errors_.size() > errors) return;
    check_whole(fields, buffer);
    if (errors_.size() > errors) return;
    result_.problem.buffers.push_back(std::move(buffer));
  }

  // What can be wrong only between cells.
  void check_whole(const std::vector<Field>& fields, const Buffer& buffer) {
    if (buffer.lifetime.upper < buffer.lifetime.lower) {
      return fail(1, "upper",
                  fmt::format("ends at {}, before its start {}", buffer.lifetime.upper,
                              buffer.lifetime.lower));
    }
    if (buffer.offset && !is_aligned(*buffer.offset, buffer.alignment)) {
      return fail(1, "offset",
                  fmt::format("{} is no multiple of the alignment {}", buffer.offset->count(),
                              buffer.alignment.count()));
    }
    if (!buffer.group && buffer.group_offset != Bytes{}) {
      return fail(1, "group_offset", "stands without a group");
    }
    for (size_t i = 0; i < fields.size(); ++i) {
      if (columns_[i] != Column::kGaps) continue;
      for (const Field& cell : csv::words({trimmed(fields[i].text), fields[i].column})) {
        check_gap(cell, buffer);
      }
    }
    check_pools(buffer);
  }

  void check_gap(const Field& field, const Buffer& buffer) {
    const std::optional<csv::GapText> gap = csv::gap(field.text);
    if (!gap) return;
    const Interval<int64_t> when{gap->first, gap->last + closed()};
    const Interval<int64_t>& life = buffer.lifetime;
    if (when.empty()) {
      return fail(field.column, "gaps", in_quotes(field.text) + " covers no instant",
                  closed() == 1 ? "the second number is the last instant of the gap"
                                : "the second number is the first instant after the gap");
    }
    if (when.lower < life.lower || life.upper < when.upper) {
      return fail(field.column, "gaps",
                  fmt::format("{} reaches outside the lifetime, {} to {}", in_quotes(field.text),
                              life.lower, life.upper - closed()));
    }
    if (!gap->used) return;
    if (gap->used->empty() || gap->used->lower < Bytes{} || buffer.size < gap->used->upper) {
      fail(field.column, "gaps",
           fmt::format("{} keeps no part of {} bytes", in_quotes(field.text), buffer.size.count()),
           "after the @ stand the first byte that stays in use and the first after it that does "
           "not");
    }
  }

  void check_pools(const Buffer& buffer) {
    const size_t pools = result_.problem.pools.size();
    const auto barred = [&](PoolId id) { return std::ranges::count(buffer.not_in, id) > 0; };
    bool somewhere = pools == 0;
    for (size_t i = 0; i < pools; ++i) {
      const PoolId id = PoolId::of(i);
      somewhere = somewhere || (!barred(id) && buffer.pool.value_or(id) == id);
    }
    if (!somewhere) fail(1, "not_in", in_quotes(buffer.name) + " may stand in no pool");
  }

  void check_name(const Field& field) {
    const auto [found, is_new] =
        names_.emplace(std::string(field.text), Place{line_, result_.problem.buffers.size()});
    if (is_new) return;
    fail(
        field.column, "id",
        fmt::format("{} is also the buffer of line {}", in_quotes(field.text), found->second.line));
  }

  void read_field(Column column, const Field& field, Buffer& buffer) {
    switch (column) {
      case Column::kId:
        buffer.name = field.text;
        break;
      case Column::kLower:
        buffer.lifetime.lower = integer(field, "lower", -kLargestCsvNumber);
        break;
      case Column::kUpper:
        buffer.lifetime.upper = integer(field, "upper", -kLargestCsvNumber);
        break;
      case Column::kEnd:
        buffer.lifetime.upper = integer(field, "end", -kLargestCsvNumber) + 1;
        break;
      case Column::kSize:
        buffer.size = Bytes::of(integer(field, "size", 0));
        break;
      case Column::kAlignment:
        read_alignment(field, buffer);
        break;
      case Column::kGaps:
        read_gaps(field, buffer);
        break;
      case Column::kOffset:
        buffer.offset = optional_bytes(field, "offset");
        break;
      case Column::kHint:
        buffer.hint = optional_bytes(field, "hint");
        break;
      case Column::kGroup:
        read_group(field, buffer);
        break;
      case Column::kGroupOffset:
        if (!field.text.empty()) {
          buffer.group_offset = Bytes::of(integer(field, "group_offset", 0));
        }
        break;
      case Column::kPool:
        if (!field.text.empty()) buffer.pool = pool_named(field, "pool");
        break;
      case Column::kNotIn:
        for (const Field& name : csv::words(field)) {
          if (const auto id = pool_named(name, "not_in")) buffer.not_in.push_back(*id);
        }
        break;
      case Column::kApart:
        for (const Field& name : csv::words(field)) {
          pairs_.push_back(
              {result_.problem.buffers.size(), line_, name.column, std::string(name.text)});
        }
        break;
      case Column::kCost:
        if (!field.text.empty()) buffer.cost = integer(field, "cost", 0);
        break;
    }
  }

  int64_t integer(const Field& field, std::string_view name, int64_t least) {
    const std::optional<int64_t> value = number(field.text);
    if (value && *value >= least) return *value;
    fail(field.column, std::string(name),
         in_quotes(field.text) + " is no integer from " + std::to_string(least) + " to " +
             std::to_string(kLargestCsvNumber));
    return 0;
  }

  std::optional<Bytes> optional_bytes(const Field& field, std::string_view name) {
    if (field.text.empty()) return std::nullopt;
    const int64_t value = integer(field, name, -1);
    return value < 0 ? std::nullopt : std::optional(Bytes::of(value));
  }

  void read_alignment(const Field& field, Buffer& buffer) {
    const int64_t value = integer(field, "alignment", 1);
    if (value < 1) return;
    if (!std::has_single_bit(static_cast<uint64_t>(value))) {
      return fail(field.column, "alignment", std::to_string(value) + " is no power of two");
    }
    buffer.alignment = Alignment::of(value);
  }

  void read_gaps(const Field& field, Buffer& buffer) {
    for (const Field& cell : csv::words(field)) {
      const std::optional<csv::GapText> gap = csv::gap(cell.text);
      if (!gap) {
        fail(cell.column, "gaps", in_quotes(cell.text) + " is no gap", "as in 3-7 or 3-7@0:64");
        continue;
      }
      const Interval<int64_t> when{gap->first, gap->last + closed()};
      if (gap->used) {
        buffer.partial_gaps.push_back({when, *gap->used});
      } else {
        buffer.gaps.push_back(when);
      }
    }
  }

  void read_group(const Field& field, Buffer& buffer) {
    if (field.text.empty()) return;
    std::vector<Group>& groups = result_.problem.groups;
    const auto [found, is_new] = groups_.emplace(std::string(field.text), Count{groups.size(), 0});
    if (is_new) groups.push_back({std::string(field.text)});
    buffer.group = GroupId::of(found->second.group);
    if (++found->second.members == kMostGroupMembers + 1) {
      fail(field.column, "group",
           fmt::format("{} has more than {} members", in_quotes(field.text), kMostGroupMembers));
    }
  }

  std::optional<PoolId> pool_named(const Field& field, std::string path) {
    const std::vector<Pool>& pools = result_.problem.pools;
    const auto found = std::ranges::find(pools, field.text, &Pool::name);
    if (found != pools.end()) return PoolId::of(found - pools.begin());
    fail(field.column, std::move(path), in_quotes(field.text) + " is no pool",
         "--pool NAME or --pool NAME=SIZE states each, the first to be filled first");
    return std::nullopt;
  }

  void resolve_pairs() {
    Problem& problem = result_.problem;
    std::set<ApartPair> seen;
    for (const Named& named : pairs_) {
      line_ = named.line;
      const auto found = names_.find(named.name);
      if (found == names_.end()) {
        fail(named.column, "apart", in_quotes(named.name) + " is no buffer",
             "names stand apart by blanks");
        continue;
      }
      const size_t other = found->second.buffer;
      const Buffer& mine = problem.buffers[named.buffer];
      if (other == named.buffer || (mine.group && mine.group == problem.buffers[other].group)) {
        fail(named.column, "apart",
             fmt::format("{} and {} stand in one group, whose distances are given",
                         in_quotes(mine.name), in_quotes(named.name)));
        continue;
      }
      const auto [first, second] = std::minmax(named.buffer, other);
      if (!seen.insert({BufferId::of(first), BufferId::of(second)}).second) continue;
      problem.apart.push_back({BufferId::of(named.buffer), BufferId::of(other)});
    }
  }

  int64_t closed() const { return result_.closed_ends ? 1 : 0; }

  void fail(int column, std::string path, std::string message, std::string hint = "") {
    if (errors_.size() == kMostCsvErrors) return;
    errors_.push_back({.where = {std::string(file_), line_, column},
                       .path = std::move(path),
                       .message = std::move(message),
                       .hint = std::move(hint)});
  }

  std::string_view file_;
  int line_ = 0;
  std::vector<Column> columns_{};
  struct Place {
    int line = 0;
    size_t buffer = 0;
  };
  struct Count {
    size_t group = 0;
    int64_t members = 0;
  };
  // By name; looked up, never walked.
  std::unordered_map<std::string, Place> names_{};
  std::unordered_map<std::string, Count> groups_{};
  std::vector<Named> pairs_{};
  CsvProblem result_{};
  Diagnostics errors_{};
};

}  // namespace

Result<CsvProblem> read_csv(std::string_view text, std::string_view file, std::vector<Pool> pools) {
  return CsvReader(file, std::move(pools)).read(text);
}

}  // namespace tidemark

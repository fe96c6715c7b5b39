#include "planner/alloc/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tidemark {
namespace {

enum class Column { kId, kLower, kUpper, kEnd, kSize, kAlignment, kGaps, kOffset, kHint };

struct ColumnName {
  std::string_view name{};
  Column column = Column::kId;
};

constexpr std::array kColumns{
    ColumnName{"id", Column::kId},        ColumnName{"buffer", Column::kId},
    ColumnName{"buffer_id", Column::kId}, ColumnName{"lower", Column::kLower},
    ColumnName{"start", Column::kLower},  ColumnName{"begin", Column::kLower},
    ColumnName{"upper", Column::kUpper},  ColumnName{"end", Column::kEnd},
    ColumnName{"size", Column::kSize},    ColumnName{"alignment", Column::kAlignment},
    ColumnName{"gaps", Column::kGaps},    ColumnName{"offset", Column::kOffset},
    ColumnName{"hint", Column::kHint},
};

struct Field {
  std::string_view text{};
  int column = 1;  // of the file, 1-based
};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<Field> split(std::string_view line, char separator, int column) {
  std::vector<Field> fields;
  while (true) {
    const size_t end = line.find(separator);
    fields.push_back({line.substr(0, end), column});
    if (end == std::string_view::npos) return fields;
    column += static_cast<int>(end) + 1;
    line.remove_prefix(end + 1);
  }
}

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (value > kLargestCsvNumber || value < -kLargestCsvNumber) return std::nullopt;
  return value;
}

class CsvReader {
 public:
  explicit CsvReader(std::string_view file) : file_(file) {}

  Result<CsvProblem> read(std::string_view text) {
    while (!text.empty() && errors_.size() < kMostCsvErrors) {
      const size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      ++line_;
      if (!trimmed(line).empty()) read_line(line);
    }
    if (columns_.empty() && errors_.empty()) fail(1, "", "no header", "id,lower,upper,size");
    if (!errors_.empty()) return std::move(errors_);
    return std::move(result_);
  }

 private:
  void read_line(std::string_view line) {
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
             "columns are id, lower, upper (or start, end), size, alignment, gaps, offset, hint");
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
    result_.problem.buffers.push_back(std::move(buffer));
  }

  void check_name(const Field& field) {
    const auto [found, is_new] = lines_.emplace(std::string(field.text), line_);
    if (is_new) return;
    fail(field.column, "id",
         fmt::format("{} is also the buffer of line {}", in_quotes(field.text), found->second));
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
    for (const Field& gap : split(field.text, ' ', field.column)) {
      if (!gap.text.empty()) read_gap(gap, buffer);
    }
  }

  void read_gap(const Field& field, Buffer& buffer) {
    const size_t at = field.text.find('@');
    const std::string_view times = field.text.substr(0, at);
    // The first instant may be negative.
    const size_t dash = times.find('-', 1);
    const auto lower = number(times.substr(0, std::min(dash, times.size())));
    const auto upper =
        dash == std::string_view::npos ? std::nullopt : number(times.substr(dash + 1));
    if (!lower || !upper) {
      return fail(field.column, "gaps", in_quotes(field.text) + " is no gap",
                  "as in 3-7 or 3-7@0:64");
    }
    if (at == std::string_view::npos) {
      buffer.gaps.push_back({*lower, *upper + (result_.closed_ends ? 1 : 0)});
    } else if (result_.notes.size() < kMostCsvErrors) {
      result_.notes.push_back({.severity = Severity::kWarning,
                               .where = {std::string(file_), line_, field.column},
                               .path = "gaps",
                               .message = in_quotes(field.text) + " is taken for no gap"});
    }
  }

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
  std::unordered_map<std::string, int> lines_{};  // of each name; looked up, never walked
  CsvProblem result_{};
  Diagnostics errors_{};
};

bool any(const Problem& problem, bool (*has)(const Buffer&)) {
  return std::ranges::any_of(problem.buffers, has);
}

std::string gaps_text(const Buffer& buffer, int64_t closed) {
  std::string text;
  for (const Interval<int64_t>& gap : buffer.gaps) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}-{}", gap.lower, gap.upper - closed);
  }
  return text;
}

int64_t count_or_none(const std::optional<Bytes>& bytes) { return bytes ? bytes->count() : -1; }

}  // namespace

Result<CsvProblem> read_csv(std::string_view text, std::string_view file) {
  return CsvReader(file).read(text);
}

std::string write_csv(const Problem& problem, const Plan* plan, bool closed_ends) {
  const bool alignments = any(problem, [](const Buffer& b) { return b.alignment.count() != 1; });
  const bool gaps = any(problem, [](const Buffer& b) { return !b.gaps.empty(); });
  const bool hints = any(problem, [](const Buffer& b) { return b.hint.has_value(); });
  const bool offsets =
      plan != nullptr || any(problem, [](const Buffer& b) { return b.offset.has_value(); });
  const int64_t closed = closed_ends ? 1 : 0;
  std::string text = closed_ends ? "id,start,end,size" : "id,lower,upper,size";
  if (alignments) text += ",alignment";
  if (hints) text += ",hint";
  if (gaps) text += ",gaps";
  if (offsets) text += ",offset";
  text += '\n';
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    text += fmt::format("{},{},{},{}", b.name, b.lifetime.lower, b.lifetime.upper - closed,
                        b.size.count());
    if (alignments) text += fmt::format(",{}", b.alignment.count());
    if (hints) text += fmt::format(",{}", count_or_none(b.hint));
    if (gaps) text += ',' + gaps_text(b, closed);
    if (offsets) {
      text +=
          fmt::format(",{}", plan != nullptr ? plan->offsets[i].count() : count_or_none(b.offset));
    }
    text += '\n';
  }
  return text;
}

}  // namespace tidemark

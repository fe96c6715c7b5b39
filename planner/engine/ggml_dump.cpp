#include "planner/engine/ggml_dump.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {
namespace {

constexpr std::array<std::string_view, 16> kColumns{
    "id",  "kind",   "op",     "name",     "type",  "ne0",     "ne1",       "ne2",
    "ne3", "nbytes", "contig", "external", "flags", "view_of", "view_offs", "srcs"};
enum Column : size_t {
  kId,
  kKind,
  kOp,
  kName,
  kType,
  kNe0,
  kBytes = kNe0 + 4,
  kContig,
  kExternal,
  kFlags,
  kViewOf,
  kViewOffset,
  kSources
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<int64_t> integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class DumpReader {
 public:
  explicit DumpReader(std::string_view file) : file_(file) {}

  Result<GgmlDump> read(std::string_view text) {
    while (!text.empty() && errors_.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      ++line_;
      if (line.empty()) continue;
      line.front() == '#' ? read_note(line) : read_line(line);
    }
    if (errors_.empty() && !header_seen_) fail_at(1, "", "no header", "id, kind, op, name, ...");
    if (errors_.empty()) check_counts();
    if (!errors_.empty()) return std::move(errors_);
    return std::move(dump_);
  }

 private:
  // "# key <tab> value"
  void read_note(std::string_view line) {
    const size_t tab = line.find('\t');
    const std::string_view key = line.substr(0, tab);
    std::optional<int64_t>* const kept = key == "# compute_bytes" ? &compute_bytes_
                                         : key == "# n_nodes"     ? &node_count_
                                         : key == "# n_leafs"     ? &leaf_count_
                                                                  : nullptr;
    if (kept == nullptr || tab == std::string_view::npos) return;
    const std::string_view value = line.substr(tab + 1);
    const std::optional<int64_t> number = integer(value);
    if (!number || *number < 0 || *number > kLargestGgmlNumber) {
      return fail_at(static_cast<int>(tab) + 2, std::string(key.substr(2)),
                     in_quotes(value) + " is no count");
    }
    *kept = number;
    if (kept == &compute_bytes_) dump_.compute_bytes = Bytes::of(*number);
  }

  void read_line(std::string_view line) {
    fields_ = split(line, '\t');
    if (fields_.size() != kColumns.size()) {
      return fail_at(1, "",
                     std::to_string(fields_.size()) + " fields separated by tabs, not " +
                         std::to_string(kColumns.size()));
    }
    if (header_seen_) return read_tensor();
    header_seen_ = true;
    for (size_t i = 0; i < kColumns.size(); ++i) {
      if (fields_[i] != kColumns[i]) {
        fail(i, "the header says " + in_quotes(fields_[i]) + " here", "columns keep their order");
      }
    }
  }

  void read_tensor() {
    GgmlTensor tensor;
    tensor.leaf = fields_[kKind] == "leaf";
    if (!tensor.leaf && fields_[kKind] != "node") fail(kKind, "is neither leaf nor node");
    if (std::cmp_not_equal(number(kId, 0), dump_.graph.tensors.size())) {
      fail(kId, "the next is " + std::to_string(dump_.graph.tensors.size()));
    }
    tensor.name = fields_[kName];
    tensor.op = fields_[kOp];
    tensor.type = fields_[kType];
    for (size_t i = 0; i < tensor.ne.size(); ++i) tensor.ne[i] = number(kNe0 + i, 0);
    tensor.bytes = Bytes::of(number(kBytes, 0));
    tensor.contiguous = flag(kContig);
    tensor.external = flag(kExternal);
    read_flags(tensor);
    const int64_t owner = number(kViewOf, -1);
    if (owner >= 0) tensor.owner = TensorId(owner);
    tensor.offset_in_owner = Bytes::of(number(kViewOffset, 0));
    read_sources(tensor);
    if (errors_.empty()) append(std::move(tensor));
  }

  void append(GgmlTensor tensor) {
    const std::optional<GgmlFault> fault = fault_in(dump_.graph, tensor);
    if (!fault) return dump_.graph.tensors.push_back(std::move(tensor));
    fail(static_cast<size_t>(std::ranges::find(kColumns, fault->field) - kColumns.begin()),
         fault->message);
  }

  int64_t number(size_t column, int64_t least) {
    const std::optional<int64_t> value = integer(fields_[column]);
    if (value && *value >= least && *value <= kLargestGgmlNumber) return *value;
    fail(column, in_quotes(fields_[column]) + " is no integer from " + std::to_string(least) +
                     " to " + std::to_string(kLargestGgmlNumber));
    return 0;
  }

  bool flag(size_t column) {
    if (fields_[column] != "0" && fields_[column] != "1") fail(column, "is neither 0 nor 1");
    return fields_[column] == "1";
  }

  void read_flags(GgmlTensor& tensor) {
    if (fields_[kFlags] == "-") return;
    for (const char sign : fields_[kFlags]) {
      if (sign != 'I' && sign != 'O')
        return fail(kFlags, in_quotes(fields_[kFlags]) + " is not made of I and O", "- for none");
      (sign == 'I' ? tensor.input : tensor.output) = true;
    }
  }

  void read_sources(GgmlTensor& tensor) {
    if (fields_[kSources] == "-") return;
    for (const std::string_view text : split(fields_[kSources], ',')) {
      const std::optional<int64_t> id = integer(text);
      if (!id) return fail(kSources, in_quotes(text) + " is no id");
      if (tensor.sources.size() > kMostGgmlSources) return;  // told by fault_in
      tensor.sources.push_back(TensorId(*id));
    }
  }

  void check_counts() {
    const auto leaves = std::ranges::count(dump_.graph.tensors, true, &GgmlTensor::leaf);
    const auto nodes = std::ssize(dump_.graph.tensors) - leaves;
    const auto compare = [&](std::string key, std::optional<int64_t> said, int64_t found) {
      if (!said || *said == found) return;
      fail_at(0, std::move(key),
              "is " + std::to_string(*said) + ", but there are " + std::to_string(found),
              "is the file whole?");
    };
    line_ = 0;
    compare("n_nodes", node_count_, nodes);
    compare("n_leafs", leaf_count_, leaves);
  }

  void fail(size_t column, std::string message, std::string hint = "") {
    int at = 1;
    for (size_t i = 0; i < column; ++i) at += static_cast<int>(fields_[i].size()) + 1;
    fail_at(at, std::string(kColumns[column]), std::move(message), std::move(hint));
  }

  void fail_at(int column, std::string path, std::string message, std::string hint = "") {
    if (errors_.size() == kMostGgmlDumpErrors) return;
    errors_.push_back({.where = {std::string(file_), line_, column},
                       .path = std::move(path),
                       .message = std::move(message),
                       .hint = std::move(hint)});
  }

  std::string_view file_;
  int line_ = 0;
  bool header_seen_ = false;
  std::vector<std::string_view> fields_{};  // of the line
  std::optional<int64_t> compute_bytes_{};
  std::optional<int64_t> node_count_{};
  std::optional<int64_t> leaf_count_{};
  GgmlDump dump_{};
  Diagnostics errors_{};
};

}  // namespace

Result<GgmlDump> read_ggml_dump(std::string_view text, std::string_view file) {
  return DumpReader(file).read(text);
}

bool is_ggml_dump(std::string_view text) {
  const std::string_view start = text.substr(0, text.find_first_of("\r\n"));
  return start.starts_with("# compute_bytes\t") || start.starts_with("id\tkind\top\tname\t");
}

}  // namespace tidemark

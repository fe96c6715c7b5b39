#include "planner/import/gguf_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/base/units.h"
#include "planner/import/byte_reader.h"
#include "planner/import/foreign_begin.h"
#include "planner/import/gguf_tensor.h"
#include "planner/import/gguf_values.h"
#include "planner/import/problems.h"

namespace tidemark {
namespace {

constexpr int64_t kMostHeaderBytes = int64_t{1024} * 1024 * 1024;
constexpr uint64_t kMostKeys = 65'536;
constexpr uint64_t kMostTensors = 262'144;
// The least bytes of an entry, with an empty name: length, type, one byte of value; and length,
// number of dimensions, type, offset.
constexpr int64_t kLeastKey = 8 + 4 + 1;
constexpr int64_t kLeastTensor = 8 + 4 + 4 + 8;
constexpr uint32_t kMagic = 0x46554747;  // "GGUF"

// One file, from its first byte to the end of the tensor table.
class HeaderParser {
 public:
  HeaderParser(const std::string& file, ByteSource& source)
      : problems_(file),
        source_(source),
        reader_(source, kMostHeaderBytes),
        values_(reader_, problems_) {
    header_.parts = {{.file = file, .file_bytes = Bytes::of(source.size())}};
  }

  Result<GgufHeader> parse() {
    const bool complete = read_prologue() && read_keys() && read_tensors();
    if (complete && problems_.empty()) check_layout();
    if (!problems_.empty()) return problems_.take();
    return std::move(header_);
  }

 private:
  bool read_prologue();
  bool read_version();
  bool read_count(std::string_view what, uint64_t most, int64_t least_bytes, uint64_t& count);
  bool read_keys();
  void take_alignment();
  bool read_tensors();
  bool read_tensor(GgufTensor& tensor);
  void check_layout();
  void check_overlaps();
  int64_t data_begin() const { return header_.parts.front().data_offset.count(); }
  int64_t file_end() const { return header_.parts.front().file_bytes.count(); }

  Problems problems_;
  ByteSource& source_;
  ByteReader reader_;
  GgufValueReader values_;
  GgufHeader header_{};
  std::vector<int64_t> entries_{};  // where each tensor's entry of the table begins
  uint64_t tensor_count_ = 0;
  uint64_t key_count_ = 0;
};

bool HeaderParser::read_prologue() {
  const std::optional<uint32_t> magic = reader_.number<uint32_t>();
  if (!magic) return values_.cut_off("", "the first four bytes");
  if (*magic != kMagic) {
    problems_.add("", 0, "not a GGUF file: it does not begin with \"GGUF\"",
                  hint_of_foreign(source_, "was the download cut short or its name changed?"));
    return false;
  }
  return read_version() && read_count("tensors", kMostTensors, kLeastTensor, tensor_count_) &&
         read_count("keys", kMostKeys, kLeastKey, key_count_);
}

bool HeaderParser::read_version() {
  const std::optional<uint32_t> version = reader_.number<uint32_t>();
  if (!version) return values_.cut_off("", "the version");
  if (*version == 2 || *version == 3) {
    header_.version = static_cast<int>(*version);
    return true;
  }
  // A big-endian 2 or 3 has its low half empty.
  if (*version != 0 && (*version & 0xFFFF) == 0) {
    problems_.add("", 4, "the file is big-endian", "convert the model for a little-endian machine");
  } else {
    problems_.add("", 4, fmt::format("GGUF version {} is not read, only 2 and 3", *version),
                  *version < 2 ? "convert the model again with a current converter" : "");
  }
  return false;
}

bool HeaderParser::read_count(std::string_view what, uint64_t most, int64_t least_bytes,
                              uint64_t& count) {
  const int64_t begin = reader_.offset();
  const std::optional<uint64_t> number = reader_.number<uint64_t>();
  if (!number) return values_.cut_off("", fmt::format("the number of {}", what));
  count = *number;
  if (count > most) {
    problems_.add("", begin,
                  fmt::format("{} {} are more than the {} this reader accepts", count, what, most));
    return false;
  }
  if (static_cast<int64_t>(count) > reader_.remaining() / least_bytes) {
    problems_.add("", begin,
                  fmt::format("{} {} cannot stand in the {} bytes that follow", count, what,
                              reader_.remaining()),
                  "the file was cut off or is damaged: fetch it again");
    return false;
  }
  return true;
}

bool HeaderParser::read_keys() {
  for (uint64_t i = 0; i < key_count_; ++i) {
    const int64_t begin = reader_.offset();
    std::string key;
    GgufValue value;
    if (!values_.read_name("the name of a key", kGgufLongestName, key)) return false;
    if (!values_.read(key, value)) return false;
    if (!header_.keys.try_emplace(key, std::move(value)).second) {
      problems_.add(key, begin, "the key appears twice");
    }
  }
  take_alignment();
  return true;
}

void HeaderParser::take_alignment() {
  constexpr std::string_view kKey = "general.alignment";
  const GgufValue* value = header_.find(kKey);
  if (value == nullptr) return;
  const std::optional<int64_t> alignment = header_.integer(kKey);
  if (!alignment) {
    problems_.add(kKey, value->file_offset,
                  fmt::format("must be an integer, but is {}", name_of(value->type)));
  } else if (*alignment < 1 || !std::has_single_bit(static_cast<uint64_t>(*alignment))) {
    problems_.add(kKey, value->file_offset, fmt::format("{} is no power of two", *alignment));
  } else if (*alignment > kMostHeaderBytes) {
    problems_.add(kKey, value->file_offset, fmt::format("{} is too large", *alignment));
  } else {
    header_.alignment = Alignment::of(*alignment);
  }
}

bool HeaderParser::read_tensors() {
  // Nothing moves after this, so the set can look at the names in place.
  header_.tensors.reserve(static_cast<size_t>(tensor_count_));
  entries_.reserve(static_cast<size_t>(tensor_count_));
  std::set<std::string_view> names;
  for (uint64_t i = 0; i < tensor_count_; ++i) {
    entries_.push_back(reader_.offset());
    GgufTensor& tensor = header_.tensors.emplace_back();
    if (!read_tensor(tensor)) return false;
    if (!names.insert(tensor.name).second) {
      problems_.add(tensor.name, entries_.back(), "the tensor appears twice");
    }
  }
  header_.parts.front().data_offset = align_up(Bytes::of(reader_.offset()), header_.alignment);
  return true;
}

bool HeaderParser::read_tensor(GgufTensor& tensor) {
  const int64_t begin = reader_.offset();
  if (!values_.read_name("the name of a tensor", kGgufLongestName, tensor.name)) return false;
  const std::optional<uint32_t> n_dims = reader_.number<uint32_t>();
  if (!n_dims) return values_.cut_off(tensor.name, "the tensor table");
  if (*n_dims > kGgufMostDims) {
    problems_.add(tensor.name, reader_.offset() - 4,
                  fmt::format("{} dimensions, more than {}", *n_dims, kGgufMostDims));
    return false;
  }
  for (uint32_t i = 0; i < *n_dims; ++i) {
    const std::optional<uint64_t> dim = reader_.number<uint64_t>();
    if (!dim) return values_.cut_off(tensor.name, "the tensor table");
    tensor.dims.push_back(static_cast<int64_t>(*dim));  // above 63 bits: negative, and refused
  }
  const std::optional<uint32_t> type = reader_.number<uint32_t>();
  const std::optional<uint64_t> offset = reader_.number<uint64_t>();
  if (!type || !offset) return values_.cut_off(tensor.name, "the tensor table");
  tensor.type_id = *type;
  tensor.offset = Bytes::of(static_cast<int64_t>(*offset));
  GgufTensorSize size = size_of(tensor);
  tensor.bytes = size.bytes;
  if (!size.problem.empty()) problems_.add(tensor.name, begin, size.problem, size.hint);
  if (tensor.offset < Bytes{} || !is_aligned(tensor.offset, header_.alignment)) {
    problems_.add(tensor.name, reader_.offset() - 8,
                  fmt::format("the offset {} is no multiple of the alignment {}", *offset,
                              header_.alignment.count()));
  }
  return true;
}

void HeaderParser::check_layout() {
  int64_t cut = 0;
  int64_t needed = 0;
  const GgufTensor* first = nullptr;
  for (size_t i = 0; i < header_.tensors.size(); ++i) {
    const GgufTensor& tensor = header_.tensors[i];
    int64_t end = 0;
    if (__builtin_add_overflow(tensor.offset.count(), tensor.bytes.count(), &end) ||
        __builtin_add_overflow(end, data_begin(), &end)) {
      problems_.add(tensor.name, entries_[i], "offset and size do not fit into 63 bits");
      continue;
    }
    needed = std::max(needed, end);
    if (end <= file_end()) continue;
    ++cut;
    if (first == nullptr || tensor.offset < first->offset) first = &tensor;
  }
  if (first != nullptr) {
    problems_.add(first->name, file_end(),
                  fmt::format("the file ends here, but its tensors need {} bytes: {} of {} are "
                              "incomplete, this is the first",
                              needed, cut, header_.tensors.size()),
                  "the file was cut off: fetch it again");
  }
  check_overlaps();
}

void HeaderParser::check_overlaps() {
  std::vector<size_t> order(header_.tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
    return header_.tensors[a].offset < header_.tensors[b].offset;
  });
  const GgufTensor* last = nullptr;   // the one that reaches furthest so far
  const GgufTensor* named = nullptr;  // one wrong size is one problem, however far it reaches
  for (const size_t i : order) {
    const GgufTensor& tensor = header_.tensors[i];
    if (tensor.bytes == Bytes{}) continue;
    // Differences, as sums may not fit: the offsets rise.
    const bool overlap = last != nullptr && tensor.offset - last->offset < last->bytes;
    if (overlap && std::exchange(named, last) != last) {
      problems_.add(tensor.name, entries_[i],
                    fmt::format("its data overlaps that of {}", printable(last->name)));
    }
    if (!overlap || tensor.bytes > last->bytes - (tensor.offset - last->offset)) last = &tensor;
  }
}

}  // namespace

Result<GgufHeader> parse_gguf_header(const std::string& file, ByteSource& source) {
  return HeaderParser(file, source).parse();
}

}  // namespace tidemark

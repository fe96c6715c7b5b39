#include "planner/import/gguf_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "planner/import/gguf_tensor.h"
#include "planner/import/gguf_values.h"
#include "planner/import/problems.h"
#include "planner/import/sparse_file.h"

namespace tidemark {
namespace {

constexpr std::string_view kAlignmentKey = "general.alignment";

template <std::integral T>
void put(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out += static_cast<char>((static_cast<uint64_t>(value) >> (8 * i)) & 0xFF);
  }
}

void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<uint64_t>(text.size()));
  out += text;
}

// Smallest and largest value of an integer type that is no uint64, by its bytes and its sign.
bool fits(GgufType type, int64_t value) {
  const bool is_signed = type == GgufType::kInt8 || type == GgufType::kInt16 ||
                         type == GgufType::kInt32 || type == GgufType::kInt64;
  const int64_t bits = 8 * size_of(type);
  if (bits == 64) return is_signed || value >= 0;
  const int64_t half = int64_t{1} << (bits - 1);
  return is_signed ? value >= -half && value < half : value >= 0 && value < 2 * half;
}

// Can `element` be written as `type`, and be read back as the same?
bool fits(GgufType type, const GgufScalar& element) {
  if (type == GgufType::kBool) return std::holds_alternative<bool>(element);
  if (type == GgufType::kString) {
    const auto* text = std::get_if<std::string>(&element);
    return text != nullptr && is_utf8(*text);
  }
  if (const auto* real = std::get_if<double>(&element)) {
    if (type == GgufType::kFloat64) return true;
    if (type != GgufType::kFloat32) return false;
    if (!std::isfinite(*real)) return true;
    return std::abs(*real) <= std::numeric_limits<float>::max() &&
           static_cast<double>(static_cast<float>(*real)) == *real;
  }
  if (std::holds_alternative<uint64_t>(element)) return type == GgufType::kUint64;
  const auto* integer = std::get_if<int64_t>(&element);
  const bool integer_type =
      size_of(type) > 0 && type != GgufType::kFloat32 && type != GgufType::kFloat64;
  return integer != nullptr && integer_type && fits(type, *integer);
}

void put_element(std::string& out, GgufType type, const GgufScalar& element) {
  uint64_t bits = 0;
  if (const auto* text = std::get_if<std::string>(&element)) return put_text(out, *text);
  if (const auto* boolean = std::get_if<bool>(&element)) bits = *boolean ? 1 : 0;
  if (const auto* integer = std::get_if<int64_t>(&element)) bits = static_cast<uint64_t>(*integer);
  if (const auto* large = std::get_if<uint64_t>(&element)) bits = *large;
  if (const auto* real = std::get_if<double>(&element)) {
    bits = type == GgufType::kFloat32 ? std::bit_cast<uint32_t>(static_cast<float>(*real))
                                      : std::bit_cast<uint64_t>(*real);
  }
  for (int64_t i = 0; i < size_of(type); ++i) out += static_cast<char>((bits >> (8 * i)) & 0xFF);
}

// The value without its type.
void put_value(std::string& out, const GgufValue& value) {
  if (value.type == GgufType::kArray) {
    put(out, static_cast<uint32_t>(value.element_type));
    put(out, static_cast<uint64_t>(value.elements.size()));
  }
  for (const GgufScalar& element : value.elements) put_element(out, value.element_type, element);
}

std::string_view problem_of(const GgufValue& value) {
  if (!value.kept) return "the value was not kept when it was read";
  if (!is_known(value.type) || !is_known(value.element_type)) return "unknown value type";
  if (value.element_type == GgufType::kArray) return "arrays of arrays are not written";
  const bool is_array = value.type == GgufType::kArray;
  if (!is_array && (value.type != value.element_type || value.elements.size() != 1)) {
    return "a value that is no array has one element of its own type";
  }
  if (value.count != static_cast<int64_t>(value.elements.size())) {
    return "count is not the number of elements";
  }
  const auto holds = [&](const GgufScalar& element) { return fits(value.element_type, element); };
  if (!std::all_of(value.elements.begin(), value.elements.end(), holds)) {
    return "an element does not fit its type";
  }
  return "";
}

bool is_name(std::string_view name) {
  return !name.empty() && static_cast<int64_t>(name.size()) <= kGgufLongestName && is_utf8(name);
}

// Fills in bytes and offset. The value is the end of the last tensor's padding.
Bytes lay_out_tensors(GgufHeader& header, Problems& problems) {
  std::set<std::string_view> names;
  Bytes end{};
  for (GgufTensor& tensor : header.tensors) {
    const GgufTensorSize size = size_of(tensor);
    if (!is_name(tensor.name)) problems.add(tensor.name, "this cannot be the name of a tensor");
    if (!names.insert(tensor.name).second) problems.add(tensor.name, "the tensor appears twice");
    if (static_cast<int64_t>(tensor.dims.size()) > kGgufMostDims) {
      problems.add(tensor.name, fmt::format("more than {} dimensions", kGgufMostDims));
    }
    if (!size.problem.empty()) problems.add(tensor.name, size.problem, size.hint);
    tensor.part = 0;
    tensor.offset = end;
    tensor.bytes = size.bytes;
    if (size.bytes > Bytes::of(INT64_MAX / 2) - end) {
      problems.add(tensor.name, "the file would not fit into 63 bits");
      return {};
    }
    end = align_up(end + size.bytes, header.alignment);
  }
  return end;
}

// The whole header; where each value stands is noted in `offsets`, in the order of the keys.
std::string encode(const GgufHeader& header, std::vector<int64_t>& offsets) {
  std::string out = "GGUF";
  put(out, uint32_t{3});
  put(out, static_cast<uint64_t>(header.tensors.size()));
  put(out, static_cast<uint64_t>(header.keys.size()));
  for (const auto& [key, value] : header.keys) {
    put_text(out, key);
    put(out, static_cast<uint32_t>(value.type));
    offsets.push_back(static_cast<int64_t>(out.size()));
    put_value(out, value);
  }
  for (const GgufTensor& tensor : header.tensors) {
    put_text(out, tensor.name);
    put(out, static_cast<uint32_t>(tensor.dims.size()));
    for (const int64_t dim : tensor.dims) put(out, dim);
    put(out, tensor.type_id);
    put(out, tensor.offset.count());
  }
  return out;
}

}  // namespace

Result<GgufHeader> lay_out_gguf(const std::string& file, GgufHeader header) {
  Problems problems(file);
  header.version = 3;
  header.alignment = Alignment::of(32);
  for (const auto& [key, value] : header.keys) {
    if (!is_name(key)) problems.add(key, "this cannot be the name of a key");
    if (const std::string_view problem = problem_of(value); !problem.empty()) {
      problems.add(key, problem);
    }
  }
  if (header.find(kAlignmentKey) != nullptr) {
    const int64_t alignment = header.integer(kAlignmentKey).value_or(0);
    if (alignment < 1 || alignment > (int64_t{1} << 30) ||
        !std::has_single_bit(static_cast<uint64_t>(alignment))) {
      problems.add(kAlignmentKey, "must be a power of two of at most 2^30");
      return problems.take();
    }
    header.alignment = Alignment::of(alignment);
  }
  const Bytes data = lay_out_tensors(header, problems);
  if (!problems.empty()) return problems.take();
  std::vector<int64_t> offsets;
  const Bytes begin =
      align_up(Bytes::of(static_cast<int64_t>(encode(header, offsets).size())), header.alignment);
  auto offset = offsets.begin();
  for (auto& [key, value] : header.keys) value.file_offset = *offset++;
  header.parts = {{.file = file, .data_offset = begin, .file_bytes = begin + data}};
  return header;
}

std::string encode_gguf_header(const GgufHeader& header) {
  std::vector<int64_t> offsets;
  return encode(header, offsets);
}

Result<GgufHeader> write_gguf(const std::filesystem::path& path, const GgufHeader& header) {
  Result<GgufHeader> laid_out = lay_out_gguf(path.string(), header);
  if (!laid_out) return laid_out;
  const Result<Bytes> written =
      write_sparse_file(path, encode_gguf_header(*laid_out), laid_out->parts.front().file_bytes);
  if (!written) return written.diagnostics();
  return laid_out;
}

}  // namespace tidemark

#include "planner/import/safetensors_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "planner/import/problems.h"
#include "planner/import/sparse_file.h"

namespace tidemark {
namespace {

constexpr std::string_view kMetadata = "__metadata__";

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

std::string list_of(std::span<const int64_t> numbers) {
  std::string out = "[";
  for (const int64_t number : numbers)
    out += fmt::format("{}{}", out.size() > 1 ? "," : "", number);
  return out + "]";
}

// Why `tensor` cannot be written, or nothing; its bytes in `bytes`.
std::string_view problem_of(const SafetensorsTensor& tensor, Bytes& bytes) {
  if (tensor.name.empty() || tensor.name == kMetadata || !is_utf8(tensor.name)) {
    return "this cannot be the name of a tensor";
  }
  const auto negative = [](int64_t dim) { return dim < 0; };
  if (std::any_of(tensor.shape.begin(), tensor.shape.end(), negative)) {
    return "a dimension is negative";
  }
  try {
    const std::optional<Bytes> whole = whole_bytes(tensor.dtype, tensor.shape);
    if (!whole) return "its elements are no whole number of bytes";
    bytes = *whole;
    return "";
  } catch (const std::overflow_error&) {
    return "its size does not fit into 63 bits";
  }
}

}  // namespace

Result<SafetensorsHeader> lay_out_safetensors(const std::string& file, SafetensorsHeader header) {
  Problems problems(file);
  std::set<std::string_view> names;
  Bytes end{};
  for (SafetensorsTensor& tensor : header.tensors) {
    Bytes bytes{};
    if (const std::string_view problem = problem_of(tensor, bytes); !problem.empty()) {
      problems.add(tensor.name, problem);
      continue;
    }
    if (!names.insert(tensor.name).second) problems.add(tensor.name, "the tensor appears twice");
    if (bytes > Bytes::of(INT64_MAX / 2) - end) {
      problems.add(tensor.name, "the file would not fit into 63 bits");
      continue;
    }
    tensor.begin = end;
    tensor.end = end = end + bytes;
    tensor.part = 0;
  }
  for (const auto& [key, value] : header.metadata) {
    if (!is_utf8(key) || !is_utf8(value)) problems.add(key, "the metadata is not UTF-8");
  }
  if (!problems.empty()) return problems.take();
  const Bytes begin = Bytes::of(static_cast<int64_t>(encode_safetensors_header(header).size()));
  header.parts = {{.file = file, .data_offset = begin, .file_bytes = begin + end}};
  return header;
}

std::string encode_safetensors_header(const SafetensorsHeader& header) {
  std::string json = "{";
  const auto separate = [&json](std::string_view entry) {
    if (!json.ends_with('{')) json += ',';
    json += entry;
  };
  if (!header.metadata.empty()) {
    json += fmt::format("\"{}\":{{", kMetadata);
    for (const auto& [key, value] : header.metadata) separate(quoted(key) + ":" + quoted(value));
    json += '}';
  }
  for (const SafetensorsTensor& tensor : header.tensors) {
    separate(fmt::format("{}:{{\"dtype\":\"{}\",\"shape\":{},\"data_offsets\":[{},{}]}}",
                         quoted(tensor.name), name_of(tensor.dtype), list_of(tensor.shape),
                         tensor.begin.count(), tensor.end.count()));
  }
  json += '}';
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string head;
  for (int i = 0; i < 8; ++i) head += static_cast<char>((json.size() >> (8 * i)) & 0xFF);
  return head + json;
}

Result<SafetensorsHeader> write_safetensors(const std::filesystem::path& path,
                                            const SafetensorsHeader& header) {
  Result<SafetensorsHeader> laid_out = lay_out_safetensors(path.string(), header);
  if (!laid_out) return laid_out;
  const Result<Bytes> written = write_sparse_file(path, encode_safetensors_header(*laid_out),
                                                  laid_out->parts.front().file_bytes);
  if (!written) return written.diagnostics();
  return laid_out;
}

}  // namespace tidemark

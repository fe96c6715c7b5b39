#include "weights_file.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <fstream>

#include "planner/import/ggml_types.h"
#include "planner/import/gguf_writer.h"
#include "sim/kernels/half.h"

namespace tidemark::testing {
namespace {

template <typename Number>
void append(std::string& bytes, Number number) {
  char raw[sizeof number];
  std::memcpy(raw, &number, sizeof number);
  bytes.append(raw, sizeof number);
}

}  // namespace

std::string f32_bytes(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) append(bytes, value);
  return bytes;
}

std::string f16_bytes(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) append(bytes, float_to_half(value));
  return bytes;
}

std::string bf16_bytes(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) {
    append(bytes, static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
  }
  return bytes;
}

FileEntry f32_entry(std::string name, std::vector<int64_t> shape,
                    const std::vector<float>& values) {
  return {.name = std::move(name), .shape = std::move(shape), .data = f32_bytes(values)};
}

void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  ASSERT_TRUE(file.good()) << path;
}

void write_safetensors_file(const std::filesystem::path& path,
                            const std::vector<FileEntry>& entries) {
  std::string json;
  std::string data;
  for (const FileEntry& entry : entries) {
    std::string shape;
    for (const int64_t side : entry.shape) {
      shape += fmt::format("{}{}", shape.empty() ? "" : ",", side);
    }
    json += fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                        json.empty() ? "" : ",", entry.name, entry.type, shape, data.size(),
                        data.size() + entry.data.size());
    data += entry.data;
  }
  json = "{" + json + "}";
  std::string bytes;
  append(bytes, static_cast<uint64_t>(json.size()));
  write_bytes(path, bytes + json + data);
}

void write_gguf_file(const std::filesystem::path& path, const std::vector<FileEntry>& entries) {
  GgufHeader header;
  for (const FileEntry& entry : entries) {
    const GgmlType* type = find_ggml_type(entry.type);
    ASSERT_NE(type, nullptr) << entry.type;
    header.tensors.push_back({.name = entry.name,
                              .dims = {entry.shape.rbegin(), entry.shape.rend()},
                              .type_id = type->id});
  }
  const Result<GgufHeader> laid_out = lay_out_gguf(path.string(), header);
  ASSERT_TRUE(laid_out.ok()) << to_string(laid_out.diagnostics());
  std::string bytes = encode_gguf_header(*laid_out);
  for (size_t i = 0; i < entries.size(); ++i) {
    const Bytes begin = laid_out->data_offset() + laid_out->tensors[i].offset;
    bytes.resize(static_cast<size_t>(begin.count()));
    ASSERT_EQ(Bytes::of(std::ssize(entries[i].data)), laid_out->tensors[i].bytes);
    bytes += entries[i].data;
  }
  bytes.resize(static_cast<size_t>(laid_out->parts.front().file_bytes.count()));
  write_bytes(path, bytes);
}

}  // namespace tidemark::testing

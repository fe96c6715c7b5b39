// GGUF and safetensors files put together byte by byte, with no code of the planner's writers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "planner/import/gguf_reader.h"
#include "planner/import/safetensors_header.h"

namespace tidemark::testing {

class ByteText {
 public:
  ByteText& u8(uint64_t value) { return number(value, 1); }
  ByteText& u16(uint64_t value) { return number(value, 2); }
  ByteText& u32(uint64_t value) { return number(value, 4); }
  ByteText& u64(uint64_t value) { return number(value, 8); }
  ByteText& raw(std::string_view text) {
    bytes_ += text;
    return *this;
  }
  // As GGUF writes strings: the length in 8 bytes, then the bytes.
  ByteText& text(std::string_view text) { return u64(text.size()).raw(text); }
  // A GGUF file's first 24 bytes.
  ByteText& gguf(uint64_t tensors, uint64_t keys, uint64_t version = 3) {
    return raw("GGUF").u32(version).u64(tensors).u64(keys);
  }
  // An entry of the tensor table: a row of `values`.
  ByteText& row(std::string_view name, uint64_t values, uint64_t type, uint64_t offset) {
    return text(name).u32(1).u64(values).u32(type).u64(offset);
  }
  ByteText& pad_to(size_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment, '\0');
    return *this;
  }
  ByteText& zeros(size_t count) {
    bytes_.resize(bytes_.size() + count, '\0');
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  ByteText& number(uint64_t value, int count) {
    for (int i = 0; i < count; ++i) bytes_ += static_cast<char>((value >> (8 * i)) & 0xFF);
    return *this;
  }

  std::string bytes_{};
};

inline Result<GgufHeader> parse_gguf(const std::string& bytes) {
  MemorySource source(std::as_bytes(std::span(bytes)));
  return parse_gguf_header("x.gguf", source);
}

// A safetensors file with this JSON and `data` bytes behind it.
inline Result<SafetensorsHeader> parse_safetensors(std::string_view json, size_t data) {
  const std::string bytes = ByteText().text(json).zeros(data).bytes();
  MemorySource source(std::as_bytes(std::span(bytes)));
  return parse_safetensors_header("x.safetensors", source);
}

}  // namespace tidemark::testing

// The header of a safetensors file as plain values, and its reader.
//
//   length of the JSON: 8 bytes, little-endian | JSON | data
//   {"w": {"dtype": "F16", "shape": [2, 3], "data_offsets": [0, 12]}, "__metadata__": {"k":
//   "text"}}
//                                            ^ 2 x 3 x 16 bits = 12 B, counted from the data's
//                                            begin
// Checked by SafetensorsReaderTest.TheExampleOfTheHeader.
// Source: the format's description (huggingface/safetensors, README), which also asks for what is
// checked here: the data is covered without a hole or an overlap, no key appears twice, and
// the header has at most 100 MB.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/result.h"
#include "planner/import/byte_source.h"

namespace tidemark {

enum class SafetensorsDType {
  kBool,
  kF4,
  kF6E2M3,
  kF6E3M2,
  kU8,
  kI8,
  kF8E5M2,
  kF8E4M3,
  kF8E8M0,
  kF8E4M3Fnuz,
  kF8E5M2Fnuz,
  kI16,
  kU16,
  kF16,
  kBf16,
  kI32,
  kU32,
  kF32,
  kC64,
  kF64,
  kI64,
  kU64
};

struct SafetensorsFormat {
  SafetensorsDType dtype = SafetensorsDType::kF32;
  std::string_view name{};  // in the file: "BF16", "F8_E4M3"
  int64_t bits = 32;        // of one element
  bool operator==(const SafetensorsFormat&) const = default;
};

std::span<const SafetensorsFormat> safetensors_formats();
const SafetensorsFormat& format_of(SafetensorsDType dtype);
inline std::string_view name_of(SafetensorsDType dtype) { return format_of(dtype).name; }
std::optional<SafetensorsDType> parse_safetensors_dtype(std::string_view name);

struct SafetensorsTensor {
  std::string name{};
  SafetensorsDType dtype = SafetensorsDType::kF32;
  std::vector<int64_t> shape{};  // outermost first: {rows, columns}; empty for a scalar
  Bytes begin{};                 // from the data_offset of its part
  Bytes end{};
  int64_t part = 0;  // index into SafetensorsHeader::parts
  bool operator==(const SafetensorsTensor&) const = default;

  Bytes bytes() const { return end - begin; }
};

// One file. A checkpoint of several shards has several.
struct SafetensorsPart {
  std::string file{};
  Bytes data_offset{};
  Bytes file_bytes{};
  bool operator==(const SafetensorsPart&) const = default;
};

struct SafetensorsHeader {
  std::vector<SafetensorsTensor> tensors{};  // in the order of the data, part by part
  std::map<std::string, std::string, std::less<>> metadata{};  // __metadata__ of the first part
  std::vector<SafetensorsPart> parts{};                        // never empty once read
  bool operator==(const SafetensorsHeader&) const = default;

  // Where the data of the first part begins; 0 before it was read or laid out.
  Bytes data_offset() const { return parts.empty() ? Bytes{} : parts.front().data_offset; }

  const SafetensorsTensor* find_tensor(std::string_view name) const;  // linear; nullptr: none
};

// Elements of a tensor of `shape`; 1 for a scalar. Throws std::overflow_error.
int64_t element_count(std::span<const int64_t> shape);

// Bytes of a tensor; nothing when its bits do not fill whole bytes. Throws std::overflow_error.
std::optional<Bytes> whole_bytes(SafetensorsDType dtype, std::span<const int64_t> shape);

// The header in `source`; `file` is its name in messages and in parts[0]. Errors name the byte.
Result<SafetensorsHeader> parse_safetensors_header(const std::string& file, ByteSource& source);

// The header of the one file at `path`.
Result<SafetensorsHeader> read_safetensors(const std::filesystem::path& path);

}  // namespace tidemark

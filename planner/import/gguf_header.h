// The header of a GGUF file as plain values: what the file says, nothing about any architecture.
//
//   magic "GGUF" | version | tensor count | key count | keys ... | tensor table ... | padding |
//   data
//                                                                                             ^
//                                                                                             data_offset
// A tensor's `dims` are in ggml's order: dims[0] is the length of a row, and bytes of one row are
// contiguous. A matrix of 3 rows of 4,096 values is {4096, 3}.
// Source: the GGUF specification (ggml, docs/gguf.md), versions 2 and 3, which differ in nothing a
// little-endian reader sees.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "planner/base/bytes.h"

namespace tidemark {

// The numbers are those of the file.
enum class GgufType : uint32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUint64 = 10,
  kInt64 = 11,
  kFloat64 = 12
};

// "uint32", "text" ... "?" for a number that is no type.
std::string_view name_of(GgufType type);

// Every integer is an int64_t, but for a uint64 above the largest int64_t.
using GgufScalar = std::variant<bool, int64_t, uint64_t, double, std::string>;

struct GgufValue {
  GgufType type = GgufType::kUint32;
  GgufType element_type = GgufType::kUint32;  // of an array; otherwise the same as `type`
  int64_t count = 1;                          // elements of an array; otherwise 1
  // Vocabularies and merges run to megabytes, chat templates to kilobytes; nothing here needs
  // them. False: only the three members above are known, `elements` is empty. Text that is no
  // UTF-8 is not kept either.
  bool kept = true;
  std::vector<GgufScalar> elements{};
  int64_t file_offset = 0;  // where the value stands in the file, for messages
  bool operator==(const GgufValue&) const = default;
};

// What is kept of a header: arrays of at most kGgufKeptElements numbers or booleans, of at most
// kGgufKeptTexts strings, and strings of at most kGgufKeptTextBytes; arrays of arrays never.
inline constexpr int64_t kGgufKeptElements = 4096;
inline constexpr int64_t kGgufKeptTexts = 256;
inline constexpr int64_t kGgufKeptTextBytes = 4096;

struct GgufTensor {
  std::string name{};
  std::vector<int64_t> dims{};  // at most 4
  uint32_t type_id = 0;         // always one of ggml_types() that is not retired
  Bytes offset{};               // from the data_offset of its part
  Bytes bytes{};                // without padding
  int64_t part = 0;             // index into GgufHeader::parts
  bool operator==(const GgufTensor&) const = default;
};

// One file. A set that was split has several.
struct GgufPart {
  std::string file{};
  Bytes data_offset{};
  Bytes file_bytes{};
  bool operator==(const GgufPart&) const = default;
};

struct GgufHeader {
  int version = 3;
  Alignment alignment = Alignment::of(32);
  std::map<std::string, GgufValue, std::less<>> keys{};  // of a split set: those of the first part
  std::vector<GgufTensor> tensors{};                     // in the order of the file, part by part
  std::vector<GgufPart> parts{};                         // never empty once read
  bool operator==(const GgufHeader&) const = default;

  // Where the data of the first part begins; 0 before it was read or laid out.
  Bytes data_offset() const { return parts.empty() ? Bytes{} : parts.front().data_offset; }

  // nullptr: no such key. The getters below give nothing when the key is missing, of another kind,
  // or was not kept; find() tells these apart.
  const GgufValue* find(std::string_view key) const;
  std::optional<int64_t> integer(std::string_view key) const;  // any integer type that fits
  std::optional<double> real(std::string_view key) const;      // float32 and float64
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  // An array of integers or of booleans (false 0, true 1).
  std::optional<std::vector<int64_t>> integers(std::string_view key) const;
  std::optional<std::vector<std::string>> texts(std::string_view key) const;
  // How many elements an array has, whether kept or not: the vocabulary's size.
  std::optional<int64_t> array_count(std::string_view key) const;

  const GgufTensor* find_tensor(std::string_view name) const;  // linear; nullptr: none
};

}  // namespace tidemark

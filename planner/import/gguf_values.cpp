#include "planner/import/gguf_values.h"

#include <fmt/core.h>

#include <array>
#include <bit>
#include <limits>
#include <optional>

#include "planner/base/units.h"

namespace tidemark {
namespace {

// Deeper ones exist nowhere; the bound keeps the recursion small.
constexpr int kMostNesting = 4;

constexpr std::array<int64_t, 13> kSizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

// The least bytes an element takes in the file: the length of a string, type and count of an array.
int64_t least_size(GgufType type) {
  if (type == GgufType::kString) return 8;
  if (type == GgufType::kArray) return 12;
  return size_of(type);
}

GgufScalar from_unsigned(uint64_t value) {
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return value;
  return static_cast<int64_t>(value);
}

template <typename Target, typename Raw>
std::optional<GgufScalar> as_signed(std::optional<Raw> raw) {
  if (!raw) return std::nullopt;
  return GgufScalar(static_cast<int64_t>(std::bit_cast<Target>(*raw)));
}

template <typename Target, typename Raw>
std::optional<GgufScalar> as_real(std::optional<Raw> raw) {
  if (!raw) return std::nullopt;
  return GgufScalar(static_cast<double>(std::bit_cast<Target>(*raw)));
}

template <typename Raw>
std::optional<GgufScalar> as_unsigned(std::optional<Raw> raw) {
  if (!raw) return std::nullopt;
  return from_unsigned(*raw);
}

// An element of fixed size. A boolean stays a number here, so that the caller can tell a 2.
std::optional<GgufScalar> read_scalar(ByteReader& reader, GgufType type) {
  switch (type) {
    case GgufType::kInt8:
      return as_signed<int8_t>(reader.number<uint8_t>());
    case GgufType::kInt16:
      return as_signed<int16_t>(reader.number<uint16_t>());
    case GgufType::kInt32:
      return as_signed<int32_t>(reader.number<uint32_t>());
    case GgufType::kInt64:
      return as_signed<int64_t>(reader.number<uint64_t>());
    case GgufType::kUint16:
      return as_unsigned(reader.number<uint16_t>());
    case GgufType::kUint32:
      return as_unsigned(reader.number<uint32_t>());
    case GgufType::kUint64:
      return as_unsigned(reader.number<uint64_t>());
    case GgufType::kFloat32:
      return as_real<float>(reader.number<uint32_t>());
    case GgufType::kFloat64:
      return as_real<double>(reader.number<uint64_t>());
    default:
      return as_unsigned(reader.number<uint8_t>());
  }
}

}  // namespace

int64_t size_of(GgufType type) { return is_known(type) ? kSizes[static_cast<size_t>(type)] : 0; }

bool GgufValueReader::cut_off(std::string_view key, std::string_view what) {
  switch (reader_.state()) {
    case ByteReader::State::kLimit:
      problems_.add(key, reader_.offset(),
                    fmt::format("the header is larger than the {} this reader accepts",
                                format_bytes(Bytes::of(reader_.offset() + reader_.remaining()))));
      break;
    case ByteReader::State::kUnreadable:
      problems_.add(key, reader_.offset(), "cannot read the file");
      break;
    default:
      problems_.add(key, reader_.offset(), fmt::format("the file ends inside {}", what),
                    "the file was cut off or is damaged: fetch it again");
  }
  return false;
}

bool GgufValueReader::read_type(std::string_view key, GgufType& type) {
  const std::optional<uint32_t> number = reader_.number<uint32_t>();
  if (!number) return cut_off(key, "the type of a value");
  type = static_cast<GgufType>(*number);
  if (is_known(type)) return true;
  problems_.add(key, reader_.offset() - 4, fmt::format("unknown value type {}", *number),
                "known are the types 0 to 12");
  return false;
}

bool GgufValueReader::read(std::string_view key, GgufValue& value) {
  value = {};
  if (!read_type(key, value.type)) return false;
  value.element_type = value.type;
  value.file_offset = reader_.offset();
  return value.type == GgufType::kArray ? read_array(key, value) : read_element(key, value);
}

void GgufValueReader::drop(GgufValue& value) {
  value.kept = false;
  value.elements.clear();
}

bool GgufValueReader::read_element(std::string_view key, GgufValue& value) {
  if (value.element_type == GgufType::kString) return read_text(key, value);
  std::optional<GgufScalar> element = read_scalar(reader_, value.element_type);
  if (!element) return cut_off(key, "a value");
  if (value.element_type == GgufType::kBool) {
    const int64_t number = std::get<int64_t>(*element);
    if (number > 1) {
      problems_.add(key, reader_.offset() - 1,
                    fmt::format("{} is no boolean: it must be 0 or 1", number));
    }
    element = number != 0;
  }
  value.elements.push_back(*std::move(element));
  return true;
}

bool GgufValueReader::read_text(std::string_view key, GgufValue& value) {
  const std::optional<uint64_t> length = reader_.number<uint64_t>();
  if (!length) return cut_off(key, "the length of a text");
  if (*length > static_cast<uint64_t>(reader_.remaining())) {
    reader_.fail_at_end();
    return cut_off(key, fmt::format("a text of {} bytes", *length));
  }
  const auto bytes = static_cast<int64_t>(*length);
  if (!value.kept || bytes > kGgufKeptTextBytes || bytes > budget_) {
    drop(value);
    return reader_.skip(bytes) || cut_off(key, "a text");
  }
  std::string text(static_cast<size_t>(bytes), '\0');
  if (!reader_.bytes(std::as_writable_bytes(std::span(text)))) return cut_off(key, "a text");
  if (!is_utf8(text)) {
    drop(value);
    return true;
  }
  budget_ -= bytes;
  value.elements.emplace_back(std::move(text));
  return true;
}

bool GgufValueReader::read_array(std::string_view key, GgufValue& value) {
  if (!read_type(key, value.element_type)) return false;
  const std::optional<uint64_t> count = reader_.number<uint64_t>();
  if (!count) return cut_off(key, "the length of an array");
  if (*count > static_cast<uint64_t>(reader_.remaining() / least_size(value.element_type))) {
    reader_.fail_at_end();
    return cut_off(key, fmt::format("an array of {} elements", *count));
  }
  value.count = static_cast<int64_t>(*count);
  const int64_t most = value.element_type == GgufType::kString ? kGgufKeptTexts : kGgufKeptElements;
  const int64_t cost = value.count * static_cast<int64_t>(sizeof(GgufScalar));
  if (value.element_type == GgufType::kArray || value.count > most || cost > budget_) {
    drop(value);
    return skip_elements(key, value.element_type, value.count, 1);
  }
  budget_ -= cost;
  value.elements.reserve(static_cast<size_t>(value.count));
  for (int64_t i = 0; i < value.count; ++i) {
    if (!read_element(key, value)) return false;
  }
  return true;
}

bool GgufValueReader::skip_elements(std::string_view key, GgufType type, int64_t count, int depth) {
  if (count > reader_.remaining() / least_size(type)) {
    reader_.fail_at_end();
    return cut_off(key, fmt::format("an array of {} elements", count));
  }
  if (size_of(type) > 0) {
    return reader_.skip(count * size_of(type)) || cut_off(key, "an array");
  }
  if (depth > kMostNesting) {
    problems_.add(key, reader_.offset(),
                  fmt::format("arrays are nested more than {} deep", kMostNesting));
    return false;
  }
  for (int64_t i = 0; i < count; ++i) {
    GgufType inner = GgufType::kUint8;
    if (type == GgufType::kArray && !read_type(key, inner)) return false;
    const std::optional<uint64_t> length = reader_.number<uint64_t>();
    if (!length) return cut_off(key, "an element of an array");
    if (*length > static_cast<uint64_t>(reader_.remaining())) {
      reader_.fail_at_end();
      return cut_off(key, fmt::format("an element of length {}", *length));
    }
    if (!skip_elements(key, inner, static_cast<int64_t>(*length), depth + 1)) return false;
  }
  return true;
}

bool GgufValueReader::read_name(std::string_view what, int64_t most, std::string& name) {
  const int64_t begin = reader_.offset();
  const std::optional<uint64_t> length = reader_.number<uint64_t>();
  if (!length) return cut_off("", fmt::format("the length of {}", what));
  if (*length > static_cast<uint64_t>(most)) {
    problems_.add("", begin, fmt::format("{} has {} bytes, more than {}", what, *length, most),
                  "the file is damaged");
    return false;
  }
  name.resize(static_cast<size_t>(*length));
  if (!reader_.bytes(std::as_writable_bytes(std::span(name)))) return cut_off("", what);
  if (name.empty()) problems_.add("", begin, fmt::format("{} is empty", what));
  if (!is_utf8(name)) problems_.add(name, begin, fmt::format("{} is not UTF-8", what));
  return true;
}

}  // namespace tidemark

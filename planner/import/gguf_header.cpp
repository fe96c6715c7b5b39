#include "planner/import/gguf_header.h"

#include <algorithm>
#include <array>

namespace tidemark {
namespace {

constexpr std::array<std::string_view, 13> kTypeNames = {
    "uint8",   "int8", "uint16", "int16",  "uint32", "int32",  "float32",
    "boolean", "text", "array",  "uint64", "int64",  "float64"};

// The element of a value that is no array.
template <typename T>
std::optional<T> single(const GgufValue* value) {
  if (value == nullptr || value->type == GgufType::kArray || value->elements.size() != 1) return {};
  const T* element = std::get_if<T>(&value->elements.front());
  return element == nullptr ? std::nullopt : std::optional<T>(*element);
}

const GgufValue* kept_array(const GgufValue* value) {
  const bool is_kept = value != nullptr && value->type == GgufType::kArray && value->kept;
  return is_kept ? value : nullptr;
}

}  // namespace

std::string_view name_of(GgufType type) {
  const auto number = static_cast<size_t>(type);
  return number < kTypeNames.size() ? kTypeNames[number] : "?";
}

const GgufValue* GgufHeader::find(std::string_view key) const {
  const auto found = keys.find(key);
  return found == keys.end() ? nullptr : &found->second;
}

std::optional<int64_t> GgufHeader::integer(std::string_view key) const {
  return single<int64_t>(find(key));
}

std::optional<double> GgufHeader::real(std::string_view key) const {
  return single<double>(find(key));
}

std::optional<bool> GgufHeader::boolean(std::string_view key) const {
  return single<bool>(find(key));
}

std::optional<std::string> GgufHeader::text(std::string_view key) const {
  return single<std::string>(find(key));
}

std::optional<std::vector<int64_t>> GgufHeader::integers(std::string_view key) const {
  const GgufValue* value = kept_array(find(key));
  if (value == nullptr) return std::nullopt;
  std::vector<int64_t> numbers;
  numbers.reserve(value->elements.size());
  for (const GgufScalar& element : value->elements) {
    if (const auto* integer = std::get_if<int64_t>(&element)) {
      numbers.push_back(*integer);
    } else if (const auto* boolean = std::get_if<bool>(&element)) {
      numbers.push_back(*boolean ? 1 : 0);
    } else {
      return std::nullopt;
    }
  }
  return numbers;
}

std::optional<std::vector<std::string>> GgufHeader::texts(std::string_view key) const {
  const GgufValue* value = kept_array(find(key));
  if (value == nullptr || value->element_type != GgufType::kString) return std::nullopt;
  std::vector<std::string> texts;
  for (const GgufScalar& element : value->elements) {
    const auto* text = std::get_if<std::string>(&element);
    if (text == nullptr) return std::nullopt;
    texts.push_back(*text);
  }
  return texts;
}

std::optional<int64_t> GgufHeader::array_count(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr || value->type != GgufType::kArray) return std::nullopt;
  return value->count;
}

const GgufTensor* GgufHeader::find_tensor(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [name](const GgufTensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

}  // namespace tidemark

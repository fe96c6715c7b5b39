#include "planner/import/gguf/key_writer.h"

#include <algorithm>
#include <utility>

namespace tidemark {
namespace {

GgufValue value_of(GgufType type, GgufScalar element) {
  return {.type = type, .element_type = type, .elements = {std::move(element)}};
}

GgufValue list_of(GgufType type, std::vector<GgufScalar> elements) {
  return {.type = GgufType::kArray,
          .element_type = type,
          .count = static_cast<int64_t>(elements.size()),
          .elements = std::move(elements)};
}

}  // namespace

void GgufKeyWriter::put(const std::string& name, GgufValue value) {
  const auto [at, is_new] = header_.keys.emplace(name, value);
  if (!is_new && at->second != value) {
    problems_.add(name, "a GGUF file has one value for all layers, but they differ in this model");
  }
}

void GgufKeyWriter::number(std::string_view key, int64_t value) {
  general_number(full(key), value);
}

void GgufKeyWriter::general_number(const std::string& name, int64_t value) {
  put(name, value_of(GgufType::kUint32, value));
}

void GgufKeyWriter::general_text(const std::string& name, std::string_view value) {
  put(name, value_of(GgufType::kString, std::string(value)));
}

void GgufKeyWriter::real(std::string_view key, float value) {
  put(full(key), value_of(GgufType::kFloat32, static_cast<double>(value)));
}

void GgufKeyWriter::flag(std::string_view key, bool value) {
  put(full(key), value_of(GgufType::kBool, value));
}

void GgufKeyWriter::flags(std::string_view key, const std::vector<bool>& values) {
  std::vector<GgufScalar> elements;
  for (const bool value : values) elements.emplace_back(value);
  put(full(key), list_of(GgufType::kBool, std::move(elements)));
}

void GgufKeyWriter::per_layer(std::string_view key, const std::vector<int64_t>& values) {
  if (values.empty()) return;
  const bool is_uniform =
      std::ranges::all_of(values, [&](int64_t value) { return value == values.front(); });
  if (is_uniform) return number(key, values.front());
  std::vector<GgufScalar> elements;
  for (const int64_t value : values) elements.emplace_back(value);
  put(full(key), list_of(GgufType::kInt32, std::move(elements)));
}

}  // namespace tidemark

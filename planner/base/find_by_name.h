// The one of `kinds` whose name_of() is `name`.
#pragma once

#include <optional>
#include <string_view>

namespace tidemark {

template <typename Kinds>
std::optional<typename Kinds::value_type> find_by_name(const Kinds& kinds, std::string_view name) {
  for (const auto kind : kinds) {
    if (name_of(kind) == name) return kind;
  }
  return std::nullopt;
}

}  // namespace tidemark

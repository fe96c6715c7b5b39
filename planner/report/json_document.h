// JSON documents as all reports print them. Only the writers of JSON include this.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

namespace tidemark {

using Json = nlohmann::ordered_json;

// Two spaces of indent, except that an innermost object inside an array or "settings" stays on one
// line: a curve has thousands of points, and a point is read as a row. Ends with a newline.
std::string printed(const Json& document);

// A long list made and printed member by member: a document of all of them would take several times
// the memory of its text. It stands in the document as an empty list under `key`.
struct JsonRows {
  std::string key{};
  size_t count = 0;
  std::function<Json(size_t index)> row{};
};
std::string printed(const Json& document, std::span<const JsonRows> rows);

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  if constexpr (requires { value->count(); }) {
    return value ? Json(value->count()) : Json(nullptr);
  } else {
    return value ? Json(*value) : Json(nullptr);
  }
}

}  // namespace tidemark

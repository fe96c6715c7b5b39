// JSON as a stream of events with byte positions: nothing is built in memory, the nesting is
// bounded, and a key that appears twice in one object is an error.
//
//   {"a": {"b": [7]}}   gives   begin_object ()        end_object (a)
//                               begin_object (a)       end_object ()
//                               begin_array (a, b)
//                               integer 7 (a, b, "")
//                               end_array (a, b)
// where the path in brackets names the value by the keys that lead to it ("" inside an array).
// Checked by JsonEventsTest.TheExampleOfTheHeader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/import/problems.h"

namespace tidemark {

enum class JsonKind {
  kBeginObject,
  kEndObject,
  kBeginArray,
  kEndArray,
  kText,
  kInteger,  // fits into int64_t
  kReal,     // also an integer that does not
  kOther     // true, false, null
};

struct JsonEvent {
  JsonKind kind = JsonKind::kOther;
  std::string_view text{};  // kText; kReal: as it was written
  int64_t integer = 0;      // kInteger
  double real = 0;          // kReal
  // The last byte looked at: a bracket itself, the closing quote of a text, of a number what ends
  // it.
  int64_t byte = 0;
};

using JsonPath = std::vector<std::string>;

class JsonHandler {
 public:
  virtual ~JsonHandler() = default;
  virtual void on(const JsonEvent& event, const JsonPath& path) = 0;

 protected:
  JsonHandler() = default;
  JsonHandler(const JsonHandler&) = default;
  JsonHandler& operator=(const JsonHandler&) = default;
};

inline constexpr int64_t kDeepestJson = 32;

// Feeds all of `text` to `handler`; positions count from `first_byte`, which is that of text[0].
// False, with a problem: this is no JSON document, or nested deeper than kDeepestJson.
bool parse_json(std::string_view text, int64_t first_byte, JsonHandler& handler,
                Problems& problems);

}  // namespace tidemark

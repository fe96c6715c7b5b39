#include "planner/import/json_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark {
namespace {

using ::testing::ElementsAre;

// Each event as one line: kind, value, path, byte.
class Recorder : public JsonHandler {
 public:
  void on(const JsonEvent& event, const JsonPath& path) override {
    std::string line;
    switch (event.kind) {
      case JsonKind::kBeginObject:
        line = "begin_object";
        break;
      case JsonKind::kEndObject:
        line = "end_object";
        break;
      case JsonKind::kBeginArray:
        line = "begin_array";
        break;
      case JsonKind::kEndArray:
        line = "end_array";
        break;
      case JsonKind::kText:
        line = "text " + std::string(event.text);
        break;
      case JsonKind::kInteger:
        line = "integer " + std::to_string(event.integer);
        break;
      case JsonKind::kReal:
        line = "real " + std::to_string(event.real);
        break;
      case JsonKind::kOther:
        line = "other";
        break;
    }
    line += " (";
    for (size_t i = 0; i < path.size(); ++i) line += (i > 0 ? ", " : "") + path[i];
    lines.push_back(line + ") " + std::to_string(event.byte));
  }

  std::vector<std::string> lines{};
};

std::vector<std::string> events_of(std::string_view text, int64_t first_byte = 0) {
  Recorder recorder;
  Problems problems("x");
  EXPECT_TRUE(parse_json(text, first_byte, recorder, problems)) << to_string(problems.take());
  return recorder.lines;
}

// {"a": {"b": [7]}}
// 0     6     12 14
TEST(JsonEventsTest, TheExampleOfTheHeader) {
  EXPECT_THAT(events_of(R"({"a": {"b": [7]}})"),
              ElementsAre("begin_object () 0", "begin_object (a) 6", "begin_array (a, b) 12",
                          "integer 7 (a, b, ) 14", "end_array (a, b) 14", "end_object (a) 15",
                          "end_object () 16"));
}

TEST(JsonEventsTest, EveryKindOfValue) {
  EXPECT_THAT(
      events_of(R"([-3, 9223372036854775807, 9223372036854775808, 2.5, "\u00e9", true, null])"),
      ElementsAre("begin_array () 0", "integer -3 () 3", "integer 9223372036854775807 () 24",
                  "real 9223372036854775808.000000 () 45", "real 2.500000 () 50",
                  "text \xC3\xA9 () 59", "other () 65", "other () 71", "end_array () 72"));
}

TEST(JsonEventsTest, PositionsCountFromTheFirstByte) {
  EXPECT_THAT(events_of("[]", 100), ElementsAre("begin_array () 100", "end_array () 101"));
}

TEST(JsonEventsTest, TheDeepestAllowed) {
  const auto nested = [](int depth) {
    return std::string(static_cast<size_t>(depth), '[') +
           std::string(static_cast<size_t>(depth), ']');
  };
  EXPECT_EQ(events_of(nested(32)).size(), 64U);
  Recorder recorder;
  Problems problems("x");
  EXPECT_FALSE(parse_json(nested(33), 0, recorder, problems));
  EXPECT_EQ(to_string(problems.take()), "x: error: byte 32: nested more than 32 deep\n");
}

}  // namespace
}  // namespace tidemark

#include "sim/core/trace.h"

#include <gtest/gtest.h>

#include <limits>

#include "planner/base/check.h"

namespace tidemark {
namespace {

TEST(TraceTest, AnEmptyTraceIsStillADocument) {
  EXPECT_EQ(to_perfetto({}), "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n]}\n");
}

TEST(TraceTest, LanesAreNamedBeforeTheirSpansAndNumberedAsTheyAppear) {
  const Trace trace{
      .spans = {
          {.lane = "flash", .name = "read blk.0", .start = {}, .duration = Duration::ns(1500250)},
          {.lane = "compute",
           .name = "blk.0",
           .start = Duration::ns(1500250),
           .duration = Duration::ns(1)},
          {.lane = "flash", .name = "read blk.1", .start = Duration::us(1501), .duration = {}}}};
  EXPECT_EQ(to_perfetto(trace),
            R"({"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"flash"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"compute"}},
{"ph":"X","pid":1,"tid":1,"ts":0.000,"dur":1500.250,"name":"read blk.0"},
{"ph":"X","pid":1,"tid":2,"ts":1500.250,"dur":0.001,"name":"blk.0"},
{"ph":"X","pid":1,"tid":1,"ts":1501.000,"dur":0.000,"name":"read blk.1"}
]}
)");
}

TEST(TraceTest, CountersCarryBytes) {
  const Trace trace{
      .counters = {{.name = "weights", .time = Duration::ns(42), .value = Bytes::of(1 << 20)}}};
  EXPECT_EQ(to_perfetto(trace),
            R"({"displayTimeUnit":"ns","traceEvents":[
{"ph":"C","pid":1,"ts":0.042,"name":"weights","args":{"bytes":1048576}}
]}
)");
}

TEST(TraceTest, TheLongestTimeIsWrittenToTheNanosecond) {
  const Duration longest = Duration::ns(std::numeric_limits<int64_t>::max());
  const std::string text =
      to_perfetto({.spans = {{.lane = "a", .name = "b", .start = longest, .duration = longest}}});
  EXPECT_NE(text.find("\"ts\":9223372036854775.807,\"dur\":9223372036854775.807"),
            std::string::npos)
      << text;
}

TEST(TraceTest, NamesAreEscapedAsJson) {
  const std::string text = to_perfetto({.spans = {{.lane = "a\nb", .name = "q\"\\\x01 汉"}}});
  EXPECT_NE(text.find(R"("name":"a\u000ab")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("name":"q\"\\\u0001 汉")"), std::string::npos) << text;
}

TEST(TraceTest, NegativeTimeIsABug) {
  EXPECT_THROW(to_perfetto({.spans = {{.lane = "a", .name = "b", .start = Duration::ns(-1)}}}),
               InternalError);
}

}  // namespace
}  // namespace tidemark

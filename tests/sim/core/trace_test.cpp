#include "sim/core/trace.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

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

TEST(TraceTest, ACounterOfSeveralSeriesCarriesThemTogether) {
  const Trace trace{.counters = {{.name = "memory",
                                  .series = {{"resident", Bytes::of(5)},
                                             {"file_backed", Bytes::of(4)},
                                             {"reclaimable", Bytes::of(3)},
                                             {"committed", Bytes::of(6)}}}}};
  EXPECT_EQ(to_perfetto(trace), R"({"displayTimeUnit":"ns","traceEvents":[
{"ph":"C","pid":1,"ts":0.000,"name":"memory","args":{"resident":5,"file_backed":4,"reclaimable":3,"committed":6}}
]}
)");
}

TEST(TraceTest, InstantsStandOnTheirLaneOrAcrossTheirProcess) {
  const Trace trace{
      .instants = {{.name = "evict", .time = Duration::ns(1), .lane = "cache", .detail = "blk.0"},
                   {.name = "killed", .time = Duration::ns(2), .detail = "over the limit"},
                   {.name = "cold", .time = Duration::ns(3)}}};
  EXPECT_EQ(to_perfetto(trace), R"({"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"cache"}},
{"ph":"i","pid":1,"tid":1,"ts":0.001,"s":"t","name":"evict","args":{"detail":"blk.0"}},
{"ph":"i","pid":1,"ts":0.002,"s":"p","name":"killed","args":{"detail":"over the limit"}},
{"ph":"i","pid":1,"ts":0.003,"s":"p","name":"cold"}
]}
)");
}

// Viewers that go by the number of a lane alone must not mix up two processes.
TEST(TraceTest, ProcessesAreNamedAndTheirLanesNumberedApart) {
  const Trace trace{.spans = {{.lane = "compute", .name = "a", .process = "app"},
                              {.lane = "compute", .name = "b", .process = "other app"}},
                    .counters = {{.name = "free", .process = "system"}},
                    .instants = {{.name = "killed", .lane = "compute", .process = "other app"}}};
  EXPECT_EQ(to_perfetto(trace), R"({"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"app"}},
{"ph":"M","pid":2,"name":"process_name","args":{"name":"other app"}},
{"ph":"M","pid":3,"name":"process_name","args":{"name":"system"}},
{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"compute"}},
{"ph":"M","pid":2,"tid":2,"name":"thread_name","args":{"name":"compute"}},
{"ph":"X","pid":1,"tid":1,"ts":0.000,"dur":0.000,"name":"a"},
{"ph":"X","pid":2,"tid":2,"ts":0.000,"dur":0.000,"name":"b"},
{"ph":"C","pid":3,"ts":0.000,"name":"free","args":{"bytes":0}},
{"ph":"i","pid":2,"tid":2,"ts":0.000,"s":"t","name":"killed"}
]}
)");
}

TEST(TraceTest, LinesStandInOrderOfTimeWhateverTheOrderOfTheirLists) {
  const std::string text =
      to_perfetto({.spans = {{.lane = "l", .name = "4", .start = Duration::ns(30)},
                             {.lane = "l", .name = "1", .start = Duration::ns(10)}},
                   .counters = {{.name = "2", .time = Duration::ns(10)}, {.name = "0", .time = {}}},
                   .instants = {{.name = "3", .time = Duration::ns(10)}}});
  size_t place = 0;
  for (const char name : {'0', '1', '2', '3', '4'}) {
    const size_t found = text.find(std::string("\"name\":\"") + name);
    ASSERT_NE(found, std::string::npos) << name;
    EXPECT_GT(found, place) << name;
    place = found;
  }
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

#include "sim/core/trace.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <string_view>

#include "planner/base/check.h"

namespace tidemark {
namespace {

using Buffer = fmt::memory_buffer;

void append(Buffer& out, std::string_view text) {
  out.append(text.data(), text.data() + text.size());
}

void append_json_string(Buffer& out, std::string_view text) {
  append(out, "\"");
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      append(out, "\\");
      out.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<int>(c));
    } else {
      out.push_back(c);
    }
  }
  append(out, "\"");
}

// Microseconds with the nanoseconds as three decimals: no rounding, whatever the size.
void append_microseconds(Buffer& out, Duration time) {
  check(time >= Duration{}, "a trace holds no negative time");
  fmt::format_to(std::back_inserter(out), "{}.{:03}", time.count() / 1000, time.count() % 1000);
}

class Writer {
 public:
  explicit Writer(Buffer& out) : out_(out) {}

  void lane(int id, std::string_view name) {
    start_event("M", id);
    append(out_, R"("name":"thread_name","args":{"name":)");
    append_json_string(out_, name);
    append(out_, "}}");
  }

  void span(int lane_id, const TraceSpan& span) {
    start_event("X", lane_id);
    append(out_, R"("ts":)");
    append_microseconds(out_, span.start);
    append(out_, R"(,"dur":)");
    append_microseconds(out_, span.duration);
    append(out_, R"(,"name":)");
    append_json_string(out_, span.name);
    append(out_, "}");
  }

  void counter(const TraceCounter& counter) {
    start_event("C", 0);
    append(out_, R"("ts":)");
    append_microseconds(out_, counter.time);
    append(out_, R"(,"name":)");
    append_json_string(out_, counter.name);
    fmt::format_to(std::back_inserter(out_), R"(,"args":{{"bytes":{}}}}})", counter.value.count());
  }

 private:
  // Counters belong to the process, so they have no lane (0).
  void start_event(std::string_view kind, int lane_id) {
    append(out_, first_ ? "\n" : ",\n");
    first_ = false;
    fmt::format_to(std::back_inserter(out_), R"({{"ph":"{}","pid":1,)", kind);
    if (lane_id > 0) fmt::format_to(std::back_inserter(out_), R"("tid":{},)", lane_id);
  }

  Buffer& out_;
  bool first_ = true;
};

}  // namespace

std::string to_perfetto(const Trace& trace) {
  Buffer out;
  append(out, R"({"displayTimeUnit":"ns","traceEvents":[)");
  Writer writer(out);
  std::map<std::string_view, int> lanes;
  for (const TraceSpan& span : trace.spans) {
    const int next = static_cast<int>(lanes.size()) + 1;
    if (lanes.emplace(span.lane, next).second) writer.lane(next, span.lane);
  }
  for (const TraceSpan& span : trace.spans) writer.span(lanes.at(span.lane), span);
  for (const TraceCounter& counter : trace.counters) writer.counter(counter);
  append(out, "\n]}\n");
  return fmt::to_string(out);
}

}  // namespace tidemark

#include "sim/core/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

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

using Process = std::string_view;
using Lane = std::pair<Process, std::string_view>;

// Numbers from 1, in order of first appearance.
struct Numbers {
  std::map<Process, int> processes{};
  std::map<Lane, int> lanes{};
  std::vector<Process> process_order{};
  std::vector<Lane> lane_order{};

  void add(Process process, std::string_view lane) {
    if (processes.emplace(process, next(processes)).second) process_order.push_back(process);
    if (lane.empty()) return;
    if (lanes.emplace(Lane(process, lane), next(lanes)).second) {
      lane_order.emplace_back(process, lane);
    }
  }

  int process(Process name) const { return processes.at(name); }
  // 0: none.
  int lane(Process process, std::string_view name) const {
    return name.empty() ? 0 : lanes.at(Lane(process, name));
  }

 private:
  static int next(const auto& numbers) { return static_cast<int>(numbers.size()) + 1; }
};

Numbers numbers_of(const Trace& trace) {
  Numbers numbers;
  for (const TraceSpan& span : trace.spans) numbers.add(span.process, span.lane);
  for (const TraceCounter& counter : trace.counters) numbers.add(counter.process, {});
  for (const TraceInstant& instant : trace.instants) numbers.add(instant.process, instant.lane);
  return numbers;
}

class Writer {
 public:
  Writer(Buffer& out, const Numbers& numbers) : out_(out), numbers_(numbers) {}

  void names() {
    for (const Process& process : numbers_.process_order) {
      if (process.empty()) continue;
      start_event("M", process, {});
      append(out_, R"("name":"process_name","args":{"name":)");
      append_json_string(out_, process);
      append(out_, "}}");
    }
    for (const auto& [process, lane] : numbers_.lane_order) {
      start_event("M", process, lane);
      append(out_, R"("name":"thread_name","args":{"name":)");
      append_json_string(out_, lane);
      append(out_, "}}");
    }
  }

  void span(const TraceSpan& span) {
    start_event("X", span.process, span.lane);
    time(span.start);
    append(out_, R"("dur":)");
    append_microseconds(out_, span.duration);
    append(out_, R"(,"name":)");
    append_json_string(out_, span.name);
    append(out_, "}");
  }

  void counter(const TraceCounter& counter) {
    start_event("C", counter.process, {});
    time(counter.time);
    append(out_, R"("name":)");
    append_json_string(out_, counter.name);
    append(out_, R"(,"args":{)");
    if (counter.series.empty()) series("bytes", counter.value);
    for (size_t i = 0; i < counter.series.size(); ++i) {
      if (i > 0) append(out_, ",");
      series(counter.series[i].name, counter.series[i].value);
    }
    append(out_, "}}");
  }

  // Drawn across its lane (t) or across its process (p).
  void instant(const TraceInstant& instant) {
    start_event("i", instant.process, instant.lane);
    time(instant.time);
    append(out_, instant.lane.empty() ? R"("s":"p","name":)" : R"("s":"t","name":)");
    append_json_string(out_, instant.name);
    if (!instant.detail.empty()) {
      append(out_, R"(,"args":{"detail":)");
      append_json_string(out_, instant.detail);
      append(out_, "}");
    }
    append(out_, "}");
  }

 private:
  void start_event(std::string_view kind, Process process, std::string_view lane) {
    append(out_, first_ ? "\n" : ",\n");
    first_ = false;
    fmt::format_to(std::back_inserter(out_), R"({{"ph":"{}","pid":{},)", kind,
                   numbers_.process(process));
    const int number = numbers_.lane(process, lane);
    if (number > 0) fmt::format_to(std::back_inserter(out_), R"("tid":{},)", number);
  }

  void time(SimTime time) {
    append(out_, R"("ts":)");
    append_microseconds(out_, time);
    append(out_, ",");
  }

  void series(std::string_view name, Bytes value) {
    append_json_string(out_, name);
    fmt::format_to(std::back_inserter(out_), ":{}", value.count());
  }

  Buffer& out_;
  const Numbers& numbers_;
  bool first_ = true;
};

// One line of the trace: which of the three lists it is in, and where.
struct Line {
  SimTime time{};
  int list = 0;
  size_t index = 0;
};

std::vector<Line> in_order_of_time(const Trace& trace) {
  std::vector<Line> lines;
  lines.reserve(trace.spans.size() + trace.counters.size() + trace.instants.size());
  for (size_t i = 0; i < trace.spans.size(); ++i) lines.push_back({trace.spans[i].start, 0, i});
  for (size_t i = 0; i < trace.counters.size(); ++i) {
    lines.push_back({trace.counters[i].time, 1, i});
  }
  for (size_t i = 0; i < trace.instants.size(); ++i) {
    lines.push_back({trace.instants[i].time, 2, i});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.time < b.time; });
  return lines;
}

}  // namespace

std::string to_perfetto(const Trace& trace) {
  Buffer out;
  append(out, R"({"displayTimeUnit":"ns","traceEvents":[)");
  const Numbers numbers = numbers_of(trace);
  Writer writer(out, numbers);
  writer.names();
  for (const Line& line : in_order_of_time(trace)) {
    if (line.list == 0) writer.span(trace.spans[line.index]);
    if (line.list == 1) writer.counter(trace.counters[line.index]);
    if (line.list == 2) writer.instant(trace.instants[line.index]);
  }
  append(out, "\n]}\n");
  return fmt::to_string(out);
}

}  // namespace tidemark

// What happened: spans on lanes ("flash", "compute"), counters ("weights") and instants ("killed").
// Written as Chrome / Perfetto trace JSON: one event a line, in order of time, times in
// microseconds to three decimals, which is exact nanoseconds.
//
//   {"ph":"M","pid":1,"name":"process_name","args":{"name":"phone"}}
//   {"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"flash"}}
//   {"ph":"X","pid":1,"tid":1,"ts":0.000,"dur":1500.250,"name":"read blk.0"}
//   {"ph":"C","pid":1,"ts":0.000,"name":"weights","args":{"bytes":1048576}}
//   {"ph":"C","pid":1,"ts":0.000,"name":"memory","args":{"resident":1048576,"file_backed":4096}}
//   {"ph":"i","pid":1,"tid":1,"ts":9.500,"s":"t","name":"evict","args":{"detail":"blk.0"}}
//   {"ph":"i","pid":1,"ts":10.000,"s":"p","name":"killed","args":{"detail":"over the limit"}}
#pragma once

#include <string>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/quantity.h"

namespace tidemark {

// An empty process is one without a name, as when there is only one.
struct TraceSpan {
  std::string lane{};
  std::string name{};
  SimTime start{};
  Duration duration{};
  std::string process{};
  bool operator==(const TraceSpan&) const = default;
};

// One of the values drawn on top of each other in one counter.
struct TraceSeries {
  std::string name{};
  Bytes value{};
  bool operator==(const TraceSeries&) const = default;
};

struct TraceCounter {
  std::string name{};
  SimTime time{};
  Bytes value{};                      // the only series, "bytes", when `series` is empty
  std::vector<TraceSeries> series{};  // else these, and no other
  std::string process{};
  bool operator==(const TraceCounter&) const = default;
};

struct TraceInstant {
  std::string name{};
  SimTime time{};
  std::string lane{};  // empty = of the whole process
  std::string detail{};
  std::string process{};
  bool operator==(const TraceInstant&) const = default;
};

struct Trace {
  std::vector<TraceSpan> spans{};
  std::vector<TraceCounter> counters{};
  std::vector<TraceInstant> instants{};
  bool operator==(const Trace&) const = default;
};

// Processes and lanes are numbered from 1 in order of first appearance among the spans, then the
// counters, then the instants; no two lanes share a number, also of different processes. What
// begins at the same time stays in that order. Times must not be negative (CHECK).
std::string to_perfetto(const Trace& trace);

}  // namespace tidemark

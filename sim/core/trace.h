// What happened, in order: spans on lanes ("flash", "compute") and counters ("weights"). Written as
// Chrome / Perfetto trace JSON: one event a line, times in microseconds to three decimals, which is
// exact nanoseconds.
//
//   {"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"flash"}}
//   {"ph":"X","pid":1,"tid":1,"ts":0.000,"dur":1500.250,"name":"read blk.0"}
//   {"ph":"C","pid":1,"ts":0.000,"name":"weights","args":{"bytes":1048576}}
#pragma once

#include <string>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/quantity.h"

namespace tidemark {

struct TraceSpan {
  std::string lane{};
  std::string name{};
  SimTime start{};
  Duration duration{};
  bool operator==(const TraceSpan&) const = default;
};

struct TraceCounter {
  std::string name{};
  SimTime time{};
  Bytes value{};
  bool operator==(const TraceCounter&) const = default;
};

struct Trace {
  std::vector<TraceSpan> spans{};
  std::vector<TraceCounter> counters{};
  bool operator==(const Trace&) const = default;
};

// Lanes are numbered from 1 in order of first appearance. Times must not be negative (CHECK).
std::string to_perfetto(const Trace& trace);

}  // namespace tidemark

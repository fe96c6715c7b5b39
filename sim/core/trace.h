// What happened, in order: spans on lanes ("flash", "compute") and counters ("weights"). Written as Chrome / Perfetto trace
// JSON with times in microseconds to three decimals (exact nanoseconds).
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
};

struct TraceCounter {
  std::string name{};
  SimTime time{};
  Bytes value{};
};

struct Trace {
  std::vector<TraceSpan> spans{};
  std::vector<TraceCounter> counters{};
};

std::string to_perfetto(const Trace& trace);

}  // namespace tidemark

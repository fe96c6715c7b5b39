// Time of a replay against the simulator's, on the device that the replay was given: `simulate`
// predicts with the device's numbers, so they are close where the device is this machine
// (`tidemark calibrate`).
//
//   part                     steps  predicted  measured   error
//   weights, decode            120     2.00 s    2.20 s  +10.0 %     the first op of each visit,
//   and
//                                                                    its wait for the weights
//   matmul, decode             800     400 ms    300 ms  -25.0 %
//   total                      ...     2.50 s    2.60 s   +4.0 %
//
// The error is (measured - predicted) / predicted. Checked by ReplayTimeTest.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "planner/base/quantity.h"
#include "planner/report/writers.h"

namespace tidemark {

struct ReplayReport;

// Steps that are alike.
struct TimePart {
  std::string what{};  // "matmul, decode"
  int64_t steps = 0;
  Duration predicted{};
  Duration measured{};
  bool operator==(const TimePart&) const = default;
};

struct TimeComparison {
  Duration predicted{};           // of the whole run
  Duration measured{};            // the median run's
  std::vector<Duration> runs{};   // every one, in order of time
  std::vector<TimePart> parts{};  // largest measured first
};

// (measured - predicted) / predicted; 0 when nothing was predicted.
double time_error(Duration predicted, Duration measured);

// Two tables: the strategies, and where the time of each goes. "" when no report has times.
std::string time_section(std::span<const ReplayReport> reports, TextStyle style = {});

}  // namespace tidemark

// What a chart of memory over time needs before anything is drawn: round ticks and a curve of
// bounded length.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "planner/report/report.h"

namespace tidemark {

struct Tick {
  int64_t value = 0;  // bytes or nanoseconds
  std::string label{};
};

// 0, step, 2 step, ... up to `top`; the step is the smallest power of two that gives at most
// `at_most` intervals.
//   3 GiB, 6 -> 0, 512 MiB, 1 GiB, 1.5 GiB, 2 GiB, 2.5 GiB, 3 GiB.
//   Checked by ChartScaleTest.ByteTicks.
std::vector<Tick> byte_ticks(Bytes top, int at_most);

// The same with steps of 1, 2 or 5 times a power of ten.   9 s, 6 -> 0 s, 2 s, 4 s, 6 s, 8 s.
std::vector<Tick> time_ticks(Duration end, int at_most);

// A curve with more points than a picture has columns, as two curves with at most one point a
// column: the highest total and the lowest total resident during that slice of [0, end], what is
// held over from before included. The peak is kept exactly.
//   4 columns of 1 s; 2 at 0 s, 8 at 1.2 s, 2 at 1.4 s   ->   highest 2 8 2 2, lowest 2 2 2 2.
//   Checked by ChartScaleTest.EnvelopeByHand.
struct Envelope {
  std::vector<CurvePoint> highest{};
  std::vector<CurvePoint> lowest{};
};
Envelope envelope(std::span<const CurvePoint> curve, Duration end, int columns);

}  // namespace tidemark

// A finished replay, read back from what `tidemark replay --json` wrote: predicted and measured
// bytes of every step.
#pragma once

#include <QByteArray>
#include <string>
#include <vector>

#include "gui/models/curve_series.h"
#include "planner/base/result.h"

namespace tidemark {

struct MeasuredStep {
  int64_t step = 0;
  Bytes predicted{};
  Bytes measured{};
};

struct MeasuredCurve {
  std::string model{};
  std::string strategy{};
  std::string model_scale{};  // "0.25"; empty or "1" = the model itself
  Bytes predicted_peak{};
  Bytes measured_peak{};
  double relative_error = 0;
  bool outputs_match = true;
  std::vector<MeasuredStep> steps{};
};

// A document of one run or, under `results`, of several. `file` is only used in messages.
// Everything that is wrong comes back at once, up to a bound.
Result<std::vector<MeasuredCurve>> parse_replay(const std::string& file, const QByteArray& json);

// Measured over predicted, by step: a run on this machine has its own clock, so time is no common
// axis.
ChartShapes measured_shapes(const MeasuredCurve& curve);

// "step 12: predicted 3.10 MiB, measured 3.11 MiB (+8.00 KiB)"; empty outside.
QString describe_step(const MeasuredCurve& curve, double step);

}  // namespace tidemark

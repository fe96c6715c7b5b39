#include "sim/calibrate/fit.h"

#include <algorithm>
#include <cmath>

#include "planner/base/check.h"

namespace tidemark {
namespace {

constexpr double kNsPerSecond = 1e9;

OpsPerSecond rate_of(double ns_each) { return OpsPerSecond::of(rounded(kNsPerSecond / ns_each)); }

Duration overhead_of(double ns) { return Duration::ns(ns < 1.0 ? 0 : rounded(ns)); }

// Of the time left at `large`, the part that no other part explains goes into its operations.
double ns_each(double ns, double amount) { return std::max(ns, 1e-6) / amount; }

}  // namespace

int64_t rounded(double value) {
  check(std::isfinite(value), "a measured value is a number");
  value = std::min(value, 1e18);  // where a slope of noise divides by almost nothing
  double unit = 1.0;
  while (value / unit >= 9999.5) unit *= 10.0;
  return std::max<int64_t>(1,
                           static_cast<int64_t>(std::llround(value / unit) * std::llround(unit)));
}

OpRate fit_line(const TimedSize& small, const TimedSize& large) {
  check(large.operations > small.operations && small.operations > 0.0, "two sizes make a line");
  const double slope = (large.ns - small.ns) / (large.operations - small.operations);
  const double overhead = std::clamp(small.ns - slope * small.operations, 0.0, small.ns);
  return {.rate = rate_of(ns_each(large.ns - overhead, large.operations)),
          .overhead = overhead_of(overhead)};
}

OpRate fit_product(const TimedSize& large, const TimedSize& fewer_operations,
                   const TimedSize& fewer_outputs) {
  check(large.operations > fewer_operations.operations && large.outputs > fewer_outputs.outputs,
        "three sizes tell operations, outputs and overhead apart");
  const double most = large.ns / large.operations;  // of an operation, if nothing else took time
  const double slope =
      (large.ns - fewer_operations.ns) / (large.operations - fewer_operations.operations);
  const double operation = std::clamp(slope, most / 10.0, most);
  const double rest = std::max(0.0, large.ns - operation * large.operations);  // rounding
  const double rest_of_fewer =
      std::clamp(fewer_outputs.ns - operation * fewer_outputs.operations, 0.0, rest);
  const double output = (rest - rest_of_fewer) / (large.outputs - fewer_outputs.outputs);
  const double overhead = std::max(0.0, rest - output * large.outputs);
  OpRate fitted{
      .rate = rate_of(ns_each(large.ns - output * large.outputs - overhead, large.operations)),
      .overhead = overhead_of(overhead)};
  if (output > 1e-6) fitted.output_rate = rate_of(output);
  return fitted;
}

}  // namespace tidemark

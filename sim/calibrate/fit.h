// From measured times of one kernel at a few sizes to the numbers of an OpRate:
//   time = overhead + operations / rate + outputs / output_rate
//
//   ops that count nothing but what they write: two sizes, a line
//     1,000 values 300 ns, 9,000 values 1,100 ns: 0.1 ns a value (10 GOPS), overhead 200 ns
//   products and attention: a large one, one with fewer operations and the same outputs, one with
//   fewer outputs; nanoseconds
//     operations 100,000, outputs 100: 10,600
//     operations  20,000, outputs 100:  2,600    -> 0.1 ns an operation
//     operations  10,000, outputs  10:  1,510    -> 1 ns an output, overhead 500 ns
// Checked by FitTest. Where noise would make a part negative, it is 0 and the large size keeps its
// time.
#pragma once

#include "planner/capacity/op_rate.h"

namespace tidemark {

struct TimedSize {
  double operations = 0.0;  // or values written, where a kind counts none
  double outputs = 0.0;
  double ns = 0.0;
};

// `kind` and `tokens` are left at their defaults.
OpRate fit_line(const TimedSize& small, const TimedSize& large);
OpRate fit_product(const TimedSize& large, const TimedSize& fewer_operations,
                   const TimedSize& fewer_outputs);

// Four significant digits, what a measurement is worth and a file can say; at least 1.
int64_t rounded(double value);

}  // namespace tidemark
